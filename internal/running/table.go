package running

import (
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
)

// A Table interns call signatures, as a [cst.Table] does, but for the values of arguments that advance, which
// it keeps as streams. The zero Table is empty and ready for use.
type Table struct {
	plain    cst.Table // the signatures of calls in which nothing advances
	constant bool      // no argument is taken to advance
	apart    bool      // streams begin where their arguments are taken to advance
	*watched           // nil before the second signature: a run may have many ranks of one
}

// Watched is what is known of calls.
type watched struct {
	functions  []*function // of those that were called
	groups     []*group
	signatures []signature // by terminal
	args       []cst.Value // scratch
	key        []byte      // the same

	*advancingCalls // nil while nothing advances
}

// AdvancingCalls are the signatures of calls in which something advances, with 0 in its place.
type advancingCalls struct {
	table                cst.Table // of functions that are apart by what advances
	masks                []uint64  // what advances, by these functions
	origins              []int     // the functions that were declared, the same
	ofPlain, ofAdvancing []uint32  // the terminals of the signatures of both tables
}

// A signature says where that of a terminal is, and of which group its calls are.
type signature struct {
	number uint32 // in its table, above isAdvancing if that is not the plain one
	group  int32  // none if it is negative
}

// isAdvancing is more than any number of a signature.
const isAdvancing = 1 << 31

// Constant keeps arguments from advancing in calls that come after it.
func (t *Table) Constant() { t.constant = true }

// Apart keeps terminals as they are: those of calls before an argument was taken to advance do not become
// those of calls after that. It must come before the first call.
func (t *Table) Apart() { t.apart = true }

// Declare is that of a [cst.Table].
func (t *Table) Declare(f cst.Function) int {
	return t.plain.Declare(f)
}

// function returns what is known of calls of a function.
func (t *Table) function(fn int) *function {
	if fn >= len(t.functions) {
		t.functions = append(t.functions, make([]*function, fn+1-len(t.functions))...)
	}
	if t.functions[fn] == nil {
		t.functions[fn] = newFunction(&t.plain.Functions()[fn])
	}
	return t.functions[fn]
}

// Functions is that of a [cst.Table].
func (t *Table) Functions() []cst.Function { return t.plain.Functions() }

// FunctionOf returns the number of the function of a terminal.
func (t *Table) FunctionOf(terminal uint32) int {
	if t.watched == nil {
		fn, _ := t.plain.AppendSignature(nil, terminal)
		return fn
	}
	_, _, fn, _ := t.signature(nil, terminal)
	return fn
}

// signature returns the function and the arguments of a terminal, and how many calls of it there were and what
// advances.
func (t *Table) signature(dst []cst.Value, terminal uint32) (count, mask uint64, fn int, args []cst.Value) {
	n := t.signatures[terminal].number
	if n < isAdvancing {
		fn, args = t.plain.AppendSignature(dst, n)
		return t.plain.Count(n), 0, fn, args
	}
	n -= isAdvancing
	fn, args = t.table.AppendSignature(dst, n)
	return t.table.Count(n), t.masks[fn], t.origins[fn], args
}

// Len returns the number of terminals.
func (t *Table) Len() int {
	if t.watched == nil {
		return t.plain.Len()
	}
	return len(t.signatures)
}

// Size returns how many bytes signatures and streams take.
func (t *Table) Size() int {
	const symbol = 16
	n := t.plain.Size()
	if !t.advances() {
		return n
	}
	n += t.table.Size()
	for _, g := range t.groups {
		if g.watch == nil {
			continue
		}
		for k := range g.states {
			if s := g.states[k].stream; s != nil {
				n += symbol * s.runs.Symbols()
			}
		}
	}
	return n
}

// Intern returns the terminal of a call, or an error if args are not arguments of that function. Terminals
// are numbered from 0 on in the order of their first calls.
func (t *Table) Intern(fn int, args ...cst.Value) (uint32, error) {
	if t.watched == nil {
		n, err := t.plain.TryIntern(fn, args...)
		if err != nil || n == 0 || t.constant {
			return n, err
		}
		t.begin()
		t.addPlain(n, fn, args)
		return n, nil
	}
	if uint(fn) < uint(len(t.functions)) && t.functions[fn] != nil && t.functions[fn].running > 0 {
		if g := t.groupOf(t.functions[fn], args); g != nil && g.watch != nil && g.mask != 0 {
			return t.internAdvancing(fn, g, args)
		}
	}
	known := t.plain.Len()
	n, err := t.plain.TryIntern(fn, args...)
	switch {
	case err != nil:
		return 0, err
	case int(n) == known:
		return t.addPlain(n, fn, args), nil
	case t.advancingCalls != nil:
		n = t.ofPlain[n]
	}
	if k := t.signatures[n].group; k >= 0 {
		t.groups[k].count(t.functions[fn], args)
	}
	return n, nil
}

// begin begins to watch calls after those of the first signature.
func (t *Table) begin() {
	t.watched = new(watched)
	fn, args := t.plain.Signature(0)
	t.addPlain(0, fn, args)
	if k := t.signatures[0].group; k >= 0 {
		t.groups[k].calls = t.plain.Count(0)
	}
}

// addPlain adds the terminal of a signature of the plain table, with its first call.
func (t *Table) addPlain(n uint32, fn int, args []cst.Value) (terminal uint32) {
	terminal = uint32(len(t.signatures))
	if t.advancingCalls != nil {
		t.ofPlain = append(t.ofPlain, terminal)
	}
	s := signature{number: n, group: -1}
	if g := t.newGroupOf(fn, args, terminal); g != nil {
		s.group = g.number
	}
	t.signatures = append(t.signatures, s)
	if s.group >= 0 {
		t.see(fn, t.groups[s.group], args)
	}
	return terminal
}

// advances reports whether something advances.
func (t *Table) advances() bool { return t.watched != nil && t.advancingCalls != nil }

// internAdvancing is Intern for a call of a group in which slots advance.
func (t *Table) internAdvancing(fn int, g *group, args []cst.Value) (uint32, error) {
	f := t.function(fn)
	t.args = append(t.args[:0], args...)
	for _, k := range g.advance {
		at := f.slots[k].param
		if int(at) >= len(args) || args[at].Kind() != t.plain.Functions()[fn].Params[at].Type.Kind {
			_, err := t.plain.TryIntern(fn, args...) // which fails
			return 0, err
		}
		t.args[at] = layout.WithNumber(args[at], 0)
	}
	known := t.table.Len()
	n, err := t.table.TryIntern(g.variant, t.args...)
	if err != nil {
		_, err = t.plain.TryIntern(fn, args...) // in its own words
		return 0, err
	}
	if int(n) < known {
		g.count(f, args)
		return t.ofAdvancing[n], nil
	}
	terminal := uint32(len(t.signatures))
	t.ofAdvancing = append(t.ofAdvancing, terminal)
	t.signatures = append(t.signatures, signature{n + isAdvancing, g.number})
	t.see(fn, g, args)
	return terminal, nil
}

// groupOf returns the group of a call of f, nil if it is not known, or args are not arguments of f.
func (t *Table) groupOf(f *function, args []cst.Value) *group {
	for _, k := range f.keys {
		if int(k) >= len(args) || args[k].Kind() != cst.KindPointer && args[k].Kind() != cst.KindHandle {
			return nil
		}
	}
	t.key = f.appendKey(t.key[:0], args)
	return f.find(t.key)
}

// newGroupOf returns the group of a call of a function, which has a new signature. It is nil if there are too
// many groups, or nothing may advance.
func (t *Table) newGroupOf(fn int, args []cst.Value, terminal uint32) *group {
	f := t.function(fn)
	if len(f.slots) == 0 {
		return nil
	}
	g := t.groupOf(f, args)
	if g == nil && len(t.groups) < maxGroups {
		g = &group{number: int32(len(t.groups)), first: terminal, key: string(t.key)}
		t.groups = append(t.groups, g)
		f.add(g)
	}
	return g
}

// see looks at a call of a group that has a new signature, and then counts it.
func (t *Table) see(fn int, g *group, args []cst.Value) {
	f := t.function(fn)
	if g.calls == 0 {
		g.calls++
		return
	}
	if g.watch == nil {
		t.watch(f, g)
	}
	mask := g.mask
	for k := range g.states {
		s := &g.states[k]
		if s.phase == advancing {
			continue
		}
		before := s.phase
		runs := s.see(layout.NumberOfSlot(args[f.slots[k].param]), g.calls)
		if before == constant && s.phase == written {
			g.open = append(g.open, k)
		}
		if runs {
			mask |= 1 << f.slots[k].slot
		}
	}
	g.count(f, args)
	if mask != g.mask {
		t.advance(fn, g, mask)
	}
}

// watch watches a group from its second signature on.
func (t *Table) watch(f *function, g *group) {
	g.watch = &watch{states: make([]state, len(f.slots))}
	_, _, _, t.args = t.signature(t.args[:0], g.first)
	for k, s := range f.slots {
		v := layout.NumberOfSlot(t.args[s.param])
		g.states[k] = state{last: v, low: v, high: v}
	}
}

// advance has the slots of a mask advance from the next call of a group on.
func (t *Table) advance(fn int, g *group, mask uint64) {
	f := t.function(fn)
	if g.mask == 0 {
		f.running++
	}
	if t.advancingCalls == nil {
		t.advancingCalls = &advancingCalls{ofPlain: make([]uint32, t.plain.Len())}
		for i := range t.ofPlain {
			t.ofPlain[i] = uint32(i)
		}
	}
	for k, s := range f.slots {
		if (mask&^g.mask)>>s.slot&1 == 0 {
			continue
		}
		state := &g.states[k]
		if state.phase == given || t.apart {
			state.stream = &stream{late: true}
		}
		state.phase = advancing
		g.advance = append(g.advance, k)
		g.open = slices.DeleteFunc(g.open, func(o int) bool { return o == k })
	}
	g.mask = mask
	of := t.plain.Functions()[fn]
	of.Name = fmt.Sprintf("%d %x", fn, mask)
	g.variant = t.table.Declare(of)
	if g.variant == len(t.masks) {
		t.masks, t.origins = append(t.masks, mask), append(t.origins, fn)
	}
}

// count counts a call, and adds its values to the streams of the group.
func (g *group) count(f *function, args []cst.Value) {
	g.calls++
	if g.watch == nil {
		return
	}
	for _, k := range g.advance {
		g.states[k].stream.append(layout.NumberOfSlot(args[f.slots[k].param]))
	}
	for i := 0; i < len(g.open); i++ {
		s := &g.states[g.open[i]]
		s.stream.append(layout.NumberOfSlot(args[f.slots[g.open[i]].param]))
		if s.stream.count > maxRuns {
			s.last = s.stream.writer.Value()
			s.phase, s.stream = given, nil
			g.open = slices.Delete(g.open, i, i+1)
			i--
		}
	}
}
