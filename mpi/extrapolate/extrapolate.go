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
	"github.com/reprise-trace/reprise/internal/memory"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

// Options say what is made.
type Options struct {
	Ranks int  // of the run, at least 1
	Force bool // what is not determined is taken from the nearest rank of the largest trace
	// Check tells what cannot be right in a run, a text each, or is nil. What is made must pass it
	// if the largest trace does. [github.com/reprise-trace/reprise/query.Faults] looks for messages
	// that do not match, and deadlocks.
	Check func(ctx context.Context, run *trace.Trace) (faults []string, err error)

	Progress func(ranks int) // is called with how many ranks are made, unless it is nil
}

// A Result is a run on another number of ranks.
type Result struct {
	Ranks  int      `json:"ranks"`
	Grid   string   `json:"grid"`
	Fits   []Fit    `json:"fits"`
	Weak   int      `json:"weak_fits"` // expressions that only two numbers of ranks confirm
	Forced []string `json:"forced"`    // what is taken although the traces do not determine it

	parts merge.Accumulator
}

// A Fit is an expression that is not the same on all numbers of ranks and all ranks.
type Fit struct {
	Function   string `json:"function"` // nothing for a loop
	Parameter  string `json:"parameter"`
	Expression string `json:"expression"`
	Class      string `json:"ranks_at"` // the place in the grid of the ranks that have it
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
	s := &solver{ctx: ctx, o: o, numbers: make(interner), calls: make(interner), declared: new(cst.Table)}
	for i, t := range traces {
		if i > 0 && t.Ranks() == traces[i-1].Ranks() {
			return nil, fmt.Errorf(
				"extrapolate: two traces of %d ranks: they must be of different numbers of ranks", t.Ranks())
		}
		// All of a rank is in memory, and what its grammar and its arguments are compared with.
		const rankMemory = 4 << 10
		if err := memory.Check(t, "ranks", uint64(t.RankSet().Len()), rankMemory); err != nil {
			return nil, err
		}
		if err := s.read(t); err != nil {
			return nil, err
		}
	}
	wrong := new(Error)
	m, err := s.solve()
	err = s.seen(m, err)
	if o.Force && errors.As(err, &wrong) {
		if forced, err2 := s.force(); err2 == nil {
			if m, err = forced, nil; len(m.forced) == 0 {
				m.forced = wrong.Problems
			}
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	r := &Result{Ranks: o.Ranks, Grid: m.grid.name, Fits: m.fits(), Weak: len(m.weak), Forced: m.forced}
	for _, p := range m.parts {
		if err := r.parts.Add(p); err != nil {
			return nil, err
		}
	}
	run := traces[len(traces)-1].Run()
	if err := r.parts.Describe(merge.Run{Ranks: o.Ranks, Source: run.Source, Names: run.Names,
		Origin: originOf(run.Origin, o.Ranks)}); err != nil {
		return nil, err
	}
	switch err := r.check(ctx, traces[len(traces)-1], o.Check); {
	case err == nil:
	case o.Force && errors.As(err, &wrong):
		r.Forced = append(r.Forced, wrong.Problems...)
	default:
		return nil, err
	}
	return r, nil
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

// Describe adds a description of the run.
func (r *Result) Describe(run merge.Run) error { return r.parts.Describe(run) }

// Write writes the trace.
func (r *Result) Write(w io.Writer) error { return r.parts.Write(w) }

// A rank is one of a trace.
type rank struct {
	point
	fns    []int // by terminal
	args   [][]cst.Value
	groups map[uint32]merge.Group
	folded [likenesses][]*node
}

// read reads the ranks of a trace.
func (s *solver) read(t *trace.Trace) error {
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
	fns := make([]int, len(t.Functions()))
	for i, f := range t.Functions() {
		fns[i] = s.declared.Declare(f)
	}
	for number := range t.Ranks() {
		if s.ctx.Err() != nil {
			return context.Cause(s.ctx)
		}
		part, err := t.PlainPart(number)
		if err != nil {
			return err
		}
		r := &rank{groups: part.CallGroups}
		r.point.ranks, r.point.rank = int64(t.Ranks()), int64(number)
		f := folder{numbers: s.numbers}
		for fn, args := range part.Table.All() {
			args = slices.Clone(args)
			r.fns, r.args = append(r.fns, fns[fn]), append(r.args, args)
			n := &node{terminal: uint32(len(f.calls))}
			for like := range likenesses {
				n.ids[like] = s.numbers.number(callKey(fns[fn], t.Functions()[fn].Params, args, like))
			}
			f.calls = append(f.calls, n)
		}
		if r.folded[equal], err = f.grammar(part.Grammar); err != nil {
			return fmt.Errorf("extrapolate: rank %d of %d: %w", number, t.Ranks(), err)
		}
		for like := equal + 1; like < likenesses; like++ {
			f.left = maxCalls
			r.folded[like] = f.fold(r.folded[within[like]], like)
		}
		list = append(list, r)
	}
	s.traces = append(s.traces, list)
	return nil
}

// callKey returns what calls have in common that are so much alike.
func callKey(fn int, params []cst.Param, args []cst.Value, like likeness) []byte {
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
		if kept {
			key = append(key, ',')
			key, _ = v.AppendText(key)
		}
	}
	for i, p := range params {
		add(p.Type, args[i])
	}
	return key
}
