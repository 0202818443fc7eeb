package query

import (
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/sums"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
)

// A differ compares the calls of ranks.
type differ struct {
	a, b *diffSide

	wantsOther bool // there is no other first difference yet, and should be

	mu        sync.Mutex // of what follows
	known     map[sameComparison]*comparedGrammars
	calls     map[string]*countedCall        // of ranks that make a call another number of times
	functions map[string]*rankenc.SetBuilder // ranks that call a function another number of times
}

// A countedCall is a call that ranks make another number of times.
type countedCall struct {
	a, b  uint64
	ranks rankenc.SetBuilder
}

func newDiffer(a, b *trace.Trace, o *DiffOptions) *differ {
	d := &differ{
		a: newDiffSide(a, o.Regions[0], &o.Ignore), b: newDiffSide(b, o.Regions[1], &o.Ignore),
		known: make(map[sameComparison]*comparedGrammars), calls: make(map[string]*countedCall),
		functions: make(map[string]*rankenc.SetBuilder),
	}
	d.a.matchFunctions(nil)
	d.b.matchFunctions(d.a)
	if maps.Equal(d.a.names, d.b.names) {
		d.a.names, d.b.names = nil, nil
	}
	return d
}

// A sameComparison is a comparison of grammars that several ranks need.
type sameComparison struct {
	a, b *sequitur.Grammar
	ids  string // of the terminals of both
}

type comparedGrammars struct {
	once   sync.Once
	prefix uint64
}

// maxKnown is how many comparisons a differ keeps, and the grammars with them.
const maxKnown = 64

// A comparedRank is how the calls of a rank compare.
type comparedRank struct {
	both   bool // traces have calls of it
	equal  bool
	prefix positions // calls before the first that differs

	// frame says that the first that differs begins or ends MPI in both traces. Apart from
	// such calls, the rank may differ otherwise, after so many calls.
	frame, differsOtherwise bool
	otherwise               positions
}

// Positions are those of a call in both traces: the same unless calls are ignored.
type positions struct{ a, b uint64 }

// rank compares the calls of a rank, which one of the traces may not have.
func (d *differ) rank(rank int) (*comparedRank, error) {
	if n, equal := d.equalFolded(rank); equal {
		return &comparedRank{both: true, equal: true, prefix: positions{n, n}}, nil
	}
	x, err := d.a.calls(rank)
	if err != nil {
		return nil, fmt.Errorf("first trace: %w", err)
	}
	y, err := d.b.calls(rank)
	if err != nil {
		return nil, fmt.Errorf("second trace: %w", err)
	}
	ids := make(map[string]uint32)
	ofX, ofY := d.a.identify(x, ids, exactly), d.b.identify(y, ids, exactly)
	r := &comparedRank{both: x != nil && y != nil}
	if r.both {
		prefix := d.prefix
		end := positions{x.Len(), y.Len()}
		if r.prefix = prefix(x, y, ofX, ofY); r.prefix != end && d.a.ignore.renames() {
			ids = make(map[string]uint32)
			ofX, ofY = d.a.identify(x, ids, butRequests), d.b.identify(y, ids, butRequests)
			prefix = d.renamedPrefix
			r.prefix = prefix(x, y, ofX, ofY)
		}
		if r.equal = r.prefix == end; r.equal {
			return r, nil
		}
		r.otherwise, r.differsOtherwise = r.prefix, true
		if r.frame = d.isFrame(x, y, r.prefix); r.frame {
			r.otherwise = prefix(x, y, d.a.withoutFrame(x, ofX, len(ids)), d.b.withoutFrame(y, ofY, len(ids)))
			r.differsOtherwise = r.otherwise != end
		}
	}
	return r, d.count(rank, x, y, ofX, ofY, len(ids))
}

// equalFolded reports whether the calls of a rank are the same, of which arguments advance, and how many there
// are. It does not tell that they differ: false says nothing.
func (d *differ) equalFolded(rank int) (calls uint64, equal bool) {
	// Values that advance may have names, or may not count; and of a part of the calls it is not known which.
	if d.a.names != nil || d.a.ignore.Addresses || d.a.region != nil {
		return 0, false
	}
	of, err := d.a.trace.Folded(rank, nil)
	if err != nil {
		return 0, false
	}
	other, err := d.b.trace.Folded(rank, nil)
	if err != nil || of.Len() != other.Len() || !of.SameStreams(other) {
		return 0, false
	}
	x, y := &comparedCalls{Rank: of}, &comparedCalls{Rank: other}
	ids := make(map[string]uint32)
	ofX, ofY := d.a.identify(x, ids, folded), d.b.identify(y, ids, folded)
	if slices.Contains(ofX, ignoredCall) || slices.Contains(ofY, ignoredCall) {
		return 0, false // and may take values of others
	}
	return x.Len(), d.prefix(x, y, ofX, ofY) == positions{x.Len(), y.Len()}
}

// prefix returns after how many calls two ranks first differ, by the ids of calls.
func (d *differ) prefix(x, y *comparedCalls, ofX, ofY []uint32) positions {
	if x.Listed() || y.Listed() || slices.Contains(ofX, ignoredCall) || slices.Contains(ofY, ignoredCall) {
		return commonWalk(x.Walk(0), y.Walk(0), ofX, ofY)
	}
	n := d.grammars(x.Grammar(), y.Grammar(), ofX, ofY)
	return positions{n, n}
}

// isFrame reports whether calls at a position begin, or end, MPI in both traces.
func (d *differ) isFrame(x, y *comparedCalls, at positions) bool {
	a, b := x.Walk(at.a).Next(), y.Walk(at.b).Next()
	if a.Count == 0 || b.Count == 0 {
		return false
	}
	f := d.a.frameOf(x, a.Symbol)
	return f != (frame{}) && f == d.b.frameOf(y, b.Symbol)
}

// count adds the calls that a rank makes another number of times. There are n ids. Either
// of x and y may be nil.
func (d *differ) count(rank int, x, y *comparedCalls, ofX, ofY []uint32, n int) error {
	counts := make([][2]uint64, n)
	for k, calls := range []*comparedCalls{x, y} {
		if calls == nil {
			continue
		}
		for s, times := range calls.Occurrences() {
			if id := [][]uint32{ofX, ofY}[k][s]; id != ignoredCall {
				counts[id][k] += times
			}
		}
	}
	functions := make(map[string][2]uint64)
	for _, side := range []struct {
		of  *diffSide
		ids []uint32
	}{{d.a, ofX}, {d.b, ofY}} {
		var read *comparedCalls
		for terminal, id := range side.ids {
			if id == ignoredCall {
				continue
			}
			c := counts[id]
			if c[0] == c[1] {
				continue
			}
			if read == nil {
				var err error
				if read, err = side.of.calls(rank); err != nil {
					return err
				}
			}
			call := read.Call(uint32(terminal)).Alone()
			d.add(side.of.printer.AppendCall(nil, call), c, rank)
			counts[id] = [2]uint64{} // the other trace does not say it again
			f := functions[call.Function.Name]
			functions[call.Function.Name] = [2]uint64{wire.AddSat(f[0], c[0]), wire.AddSat(f[1], c[1])}
		}
	}
	d.addFunctions(functions, rank)
	return nil
}

// add adds calls of a rank with that text to what differs.
func (d *differ) add(text []byte, n [2]uint64, rank int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.calls[string(text)]
	if c == nil {
		c = new(countedCall)
		d.calls[string(text)] = c
	}
	c.a, c.b = wire.AddSat(c.a, n[0]), wire.AddSat(c.b, n[1])
	c.ranks.Add(rank)
}

// addFunctions takes note of the functions that a rank calls another number of times.
func (d *differ) addFunctions(counts map[string][2]uint64, rank int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, n := range counts {
		if n[0] == n[1] {
			continue
		}
		if d.functions[name] == nil {
			d.functions[name] = new(rankenc.SetBuilder)
		}
		d.functions[name].Add(rank)
	}
}

// differences returns the calls that differ in number.
func (d *differ) differences() []CountDifference {
	list := make([]CountDifference, 0, len(d.calls))
	for text, c := range d.calls {
		list = append(list, CountDifference{text, c.a, c.b, c.ranks.Finish()})
	}
	sortCounts(list)
	return list
}

// addRanks fills in the ranks that call functions another number of times.
func (d *differ) addRanks(functions []CountDifference) {
	for i := range functions {
		if ranks := d.functions[functions[i].Name]; ranks != nil {
			functions[i].Ranks = ranks.Finish()
		}
	}
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
		x := x.Rewrite(func(s sequitur.Symbol) sequitur.Symbol { return ofX[s] })
		c.prefix = sums.CommonPrefix(x, y, func(s sequitur.Symbol) sequitur.Symbol { return ofY[s] })
	})
	return c.prefix
}

// commonWalk returns after how many symbols two sequences first differ.
func commonWalk(x, y *sequitur.Walker, ofX, ofY []uint32) (at positions) {
	next := func(w *sequitur.Walker, of []uint32, at *uint64) sequitur.Run {
		run := w.Next()
		for ; run.Count > 0 && of[run.Symbol] == ignoredCall; run = w.Next() {
			*at += run.Count
		}
		return run
	}
	a, b := next(x, ofX, &at.a), next(y, ofY, &at.b)
	for a.Count > 0 && b.Count > 0 && ofX[a.Symbol] == ofY[b.Symbol] {
		both := min(a.Count, b.Count)
		at.a, at.b = at.a+both, at.b+both
		if a.Count -= both; a.Count == 0 {
			a = next(x, ofX, &at.a)
		}
		if b.Count -= both; b.Count == 0 {
			b = next(y, ofY, &at.b)
		}
	}
	return at
}

// A diffSide is one of the traces that are compared.
type diffSide struct {
	trace     *trace.Trace
	region    *Region // whose calls are compared; nil for all
	ignore    *Ignored
	printer   *trace.Printer
	functions []uint32               // the id of each
	frames    []frame                // what each begins or ends
	names     map[format.Name]string // nil if numbers say as much
}

// A frame says whether a function begins or ends MPI.
type frame struct{ begins, ends bool }

func newDiffSide(t *trace.Trace, region *Region, ignore *Ignored) *diffSide {
	s := &diffSide{trace: t, region: region, ignore: ignore, printer: t.Printer(trace.PrintOptions{}),
		functions: make([]uint32, len(t.Functions())), names: make(map[format.Name]string)}
	for i, f := range t.Functions() {
		s.functions[i] = uint32(i)
		role := spec.RoleOf(f.Name)
		s.frames = append(s.frames, frame{role.Begins == "world", role.Ends})
	}
	for _, n := range t.Run().Names {
		s.names[format.Name{Kind: n.Kind, Class: n.Class, Value: n.Value}] = n.Name
	}
	return s
}

// frameOf returns what a call begins or ends.
func (s *diffSide) frameOf(calls *comparedCalls, terminal uint32) frame {
	return s.frames[calls.Function(terminal)]
}

// withoutFrame returns the ids of terminals with others, from n on, for calls that begin or
// end MPI.
func (s *diffSide) withoutFrame(calls *comparedCalls, ids []uint32, n int) []uint32 {
	ids = slices.Clone(ids)
	for terminal := range ids {
		if f := s.frameOf(calls, uint32(terminal)); f != (frame{}) {
			ids[terminal] = uint32(n)
			if f.ends {
				ids[terminal]++
			}
		}
	}
	return ids
}

// has reports whether a rank made calls that are compared.
func (s *diffSide) has(rank int) bool {
	_, ok := s.trace.ShapeOf(rank)
	return ok && (s.region == nil || len(s.region.Spans(rank)) > 0)
}

// calls reads what a rank called, nil if it made no calls. Addresses that advance are not told apart if they do
// not count.
func (s *diffSide) calls(rank int) (c *comparedCalls, err error) {
	if !s.has(rank) {
		return nil, nil
	}
	c = new(comparedCalls)
	if !s.ignore.Addresses {
		c.Rank, err = s.trace.Rank(rank)
	} else {
		c.Rank, err = s.trace.Folded(rank, func(function, param int) bool {
			return s.trace.Functions()[function].Params[param].Type.Kind != cst.KindPointer
		})
	}
	if err == nil && s.region != nil {
		c.cut, err = cutOf(c.Rank.Grammar(), s.region.Spans(rank))
	}
	return c, err
}

// comparedCalls are the calls of a rank, or those of them that are compared.
type comparedCalls struct {
	*trace.Rank
	cut *sequitur.Grammar // of these, nil for all
}

// Len returns how many there are, as the methods below are those of a rank.
func (c *comparedCalls) Len() uint64 {
	if c.cut != nil {
		return c.cut.Len()
	}
	return c.Rank.Len()
}

func (c *comparedCalls) Listed() bool { return c.cut == nil && c.Rank.Listed() }

func (c *comparedCalls) Grammar() *sequitur.Grammar {
	if c.cut != nil {
		return c.cut
	}
	return c.Rank.Grammar()
}

func (c *comparedCalls) Walk(position uint64) *sequitur.Walker {
	if c.cut != nil {
		return c.cut.Walk(position)
	}
	return c.Rank.Walk(position)
}

func (c *comparedCalls) Occurrences() iter.Seq2[sequitur.Symbol, uint64] {
	if c.cut != nil {
		return c.cut.Occurrences()
	}
	return c.Rank.Occurrences()
}

// matchFunctions gives functions that another trace has, too, the ids that they have there, and those that
// are equal in what counts one id.
func (s *diffSide) matchFunctions(other *diffSide) {
	type known struct {
		function cst.Function
		id       uint32
	}
	byName := make(map[string][]known)
	first := uint32(0)
	if other != nil {
		for i, f := range other.trace.Functions() {
			byName[f.Name] = append(byName[f.Name], known{s.ignore.compared(f), other.functions[i]})
		}
		first = uint32(len(other.functions))
	}
	for i, f := range s.trace.Functions() {
		s.functions[i] += first
		f = s.ignore.compared(f)
		if k := slices.IndexFunc(byName[f.Name], func(k known) bool { return k.function.Equal(f) }); k >= 0 {
			s.functions[i] = byName[f.Name][k].id
		} else {
			byName[f.Name] = append(byName[f.Name], known{f, s.functions[i]})
		}
	}
}

// A likeness says which calls are equal.
type likeness int

const (
	exactly     likeness = iota
	butRequests          // those that name other requests, too
	folded               // those whose arguments advance, by the numbers of streams
)

// identify returns an id for each terminal of calls, the one that ids has for an equal
// call or a new one.
func (s *diffSide) identify(calls *comparedCalls, ids map[string]uint32, by likeness) []uint32 {
	if calls == nil {
		return nil
	}
	list := make([]uint32, calls.Terminals())
	var key []byte
	for terminal := range list {
		call := calls.Call(uint32(terminal))
		if s.ignore.call(&call) {
			list[terminal] = ignoredCall
			continue
		}
		fn, args, streams := calls.Function(uint32(terminal)), call.Args, []int(nil)
		if by == folded {
			args, streams = calls.Streams(uint32(terminal))
		}
		key = binary.LittleEndian.AppendUint32(key[:0], s.functions[fn])
		for i, p := range s.trace.Functions()[fn].Params {
			switch {
			case s.ignore.parameter(p):
			case s.ignore.Addresses && isNothing(&call, i):
				key = append(key, nothing)
			case slices.Contains(streams, i):
				key = appendText(append(key, stream), args[i])
			case by == butRequests && isRenamed(p):
				key = s.appendRenamed(key, &p.Type, args[i])
			default:
				key = s.appendKey(key, &p.Type, args[i])
			}
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

// What keys of arguments begin with.
const (
	plain byte = iota
	named
	array
	nothing
	renamed
	stream
)

// appendRenamed appends the key of requests or messages of which only null ones count.
func (s *diffSide) appendRenamed(key []byte, t *cst.Type, v cst.Value) []byte {
	switch {
	case t.Kind == cst.KindArray:
		key = binary.AppendUvarint(append(key, array), uint64(v.Len()))
		for i := range v.Len() {
			key = s.appendRenamed(key, t.Elem, v.Index(i))
		}
		return key
	case v.Int() < 0:
		return s.appendKey(key, t, v)
	}
	return append(key, renamed)
}

// appendKey appends what is equal for equal arguments of a type only: a number that has a
// name as that name.
func (s *diffSide) appendKey(key []byte, t *cst.Type, v cst.Value) []byte {
	if t.Kind == cst.KindPointer && s.ignore.Addresses && !isConstant(v) {
		return append(key, plain)
	}
	if s.names == nil && !s.ignore.Addresses {
		return appendText(append(key, plain), v)
	}
	n := format.Name{Kind: t.Kind, Class: t.Class}
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
