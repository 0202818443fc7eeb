package report

import (
	"context"
	"fmt"
	"math"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
)

// Limits of the section about iterations.
const (
	maxIterationCalls = 20_000_000 // of the ranks that are looked at
	minIterations     = 4
	maxIterations     = 1 << 20
	maxIterationBars  = 300
)

// A mainLoop is the loop in which a rank makes most of its calls: as many rounds, of as many
// calls each, from a position on.
type mainLoop struct{ first, rounds, calls uint64 }

func (l mainLoop) end() uint64 { return l.first + l.rounds*l.calls }

// mainLoopOf returns the outermost loop in which there are most of the calls of a grammar;
// false if there is none of some rounds.
func mainLoopOf(g *sequitur.Grammar) (mainLoop, bool) {
	if g.Rules() == 0 {
		return mainLoop{}, false
	}
	for rule, at := g.Rules()-1, uint64(0); ; {
		largest, most, position := sequitur.Term{Rule: -1}, uint64(0), at
		for t := range g.Body(rule) {
			width := t.Count
			if t.Rule >= 0 {
				width *= g.RuleLen(t.Rule)
			}
			if width > most {
				largest, most, at = t, width, position
			}
			position += width
		}
		if most < g.Len()/3 {
			return mainLoop{}, false
		}
		length := uint64(1)
		if largest.Rule >= 0 {
			length = g.RuleLen(largest.Rule)
		}
		switch {
		case largest.Count >= minIterations:
			return mainLoop{at, largest.Count, length}, largest.Count <= maxIterations
		case largest.Rule < 0:
			return mainLoop{}, false
		}
		rule = largest.Rule
	}
}

// An iterationText is what is written about the rounds of the main loop.
type iterationText struct{ About string }

// addIterations adds how long the rounds of the main loop take, if ranks have the times of
// every call. They are those ranks of the timeline whose main loop has as many rounds as that
// of most of them.
func (p *page) addIterations(ctx context.Context, m *timelineMaker) error {
	loops := make(map[int]mainLoop)
	byRounds, rounds, calls := make(map[uint64]int), uint64(0), uint64(0)
	for _, t := range m.shown {
		if !m.data.Timed || !t.series() {
			continue
		}
		if calls += t.Len(); calls > maxIterationCalls {
			return nil
		}
		r, err := t.Expand(maxTerminals)
		if err != nil {
			r = t.Rank // loops whose arguments advance, which are loops in the same way
		}
		if l, ok := mainLoopOf(r.Grammar()); ok {
			loops[t.number] = l
			byRounds[l.rounds]++
			if n := byRounds[l.rounds]; n > byRounds[rounds] || n == byRounds[rounds] && l.rounds > rounds {
				rounds = l.rounds
			}
		}
	}
	if rounds == 0 {
		return nil
	}
	sum := newIterations(int(rounds))
	for _, t := range m.shown {
		l, ok := loops[t.number]
		if !ok || l.rounds != rounds {
			continue
		}
		if err := sum.add(ctx, t.Rank, l); err != nil {
			return err
		}
		if sum.ranks == 1 {
			sum.rank, sum.loop = t.Number(), l
		}
	}
	p.data.Iterations = sum.data()
	p.Iterations = &iterationText{fmt.Sprintf(
		"The main loop has %s iterations, on %s. Bars are means over these ranks: the whole iteration, the time in calls, and the time in calls beyond that of the fastest rank. This is the wait time if ranks do the same in calls. A click on a bar shows the iteration in the timeline.",
		text.Count(rounds), text.Plural(sum.ranks, "rank"))}
	return nil
}

// Iterations are sums over ranks of how long the rounds of their main loops take, in ns.
type iterations struct {
	ranks       int
	rank        int // the first of them, and its loop
	loop        mainLoop
	whole       []float64 // by round
	inCalls     []float64
	leastInCall []float64 // of all ranks
}

func newIterations(rounds int) *iterations {
	n := &iterations{whole: make([]float64, rounds), inCalls: make([]float64, rounds),
		leastInCall: make([]float64, rounds)}
	for i := range n.leastInCall {
		n.leastInCall[i] = math.Inf(1)
	}
	return n
}

// add adds a rank.
func (n *iterations) add(ctx context.Context, r *trace.Rank, l mainLoop) error {
	n.ranks++
	var (
		covered cover // by the calls of the round
		began   = make([]int64, l.rounds)
		inCalls = make([]float64, l.rounds)
		end     = int64(math.MinInt64)
	)
	position := uint64(0)
	for call, err := range callTimes(r) {
		if err != nil {
			return err
		}
		if position%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if position >= l.first {
			round, first := (position-l.first)/l.calls, (position-l.first)%l.calls == 0
			if first {
				covered = covered[:0]
			}
			if first || call.start < began[round] {
				began[round] = call.start
			}
			ends := wire.AddTimes(call.start, call.duration)
			end = max(end, ends)
			covered.add(call.start, ends, func(start, end int64) { inCalls[round] += float64(max(0, end-start)) })
		}
		if position++; position == l.end() {
			break
		}
	}
	for round := range began {
		til := end
		if round+1 < len(began) {
			til = began[round+1]
		}
		n.whole[round] += float64(max(0, til-began[round]))
		n.inCalls[round] += inCalls[round]
		n.leastInCall[round] = min(n.leastInCall[round], inCalls[round])
	}
	return nil
}

// data returns the means of ranks, and of rounds that are one bar.
func (n *iterations) data() *iterationData {
	rounds := len(n.whole)
	d := &iterationData{Rounds: rounds, Bars: min(rounds, maxIterationBars), Rank: n.rank,
		First: n.loop.first, Calls: n.loop.calls}
	for bar := range d.Bars {
		first, end := bar*rounds/d.Bars, (bar+1)*rounds/d.Bars
		var whole, inCalls, least float64
		for i := first; i < end; i++ {
			whole, inCalls, least = whole+n.whole[i], inCalls+n.inCalls[i], least+n.leastInCall[i]
		}
		of := float64(end-first) * float64(n.ranks)
		d.Whole, d.InCalls = append(d.Whole, tenth(whole/of)), append(d.InCalls, tenth(inCalls/of))
		d.Wait = append(d.Wait, tenth(max(0, inCalls/of-least/float64(end-first))))
	}
	return d
}
