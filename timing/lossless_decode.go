package timing

import (
	"fmt"

	"github.com/reprise-trace/reprise/internal/wire"
)

// NewDecoder returns a Decoder of a block, which it decodes whole. It holds 8
// bytes for each value.
func (c *Lossless) NewDecoder(block []byte, o Options) (Decoder, error) {
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
			r.numbers = append(r.numbers, make([]int64, n)...)
		}
		for i, b := range r.scratch {
			r.numbers[first+i] |= int64(uint64(b) << (8 * p))
		}
	}
	if planes == 0 {
		r.numbers = append(r.numbers, make([]int64, n)...)
	}
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
