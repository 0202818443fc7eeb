package merge

import (
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
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
		dst = wire.AppendUvarint(dst, uint64(e.Function))
		dst = wire.AppendUvarint(dst, uint64(e.Slot))
		dst = wire.AppendUvarint(dst, uint64(len(x.values[i])))
		kind := layout.ScalarKinds(functions[e.Function])[e.Slot]
		for n, v := range x.values[i] {
			numbers[i][v] = uint64(n)
			dst = layout.AppendValue(dst, v, kind)
		}
	}
	dst = wire.AppendUvarint(dst, uint64(len(x.list)))
	items := make([][]byte, len(x.list))
	for i, s := range x.list {
		items[i] = s.append(nil, numbers[s.argument])
		dst = wire.AppendUvarint(dst, uint64(s.argument))
		dst = wire.AppendUvarint(dst, uint64(len(items[i])))
	}
	return dst, layout.Pack(items)
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
		return append(append(dst, layout.StreamGrammar), enc...)
	}
	return append(append(dst, layout.StreamNumbers), ids...)
}
