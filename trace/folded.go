package trace

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/sums"
	"github.com/reprise-trace/reprise/sequitur"
)

// Folded is [Trace.Rank] with the calls folded as far as they are in the trace: calls that differ only in
// arguments that advance from one to the next have one terminal, and loops of these are loops. So a rank takes
// memory in proportion to its part of the file, whatever the number of its calls, and whoever asks for
// functions, call sites and times, for loops, or for calls in their order needs no more.
//
// Arguments for which keep returns true, given a function of [Trace.Functions] and a parameter of it, are told
// apart as those of Trace.Rank are: calls have the terminal of others only if they are equal in these. Nil
// keeps none.
//
// [Rank.Calls], [Rank.Select] and [Rank.CallAt] return calls with the arguments of each, [Rank.Call] the first
// call of a terminal: [Printer.AppendCall] writes what each index of loops adds to an argument of that one,
// such as heap#0+408+408·i.
func (t *Trace) Folded(rank int, keep func(function, param int) bool) (*Rank, error) {
	r, x, err := t.readRank(rank)
	if err == nil && x != nil {
		err = r.fold(x, t.slotsOf(keep))
	}
	if err == nil {
		r.calls = make([]atomic.Pointer[Call], r.Terminals())
	}
	return t.withTimes(r, err)
}

// fold has the calls of r differ in slots of functions that are to be kept, and not in others that advance.
func (r *Rank) fold(x *runs, kept []uint64) (err error) {
	rest := &rest{rank: r, runs: x, takes: make([][]take, len(x.takes))}
	any := false
	for i, takes := range x.takes {
		mask := kept[r.shape.functionOf(i)]
		for _, k := range takes {
			if mask>>k.slot&1 == 0 {
				rest.takes[i] = append(rest.takes[i], k)
			} else {
				any = true
			}
		}
	}
	if any {
		r.flow, err = r.spread(r.recorded, x, kept, false, math.MaxInt)
	}
	rest.bases = make([]atomic.Pointer[baseCall], r.Terminals())
	rest.firsts = sync.OnceValue(rest.findFirsts)
	r.rest = rest
	return err
}

// Expand returns a rank of [Trace.Folded] as [Trace.Rank] returns it, r itself if nothing advances. The error wraps
// [format.ErrLimit] if it has more than so many terminals.
func (r *Rank) Expand(terminals int) (*Rank, error) {
	if r.rest == nil {
		return r, nil
	}
	e := &Rank{number: r.number, trace: r.trace, shape: r.shape, recorded: r.recorded, series: r.series}
	e.values.found.Store(r.stored())
	var err error
	if e.flow, err = e.spread(r.recorded, r.rest.runs, r.trace.allSlots(), true, terminals); err != nil {
		return nil, r.trace.named(err)
	}
	e.calls = make([]atomic.Pointer[Call], e.Terminals())
	return e, nil
}

// slotsOf returns the slots of each function that arguments have which are to be kept.
func (t *Trace) slotsOf(keep func(function, param int) bool) []uint64 {
	masks := make([]uint64, len(t.Functions()))
	for f := range masks {
		if keep == nil {
			break
		}
		slot := 0
		for i, p := range t.Functions()[f].Params {
			n := slotsOf(p.Type)
			if n > 0 && slot < layout.MaxStreamSlot && keep(f, i) {
				masks[f] |= (1<<n - 1) << slot
			}
			slot += n
		}
	}
	return masks
}

// allSlots returns the slots of all arguments.
func (t *Trace) allSlots() []uint64 {
	return slices.Repeat([]uint64{math.MaxUint64}, len(t.Functions()))
}

// slotsOf returns how many slots an argument has among those of no array.
func slotsOf(t cst.Type) int {
	if t.Kind == cst.KindArray {
		return 0
	}
	return layout.ScalarSlots(t)
}

// functionOf returns the function of the i-th signature of s.
func (s *Shape) functionOf(i int) int { return s.trace.FunctionOf(int(s.signatures[i])) }

// A rest is what advances in the calls of a rank and in none of its terminals.
type rest struct {
	rank   *Rank
	runs   *runs
	takes  [][]take                   // by signature of the shape
	bases  []atomic.Pointer[baseCall] // by terminal, nil until it is asked for
	firsts func() [][]int64           // by terminal, the values that the first call takes
}

// A baseCall is what the calls of a terminal have in common.
type baseCall struct {
	takes  []take
	params []int   // arguments that values go into, ascending
	begins []int   // the first slots of these
	slots  []int64 // of which the calls have others
}

// takesOf returns what calls of a terminal take.
func (x *rest) takesOf(terminal uint32) []take { return x.takes[x.rank.flow.signatureOf(terminal)] }

// base returns that of a terminal whose calls take values.
func (x *rest) base(terminal uint32) *baseCall {
	if b := x.bases[terminal].Load(); b != nil {
		return b
	}
	r, e, b := x.rank, evaluation{}, &baseCall{takes: x.takesOf(terminal)}
	r.argumentsOf(nil, &e, r.flow, terminal, func(slots []int64) { b.slots = append(b.slots, slots...) })
	params := r.trace.Functions()[r.functionOf(r.flow, terminal)].Params
	slot, left := 0, b.takes
	for i, p := range params {
		begin := slot
		slot += slotsOf(p.Type)
		if len(left) == 0 || left[0].slot >= slot {
			continue
		}
		b.params, b.begins = append(b.params, i), append(b.begins, begin)
		for len(left) > 0 && left[0].slot < slot {
			left = left[1:]
		}
	}
	x.bases[terminal].Store(b) // equal to what another goroutine may have stored
	return b
}

// set sets the arguments of a call that values go into, by the slots of all.
func (x *rest) set(args []cst.Value, f *cst.Function, b *baseCall, slots []int64) {
	for k, i := range b.params {
		u := layout.Rebuilder{Slots: slots[b.begins[k]:], Texts: x.rank.trace.texts}
		args[i] = u.Value(f.Params[i].Type)
	}
}

// params returns the arguments of calls of a terminal that advance, ascending.
func (x *rest) params(terminal uint32) []int { return x.base(terminal).params }

// setFirst sets the arguments of a call of a terminal to those of the first.
func (x *rest) setFirst(c *Call) {
	if len(x.takesOf(c.Terminal)) == 0 {
		return
	}
	b := x.base(c.Terminal)
	slots := slices.Clone(b.slots)
	for i, v := range x.firsts()[c.Terminal] {
		slots[b.takes[i].slot] = v
	}
	x.set(c.Args, c.Function, b, slots)
}

// findFirsts returns the values that the first call of each terminal takes.
func (x *rest) findFirsts() [][]int64 {
	firsts := make([][]int64, x.rank.Terminals())
	if g, ok := x.rank.flow.calls.(grammarCalls); ok {
		for position, t := range g.FirstUses() {
			firsts[t] = make([]int64, len(x.takesOf(t)))
			for i := range firsts[t] {
				firsts[t][i] = int64(position)
			}
		}
		index := sums.Of(g.Grammar)
		for stream, takers := range x.takers() {
			before := sums.NewAt[struct{}](index, nil, takers)
			for t := range takers {
				i := slices.IndexFunc(x.takesOf(t), func(k take) bool { return k.stream == stream })
				n := before.Before(uint64(firsts[t][i])).Weight
				firsts[t][i] = x.runs.reader(stream, n).take()
			}
		}
		return firsts
	}
	values := x.from(0)
	for w := x.rank.Walk(0); ; {
		run := w.Next()
		if run.Count == 0 {
			return firsts
		}
		for range run.Count {
			taken := values.take(x.takesOf(run.Symbol))
			if firsts[run.Symbol] == nil {
				firsts[run.Symbol] = slices.Clone(taken)
			}
		}
	}
}

// takers returns, by stream, the terminals whose calls take a value of it, which weigh 1.
func (x *rest) takers() map[int]map[sequitur.Symbol]sums.Weighed[struct{}] {
	all := make(map[int]map[sequitur.Symbol]sums.Weighed[struct{}])
	for t := range sequitur.Symbol(x.rank.Terminals()) {
		for _, k := range x.takesOf(t) {
			if all[k.stream] == nil {
				all[k.stream] = make(map[sequitur.Symbol]sums.Weighed[struct{}])
			}
			all[k.stream][t] = sums.Weighed[struct{}]{Weight: 1}
		}
	}
	return all
}

// sharing returns the terminals that are kept, and others whose calls take values of streams of these.
func (x *rest) sharing(kept []bool) []bool {
	if x == nil {
		return kept
	}
	streams := make(map[int]bool)
	for t := range kept {
		if kept[t] {
			for _, k := range x.takesOf(uint32(t)) {
				streams[k.stream] = true
			}
		}
	}
	all := slices.Clone(kept)
	for t := range all {
		all[t] = all[t] || slices.ContainsFunc(x.takesOf(uint32(t)), func(k take) bool { return streams[k.stream] })
	}
	return all
}

// A restReader puts what advances in calls, one after the other.
type restReader struct {
	rest    *rest
	before  []uint64     // by stream, values that calls before took; nil if there are none
	readers []*runReader // by stream, nil until a value is taken
	values  []int64      // scratch
	slots   []int64      // the same
	args    []cst.Value  // room for those of calls
}

// valuesFrom returns a reader of what advances in the calls from a position on, nil if nothing does.
func (r *Rank) valuesFrom(position uint64) *restReader {
	if r.rest == nil {
		return nil
	}
	return r.rest.from(position)
}

func (x *rest) from(position uint64) *restReader {
	v := &restReader{rest: x, readers: make([]*runReader, len(x.runs.before))}
	if position == 0 {
		return v
	}
	v.before = make([]uint64, len(v.readers))
	add := func(t sequitur.Symbol, n uint64) {
		for _, k := range x.takesOf(t) {
			v.before[k.stream] += n
		}
	}
	switch calls := x.rank.flow.calls.(type) {
	case *listedCalls:
		for _, t := range calls.list[:min(position, calls.Len())] {
			add(t, 1)
		}
	default:
		for t, n := range calls.grammar().OccurrencesBefore(min(position, calls.Len())) {
			add(t, n)
		}
	}
	return v
}

// take returns the next values of streams. They are valid until the next are taken.
func (v *restReader) take(takes []take) []int64 {
	v.values = v.values[:0]
	for _, k := range takes {
		r := v.readers[k.stream]
		if r == nil {
			before := uint64(0)
			if v.before != nil {
				before = v.before[k.stream]
			}
			r = v.rest.runs.reader(k.stream, before)
			v.readers[k.stream] = r
		}
		v.values = append(v.values, r.take())
	}
	return v.values
}

// in returns the next call, given that of its terminal.
func (v *restReader) in(c Call) Call {
	if v == nil || len(v.rest.takesOf(c.Terminal)) == 0 {
		return c
	}
	b := v.rest.base(c.Terminal)
	v.slots = append(v.slots[:0], b.slots...)
	for i, value := range v.take(b.takes) {
		v.slots[b.takes[i].slot] = value
	}
	n := len(c.Args)
	if len(v.args) < n {
		const most = 64 // calls
		v.args = make([]cst.Value, n*min(most, 1+2*cap(v.args)/n))
	}
	args := v.args[:n:n]
	v.args = v.args[n:]
	copy(args, c.Args)
	v.rest.set(args, c.Function, b, v.slots)
	c.Args, c.one = args, true
	return c
}

// advance returns the text of an argument of the calls of a terminal that advances, if it has one and they are
// folded.
func (p *printing) advance(i int) (text string, ok bool) {
	r := p.of
	if r == nil || r.rest == nil || p.one || len(r.rest.takesOf(p.terminal)) == 0 {
		return "", false
	}
	a := r.shape.Signature(r.Signature(p.terminal)).Args[i]
	k := 0
	if a.Type.Kind == cst.KindPointer {
		k = 1
	}
	if k >= len(a.Values) || a.Values[k].Form != Stream ||
		!slices.ContainsFunc(r.rest.takesOf(p.terminal), func(t take) bool { return t.slot == a.first+k }) {
		return "", false
	}
	of, ranks := printing{Printer: p.Printer}, []int{r.number}
	if k == 1 {
		text, ok = of.advancingPointer(a, ranks, p.args[i].Pointer())
	} else {
		text, ok = of.advancing(a, 0, ranks, false)
	}
	if !ok {
		var err error
		text, err = of.overRanks(a)
		ok = err == nil
	}
	return text, ok
}

// Streams returns the arguments of the calls of a terminal of [Trace.Folded] with the number of a stream in place
// of each value that advances, and the parameters of these, ascending; none if r is of [Trace.Rank]. A stream is
// the values of an argument of a function, of which calls of one or several terminals each take the next. They
// are numbered in the order in which calls first take one, from 0 on, with those that are told apart.
func (r *Rank) Streams(terminal uint32) (args []cst.Value, params []int) {
	args = r.Call(terminal).Args
	if r.rest == nil || len(r.rest.takesOf(terminal)) == 0 {
		return args, nil
	}
	b := r.rest.base(terminal)
	args, slots := slices.Clone(args), slices.Clone(b.slots)
	for _, k := range b.takes {
		slots[k.slot] = int64(k.stream)
	}
	r.rest.set(args, &r.trace.Functions()[r.Function(terminal)], b, slots)
	return args, b.params
}

// SameStreams reports whether ranks of [Trace.Folded] that keep nothing have the same values in all streams, and
// some have any. It takes time in proportion to the runs of values.
func (r *Rank) SameStreams(o *Rank) bool {
	if r.rest == nil || o.rest == nil || len(r.rest.runs.before) != len(o.rest.runs.before) {
		return false
	}
	for i := range r.rest.runs.before {
		n := r.rest.runs.length(i)
		if n != o.rest.runs.length(i) || r.rest.runs.reader(i, 0).common(o.rest.runs.reader(i, 0), n) < n {
			return false
		}
	}
	return true
}
