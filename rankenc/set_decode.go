package rankenc

import (
	"bytes"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/reprise-trace/reprise/internal/wire"
)

// ParseSet decodes a set that fills data. It does not retain data. An error
// from ParseSet is a [*ParseError].
func ParseSet(data []byte) (Set, error) {
	d := wire.NewDecoder(pkg, data)
	s := DecodeSet(&d)
	d.End("set")
	if d.Err() != nil {
		return Set{}, d.Err()
	}
	return s, nil
}

// DecodeSet reads a set. It is for packages of this module that embed one in an
// encoding of their own. If it fails, d has an error and the set is empty.
func DecodeSet(d *wire.Decoder) Set {
	at := d.Offset()
	header := d.Uvarint("set")
	if d.Err() != nil {
		return Set{}
	}
	var s Set
	if header&1 != 0 {
		s = decodeBitmap(d, at, header>>1)
	} else {
		s = decodeItems(d, at, header>>1)
	}
	if d.Err() != nil {
		return Set{}
	}
	return s
}

func decodeItems(d *wire.Decoder, at int, count uint64) Set {
	if count > uint64(d.Rest()/2) {
		d.Corrupt(at, "set", "%d items in %d bytes", count, d.Rest())
		return Set{}
	}
	items := make([]item, 0, count)
	for least := uint64(0); uint64(len(items)) < count; {
		from := d.Offset()
		it := decodeItem(d, least)
		switch n := len(items); {
		case d.Err() != nil:
			return Set{}
		case !it.canonical(), n > 0 && !items[n-1].canonicalBefore(it, maxDepth):
			d.Corrupt(from, "item", "%v is not how its ranks are nested", &it)
			return Set{}
		}
		least = it.last() + 2
		items = append(items, it)
	}
	s := newSet(items)
	if s.bitmap != nil {
		d.Corrupt(at, "set", "%d items are larger than a bitmap", count)
	}
	return s
}

// decodeItem reads an item that starts at least or later.
func decodeItem(d *wire.Decoder, least uint64) item {
	at := d.Offset()
	start := d.UvarintMax("item", MaxRank<<2|3)
	it := item{depth: int(start & 3)}
	last := least + start>>2
	if last > MaxRank {
		d.Corrupt(at, "item", "starts at rank %d", last)
		return it
	}
	it.start = uint32(last)
	field := func(name string, least uint64) uint32 {
		return uint32(least + d.UvarintMax(name, MaxRank))
	}
	it.length = field("length", 1)
	last += uint64(it.length - 1)
	for k := range it.dims[:it.depth] {
		at := d.Offset()
		stride := last - uint64(it.start) + 2 + d.UvarintMax("stride", MaxRank)
		it.dims[k] = dim{uint32(stride), field("count", 2)}
		if last > MaxRank || stride > MaxRank {
			d.Corrupt(at, "stride", "%d after rank %d", stride, last)
			return item{length: 1}
		}
		last += stride * uint64(it.dims[k].count-1)
	}
	if last > MaxRank {
		d.Corrupt(at, "item", "ends at rank %d", last)
		return item{length: 1}
	}
	return it
}

// decodeBitmap reads size bytes of a bitmap. What it returns was built here, not
// by the bitmap package from the input: that accepts more than it writes.
func decodeBitmap(d *wire.Decoder, at int, size uint64) Set {
	if size > uint64(d.Rest()) {
		d.Corrupt(at, "bitmap", "%d bytes of %d", size, d.Rest())
		return Set{}
	}
	from := d.Offset()
	data := d.Bytes("bitmap", int(size))
	in := roaring.New()
	n, err := in.ReadFrom(bytes.NewReader(data))
	if err == nil {
		err = in.Validate()
	}
	if err != nil || n != int64(size) || in.IsEmpty() || in.Maximum() > MaxRank {
		d.Corrupt(from, "bitmap", "%d bytes, %d of them read: %v", size, n, err)
		return Set{}
	}
	s := setOfBitmap(in)
	if s.bitmap == nil || !bytes.Equal(appendBitmap(nil, s.bitmap), d.Since(at)) {
		d.Corrupt(from, "bitmap", "not the smallest encoding of its ranks")
		return Set{}
	}
	return s
}
