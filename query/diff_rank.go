package query

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/sequitur"
)

// A differ compares the calls of ranks.
type differ struct {
	a, b *diffSide

	mu    sync.Mutex // of what follows
	known map[sameComparison]*comparedGrammars
	calls map[string]*CountDifference // of ranks that make a call another number of times
}

func newDiffer(a, b *reprise.Trace) *differ {
	d := &differ{
		a: newDiffSide(a), b: newDiffSide(b),
		known: make(map[sameComparison]*comparedGrammars), calls: make(map[string]*CountDifference),
	}
	d.b.matchFunctions(d.a)
	if maps.Equal(d.a.names, d.b.names) {
		d.a.names, d.b.names = nil, nil
	}
	return d
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

// rank compares the calls of a rank, which one of the traces may not have.
func (d *differ) rank(rank int) (*comparedRank, error) {
	x, err := d.a.calls(rank)
	if err != nil {
		return nil, fmt.Errorf("first trace: %w", err)
	}
	y, err := d.b.calls(rank)
	if err != nil {
		return nil, fmt.Errorf("second trace: %w", err)
	}
	ids := make(map[string]uint32)
	ofX, ofY := d.a.identify(x, ids), d.b.identify(y, ids)
	prefix := uint64(0)
	if x != nil && y != nil {
		if x.Listed() || y.Listed() {
			prefix = commonWalk(x.Walk(0), y.Walk(0), ofX, ofY)
		} else {
			prefix = d.grammars(x.Grammar(), y.Grammar(), ofX, ofY)
		}
		if prefix == x.Len() && prefix == y.Len() {
			return &comparedRank{equal: true}, nil
		}
	}
	return &comparedRank{prefix: prefix}, d.count(rank, x, y, ofX, ofY, len(ids))
}

// count adds the calls that a rank makes another number of times. There are n ids. Either
// of x and y may be nil.
func (d *differ) count(rank int, x, y *merge.Calls, ofX, ofY []uint32, n int) error {
	counts := make([][2]uint64, n)
	for k, calls := range []*merge.Calls{x, y} {
		if calls == nil {
			continue
		}
		for s, times := range calls.Occurrences() {
			counts[[][]uint32{ofX, ofY}[k][s]][k] += times
		}
	}
	for _, side := range []struct {
		of  *diffSide
		ids []uint32
	}{{d.a, ofX}, {d.b, ofY}} {
		var read *reprise.Rank
		for terminal, id := range side.ids {
			c := counts[id]
			if c[0] == c[1] {
				continue
			}
			if read == nil {
				var err error
				if read, err = side.of.trace.Rank(rank); err != nil {
					return err
				}
			}
			d.add(side.of.printer.AppendCall(nil, read.Call(uint32(terminal))), c)
			counts[id] = [2]uint64{} // the other trace does not say it again
		}
	}
	return nil
}

// add adds calls of that text to what differs.
func (d *differ) add(text []byte, n [2]uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.calls[string(text)]
	if c == nil {
		c = &CountDifference{Name: string(text)}
		d.calls[c.Name] = c
	}
	c.A, c.B = wire.AddSat(c.A, n[0]), wire.AddSat(c.B, n[1])
}

// differences returns the calls that differ in number.
func (d *differ) differences() []CountDifference {
	list := make([]CountDifference, 0, len(d.calls))
	for _, c := range d.calls {
		list = append(list, *c)
	}
	sortCounts(list)
	return list
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
	printer   *reprise.Printer
	functions []uint32              // the id of each
	names     map[merge.Name]string // nil if numbers say as much
}

func newDiffSide(t *reprise.Trace) *diffSide {
	s := &diffSide{trace: t, printer: t.Printer(reprise.PrintOptions{}), functions: make([]uint32, len(t.Functions())), names: make(map[merge.Name]string)}
	for i := range s.functions {
		s.functions[i] = uint32(i)
	}
	for _, n := range t.Run().Names {
		s.names[merge.Name{Kind: n.Kind, Class: n.Class, Value: n.Value}] = n.Name
	}
	return s
}

// calls reads what a rank called, nil if it made no calls.
func (s *diffSide) calls(rank int) (*merge.Calls, error) {
	if _, ok := s.trace.Merged().ShapeOf(rank); !ok {
		return nil, nil
	}
	return s.trace.Merged().Calls(rank)
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

// identify returns an id for each terminal of calls, the one that ids has for an equal
// call or a new one.
func (s *diffSide) identify(calls *merge.Calls, ids map[string]uint32) []uint32 {
	if calls == nil {
		return nil
	}
	table := calls.Table()
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
	if s.names == nil {
		return appendText(append(key, plain), v)
	}
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
