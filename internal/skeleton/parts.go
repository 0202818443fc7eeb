package skeleton

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
)

// A Part is a call or a loop of a skeleton as it is told of all ranks.
type Part struct {
	Call  string      `json:"call,omitempty"`
	Fails bool        `json:"fails,omitempty"` // the call is a test that fails
	Body  []*Part     `json:"body,omitempty"`  // of a loop
	Ranks rankenc.Set `json:"rank_set"`        // that have it

	// Iterations are those of the loop around it on these ranks, or their number. In is how
	// many of them have it.
	Iterations uint64 `json:"iterations_around"`
	In         uint64 `json:"in_iterations"`

	Trips        // or how often the call comes in a row
	Calls uint64 `json:"calls"` // of all ranks, in all iterations
	Each  uint64 `json:"-"`     // in an iteration of a loop, if all have as many; or 0

	SomeRanks bool `json:"on_some_ranks"` // of those of the loop around it
}

// Trips are how often a loop goes round each time that a rank comes to it.
type Trips struct {
	Expression string  `json:"trips,omitempty"` // of the rank, or a number, if there is one
	Min        uint64  `json:"min_trips"`
	Max        uint64  `json:"max_trips"`
	Mean       float64 `json:"mean_trips"`
	Total      uint64  `json:"total_trips"`
}

// maxFitted is of how many ranks trip counts are looked at one by one.
const maxFitted = 1 << 16

// A teller tells what a skeleton is.
type teller struct {
	programs []Program
	size     int // ranks of the run
	call     func(*Node) (text string, fails bool)
}

// Parts returns the parts of s, one after the other, for all ranks of its programs. These are
// those that it was made from, in a run of size ranks; call writes a call, and reports whether it is
// a test that fails.
func (s *Skeleton) Parts(programs []Program, size int, call func(*Node) (text string, fails bool)) []*Part {
	t := teller{programs, size, call}
	return t.parts(s.Body, once(len(programs)))
}

// parts tells a body that each program goes through so many times.
func (t *teller) parts(body []*Node, of map[int]uint64) []*Part {
	var list []*Part
	for _, n := range body {
		list = append(list, t.part(n, of))
	}
	return list
}

func (t *teller) part(n *Node, of map[int]uint64) *Part {
	p := &Part{Trips: Trips{Min: n.Times[0].Min}, SomeRanks: len(n.Times) < len(of)}
	var sets []rankenc.Set
	add := func(sum *uint64, n uint64, program int) {
		*sum = wire.AddSat(*sum, wire.MulSat(n, uint64(t.programs[program].Ranks.Len())))
	}
	for _, x := range n.Times {
		sets = append(sets, t.programs[x.Program].Ranks)
		add(&p.Iterations, of[x.Program], x.Program)
		add(&p.In, x.In, x.Program)
		add(&p.Total, x.Total, x.Program)
		p.Min, p.Max = min(p.Min, x.Min), max(p.Max, x.Max)
	}
	p.Ranks = rankenc.Set{}.Union(sets...)
	p.Mean = float64(p.Total) / float64(p.In)
	p.Expression = t.expression(n.Times)
	if !n.IsLoop() {
		p.Calls = p.Total
		p.Call, p.Fails = t.call(n)
		return p
	}
	p.Body = t.parts(n.Body, n.trips())
	fixed := true
	for _, inner := range p.Body {
		p.Calls = wire.AddSat(p.Calls, inner.Calls)
		fixed = fixed && inner.fixed()
	}
	if fixed && p.Total > 0 {
		p.Each = p.Calls / p.Total
	}
	return p
}

// Optional reports whether some iterations or ranks leave p out.
func (p *Part) Optional() bool { return p.SomeRanks || p.In < p.Iterations }

// Varies reports whether p is a call that comes another number of times in a row in some iterations
// than in others, or on some ranks: none where they leave it out.
func (p *Part) Varies() bool {
	return p.Body == nil && p.Max > 1 && p.Expression == ""
}

// fixed reports whether all iterations have as many calls of p.
func (p *Part) fixed() bool {
	return !p.Optional() && p.Min == p.Max && (p.Body == nil || p.Each > 0)
}

// expression returns the trip counts as an expression of the rank, if there is one.
func (t *teller) expression(times []Times) string {
	const most = 40 // bytes: what is longer is no explanation
	const few = 5   // ranks: some expression yields the trip counts of so few by chance
	ranks, constant := 0, true
	for _, x := range times {
		if x.Min != x.Max {
			return ""
		}
		ranks += t.programs[x.Program].Ranks.Len()
		constant = constant && x.Min == times[0].Min
	}
	if constant {
		return fmt.Sprint(times[0].Min)
	}
	values := make([]RankValue, 0, min(ranks, maxFitted))
	for _, x := range times {
		if ranks > maxFitted || x.Max > 1<<62 {
			return ""
		}
		for _, rank := range t.programs[x.Program].Ranks.All() {
			values = append(values, RankValue{rank, int64(x.Min)})
		}
	}
	e, ok := Fit(values, t.size, rankenc.Options{})
	switch c, shift := e.Shift(); {
	case !ok, len(values) < few, len(e.String()) > most:
		return ""
	case shift && c > 0:
		return fmt.Sprintf("%d+rank", c)
	}
	return e.String()
}

// A RankValue is a value of a rank.
type RankValue struct {
	Rank  int
	Value int64
}

// Fit returns the expression of values of a few of size ranks, if there is one. It sorts them.
func Fit(values []RankValue, size int, o rankenc.Options) (rankenc.Expr, bool) {
	slices.SortFunc(values, func(a, b RankValue) int { return cmp.Compare(a.Rank, b.Rank) })
	ranks, numbers := make([]int64, len(values)), make([]int64, len(values))
	for i, v := range values {
		ranks[i], numbers[i] = int64(v.Rank), v.Value
	}
	return rankenc.Fit(ranks, numbers, int64(size), o)
}
