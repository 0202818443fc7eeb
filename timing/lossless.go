package timing

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
)

// chunkLen is the least number of values, of whole clusters, whose bytes are
// compressed together. Fewer do not pay for a table of codes of their own.
const chunkLen = 1 << 12

// shortBlock is the largest number of values of a block that is also encoded as
// one cluster, to see whether clusters pay.
const shortBlock = 1 << 10

// varintPlanes stands for the number of bytes of numbers that are not written
// byte by byte but as integers.
const varintPlanes = 9

// A losslessCodec is that of NewLossless.
type losslessCodec struct{ compressor Compressor }

// NewLossless returns the codec that keeps every bit. It clusters the values of a
// signature, divides them by the resolution of the clock if they show one,
// subtracts the least of the cluster, and compresses the bytes of each
// significance apart. The error is that there is no such compressor.
func NewLossless(c Compressor) (Codec, error) {
	if c > LZ4 {
		return nil, fmt.Errorf("timing: there is no compressor %d", c)
	}
	return &losslessCodec{c}, nil
}

// Name returns "lossless" and the compressor.
func (c *losslessCodec) Name() string { return "lossless,compressor=" + c.compressor.String() }

// Guarantee returns [Exact].
func (c *losslessCodec) Guarantee() Guarantee { return Exact }

// NewEncoder returns an Encoder of a column. It holds some 30 bytes for each
// value of a block.
func (c *losslessCodec) NewEncoder() Encoder { return &losslessEncoder{compressor: c.compressor} }

type losslessEncoder struct {
	compressor Compressor
	terminals  terminalIndex
	sizes      []int // of the clusters, by number of the terminal
	values     []int64
	clusters   []int32 // of the values

	numbers    []int64 // what values are made of, cluster after cluster
	flags      [8]bitWriter
	exceptions []byte
	scratch    []byte
}

func (e *losslessEncoder) Append(terminal uint32, v int64) int64 {
	k := e.terminals.number(terminal)
	if k == len(e.sizes) {
		e.sizes = append(e.sizes, 0)
	}
	e.sizes[k]++
	e.values = append(e.values, v)
	e.clusters = append(e.clusters, int32(k))
	return v
}

func (e *losslessEncoder) AppendBlock(dst []byte) []byte {
	dst = wire.AppendUvarint(dst, uint64(len(e.values)))
	if len(e.values) > 0 {
		base := len(dst)
		dst = e.appendClusters(dst)
		if len(e.values) <= shortBlock && len(e.sizes) > 1 {
			clustered := bytes.Clone(dst[base:])
			e.sizes = append(e.sizes[:0], len(e.values))
			clear(e.clusters)
			if dst = e.appendClusters(dst[:base]); len(dst)-base >= len(clustered) {
				dst = append(dst[:base], clustered...)
			}
		}
	}
	e.terminals.reset()
	e.sizes, e.values, e.clusters = e.sizes[:0], e.values[:0], e.clusters[:0]
	return dst
}

func (e *losslessEncoder) appendClusters(dst []byte) []byte {
	e.sort()
	t := findResolution(e.numbers)
	dst = wire.AppendUvarint(dst, uint64(t))
	if t > 0 {
		e.divide(t)
	}
	dst = e.appendSizes(dst)
	dst = e.appendLeast(dst)
	first := 0
	for n := range chunks(e.sizes) {
		dst = e.appendPlanes(dst, e.numbers[first:first+n])
		first += n
	}
	if t > 0 {
		for i := range e.flags {
			dst = e.compressor.append(dst, e.flags[i].finish())
		}
		dst = e.compressor.appendCounted(dst, e.exceptions)
	}
	return dst
}

// sort sets e.numbers to those of the values, clusters one after the other.
func (e *losslessEncoder) sort() {
	next := make([]int, len(e.sizes)) // place of the next value of a cluster
	for k := range next[1:] {
		next[k+1] = next[k] + e.sizes[k]
	}
	e.numbers = append(e.numbers[:0], make([]int64, len(e.values))...)
	for i, v := range e.values {
		k := e.clusters[i]
		e.numbers[next[k]] = v
		next[k]++
	}
}

// divide divides e.numbers by a resolution. What is left of each, 0 or 1, goes
// to the flags with the same eighth after the point, which tells how probable 1
// is, and what is more to the exceptions.
func (e *losslessEncoder) divide(t resolution) {
	e.exceptions = e.exceptions[:0]
	last := -1
	for i, n := range e.numbers {
		k, rest, eighths := t.split(n)
		e.numbers[i] = k
		e.flags[eighths].write(uint32(min(rest, 1)), 1)
		if rest > 1 {
			e.exceptions = wire.AppendUvarint(e.exceptions, uint64(i-last-1))
			e.exceptions = wire.AppendUvarint(e.exceptions, rest-2)
			last = i
		}
	}
}

// appendSizes appends the number of clusters, and the number of values of each,
// less one, if there are several.
func (e *losslessEncoder) appendSizes(dst []byte) []byte {
	dst = wire.AppendUvarint(dst, uint64(len(e.sizes)))
	if len(e.sizes) == 1 {
		return dst
	}
	e.scratch = e.scratch[:0]
	for _, n := range e.sizes {
		e.scratch = wire.AppendUvarint(e.scratch, uint64(n-1))
	}
	return e.compressor.appendCounted(dst, e.scratch)
}

// appendLeast appends the least number of each cluster, and subtracts it.
func (e *losslessEncoder) appendLeast(dst []byte) []byte {
	e.scratch = e.scratch[:0]
	rest := e.numbers
	for _, n := range e.sizes {
		least := rest[0]
		for _, v := range rest[:n] {
			least = min(least, v)
		}
		for i := range rest[:n] {
			rest[i] -= least
		}
		e.scratch = wire.AppendVarint(e.scratch, least)
		rest = rest[n:]
	}
	return e.compressor.appendCounted(dst, e.scratch)
}

// chunks returns an iterator over the lengths of chunks: as many clusters as
// have chunkLen values.
func chunks(sizes []int) func(yield func(n int) bool) {
	return func(yield func(int) bool) {
		n := 0
		for i, size := range sizes {
			if n += size; n >= chunkLen || i == len(sizes)-1 {
				if !yield(n) {
					return
				}
				n = 0
			}
		}
	}
}

// appendPlanes appends the number of bytes that the largest number needs, and
// then the bytes of all numbers, the least significant first, or, if few numbers
// take less so, their integers.
func (e *losslessEncoder) appendPlanes(dst []byte, numbers []int64) []byte {
	base := len(dst)
	all := uint64(0)
	for _, n := range numbers {
		all |= uint64(n)
	}
	planes := (bits.Len64(all) + 7) / 8
	dst = append(dst, byte(planes))
	for p := range planes {
		e.scratch = e.scratch[:0]
		for _, n := range numbers {
			e.scratch = append(e.scratch, byte(uint64(n)>>(8*p)))
		}
		dst = e.compressor.append(dst, e.scratch)
	}
	if len(numbers) > shortBlock || planes <= 1 {
		return dst
	}
	e.scratch = e.scratch[:0]
	for _, n := range numbers {
		e.scratch = wire.AppendUvarint(e.scratch, uint64(n))
	}
	if integers := e.compressor.appendCounted([]byte{varintPlanes}, e.scratch); len(integers) < len(dst)-base {
		dst = append(dst[:base], integers...)
	}
	return dst
}

// NewDecoder returns a Decoder of a block, which it decodes whole. It holds 8
// bytes for each value.
func (c *losslessCodec) NewDecoder(block []byte, o Options) (Decoder, error) {
	w := wire.NewDecoder("timing", block)
	r := losslessReader{wire: &w, compressor: c.compressor}
	d := &losslessDecoder{size: len(block)}
	if d.values = decodeCount(&w, o); d.values > 0 {
		d.rest = r.decodeClusters(d.values)
	}
	w.End("values")
	if err := w.Err(); err != nil {
		return nil, err
	}
	return d, nil
}

type losslessDecoder struct {
	values    int // in the block
	terminals terminalIndex
	rest      [][]int64 // numbers of each cluster that are left
	size      int       // of the block
}

func (d *losslessDecoder) Decode(dst []int64, terminals []uint32) error {
	checkTerminals(len(dst), terminals)
	for i := range dst {
		k := 0
		if len(d.rest) != 1 {
			k = d.terminals.number(terminals[i])
		}
		if k >= len(d.rest) || len(d.rest[k]) == 0 {
			return endOfBlock(d.size)
		}
		dst[i] = d.rest[k][0]
		d.rest[k] = d.rest[k][1:]
	}
	return nil
}

func (d *losslessDecoder) Len() int { return d.values }

// A losslessReader decodes the clusters of a block.
type losslessReader struct {
	wire       *wire.Decoder
	compressor Compressor
	sizes      []int // of the clusters
	numbers    []int64
	scratch    []byte
}

func (r *losslessReader) decodeClusters(values int) [][]int64 {
	at := r.wire.Offset()
	t := resolution(r.wire.UvarintMax("resolution", uint64(maxResolution)))
	if t > 0 && t < 1<<32 {
		r.wire.Corrupt(at, "resolution", "%d·2⁻³²", t)
	}
	clusters := int(r.wire.UvarintMax("clusters", uint64(values)))
	if r.sizes = []int{values}; clusters != 1 {
		r.decodeSizes(clusters, values)
	}
	least := r.decodeIntegers("least", clusters, (*wire.Decoder).Varint)
	if r.wire.Err() != nil {
		return nil
	}
	for n := range chunks(r.sizes) {
		r.decodePlanes(n)
		if r.wire.Err() != nil {
			return nil
		}
	}
	rest := make([][]int64, clusters)
	all := r.numbers
	for k, n := range r.sizes {
		rest[k], all = all[:n:n], all[n:]
		for i := range rest[k] {
			rest[k][i] += least[k]
		}
	}
	if t > 0 {
		r.multiply(t)
	}
	return rest
}

// decodeSizes reads the sizes of clusters that have some values in all.
func (r *losslessReader) decodeSizes(clusters, values int) {
	at := r.wire.Offset()
	total := uint64(0)
	r.sizes = r.sizes[:0]
	for _, n := range r.decodeIntegers("sizes", clusters, decodeUnsigned) {
		total = wire.AddSat(total, wire.AddSat(uint64(n), 1))
		r.sizes = append(r.sizes, int(n)+1)
	}
	if r.wire.Err() == nil && total != uint64(values) {
		r.wire.Corrupt(at, "sizes", "%d values in clusters, %d in the block", total, values)
	}
}

// decodeUnsigned reads an unsigned integer.
func decodeUnsigned(d *wire.Decoder, field string) int64 { return int64(d.Uvarint(field)) }

// decodeIntegers reads a compressed list of n integers.
func (r *losslessReader) decodeIntegers(field string, n int, decode func(*wire.Decoder, string) int64) []int64 {
	at := r.wire.Offset()
	data := r.compressor.decodeCounted(r.wire, field, 10*n)
	if r.wire.Err() != nil {
		return nil
	}
	d := wire.NewDecoder("timing", data)
	list := make([]int64, 0, min(n, len(data)))
	for len(list) < n && d.Err() == nil {
		list = append(list, decode(&d, field))
	}
	d.End(field)
	if err := d.Err(); err != nil {
		r.wire.Fail(at, field, fmt.Errorf("%w: %v", ErrCorrupt, err))
		return nil
	}
	return list
}

// decodePlanes reads the next n numbers.
func (r *losslessReader) decodePlanes(n int) {
	at := r.wire.Offset()
	planes := int(r.wire.Byte("planes"))
	if planes == varintPlanes {
		r.numbers = append(r.numbers, r.decodeIntegers("numbers", n, decodeUnsigned)...)
		return
	}
	if planes > 8 {
		r.wire.Corrupt(at, "planes", "%d bytes of a number", planes)
	}
	first := len(r.numbers)
	for p := range planes {
		r.scratch = r.compressor.decode(r.wire, "plane", r.scratch[:0], n)
		if r.wire.Err() != nil {
			return
		}
		if p == 0 {
			r.grow(n)
		}
		for i, b := range r.scratch {
			r.numbers[first+i] |= int64(uint64(b) << (8 * p))
		}
	}
	if planes == 0 {
		r.grow(n)
	}
}

// grow adds n numbers, which are 0. If it has to copy those there are, it does so for twice as many.
func (r *losslessReader) grow(n int) {
	first := len(r.numbers)
	if first+n > cap(r.numbers) {
		r.numbers = slices.Grow(r.numbers, max(n, first))
	}
	r.numbers = r.numbers[:first+n]
	clear(r.numbers[first:])
}

// multiply undoes the division by a resolution.
func (r *losslessReader) multiply(t resolution) {
	var counts [8]int
	for _, k := range r.numbers {
		_, eighths := t.at(k)
		counts[eighths]++
	}
	var flags [8][]byte
	for i, n := range counts {
		at := r.wire.Offset()
		flags[i] = r.compressor.decode(r.wire, "flags", nil, (n+7)/8)
		if r.wire.Err() == nil && n&7 > 0 && flags[i][n>>3]>>(n&7) != 0 {
			r.wire.Corrupt(at, "flags", "bits after the last one")
		}
	}
	at := r.wire.Offset()
	exceptions := wire.NewDecoder("timing", r.compressor.decodeCounted(r.wire, "exceptions", 20*len(r.numbers)))
	if r.wire.Err() != nil {
		return
	}
	next := nextException(&exceptions, -1)
	var used [8]int
	for i, k := range r.numbers {
		v, eighths := t.at(k)
		bit := used[eighths]
		used[eighths]++
		v += int64(flags[eighths][bit>>3] >> (bit & 7) & 1)
		if uint64(i) == next {
			v += 1 + int64(exceptions.Uvarint("rest"))
			next = nextException(&exceptions, i)
		}
		r.numbers[i] = v
	}
	exceptions.End("exceptions")
	if err := exceptions.Err(); err != nil {
		r.wire.Fail(at, "exceptions", fmt.Errorf("%w: %v", ErrCorrupt, err))
	}
}

// nextException returns the number that the next exception is for, after one
// that the last was for, or that of none.
func nextException(d *wire.Decoder, last int) uint64 {
	if d.Rest() == 0 || d.Err() != nil {
		return 1<<64 - 1
	}
	return wire.AddSat(uint64(last+1), d.Uvarint("number"))
}
