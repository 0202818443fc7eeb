package timing

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/reprise-trace/reprise/internal/bins"
	"github.com/reprise-trace/reprise/internal/wire"
)

// histOptions configures HIST. The zero histOptions is the default
// configuration.
type histOptions struct {
	// Epsilon is the relative error. Zero means 0.1.
	Epsilon float64

	// Samples is the number of values of a signature from which the frequencies
	// of its bins are taken, and which are kept as they are; at most 1<<16.
	// Zero means 100.
	Samples int

	// Bits is such that the 1<<Bits most frequent bins have codes; at most 12.
	// Zero means 5.
	Bits int
}

// A histCodec is that of newHISTCodec.
type histCodec struct {
	binned
	samples int
	bits    int
}

// newHISTCodec returns the codec HIST of Wang, Guo, Balaji and Snir, "Near-Lossless
// MPI Tracing and Proxy Application Autogeneration", TPDS 34(1), 2023, §2.3.2.
// The values of a signature are clustered. The first of them are kept as they
// are, and the bins that were most frequent among these get codes of one bit more
// than their number needs. Of other values that bit alone is written, and the
// value as it is.
//
// It departs from the paper in that the table of codes is written, once for
// each block that uses it, codes are shorter where the samples have few
// bins, bins begin where the samples take the fewest bits, and values that are
// kept take as many bytes as they need.
func newHISTCodec(o histOptions) (Codec, error) {
	o.Epsilon, o.Samples, o.Bits = cmp.Or(o.Epsilon, 0.1), cmp.Or(o.Samples, 100), cmp.Or(o.Bits, 5)
	if o.Samples < 1 || o.Samples > 1<<16 {
		return nil, fmt.Errorf("timing: %d samples are not from 1 to %d", o.Samples, 1<<16)
	}
	if o.Bits < 1 || o.Bits > 12 {
		return nil, fmt.Errorf("timing: %d bits of a code are not from 1 to 12", o.Bits)
	}
	b, err := newBinned("hist", o.Epsilon)
	if err != nil {
		return nil, err
	}
	b.name += fmt.Sprintf(",samples=%d,bits=%d", o.Samples, o.Bits)
	return &histCodec{b, o.Samples, o.Bits}, nil
}

// openHIST returns the codec that may be called name, or nil for none.
func openHIST(name string) (Codec, error) {
	var o histOptions
	if n, _ := fmt.Sscanf(name, "hist,epsilon=%g,samples=%d,bits=%d", &o.Epsilon, &o.Samples, &o.Bits); n < 3 {
		return nil, nil
	}
	return newHISTCodec(o)
}

// NewEncoder returns an Encoder of a column.
func (c *histCodec) NewEncoder() Encoder { return &histEncoder{codec: c} }

type histEncoder struct {
	codec      *histCodec
	signatures terminalIndex
	clusters   []*histCluster // by number of the signature
	order      []*histCluster // those with values in the block, by first use
	values     int            // in the block
}

// A histCluster is what an encoder keeps of a signature.
type histCluster struct {
	samples []int64 // while there are not enough
	bins    *bins.Bins
	codes   histCodes

	// Of the block:
	raw   int    // samples
	coded int    // values after them
	kept  int    // values in bytes: the samples, and those that have no code
	bytes []byte // varints
	bits  bitWriter
}

func (e *histEncoder) Append(terminal uint32, v int64) int64 {
	i := e.signatures.number(terminal)
	if i == len(e.clusters) {
		e.clusters = append(e.clusters, &histCluster{samples: make([]int64, 0, 16)})
	}
	c := e.clusters[i]
	if c.raw+c.coded == 0 {
		e.order = append(e.order, c)
	}
	e.values++
	if c.samples != nil {
		c.raw++
		c.kept, c.bytes = c.kept+1, wire.AppendVarint(c.bytes, v)
		if c.samples = append(c.samples, v); len(c.samples) == e.codec.samples {
			c.bins, c.codes = e.codec.codes(c.samples)
			c.samples = nil
		}
		return v
	}
	c.coded++
	s := c.bins.Symbol(v)
	if code := c.codes.code(s); code >= 0 {
		c.bits.write(uint32(code)<<1, c.codes.width+1)
		return c.bins.Value(s)
	}
	c.bits.write(1, 1)
	c.kept, c.bytes = c.kept+1, wire.AppendVarint(c.bytes, v)
	return v
}

func (e *histEncoder) AppendBlock(dst []byte) []byte {
	dst = wire.AppendUvarint(dst, uint64(e.values))
	dst = wire.AppendUvarint(dst, uint64(len(e.order)))
	for _, c := range e.order {
		dst = wire.AppendUvarint(dst, uint64(c.raw))
		dst = wire.AppendUvarint(dst, uint64(c.coded))
		if c.coded > 0 {
			dst = wire.AppendUvarint(dst, uint64(c.kept-c.raw))
			dst = c.codes.appendTable(dst, e.codec.bits)
			dst = append(dst, c.bits.finish()...)
		}
		dst = wire.AppendUvarint(dst, uint64(len(c.bytes)))
		dst = append(dst, c.bytes...)
		c.raw, c.coded, c.kept, c.bytes = 0, 0, 0, c.bytes[:0]
	}
	e.values, e.order = 0, e.order[:0]
	return dst
}

// leastSamplesSaving is the part of what the samples take that another phase than the first has to save. With none,
// values after the samples take up to 3 % more.
const leastSamplesSaving = 8

// codes returns the bins in which samples of a signature take the fewest bits, and their codes. It sorts the samples.
func (c *histCodec) codes(samples []int64) (*bins.Bins, histCodes) {
	slices.Sort(samples)
	var few [64]histRun
	best, least := 0, 0
	for phase := 0; phase < bins.Phases && c.phased(); phase++ {
		switch cost := costOfRuns(appendHistRuns(few[:0], samples, c.phases[phase]()), c.bits); {
		case phase == 0:
			least = cost - cost/leastSamplesSaving
		case cost < least:
			best, least = phase, cost
		}
	}
	b := c.phases[best]()
	codes := newHistCodes(appendHistRuns(few[:0], samples, b), c.bits)
	codes.phase = best
	return b, codes
}

// A histRun is the samples of a symbol.
type histRun struct {
	symbol int32
	length int // samples
	kept   int // the bytes that they take as they are
}

// appendHistRuns appends the runs of sorted samples in bins: the most frequent symbols first, and of equally frequent
// ones the lowest.
func appendHistRuns(dst []histRun, samples []int64, b *bins.Bins) []histRun {
	var kept [binary.MaxVarintLen64]byte
	for _, v := range samples {
		s := b.Symbol(v)
		if len(dst) == 0 || dst[len(dst)-1].symbol != s {
			dst = append(dst, histRun{symbol: s})
		}
		r := &dst[len(dst)-1]
		r.length, r.kept = r.length+1, r.kept+len(wire.AppendVarint(kept[:0], v))
	}
	slices.SortStableFunc(dst, func(a, b histRun) int { return cmp.Compare(b.length, a.length) })
	return dst
}

// costOfRuns returns how many bits samples take of which the first 1<<most symbols have codes, and the table, with
// eight bits for each of these.
func costOfRuns(runs []histRun, most int) int {
	n := min(len(runs), 1<<most)
	cost, width := 8*n, codeWidth(n)
	for _, r := range runs[:n] {
		cost += r.length * (1 + width)
	}
	for _, r := range runs[n:] {
		cost += r.length + 8*r.kept
	}
	return cost
}

// histCodes are the codes of the most frequent symbols.
type histCodes struct {
	phase int         // of the bins
	table []int32     // symbols by code, ascending
	width int         // of a code
	hash  []histEntry // the length is a power of two, at least twice that of table
	shift int         // of a symbol's product to its place
}

// A histEntry is a symbol and its code plus one; 0 for no symbol.
type histEntry struct{ symbol, next int32 }

// newHistCodes returns codes for the first 1<<most symbols of runs.
func newHistCodes(runs []histRun, most int) histCodes {
	var c histCodes
	for _, r := range runs[:min(len(runs), 1<<most)] {
		c.table = append(c.table, r.symbol)
	}
	slices.Sort(c.table)
	c.width = codeWidth(len(c.table))
	size := bits.Len(uint(len(c.table))) + 2
	c.shift = 32 - size
	c.hash = make([]histEntry, 1<<size)
	for code, s := range c.table {
		i := c.place(s)
		for c.hash[i].next != 0 {
			i = (i + 1) & (len(c.hash) - 1)
		}
		c.hash[i] = histEntry{s, int32(code + 1)}
	}
	return c
}

// codeWidth returns the bits of a code where there are n.
func codeWidth(n int) int { return bits.Len(uint(max(n, 1) - 1)) }

func (c *histCodes) place(s int32) int { return int(uint32(s) * 0x9e3779b1 >> c.shift) }

// code returns the code of s, or −1.
func (c *histCodes) code(s int32) int32 {
	for i := c.place(s); ; i = (i + 1) & (len(c.hash) - 1) {
		if e := c.hash[i]; e.symbol == s || e.next == 0 {
			return e.next - 1
		}
	}
}

// appendTable appends the number of codes, at most 1<<most, with the phase, the first
// symbol, and of each other one its distance from the one before, less one.
func (c *histCodes) appendTable(dst []byte, most int) []byte {
	dst = wire.AppendUvarint(dst, uint64(c.phase*(1<<most+1)+len(c.table)))
	for i, s := range c.table {
		if i == 0 {
			dst = wire.AppendVarint(dst, int64(s))
		} else {
			dst = wire.AppendUvarint(dst, uint64(s-c.table[i-1]-1))
		}
	}
	return dst
}

// A bitWriter packs bits from the least significant of each byte on.
type bitWriter struct {
	bytes   []byte
	pending uint64
	have    int // bits of pending, fewer than 32
}

// write adds the n ≤ 32 bits of v.
func (w *bitWriter) write(v uint32, n int) {
	w.pending |= uint64(v) << w.have
	if w.have += n; w.have >= 32 {
		w.bytes = wire.AppendUint32(w.bytes, uint32(w.pending))
		w.pending >>= 32
		w.have -= 32
	}
}

// finish returns all bits, in bytes, and leaves w empty. The bytes are valid
// until the next write.
func (w *bitWriter) finish() []byte {
	for ; w.have > 0; w.have -= 8 {
		w.bytes = append(w.bytes, byte(w.pending))
		w.pending >>= 8
	}
	all := w.bytes
	w.bytes, w.pending, w.have = w.bytes[:0], 0, 0
	return all
}

// NewDecoder returns a Decoder of a block.
func (c *histCodec) NewDecoder(block []byte, o Options) (Decoder, error) {
	w := wire.NewDecoder("timing", block)
	values := decodeCount(&w, o)
	at := w.Offset()
	d := &histDecoder{block: block, values: values, clusters: make([]histReader, w.Count("clusters", 4))}
	total := 0
	for i := range d.clusters {
		c.decodeCluster(&w, block, &d.clusters[i], values-total)
		if w.Err() != nil {
			return nil, w.Err()
		}
		total += d.clusters[i].raw + d.clusters[i].coded
	}
	if total != values {
		w.Corrupt(at, "clusters", "%d values in them, %d in the block", total, values)
	}
	w.End("clusters")
	if err := w.Err(); err != nil {
		return nil, err
	}
	return d, nil
}

// A histReader is a cluster that is being decoded.
type histReader struct {
	raw    int          // samples that are left
	coded  int          // values after them that are left
	width  int          // of a code
	table  []int64      // by code
	bit    int          // of the block: the next code
	bitEnd int          // and the end of the last
	kept   wire.Decoder // at the next value that was kept
}

// decodeCluster reads a cluster, which has from 1 to most values.
func (c *histCodec) decodeCluster(w *wire.Decoder, block []byte, r *histReader, most int) {
	at := w.Offset()
	r.raw = int(w.UvarintMax("samples", uint64(most)))
	r.coded = int(w.UvarintMax("coded", uint64(most-r.raw)))
	if w.Err() == nil && r.raw+r.coded == 0 {
		w.Corrupt(at, "samples", "no values in a cluster")
	}
	kept := r.raw
	if r.coded > 0 {
		escapes := int(w.UvarintMax("escapes", uint64(r.coded)))
		kept += escapes
		c.decodeTable(w, r)
		if w.Err() == nil && len(r.table) == 0 && escapes < r.coded {
			w.Corrupt(at, "table", "no codes for %d of %d values", r.coded-escapes, r.coded)
		}
		r.width = codeWidth(len(r.table))
		r.bit = w.Offset() * 8
		used := r.coded + (r.coded-escapes)*r.width
		r.bitEnd = r.bit + used
		if codes := w.Bytes("codes", (used+7)/8); used&7 > 0 && w.Err() == nil && codes[used>>3]>>(used&7) != 0 {
			w.Corrupt(w.Offset()-1, "codes", "bits after the last one")
		}
	}
	size := w.Count("kept", 1)
	start := w.Offset()
	w.Bytes("kept", size)
	if w.Err() == nil && size < kept {
		w.Corrupt(at, "kept", "%d values in %d bytes", kept, size)
	}
	if w.Err() == nil {
		r.kept = wire.NewDecoder("timing", block[:start+size])
		r.kept.Bytes("kept", start)
	}
}

// decodeTable reads the symbols that have codes.
func (c *histCodec) decodeTable(w *wire.Decoder, r *histReader) {
	at := w.Offset()
	size := uint64(1<<c.bits + 1)
	head := w.Uvarint("table")
	n, phase := head%size, head/size
	if n > uint64(w.Rest()) || phase >= bins.Phases || phase > 0 && !c.phased() {
		w.Corrupt(at, "table", "%d codes of %d bits in %d bytes, of bins in phase %d", n, c.bits, w.Rest(), phase)
		return
	}
	b := c.phases[phase]()
	r.table = make([]int64, n)
	symbol := int64(0)
	for i := range r.table {
		at = w.Offset()
		if i == 0 {
			symbol = w.Varint("table")
		} else {
			symbol += 1 + int64(w.UvarintMax("table", math.MaxInt32))
		}
		if limit := int64(b.Max()); symbol < -limit || symbol > limit {
			w.Corrupt(at, "table", "symbol %d of %d", symbol, limit)
			return
		}
		r.table[i] = b.Value(int32(symbol))
	}
}

type histDecoder struct {
	block    []byte
	values   int // in the block
	clusters []histReader
	order    terminalIndex // of signatures, by first use in the block
	err      error
}

func (d *histDecoder) Decode(dst []int64, terminals []uint32) error {
	checkTerminals(len(dst), terminals)
	for i := range dst {
		if d.err != nil {
			return d.err
		}
		k := d.order.number(terminals[i])
		if k >= len(d.clusters) {
			d.err = endOfBlock(len(d.block))
			return d.err
		}
		dst[i] = d.next(&d.clusters[k])
	}
	return d.err
}

func (d *histDecoder) Len() int { return d.values }

// next returns the next value of a cluster, and sets d.err if that fails.
func (d *histDecoder) next(r *histReader) int64 {
	var v int64
	switch {
	case r.raw > 0:
		r.raw--
		v = r.kept.Varint("kept")
	case r.coded > 0:
		r.coded--
		code := loadBits(d.block, r.bit)
		r.bit++
		if code&1 != 0 {
			v = r.kept.Varint("kept")
			break
		}
		r.bit += r.width
		if code = code >> 1 & (1<<r.width - 1); code >= uint64(len(r.table)) {
			r.kept.Corrupt(r.bit/8, "codes", "code %d of %d", code, len(r.table))
			break
		}
		v = r.table[code]
	default:
		d.err = endOfBlock(len(d.block))
		return v
	}
	if r.raw+r.coded == 0 || r.bit > r.bitEnd {
		r.kept.End("kept")
		if r.bit != r.bitEnd {
			r.kept.Corrupt(r.bitEnd/8, "codes", "of %d bits more", r.bit-r.bitEnd)
		}
	}
	if err := r.kept.Err(); err != nil {
		d.err = err
	}
	return v
}

// loadBits returns at least 32 bits of data, from a bit on, where zeros follow
// the last.
func loadBits(data []byte, bit int) uint64 {
	at := bit >> 3
	if at+8 <= len(data) {
		return binary.LittleEndian.Uint64(data[at:]) >> (bit & 7)
	}
	var tail [8]byte
	copy(tail[:], data[min(at, len(data)):])
	return binary.LittleEndian.Uint64(tail[:]) >> (bit & 7)
}
