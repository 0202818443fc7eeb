package show

import (
	"cmp"
	"errors"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/skeleton"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

// A programInfo is shapes as one program with differences.
type programInfo struct {
	Shapes rankenc.Set      `json:"shape_set"`
	Ranks  rankenc.Set      `json:"rank_set"`
	Calls  uint64           `json:"calls"` // of all ranks
	Parts  []*skeleton.Part `json:"body"`
}

// ErrApart is the error of shapes that are too large to be compared.
var ErrApart = errors.New("the shapes are too long to be shown as one program")

// MaxTogether is how many symbols the grammars of all shapes have at most that are shown as
// programs. Tests change it.
var MaxTogether = 1 << 22

// How many pairs of calls are compared for each kind of details, at the most: altogether, and for a
// program that is one of many.
const (
	maxWork = 1 << 26
	minWork = 1 << 20
)

// together answers what the programs of the trace are, each with the differences of its shapes.
func together(q *cli.Question) error {
	if made := q.Trace.RankSet(); made.Len() == 0 {
		return cli.NoCalls(q.Path)
	}
	groups, err := query.Programs(q.Context(), q.Trace)
	if err != nil {
		return err
	}
	a := grammarAnswer{Header: q.Header(), Grammars: []grammarInfo{}}
	bar := cli.NewCounter(q.Context(), q.ErrOrStderr(), "comparing shapes", int64(q.Trace.Shapes()), "shapes")
	done := 0
	t := comparer{Question: q, symbols: MaxTogether, work: max(maxWork/max(1, len(groups)), minWork)}
	for _, g := range groups {
		p, err := t.program(g, func(n int) { bar.Show(uint64(done + n)) })
		if err != nil {
			bar.Done()
			return err
		}
		a.Programs = append(a.Programs, p)
		done += g.Shapes.Len()
	}
	bar.Done()
	return q.Answer(a, func() {
		for i, p := range a.Programs {
			if i > 0 {
				q.Printf("\n")
			}
			p.print(q)
		}
		if first := groups[0]; keepsTimes(q.Trace) {
			q.Printf("\nTimes are in the loops of a shape or of ranks, as with --shape %d and --ranks %d.\n",
				first.Shapes.At(0), first.Ranks.At(0))
		}
	})
}

// A program is shown with the fewest details if it has more than maxParts lines with these. Otherwise it is
// shown with fewer details than all if it has more lines than that, and it is shorter, or if it is much shorter:
// by a factor.
const (
	maxParts   = 100
	muchLonger = 8
)

// A comparer shows shapes as programs.
type comparer struct {
	*cli.Question
	symbols int // that grammars may still have
	work    int // for a program
}

// program returns the shapes of a program as one.
func (x *comparer) program(of query.Program, progress func(shapes int)) (programInfo, error) {
	p := programInfo{Shapes: of.Shapes, Ranks: of.Ranks}
	var programs []skeleton.Program
	for _, n := range of.Shapes.All() {
		s, err := x.Trace.Shape(n)
		if err != nil {
			return p, err
		}
		if x.symbols -= s.Grammar.Symbols(); x.symbols < 0 {
			return p, ErrApart
		}
		parts := []query.RegionPart{{Ranks: s.Ranks, Grammar: s.Grammar}}
		if x.Region != nil {
			if parts, err = x.Region.Parts(n); err != nil {
				return p, err
			}
		}
		for _, part := range parts {
			programs = append(programs, skeleton.Program{Ranks: part.Ranks, Grammar: part.Grammar})
		}
	}
	d := newDescriber(x.Trace, programs)
	var failed error
	var least []*skeleton.Part // with the fewest details
	fewest := len(details) - 1
	for i, step := range []int{fewest, 0, 1} {
		tells := details[step]
		o := skeleton.Options{Compare: d.compare, Kind: d.kinds(tells), MaxWork: x.work,
			Progress: func(n int) { progress((i*len(programs) + n) / len(details)) }}
		s, err := skeleton.Make(x.Context(), programs, o)
		switch {
		case errors.Is(err, skeleton.ErrLimit):
			failed = ErrApart
			continue
		case err != nil:
			return p, err
		}
		parts := s.Parts(programs, x.Trace.Ranks(), d.call)
		if step == fewest {
			if least = parts; countParts(parts) > maxParts {
				break // with more details it is no shorter
			}
			continue
		}
		if better(p.Parts, parts) {
			p.Parts = parts
		}
		if countParts(p.Parts) <= muchLonger {
			break // nothing is much shorter
		}
	}
	if least != nil && better(p.Parts, least) {
		p.Parts = least
	}
	if p.Parts == nil {
		return p, cmp.Or(failed, d.err)
	}
	for _, part := range p.Parts {
		p.Calls = wire.AddSat(p.Calls, part.Calls)
	}
	return p, d.err
}

// better reports whether a program is shown with fewer details than it was.
func better(shown, fewer []*skeleton.Part) bool {
	return shown == nil || countParts(shown) > muchLonger*countParts(fewer) ||
		countParts(shown) > max(maxParts, countParts(fewer))
}

// countParts returns the number of parts in all.
func countParts(parts []*skeleton.Part) int {
	n := len(parts)
	for _, p := range parts {
		n += countParts(p.Body)
	}
	return n
}

// keepsTimes reports whether a trace has times of calls.
func keepsTimes(t *trace.Trace) bool {
	for _, s := range t.Sections() {
		if s.Kind == layout.KindSummaries || s.Kind == layout.KindSeries {
			return true
		}
	}
	return false
}

func (p programInfo) print(q *cli.Question) {
	what := "shape"
	if p.Shapes.Len() > 1 {
		what = "shapes"
	}
	q.Printf("program of %s %s, %s: %s\n\n", what, p.Shapes.Abbreviated(cli.MaxListText), text.Ranks(p.Ranks),
		text.Plural(p.Calls, "call"))
	answers.WriteParts(q.OutOrStdout(), p.Parts)
}
