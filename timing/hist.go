package timing

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
)

// HISTOptions configures [NewHIST]. The zero HISTOptions is the default
// configuration.
type HISTOptions struct {
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

// HIST is the codec of that name of Wang, Guo, Balaji and Snir, "Near-Lossless
// MPI Tracing and Proxy Application Autogeneration", TPDS 34(1), 2023, §2.3.2.
// The values of a signature are clustered. The first of them are kept as they
// are, and the bins that were most frequent among these get codes of one bit more
// than their number needs. Of other values that bit alone is written, and the
// value as it is.
//
// It departs from the paper in that the table of codes is written, once for
// each block that uses it, codes are shorter where the samples have few
// bins, and values that are kept take as many bytes as they need.
type HIST struct {
	bins    *Bins
	samples int
	bits    int
}

// NewHIST returns a codec with such options.
func NewHIST(o HISTOptions) (*HIST, error) {
	o.Epsilon, o.Samples, o.Bits = cmp.Or(o.Epsilon, 0.1), cmp.Or(o.Samples, 100), cmp.Or(o.Bits, 5)
	if o.Samples < 1 || o.Samples > 1<<16 {
		return nil, fmt.Errorf("timing: %d samples are not from 1 to %d", o.Samples, 1<<16)
	}
	if o.Bits < 1 || o.Bits > 12 {
		return nil, fmt.Errorf("timing: %d bits of a code are not from 1 to 12", o.Bits)
	}
	b, err := NewBins(o.Epsilon)
	if err != nil {
		return nil, err
	}
	return &HIST{b, o.Samples, o.Bits}, nil
}

// Name returns "hist" and the options.
func (c *HIST) Name() string {
	return fmt.Sprintf("hist,epsilon=%g,samples=%d,bits=%d", c.bins.Epsilon(), c.samples, c.bits)
}

// Guarantee returns the relative error.
func (c *HIST) Guarantee() Guarantee { return Guarantee(c.bins.Epsilon()) }

// NewEncoder returns an Encoder of a column.
func (c *HIST) NewEncoder() Encoder { return &histEncoder{codec: c} }

type histEncoder struct {
	codec      *HIST
	signatures terminalIndex
	clusters   []*histCluster // by number of the signature
	order      []*histCluster // those with values in the block, by first use
	values     int            // in the block
}

// A histCluster is what an encoder keeps of a signature.
type histCluster struct {
	samples []int32 // symbols, while there are not enough
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
		e.clusters = append(e.clusters, &histCluster{samples: make([]int32, 0, 16)})
	}
	c := e.clusters[i]
	if c.raw+c.coded == 0 {
		e.order = append(e.order, c)
	}
	e.values++
	s := e.codec.bins.Symbol(v)
	if c.samples != nil {
		c.raw++
		c.kept, c.bytes = c.kept+1, wire.AppendVarint(c.bytes, v)
		c.samples = append(c.samples, s)
		if len(c.samples) == e.codec.samples {
			c.codes = newHistCodes(c.samples, e.codec.bits)
			c.samples = nil
		}
		return v
	}
	c.coded++
	if code := c.codes.code(s); code >= 0 {
		c.bits.write(uint32(code)<<1, c.codes.width+1)
		return e.codec.bins.Value(s)
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
			dst = c.codes.appendTable(dst)
			dst = append(dst, c.bits.finish()...)
		}
		dst = wire.AppendUvarint(dst, uint64(len(c.bytes)))
		dst = append(dst, c.bytes...)
		c.raw, c.coded, c.kept, c.bytes = 0, 0, 0, c.bytes[:0]
	}
	e.values, e.order = 0, e.order[:0]
	return dst
}

// histCodes are the codes of the most frequent symbols.
type histCodes struct {
	table []int32     // symbols by code, ascending
	width int         // of a code
	hash  []histEntry // the length is a power of two, at least twice that of table
	shift int         // of a symbol's product to its place
}

// A histEntry is a symbol and its code plus one; 0 for no symbol.
type histEntry struct{ symbol, next int32 }

// newHistCodes returns codes for the 1<<most most frequent symbols of samples.
// Of equally frequent ones it takes the lowest.
func newHistCodes(samples []int32, most int) histCodes {
	slices.Sort(samples)
	type run struct{ symbol, length int32 }
	var runs []run
	for _, s := range samples {
		if n := len(runs); n > 0 && runs[n-1].symbol == s {
			runs[n-1].length++
		} else {
			runs = append(runs, run{s, 1})
		}
	}
	slices.SortStableFunc(runs, func(a, b run) int { return cmp.Compare(b.length, a.length) })
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

// appendTable appends the number of codes, the first symbol, and of each other
// one its distance from the one before, less one.
func (c *histCodes) appendTable(dst []byte) []byte {
	dst = wire.AppendUvarint(dst, uint64(len(c.table)))
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
