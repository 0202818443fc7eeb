package merge

import (
	"math"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// append appends what the section of the signatures has of streams, and returns
// the contents of the sections of streams, too.
func (x *streams) append(dst []byte, functions []cst.Function) ([]byte, [][]byte) {
	numbers := make([]map[int64]uint64, len(x.arguments))
	dst = wire.AppendUvarint(dst, uint64(len(x.arguments)))
	for i, e := range x.arguments {
		numbers[i] = make(map[int64]uint64)
		dst = wire.AppendUvarint(dst, uint64(e.function))
		dst = wire.AppendUvarint(dst, uint64(e.slot))
		dst = wire.AppendUvarint(dst, uint64(len(x.values[i])))
		kind := scalarKinds(functions[e.function])[e.slot]
		for n, v := range x.values[i] {
			numbers[i][v] = uint64(n)
			dst = appendValue(dst, v, kind)
		}
	}
	dst = wire.AppendUvarint(dst, uint64(len(x.list)))
	items := make([][]byte, len(x.list))
	for i, s := range x.list {
		items[i] = s.append(nil, numbers[s.argument])
		dst = wire.AppendUvarint(dst, uint64(s.argument))
		dst = wire.AppendUvarint(dst, uint64(len(items[i])))
	}
	return dst, pack(items)
}

// append appends the encoding of s, of values that have numbers.
func (s stream) append(dst []byte, numbers map[int64]uint64) []byte {
	var (
		b   sequitur.Builder
		ids []byte
	)
	for _, v := range s.values {
		b.Append(sequitur.Symbol(numbers[v]))
		ids = wire.AppendUvarint(ids, numbers[v])
	}
	if enc, _ := b.Finish().AppendBinary(nil); 2*len(enc) < len(ids) {
		return append(append(dst, streamGrammar), enc...)
	}
	return append(append(dst, streamNumbers), ids...)
}

// appendValue appends a value of an elastic argument. Of floats, integers are
// short.
func appendValue(dst []byte, v int64, kind slot) []byte {
	if kind != slotFloat {
		return wire.AppendVarint(dst, v)
	}
	f := math.Float64frombits(uint64(v))
	if n := int64(f); math.Abs(f) < 1<<53 && int64(math.Float64bits(float64(n))) == v {
		return wire.AppendUvarint(dst, uint64(n<<1^n>>63)+1)
	}
	return wire.AppendUint64(append(dst, 0), uint64(v))
}
