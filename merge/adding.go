package merge

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/sequitur"
)

// Add adds the part of a rank, of which a must not have one with calls. It does
// not change p, but may keep p.Grammar and p.Times.Series. It takes time in proportion to the size
// of p if ranks ascend, and to the logarithm of the number of ranks besides if
// they come in another order.
func (a *Accumulator) Add(p Part) error {
	if err := p.check(); err != nil {
		return fmt.Errorf("merge: rank %d: %w", p.Rank, err)
	}
	a.size = max(a.size, p.Rank+1)
	if p.Grammar.Len() == 0 {
		return nil
	}
	g, order := inOrderOfUse(p.sequence(), p.Table.Len())
	if err := p.checkTimes(order); err != nil {
		return fmt.Errorf("merge: rank %d: %w", p.Rank, err)
	}
	if p.Times != nil {
		own := layout.Summaries{p.Times.Durations, p.Times.Gaps}
		if err := a.kind.Take(own.Kind()); err != nil {
			return fmt.Errorf("merge: rank %d: %w", p.Rank, err)
		}
	}
	if err := a.reserve(p.Rank); err != nil {
		return err
	}
	a.declare(p.Table)
	a.threadsUnordered = a.threadsUnordered || p.ThreadsUnordered
	if p.Bounded != nil {
		a.bounded.add(p.Bounded, a.scratch.functions)
	}
	key := a.scan(p, g, order)
	if err := a.checkStreams(p.Rank, g); err != nil {
		return fmt.Errorf("merge: rank %d: %w", p.Rank, err)
	}
	s := a.shapes[key]
	if s == nil || p.Rank < s.ranks.last() {
		alone := a.newShape(p.Rank, g)
		a.addTimes(alone, p, order)
		if s == nil {
			a.put(key, alone)
		} else {
			s.addLate(alone)
		}
		return nil
	}
	a.addTimes(s, p, order)
	if s.addRow(p.Rank, a.scratch.slots) {
		return nil
	}
	s.spread()
	n := s.ranks.len()
	for i, v := range a.scratch.slots {
		s.columns[i].push(n, p.Rank, v)
	}
	s.ranks = s.ranks.add(p.Rank, p.Rank)
	return nil
}

func (a *Accumulator) put(key digest, s *shape) {
	if a.shapes == nil {
		a.shapes = make(map[digest]*shape)
	}
	if a.shapes[key] == nil {
		s.forms = a.forms.of(s.forms)
	}
	a.shapes[key] = s
}

// A formTable has lists of forms, which are not changed, once: those of shapes are often equal.
type formTable struct {
	lists map[uint64][]form // by their hashes, one of each
}

// of returns forms that are equal to these.
func (t *formTable) of(forms []form) []form {
	if len(forms) == 0 {
		return forms
	}
	h := uint64(0)
	for i := range forms {
		f := &forms[i]
		h = mix(mix(h, uint64(f.function)), uint64(f.place))
		for _, n := range f.lengths {
			h = mix(h, uint64(n))
		}
	}
	known, ok := t.lists[h]
	switch {
	case !ok && t.lists == nil:
		t.lists = make(map[uint64][]form)
		fallthrough
	case !ok:
		t.lists[h] = forms
	case &known[0] == &forms[0] || slices.EqualFunc(known, forms, form.equal):
		return known
	}
	return forms
}

// declare adds the functions of t and sets scratch.functions.
func (a *Accumulator) declare(t *cst.Table) {
	declared := t.Functions()
	if slices.EqualFunc(declared, a.scratch.declared, cst.Function.Equal) {
		return // as those of the part before: most are
	}
	a.scratch.declared = declared
	a.scratch.functions, a.scratch.sites = a.scratch.functions[:0], a.scratch.sites[:0]
	for _, f := range declared {
		n := a.functions.Declare(f)
		if n == len(a.digests) {
			a.digests = append(a.digests, functionDigest(f))
		}
		a.scratch.functions = append(a.scratch.functions, n)
		a.scratch.sites = append(a.scratch.sites, layout.SiteOf(&f))
	}
}

// functionDigest returns what tells f from other functions.
func functionDigest(f cst.Function) digest {
	type known struct {
		function cst.Function
		digest   digest
	}
	if k, ok := functionDigests.Load(f.Name); ok && k.(known).function.Equal(f) {
		return k.(known).digest
	}
	var t cst.Table
	t.Declare(f)
	enc := t.AppendFunctions(nil)
	d := sha256.Sum256(enc)
	if len(enc) > maxFunctionKnown || len(f.Params) > maxParamsKnown || functionsKnown.Load() >= maxFunctionsKnown {
		return d
	}
	if _, there := functionDigests.LoadOrStore(f.Name, known{t.Functions()[0], d}); !there {
		functionsKnown.Add(1)
	}
	return d
}

// scan sets scratch.slots to the slots of all signatures of p, in order, and
// scratch.forms to their forms. It returns a digest of what p must share with other
// parts of its shape: the grammar, and the form of each signature.
func (a *Accumulator) scan(p Part, g *sequitur.Grammar, order []uint32) digest {
	const keyPiece = 1 << 13
	s := &a.scratch
	hash := sha256.New()
	s.key, _ = g.AppendBinary(s.key[:0])
	s.slots, s.lengths, s.forms = s.slots[:0], s.lengths[:0], slices.Grow(s.forms[:0], len(order))
	declared := p.Table.Functions()
	for _, t := range order {
		fn, args := p.Table.AppendSignature(s.args[:0], t)
		s.args = args
		slots, lengths := len(s.slots), len(s.lengths)
		for _, v := range args {
			s.slots, s.lengths = layout.Flatten(s.slots, s.lengths, v, a.texts.number)
		}
		grouped := (p.Groups != nil || p.CallGroups != nil) && hasHandle(&declared[fn])
		if grouped {
			group := p.group(t, &declared[fn], args)
			s.slots = append(s.slots, int64(group.Rank), int64(group.Size))
		}
		f := form{function: s.functions[fn], slots: len(s.slots) - slots, grouped: grouped, streams: p.slots(t)}
		if i := s.sites[fn]; i >= 0 {
			f.place = layout.Place(args[i].Int())
		}
		f.lengths = s.lengths[lengths:]
		s.forms = append(s.forms, f)
		if s.key = f.appendKey(s.key, a.digests); len(s.key) >= keyPiece {
			hash.Write(s.key)
			s.key = s.key[:0]
		}
	}
	hash.Write(s.key)
	return digest(hash.Sum(nil))
}

// hasHandle reports whether a call of f may name a group.
func hasHandle(f *cst.Function) bool {
	return slices.ContainsFunc(f.Params, func(p cst.Param) bool { return p.Type.Kind == cst.KindHandle })
}

// group returns what the rank is in the group that a call, of a terminal, names
// first.
func (p Part) group(terminal uint32, f *cst.Function, args []cst.Value) Group {
	if g, ok := p.CallGroups[terminal]; ok {
		return g
	}
	for i, v := range args {
		if v.Kind() != cst.KindHandle {
			continue
		}
		if g, ok := p.Groups[GroupHandle{f.Params[i].Type.Class, v.Int()}]; ok {
			return g
		}
	}
	return noGroup
}

// newShape returns the shape of a rank alone, of which scan has set the slots and
// forms.
func (a *Accumulator) newShape(rank int, g *sequitur.Grammar) *shape {
	s := &shape{
		grammar: g,
		forms:   own(&a.scratch.forms),
		ranks:   spans{{first: int32(rank), last: int32(rank)}},
	}
	s.setValues(a.scratch.slots)
	for i := range s.forms {
		s.forms[i].lengths = slices.Clone(s.forms[i].lengths)
	}
	return s
}

// own returns what is in a buffer, or the buffer itself if it is large.
func own[T any](buffer *[]T) []T {
	const large = 1 << 12
	if len(*buffer) < large {
		return slices.Clone(*buffer)
	}
	b := *buffer
	*buffer = nil
	return b
}

// inOrderOfUse returns g over terminals that are numbered in the order of their
// first use, and which of the n terminals of g each of them is.
func inOrderOfUse(g *sequitur.Grammar, n int) (*sequitur.Grammar, []uint32) {
	order := g.FirstUse()
	terminals := make([]uint32, len(order))
	number := make([]sequitur.Symbol, n)
	sorted := true
	for i, s := range order {
		terminals[i], number[s] = s, sequitur.Symbol(i)
		sorted = sorted && int(s) == i
	}
	if sorted {
		return g, terminals
	}
	return g.Rewrite(func(s sequitur.Symbol) sequitur.Symbol { return number[s] }), terminals
}

func (p Part) check() error {
	switch {
	case p.Rank < 0 || p.Rank >= layout.MaxRanks:
		return fmt.Errorf("a rank is at least 0 and below %d", layout.MaxRanks)
	case p.Table == nil || p.Grammar == nil:
		return errors.New("the part has no table or no grammar")
	}
	if err := checkGroups(p.Groups); err != nil {
		return err
	}
	if n := layout.Terminals(p.Grammar); n > uint64(p.Table.Len()) {
		return fmt.Errorf("the grammar has terminal %d of %d signatures", n-1, p.Table.Len())
	}
	return p.checkBounded()
}

// checkGroups checks what a process is in groups.
func checkGroups(groups map[GroupHandle]Group) error {
	var bad []GroupHandle
	for h, g := range groups {
		if g.Rank < 0 || g.Size < 0 || g.Rank > layout.MaxRanks || g.Size > layout.MaxRanks {
			bad = append(bad, h)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	h := slices.MinFunc(bad, func(g, h GroupHandle) int {
		return cmp.Or(cmp.Compare(g.Class, h.Class), cmp.Compare(g.Value, h.Value))
	})
	return fmt.Errorf("the part has rank %d in group %d, of class %q, of %d processes", groups[h].Rank,
		h.Value, h.Class, groups[h].Size)
}
