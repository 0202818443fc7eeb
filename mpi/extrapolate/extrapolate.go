package extrapolate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/memory"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

// Options say what is made.
type Options struct {
	Ranks int // of the run, at least 1
	// Force has what is not determined follow the shortest rule that fits the most traces. What has none is that of
	// the nearest rank of the largest trace.
	Force bool
	// Check tells what cannot be right in a run, a text each, or is nil. What is made must pass it
	// if the largest trace does. [github.com/reprise-trace/reprise/query.Faults] looks for messages
	// that do not match, and deadlocks.
	Check func(ctx context.Context, run *trace.Trace) (faults []string, err error)

	Ignore Ignored // what does not count

	Progress func(ranks int) // is called with how many ranks are made, unless it is nil

	Origin format.Origin // is added to that of the largest trace
}

// A Result is a run on another number of ranks.
type Result struct {
	Ranks  int      `json:"ranks"`
	Grid   string   `json:"grid"`
	Fits   []Fit    `json:"fits"`
	Weak   int      `json:"weak_fits"` // expressions that only two numbers of ranks confirm
	Forced []string `json:"forced"`    // what is taken although the traces do not determine it
	Faults []string `json:"faults"`    // what cannot be right in the run; nothing unless it is forced

	// Nearest are the arguments that do not count, or differ between executables for each number of ranks, and
	// have no expression: they are those of the nearest rank of the largest trace.
	Nearest []string `json:"nearest"`

	parts   merge.Accumulator
	written []byte // what Write writes, nil if it is not known yet
	unread  error  // that it returns
}

// A Fit is an expression that is not the same on all numbers of ranks and all ranks.
type Fit struct {
	Function   string `json:"function"` // nothing for a loop
	Parameter  string `json:"parameter"`
	Expression string `json:"expression"`
	Class      string `json:"ranks_at"` // the place in the grid of the ranks that have it
	Traces     int    `json:"held_in"`  // on how many numbers of ranks such ranks show it
	Forced     bool   `json:"forced"`   // the traces do not determine it: it is a guess
}

// An Error says what of a run does not follow from the traces.
type Error struct {
	Problems []string
	Ranks    int  // a trace of so many, too, would show what these do not; 0 if none is known
	NoGrid   bool // no place in a grid says which calls ranks make
}

const maxProblems = 10 // that a text has

func (e *Error) Error() string {
	text := "extrapolate: not determined: " + strings.Join(e.Problems[:min(len(e.Problems), maxProblems)], "; ")
	if more := len(e.Problems) - maxProblems; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	if e.Ranks > 0 {
		text += fmt.Sprintf("; a trace of %d ranks, too, would show more", e.Ranks)
	}
	return text
}

// Make makes the trace of a run of a program from others, on different numbers of ranks.
func Make(ctx context.Context, traces []*trace.Trace, o Options) (*Result, error) {
	if o.Ranks < 1 || len(traces) == 0 || slices.Contains(traces, nil) {
		return nil, errors.New("extrapolate: no ranks, or no trace")
	}
	if o.Ranks-1 > rankenc.MaxRank {
		return nil, fmt.Errorf("extrapolate: %d ranks, and a run has no more than %d", o.Ranks, rankenc.MaxRank+1)
	}
	traces = slices.Clone(traces)
	slices.SortStableFunc(traces, func(a, b *trace.Trace) int { return cmp.Compare(a.Ranks(), b.Ranks()) })
	for i, t := range traces {
		if i > 0 && t.Ranks() == traces[i-1].Ranks() {
			return nil, fmt.Errorf(
				"extrapolate: two traces of %d ranks: they must be of different numbers of ranks", t.Ranks())
		}
	}
	runs := !o.Ignore.Addresses || slices.ContainsFunc(traces, func(t *trace.Trace) bool { return !isShort(t) })
	s, err := newSolver(ctx, traces, o, runs)
	if err != nil {
		return nil, err
	}
	if !s.advances {
		return s.result(traces)
	}
	s.o.Force = false
	r, err := s.result(traces)
	if err == nil || ctx.Err() != nil {
		return r, err
	}
	// Short loops may be runs in some traces and values in others. Long ones have too many values to be solved.
	if s.longest > maxSteps && !o.Force {
		return nil, err
	}
	if s, err2 := newSolver(ctx, traces, o, false); err2 == nil {
		r, err2 = s.result(traces)
		if wrong := new(Error); err2 == nil || errors.As(err2, &wrong) || ctx.Err() != nil {
			return r, err2
		}
	}
	return nil, err
}

// newSolver returns a solver that has read traces: with runs of what advances, or with a call for each value.
func newSolver(ctx context.Context, traces []*trace.Trace, o Options, runs bool) (*solver, error) {
	s := &solver{ctx: ctx, o: o, numbers: make(interner), calls: make(interner), declared: new(cst.Table),
		streamed: make(map[int]cst.Function), varied: make(map[string]bool),
		asked: make(map[int]bool)}
	for _, t := range traces {
		// All of a rank is in memory, and what its grammar and its arguments are compared with.
		const rankMemory = 4 << 10
		if err := memory.Check(t, "ranks", uint64(t.RankSet().Len()), rankMemory); err != nil {
			return nil, err
		}
		if err := s.read(t, sitesOf(t, traces[len(traces)-1]), runs); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// result returns the run that is made of the traces that were read.
func (s *solver) result(traces []*trace.Trace) (*Result, error) {
	wrong := new(Error)
	m, err := s.solve()
	err = s.seen(m, err)
	list := []*made{m}
	if s.o.Force && errors.As(err, &wrong) {
		if forced, err2 := s.force(m); err2 == nil {
			list, err = forced, nil
			for _, m := range list {
				m.problems = also(m.problems, wrong.Problems)
			}
		}
	}
	if s.ctx.Err() != nil {
		return nil, context.Cause(s.ctx)
	}
	if err != nil {
		return nil, err
	}
	var best *Result
	for _, m := range list {
		r, err := s.run(m, traces)
		if err != nil {
			return nil, err
		}
		if best == nil || len(r.Faults) < len(best.Faults) {
			best = r
		}
		if len(best.Faults) == 0 {
			break
		}
	}
	if len(best.Faults) > 0 && !s.o.Force {
		return nil, &Error{Problems: best.Faults}
	}
	return best, nil
}

// run returns what is made as a run, with its faults.
func (s *solver) run(m *made, traces []*trace.Trace) (*Result, error) {
	r := &Result{Ranks: s.o.Ranks, Grid: m.grid.name, Fits: m.fits(), Weak: len(m.weak), Forced: m.problems,
		Nearest: append([]string{}, m.nearest...), Faults: []string{}}
	for _, p := range m.parts {
		if err := r.parts.Add(p); err != nil {
			return nil, err
		}
	}
	largest := traces[len(traces)-1]
	run := largest.Run()
	if err := r.parts.Describe(merge.Run{Ranks: s.o.Ranks, Source: run.Source, Names: run.Names,
		Origin: originOf(run.Origin, s.o.Ranks)}); err != nil {
		return nil, err
	}
	if err := r.parts.Describe(merge.Run{Origin: s.o.Origin}); err != nil {
		return nil, err
	}
	faults, err := r.check(s.ctx, largest, s.o.Check)
	r.Faults = append(r.Faults, faults...)
	return r, err
}

// also returns problems, and others that are not told among them.
func also(problems, others []string) []string {
	for _, other := range others {
		if !slices.ContainsFunc(problems, func(p string) bool { return strings.HasPrefix(p, other) }) {
			problems = append(problems, other)
		}
	}
	return problems
}

// originOf returns what of who made the largest trace holds of a run on another number of ranks: which
// recording it is, when and where is of that trace alone.
func originOf(o format.Origin, ranks int) format.Origin {
	made := format.Origin{Commands: o.Commands, Versions: o.Versions, Assumptions: o.Assumptions}
	if o.World > 0 {
		made.World = ranks
	}
	return made
}

// Write writes the trace.
func (r *Result) Write(w io.Writer) error {
	if r.written == nil {
		return r.parts.Write(w)
	}
	if _, err := w.Write(r.written); err != nil {
		return err
	}
	return r.unread
}

// A rank is one of a trace.
type rank struct {
	point
	fns    []int // by terminal
	args   [][]cst.Value
	slots  []uint64 // that advance
	groups map[uint32]merge.Group
	folded [likenesses][]*node
	sited  bool // there are calls with a site

	comms   []int // which argument of a call, by terminal, is its communicator; -1 if none is
	members map[int64]member
}

// read reads the ranks of a trace whose sites have other numbers, with runs of what advances or without.
func (s *solver) read(t *trace.Trace, sites map[int64]int64, runs bool) error {
	switch {
	case !t.Content().Exact:
		return errors.New(
			"extrapolate: a trace was made to fit a size, and not all of its calls are as they were: record without --bounded")
	case t.RankSet().Len() != t.Ranks():
		return fmt.Errorf("extrapolate: a trace has calls of %d of %d ranks, and all are needed",
			t.RankSet().Len(), t.Ranks())
	case len(t.Run().Origin.Missing) > 0:
		return errors.New("extrapolate: calls of a trace could not be recorded, and all are needed")
	case len(t.Run().Worlds) > 0:
		return errors.New("extrapolate: processes were spawned: a run of several worlds is not extrapolated")
	}
	var list []*rank
	for number := range t.Ranks() {
		if s.ctx.Err() != nil {
			return context.Cause(s.ctx)
		}
		read := t.PlainPart
		if runs {
			read = t.Part
		}
		part, err := read(number)
		if err != nil {
			return err
		}
		if s.o.Ignore.Addresses && part.Streams == nil && part.Grammar.Len() <= maxPlain {
			if part, err = renumbered(part); err != nil {
				return err
			}
		}
		r, err := s.readRank(&part, sites, int64(t.Ranks()))
		if err != nil {
			return fmt.Errorf("extrapolate: rank %d of %d: %w", number, t.Ranks(), err)
		}
		list = append(list, r)
	}
	s.traces = append(s.traces, list)
	return nil
}

// readRank reads a rank of so many.
func (s *solver) readRank(part *merge.Part, sites map[int64]int64, ranks int64) (r *rank, err error) {
	r = &rank{groups: part.CallGroups}
	r.point.ranks, r.point.rank = ranks, int64(part.Rank)
	s.longest = max(s.longest, part.Grammar.Len())
	streams := part.Streams
	if streams == nil {
		streams = new(merge.Streams)
	}
	fns := make([]int, len(part.Table.Functions()))
	for i, f := range part.Table.Functions() {
		if fns[i] = -1 - i; layout.StreamRoleOf(&f) == layout.NoStream { // else it is the same for several arguments
			fns[i] = s.declared.Declare(f)
		}
	}
	f := folder{numbers: s.numbers}
	for fn, args := range part.Table.All() {
		terminal := uint32(len(f.calls))
		if i := layout.SiteOf(&part.Table.Functions()[fn]); i >= 0 {
			if site, ok := sites[args[i].Int()]; ok {
				args = slices.Clone(args)
				args[i] = cst.Handle(site)
			}
		}
		for i, p := range part.Table.Functions()[fn].Params {
			if isGrid(part.Table.Functions()[fn].Name, p.Name) && args[i].Kind() == cst.KindArray {
				s.asked[args[i].Len()] = true
			}
		}
		s.call(r, &f, fns[fn], part.Table.Functions()[fn].Params, args, streams.Slots[terminal])
	}
	r.members = s.askedMembers(r)
	if r.folded[equal], err = f.grammar(part.Grammar); err != nil {
		return nil, err
	}
	if streams.Runs != nil {
		s.advances = true
		more, err := s.runs(r, &f, part)
		if err != nil {
			return nil, err
		}
		r.folded[equal] = append(r.folded[equal], more...)
	}
	for like := equal + 1; like < likenesses; like++ {
		f.left = maxCalls
		r.folded[like] = f.fold(r.folded[within[like]], like)
	}
	return r, nil
}

// call adds a call that a rank makes.
func (s *solver) call(r *rank, f *folder, fn int, params []cst.Param, args []cst.Value, slots uint64) *node {
	args = slices.Clone(args)
	r.fns, r.args, r.slots = append(r.fns, fn), append(r.args, args), append(r.slots, slots)
	r.comms = append(r.comms, communicatorOf(params))
	n := &node{terminal: uint32(len(f.calls))}
	for like := range likenesses {
		n.ids[like] = s.numbers.number(fmt.Appendf(s.callKey(fn, params, args, like), "/%x", slots))
	}
	n.ids[sited] = n.ids[labelled]
	if i := slices.IndexFunc(params, isSite); i >= 0 && args[i].Int() != 0 {
		r.sited = true
		n.ids[sited] = s.numbers.number(fmt.Appendf(nil, "%d@%d", n.ids[function], args[i].Int()))
	}
	f.calls = append(f.calls, n)
	return n
}

// callKey returns what calls have in common that are so much alike.
func (s *solver) callKey(fn int, params []cst.Param, args []cst.Value, like likeness) []byte {
	key := fmt.Appendf([]byte{0}, "%d", fn)
	var add func(t cst.Type, v cst.Value)
	add = func(t cst.Type, v cst.Value) {
		kept := true
		switch t.Kind {
		case cst.KindRank, cst.KindStatus:
			kept = like == equal
		case cst.KindInt, cst.KindFloat:
			kept = like <= sized
		case cst.KindTag:
			kept = like <= similar || like == labelled
		case cst.KindHandle:
			kept = like == equal || like <= labelled && t.Class != "request"
		case cst.KindPointer:
			kept = like <= sized
			if like == labelled {
				key = fmt.Appendf(key, ",%d", v.Pointer().Segment)
			}
		case cst.KindArray:
			if like <= sized {
				key = fmt.Appendf(key, "[%d", v.Len())
				for i := range v.Len() {
					add(*t.Elem, v.Index(i))
				}
			}
			return
		}
		if t.Kind == cst.KindString && like != equal {
			v = cst.String(withoutNumbers(v.Text()))
		}
		if kept {
			key = append(key, ',')
			key, _ = v.AppendText(key)
		}
	}
	for i, p := range params {
		if s.lenient(p) != ignored || p.Type.Kind == cst.KindPointer && like == equal {
			add(p.Type, args[i])
		}
	}
	return key
}
