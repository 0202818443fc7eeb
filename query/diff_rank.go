package query

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/sequitur"
)

// A differ compares the calls of ranks.
type differ struct {
	a, b *diffSide

	mu    sync.Mutex
	known map[sameComparison]*comparedGrammars
}

type comparedGrammars struct {
	once   sync.Once
	prefix uint64
}

// maxKnown is how many comparisons a differ keeps, and the grammars with them.
const maxKnown = 64

// A comparedRank is how the calls of a rank compare.
type comparedRank struct {
	equal  bool
	prefix uint64 // calls before the first that differs
}

// rank compares the calls of a rank.
func (d *differ) rank(rank int) (*comparedRank, error) {
	x, err := d.a.trace.Merged().Calls(rank)
	if err != nil {
		return nil, errSide("first", err)
	}
	y, err := d.b.trace.Merged().Calls(rank)
	if err != nil {
		return nil, errSide("second", err)
	}
	ids := make(map[string]uint32)
	ofX, ofY := d.a.identify(x.Table(), ids), d.b.identify(y.Table(), ids)
	n := min(x.Len(), y.Len())
	var prefix uint64
	if x.Listed() || y.Listed() {
		prefix = commonWalk(x.Walk(0), y.Walk(0), ofX, ofY)
	} else {
		prefix = d.grammars(x.Grammar(), y.Grammar(), ofX, ofY)
	}
	return &comparedRank{x.Len() == y.Len() && prefix == n, prefix}, nil
}

// grammars returns the length of the common prefix of two grammars whose terminals have
// ids. It does not compare the same grammars with the same ids again.
func (d *differ) grammars(x, y *sequitur.Grammar, ofX, ofY []uint32) uint64 {
	var ids []byte
	for _, list := range [][]uint32{ofX, ofY} {
		ids = binary.LittleEndian.AppendUint32(ids, uint32(len(list)))
		for _, id := range list {
			ids = binary.LittleEndian.AppendUint32(ids, id)
		}
	}
	key := sameComparison{x, y, string(ids)}
	d.mu.Lock()
	c := d.known[key]
	if c == nil {
		if len(d.known) == maxKnown {
			clear(d.known)
		}
		c = new(comparedGrammars)
		d.known[key] = c
	}
	d.mu.Unlock()
	c.once.Do(func() {
		x := x.Rewrite(func(s sequitur.Symbol) sequitur.Symbol { return sequitur.Symbol(ofX[s]) })
		c.prefix = x.CommonPrefix(y, func(s sequitur.Symbol) sequitur.Symbol { return sequitur.Symbol(ofY[s]) })
	})
	return c.prefix
}

// commonWalk returns how many symbols two sequences have in common from the beginning.
func commonWalk(x, y *sequitur.Walker, ofX, ofY []uint32) uint64 {
	n := uint64(0)
	for a, b := x.Next(), y.Next(); a.Count > 0 && b.Count > 0 && ofX[a.Symbol] == ofY[b.Symbol]; {
		both := min(a.Count, b.Count)
		n += both
		if a.Count -= both; a.Count == 0 {
			a = x.Next()
		}
		if b.Count -= both; b.Count == 0 {
			b = y.Next()
		}
	}
	return n
}

// A diffSide is one of the traces that are compared.
type diffSide struct {
	trace     *reprise.Trace
	functions []uint32 // the id of each
	names     map[merge.Name]string
}

func newDiffSide(t *reprise.Trace) *diffSide {
	s := &diffSide{trace: t, functions: make([]uint32, len(t.Functions())), names: make(map[merge.Name]string)}
	for i := range s.functions {
		s.functions[i] = uint32(i)
	}
	for _, n := range t.Run().Names {
		s.names[merge.Name{Kind: n.Kind, Class: n.Class, Value: n.Value}] = n.Name
	}
	return s
}

// matchFunctions gives functions that another trace has, too, the ids that they have
// there.
func (s *diffSide) matchFunctions(other *diffSide) {
	byName := make(map[string][]int)
	for i, f := range other.trace.Functions() {
		byName[f.Name] = append(byName[f.Name], i)
	}
	for i, f := range s.trace.Functions() {
		s.functions[i] += uint32(len(other.functions))
		for _, k := range byName[f.Name] {
			if other.trace.Functions()[k].Equal(f) {
				s.functions[i] = other.functions[k]
			}
		}
	}
}

// identify returns an id for each terminal of a table, the one that ids has for an equal
// call or a new one.
func (s *diffSide) identify(table *cst.Table, ids map[string]uint32) []uint32 {
	list := make([]uint32, table.Len())
	var key []byte
	var args []cst.Value
	for terminal := range list {
		var fn int
		fn, args = table.AppendSignature(args[:0], uint32(terminal))
		key = binary.LittleEndian.AppendUint32(key[:0], s.functions[fn])
		for i, p := range s.trace.Functions()[fn].Params {
			key = s.appendKey(key, &p.Type, args[i])
		}
		id, ok := ids[string(key)]
		if !ok {
			id = uint32(len(ids))
			ids[string(key)] = id
		}
		list[terminal] = id
	}
	return list
}

// appendKey appends what is equal for equal arguments of a type only: a number that has a
// name as that name.
func (s *diffSide) appendKey(key []byte, t *cst.Type, v cst.Value) []byte {
	const (
		plain byte = iota
		named
		array
	)
	n := merge.Name{Kind: t.Kind, Class: t.Class}
	switch t.Kind {
	case cst.KindArray:
		key = binary.AppendUvarint(append(key, array), uint64(v.Len()))
		for i := range v.Len() {
			key = s.appendKey(key, t.Elem, v.Index(i))
		}
		return key
	case cst.KindInt, cst.KindRank, cst.KindTag, cst.KindHandle:
		n.Value = v.Int()
	case cst.KindPointer:
		n.Value = v.Pointer().Segment
	default:
		return appendText(append(key, plain), v)
	}
	name, ok := s.names[n]
	if !ok {
		return appendText(append(key, plain), v)
	}
	key = binary.AppendUvarint(append(key, named), uint64(len(name)))
	key = append(key, name...)
	if t.Kind == cst.KindPointer {
		p := v.Pointer()
		key = binary.AppendVarint(binary.AppendVarint(key, p.Displacement), p.Device)
	}
	return key
}

// appendText appends the length of a value as text and the text.
func appendText(key []byte, v cst.Value) []byte {
	begin := len(key)
	key, _ = v.AppendText(key)
	return slices.Insert(key, begin, binary.AppendUvarint(nil, uint64(len(key)-begin))...)
}
