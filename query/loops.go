package query

import (
	"iter"
	"math"
	"slices"
	"sync"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// Loops are the loops of a rank, or of the ranks of a shape: the rules of their
// grammar, which are the bodies of loops, with how long they take. A rule may stand in
// several places, on the right-hand sides of others: there its count is how often the
// loop goes round, its trip count.
type Loops struct {
	// Grammar is over the terminals of the rank, or over the signatures of the trace.
	Grammar *sequitur.Grammar

	// Source says what times are known by: None, Statistics or Histograms, which are those
	// of all ranks, or Series, if the Times are from [Times.ReadSeries] and so those of the
	// ranks that were read.
	Source Source

	// Scaled says that the times are those of all ranks times what makes them those of the rank:
	// the trace has its sums, see docs/times.md.
	Scaled bool

	// Guarantee is the weakest of those of the times of every call, if the Source is Series and the loops are
	// from [OpenRankLoops] or [OpenShapeLoops].
	Guarantee timing.Guarantee

	// Unread says that the ranks have the times of every call, but of more than [MaxLoopCalls] calls: they
	// were not read.
	Unread bool

	Rules []Loop // the rules of Grammar; the last is the whole

	// Run is the time of the whole without MPI_Init and MPI_Finalize, of which Shares are: see [RunTimes].
	Run Nanoseconds

	signature func(sequitur.Symbol) int
	times     *Times
	region    *Region  // of which they are; nil for all
	scaling   *scaling // nil unless Scaled

	once      sync.Once
	functions [][]FunctionCount // of an iteration of each rule
}

// A Loop is a rule: what an iteration of a loop is on average. Times are sums of the
// means that the trace has of durations of the calls, and of the gaps before them: an estimate,
// unless [Loops.ReadSeries] has made them those of the iterations themselves.
type Loop struct {
	Calls      uint64 `json:"calls"`      // of an iteration
	Iterations uint64 `json:"iterations"` // altogether, in all places
	Places     int    `json:"places"`     // on the right-hand sides of other rules

	Time    Nanoseconds `json:"iteration_ns"` // of an iteration, gaps before the calls included
	InCalls Nanoseconds `json:"in_calls_ns"`  // of that, the durations of the calls
	// of all iterations in the Run of [Loops], from 0 to 1; in the calls of the whole, if there are no times
	Share float64 `json:"share"`
}

// RankLoops returns the loops of a rank. It takes time in proportion to its grammar.
func (t *Times) RankLoops(r *trace.Rank) *Loops {
	need.That(r != nil, "query: no rank")
	return t.loops(r.Grammar(), func(s sequitur.Symbol) int { return r.Signature(s) }, t.ownOf(r))
}

// within returns the loops of a region, with the means that l has.
func (l *Loops) within(g *Region, spans []trace.Span) (*Loops, error) {
	cut, err := cutOf(l.Grammar, spans)
	if err != nil {
		return nil, err
	}
	in := &Loops{Grammar: cut, Source: l.Source, Scaled: l.Scaled, Guarantee: l.Guarantee, signature: l.signature,
		times: l.times, scaling: l.scaling, region: g}
	in.set()
	return in, nil
}

// ownOf returns what the trace keeps of the times of a rank, nil if that is nothing or has no end.
func (t *Times) ownOf(r *trace.Rank) *layout.RankTime {
	if t.ranks == nil {
		return nil
	}
	of, ok := t.ranks.Find(r.Number())
	if !ok || of.Span.High == math.MaxInt64 {
		return nil
	}
	return &of
}

// ShapeLoops returns the loops of the ranks of a shape of the trace, whose calls are the
// signatures of the trace. It takes time in proportion to the grammar.
func (t *Times) ShapeLoops(number int) (*Loops, error) {
	s, err := t.shape(number)
	if err != nil {
		return nil, err
	}
	return t.loops(s.grammar, s.signature, nil), nil
}

// loops returns the loops of a grammar, of whose symbols signature says what they are: of a rank
// if the trace keeps its own times.
func (t *Times) loops(g *sequitur.Grammar, signature func(sequitur.Symbol) int, own *layout.RankTime) *Loops {
	l := &Loops{Grammar: g, signature: signature, times: t}
	for s := range g.Occurrences() {
		l.Source = max(l.Source, t.source(signature(s)))
	}
	if l.Source != None && t.measured != nil {
		l.Source = Series
	}
	if own != nil && l.Source != None && l.Source != Series {
		counts, all, means := t.meansOfPairs(g, signature)
		l.scaling, l.Scaled = scalingTo(own, all, counts, means, func(p pair) int {
			return l.function(p.terminal)
		}), true
	}
	l.set()
	return l
}

// set sets the rules.
func (l *Loops) set() {
	if l.Rules = make([]Loop, l.Grammar.Rules()); len(l.Rules) == 0 {
		return
	}
	l.count()
	if l.Source != None {
		l.time()
	}
	l.share()
}

// count sets how often each rule is used.
func (l *Loops) count() {
	l.Rules[len(l.Rules)-1].Iterations = 1
	for r := len(l.Rules) - 1; r >= 0; r-- { // rules refer to those below them
		l.Rules[r].Calls = l.Grammar.RuleLen(r)
		for s := range l.Grammar.Body(r) {
			if s.Rule >= 0 {
				of := &l.Rules[s.Rule]
				of.Places++
				of.Iterations = wire.AddSat(of.Iterations, wire.MulSat(s.Count, l.Rules[r].Iterations))
			}
		}
	}
}

// time sets how long an iteration of each rule takes: what its calls take after each
// other, and what the first takes after what is before it, on average over all places.
func (l *Loops) time() {
	rules := ruleEnds(l.Grammar)
	whole := len(l.Rules) - 1
	inner := make([][2]float64, len(l.Rules))   // of an iteration, without its first call
	entries := make([][2]float64, len(l.Rules)) // of the first calls of all iterations
	entries[whole] = l.means(pair{none, rules[whole].first})
	for r := range inner {
		before := int64(none)
		for t := range l.Grammar.Body(r) {
			e := endsOf(rules, t)
			if before != none {
				add(&inner[r], l.means(pair{before, e.first}), 1)
			}
			if t.Rule >= 0 {
				add(&inner[r], inner[t.Rule], float64(t.Count))
			}
			if t.Count > 1 {
				add(&inner[r], l.means(pair{int64(e.last), e.first}), float64(t.Count-1))
			}
			before = int64(e.last)
		}
	}
	for r := whole; r >= 0; r-- {
		before, n := int64(none), float64(l.Rules[r].Iterations)
		for t := range l.Grammar.Body(r) {
			e := endsOf(rules, t)
			if t.Rule >= 0 {
				if before == none {
					add(&entries[t.Rule], entries[r], 1)
				} else {
					add(&entries[t.Rule], l.means(pair{before, e.first}), n)
				}
				if t.Count > 1 {
					add(&entries[t.Rule], l.means(pair{int64(e.last), e.first}), n*float64(t.Count-1))
				}
			}
			before = int64(e.last)
		}
		of := &l.Rules[r]
		inCalls := inner[r][durations] + entries[r][durations]/n
		of.InCalls, of.Time = Nanoseconds(inCalls), Nanoseconds(inCalls+inner[r][gaps]+entries[r][gaps]/n)
	}
}

func (l *Loops) means(p pair) [2]float64 {
	return l.scale(p.terminal, l.times.meansOf(p, l.signature))
}

// scale makes means of the calls of a symbol those of the rank.
func (l *Loops) scale(s sequitur.Symbol, means [2]float64) [2]float64 {
	if l.scaling == nil {
		return means
	}
	return l.scaling.of(l.function(s), means)
}

// OutsideRun returns startup or shutdown for a symbol of the grammar that is MPI_Init or MPI_Finalize, whose time
// has no share of the run, and otherwise nothing.
func (l *Loops) OutsideRun(s sequitur.Symbol) string {
	switch name := l.times.trace.Functions()[l.function(s)].Name; {
	case InStartup(name):
		return "startup"
	case InShutdown(name):
		return "shutdown"
	}
	return ""
}

func (l *Loops) function(s sequitur.Symbol) int { return l.times.trace.FunctionOf(l.signature(s)) }

// add adds n times so much.
func add(sum *[2]float64, each [2]float64, n float64) {
	for i := range sum {
		sum[i] += float64(n * each[i])
	}
}

// share sets how long the run takes, and what part of it each rule is.
func (l *Loops) share() {
	whole := l.Rules[len(l.Rules)-1]
	l.Run = whole.Time
	for s, n := range l.Grammar.Occurrences() {
		if l.OutsideRun(s) != "" {
			duration, _ := l.Mean(s)
			l.Run -= Nanoseconds(float64(n) * duration)
		}
	}
	l.Run = max(0, l.Run)
	for r := range l.Rules {
		of := &l.Rules[r]
		switch {
		case l.Run > 0:
			of.Share = min(1, max(0, float64(of.Time)*float64(of.Iterations)/float64(l.Run))) // calls may overlap
		case l.Source == None:
			of.Share = min(1, float64(of.Calls)*float64(of.Iterations)/float64(whole.Calls))
		}
	}
}

// Functions returns how often an iteration of a rule calls each function, the most
// frequent first. The first time, it takes time in proportion to the grammar and to the
// number of functions.
func (l *Loops) Functions(rule int) []FunctionCount {
	need.Index(rule, len(l.Rules), "query: rule")
	l.once.Do(func() {
		l.functions = make([][]FunctionCount, len(l.Rules))
		for r := range l.functions { // rules refer to those below them
			l.functions[r] = l.countFunctions(r)
		}
	})
	return l.functions[rule]
}

// countFunctions returns how often an iteration of a rule calls each function, which is
// known of the rules below it.
func (l *Loops) countFunctions(rule int) []FunctionCount {
	calls := make(map[string]uint64)
	tr := l.times.trace
	for s := range l.Grammar.Body(rule) {
		if s.Rule < 0 {
			f := tr.Functions()[l.function(s.Symbol)].Name
			calls[f] = wire.AddSat(calls[f], s.Count)
			continue
		}
		for _, f := range l.functions[s.Rule] {
			calls[f.Name] = wire.AddSat(calls[f.Name], wire.MulSat(s.Count, f.Calls))
		}
	}
	var list []FunctionCount
	for f, n := range calls {
		list = append(list, FunctionCount{f, n})
	}
	slices.SortFunc(list, func(a, b FunctionCount) int { return byCalls(a.Calls, b.Calls, a.Name, b.Name) })
	return list
}

// Mean returns how long a call takes on average that a symbol of the grammar stands for,
// and the gap before it, in nanoseconds, whatever is before it.
func (l *Loops) Mean(s sequitur.Symbol) (duration, gap float64) {
	n := l.signature(s)
	means := l.scale(s, [2]float64{l.times.meanOf(durations, n), l.times.meanOf(gaps, n)})
	return means[durations], means[gaps]
}

// A CallMean is how long a call takes on average, and the gap before it, in nanoseconds.
type CallMean struct{ Duration, Gap float64 }

// Means returns [Loops.Mean] of all symbols of the grammar, with gaps that are not negative and come to the
// sum of those in the loops, which depend on what is before each call. There is none before the first call.
func (l *Loops) Means() iter.Seq2[sequitur.Symbol, CallMean] {
	return func(yield func(sequitur.Symbol, CallMean) bool) {
		if len(l.Rules) == 0 {
			return
		}
		sum, factor, first := 0.0, 1.0, l.Grammar.At(0)
		for s, n := range l.Grammar.Occurrences() {
			if s == first {
				n--
			}
			_, gap := l.Mean(s)
			sum += float64(n) * max(0, gap)
		}
		whole := l.Rules[len(l.Rules)-1]
		if gaps := float64(whole.Time - whole.InCalls); sum > 0 && gaps > 0 {
			factor = gaps / sum
		}
		for s := range l.Grammar.Occurrences() {
			duration, gap := l.Mean(s)
			if !yield(s, CallMean{duration, max(0, gap) * factor}) {
				return
			}
		}
	}
}
