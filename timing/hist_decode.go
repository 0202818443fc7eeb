package timing

import (
	"encoding/binary"
	"math"

	"github.com/reprise-trace/reprise/internal/wire"
)

// NewDecoder returns a Decoder of a block.
func (c *HIST) NewDecoder(block []byte, o Options) (Decoder, error) {
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
func (c *HIST) decodeCluster(w *wire.Decoder, block []byte, r *histReader, most int) {
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
func (c *HIST) decodeTable(w *wire.Decoder, r *histReader) {
	at := w.Offset()
	n := w.Count("table", 1)
	if n > 1<<c.bits {
		w.Corrupt(at, "table", "%d codes of %d bits", n, c.bits)
		return
	}
	r.table = make([]int64, n)
	symbol := int64(0)
	for i := range r.table {
		at = w.Offset()
		if i == 0 {
			symbol = w.Varint("table")
		} else {
			symbol += 1 + int64(w.UvarintMax("table", math.MaxInt32))
		}
		if limit := int64(c.bins.Max()); symbol < -limit || symbol > limit {
			w.Corrupt(at, "table", "symbol %d of %d", symbol, limit)
			return
		}
		r.table[i] = c.bins.Value(int32(symbol))
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
