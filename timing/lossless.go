package timing

import (
	"bytes"
	"math/bits"

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

// Lossless is the codec that keeps every bit. It clusters the values of a
// signature, divides them by the resolution of the clock if they show one,
// subtracts the least of the cluster, and compresses the bytes of each
// significance apart.
type Lossless struct{ compressor Compressor }

// NewLossless returns a codec with a compressor.
func NewLossless(c Compressor) *Lossless { return &Lossless{c} }

// Name returns "lossless" and the compressor.
func (c *Lossless) Name() string { return "lossless,compressor=" + c.compressor.String() }

// Guarantee returns [Exact].
func (c *Lossless) Guarantee() Guarantee { return Exact }

// NewEncoder returns an Encoder of a column. It holds some 30 bytes for each
// value of a block.
func (c *Lossless) NewEncoder() Encoder { return &losslessEncoder{compressor: c.compressor} }

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
