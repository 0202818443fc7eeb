package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

func newGrammar() *cobra.Command {
	var (
		rank, shape   int
		asDOT, asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "grammar TRACE.rpz [--rank R | --shape N]",
		Short: "Show the loops of a rank, or of all ranks of a shape",
		Long: `Show the loops of a rank, if none is given the first that has calls, with the
calls spelled out, or of the ranks of a shape, with what differs from rank to
rank as an expression of the rank. A rule of the grammar that stands in several
places goes by its number, as R4, and is spelled out at the end. The command
info lists the shapes.

Of a shape, {3, 5} and {3 … 90} are the values of an argument that has no
expression, rank+{-8, 8} those relative to the rank, and {rank+1 on 0-30, 0 on
31} those of each rank; {3 … 90 by call} varies from call to call, on all ranks
that make it.

If the trace has statistics or histograms of times, each line begins with how
long a call takes on average, or an iteration of a loop, the gaps before calls
included; how much of that is in calls; and which share of the time of the whole
that is, of all iterations. They are the means of the calls of all ranks. If the
trace has the times of every call, they are the means of the calls of the rank,
or of the ranks of the shape; unless these made more than 20,000,000 calls,
which would take long to read. Those that cannot be read are named; without any,
there are the means of all ranks. The exit status is then 1.

JSON and Graphviz have the same numbers. The last rule is the one to begin with.
JSON has times in nanoseconds, and how often an iteration calls each function.`,
		Example: `  reprise grammar lu.rpz --rank 3
  reprise grammar lu.rpz --shape 0
  reprise grammar lu.rpz --dot | dot -Tsvg -o loops.svg`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case asDOT && asJSON:
				return usageError{errors.New("--dot does not go with --json")}
			case cmd.Flags().Changed("rank") && cmd.Flags().Changed("shape"):
				return usageError{errors.New("--rank does not go with --shape")}
			case rank < 0:
				return usageError{fmt.Errorf("there is no rank %d", rank)}
			case shape < 0:
				return usageError{fmt.Errorf("there is no shape %d", shape)}
			}
			return oneTrace(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			trace, err := openTrace(args[0])
			if err != nil {
				return err
			}
			defer trace.Close()
			if !cmd.Flags().Changed("rank") && !cmd.Flags().Changed("shape") {
				rank, _ = trace.Merged().Active(0)
				if rank > 0 && (asDOT || asJSON) { // which do not say it
					fmt.Fprintf(cmd.ErrOrStderr(), "reprise: rank %d is the first that has calls\n", rank)
				}
			}
			read := func() (loops, error) { return loopsOfRank(trace, args[0], rank) }
			if cmd.Flags().Changed("shape") {
				read = func() (loops, error) { return loopsOfShape(trace, args[0], shape) }
			}
			l, err := read()
			if err != nil {
				return err
			}
			times, err := query.OpenTimes(trace)
			if err != nil {
				return fileError(args[0], err)
			}
			times, by, lost, err := l.readTimes(cmd, trace, args[0], times)
			if err != nil {
				return fileError(args[0], err)
			}
			l.by = by
			if l.times, err = l.timed(times); err != nil {
				return fileError(args[0], err)
			}
			switch out := cmd.OutOrStdout(); {
			case asDOT:
				err = l.grammar.WriteDOT(out, l.call)
			case asJSON:
				err = printJSON(out, l.json())
			default:
				err = l.write(out)
			}
			return cmp.Or(err, warnLost(cmd.ErrOrStderr(), lost))
		},
	}
	cmd.Flags().IntVar(&rank, "rank", 0, "the rank to show")
	cmd.Flags().Lookup("rank").DefValue = "the first that has calls"
	cmd.Flags().IntVar(&shape, "shape", 0, "the shape to show")
	cmd.Flags().Lookup("shape").DefValue = "none"
	cmd.Flags().BoolVar(&asDOT, "dot", false, "write a Graphviz graph")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the rules as JSON")
	return cmd
}

// Loops are a grammar with its calls.
type loops struct {
	what      string // whose they are; empty if the caller says it
	grammar   *sequitur.Grammar
	different int // calls
	call      func(sequitur.Symbol) string

	ranks rankenc.Set  // whose they are
	times *query.Loops // nil without times
	timed func(*query.Times) (*query.Loops, error)
	by    string // what times are from, in words
}

// loopsOfRank returns the loops of a rank of the trace at path.
func loopsOfRank(trace *reprise.Trace, path string, rank int) (loops, error) {
	r, err := openRank(trace, path, rank)
	if err != nil {
		return loops{}, err
	}
	l := rankLoops(r, trace.Printer(reprise.PrintOptions{}))
	l.timed = func(t *query.Times) (*query.Loops, error) { return t.RankLoops(r), nil }
	l.ranks = rankenc.SetOf(rank)
	l.what = fmt.Sprintf("rank %d of %s: ", rank, text.Count(trace.Ranks()))
	return l, nil
}

func rankLoops(r *reprise.Rank, p *reprise.Printer) loops {
	return loops{
		grammar: r.Grammar(), different: r.Table().Len(),
		call: func(s sequitur.Symbol) string { return string(p.AppendCall(nil, r.Call(s))) },
	}
}

// loopsOfShape returns the loops that the ranks of a shape of the trace at path
// have in common.
func loopsOfShape(trace *reprise.Trace, path string, number int) (loops, error) {
	t := trace.Merged()
	switch n := t.Shapes(); {
	case n == 0:
		return loops{}, fmt.Errorf("%s: there is no shape %d: the trace has no calls", path, number)
	case number >= n:
		return loops{}, fmt.Errorf("%s: there is no shape %d: the trace has shapes 0 to %d", path, number, n-1)
	}
	shape, err := t.Shape(number)
	if err != nil {
		return loops{}, fileError(path, err)
	}
	words := wordsOf(trace, trace.Printer(reprise.PrintOptions{}), shape)
	texts := make(map[sequitur.Symbol]string)
	for n := range shape.Grammar.Occurrences() {
		s, err := shape.Signature(int(n))
		if err != nil {
			return loops{}, fileError(path, err)
		}
		texts[n] = words(s).String()
	}
	return loops{
		what:    fmt.Sprintf("shape %d of %d, %s: ", number, t.Shapes(), text.Ranks(shape.Ranks)),
		grammar: shape.Grammar, different: len(texts), call: func(s sequitur.Symbol) string { return texts[s] },
		ranks: shape.Ranks,
		timed: func(t *query.Times) (*query.Loops, error) { return t.ShapeLoops(number) },
	}, nil
}

// wordsOf returns a function that puts a signature of a shape into the words of a
// Printer.
func wordsOf(trace *reprise.Trace, p *reprise.Printer, s *merge.Shape) func(merge.Signature) merge.Signature {
	rank := sync.OnceValue(func() *reprise.Rank {
		for first := range s.Ranks.Ranges() {
			r, _ := trace.Rank(first) // nil if it cannot be read
			return r
		}
		return nil
	})
	return func(signature merge.Signature) merge.Signature { return p.Signature(rank(), signature) }
}

type jsonTerm struct {
	Call  string `json:"call,omitempty"`
	Rule  *int   `json:"rule,omitempty"`
	Count uint64 `json:"count"`

	// Of a call, if there are times of its like.
	Duration *float64 `json:"duration_ns,omitempty"`
	Gap      *float64 `json:"gap_ns,omitempty"`
}

type jsonRule struct {
	Rule       int               `json:"rule"`
	Calls      uint64            `json:"calls"`
	Iterations uint64            `json:"iterations"` // altogether
	Functions  map[string]uint64 `json:"functions"`  // calls of an iteration
	Body       []jsonTerm        `json:"body"`

	// Of an iteration, and of all of them in the whole, if there are times.
	Time    *float64 `json:"time_ns,omitempty"`
	InCalls *float64 `json:"in_calls_ns,omitempty"`
	Share   *float64 `json:"share_of_time,omitempty"`
}

// json lists the rules, the start rule last.
func (l loops) json() []jsonRule {
	g := l.grammar
	rules := []jsonRule{}
	for i := range g.Rules() {
		loop := l.times.Rules[i]
		rule := jsonRule{Rule: i, Calls: g.RuleLen(i), Iterations: loop.Iterations, Functions: make(map[string]uint64)}
		for _, f := range l.times.Functions(i) {
			rule.Functions[f.Name] += f.Calls
		}
		if l.isTimed() {
			rule.Time, rule.InCalls, rule.Share = &loop.Time, &loop.InCalls, &loop.Share
		}
		for t := range g.Body(i) {
			if t.Rule >= 0 {
				rule.Body = append(rule.Body, jsonTerm{Rule: &t.Rule, Count: t.Count})
				continue
			}
			term := jsonTerm{Call: l.call(t.Symbol), Count: t.Count}
			if l.isTimed() {
				duration, gap := l.times.Mean(t.Symbol)
				term.Duration, term.Gap = &duration, &gap
			}
			rule.Body = append(rule.Body, term)
		}
		rules = append(rules, rule)
	}
	return rules
}

// isTimed reports whether there are times.
func (l loops) isTimed() bool { return l.times != nil && l.times.Source != query.None }

// write writes the loops, a call a line, nested by indentation.
func (l loops) write(w io.Writer) error {
	out := bufio.NewWriter(w)
	g := l.grammar
	fmt.Fprintf(out, "%s%s, %s different, as %s with %s\n", l.what, text.Plural(g.Len(), "call"), text.Count(l.different),
		text.Plural(g.Rules(), "rule"), text.Plural(g.Symbols(), "symbol"))
	if l.isTimed() {
		by := l.by
		if l.times.Source != query.Series {
			by = fmt.Sprintf("from %s of the calls of all ranks%s", l.times.Source, l.by)
		}
		fmt.Fprintf(out, "%s, %s\n\n", text.Duration(l.times.Rules[g.Rules()-1].Time), by)
		fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf(timeColumns, "each", "in calls", "share"), " "))
	} else {
		fmt.Fprintln(out)
	}
	lw := loopWriter{out: out, loops: l, uses: make([]int, g.Rules()), seen: make(map[int]bool)}
	for i := range g.Rules() {
		for t := range g.Body(i) {
			if t.Rule >= 0 {
				lw.uses[t.Rule]++
			}
		}
	}
	if g.Rules() > 0 {
		lw.body(g.Rules() - 1)
	}
	for i := 0; i < len(lw.named); i++ {
		rule := lw.named[i]
		fmt.Fprintf(out, "\nR%d, %s", rule, text.Plural(g.RuleLen(rule), "call"))
		if l.isTimed() {
			fmt.Fprintf(out, ", %s each, %.1f %% of the time", text.Duration(l.times.Rules[rule].Time), 100*l.times.Rules[rule].Share)
		}
		fmt.Fprint(out, ":\n")
		lw.body(rule)
	}
	return out.Flush()
}

// A loopWriter is the state of loops.write.
type loopWriter struct {
	out *bufio.Writer
	loops
	uses  []int        // in how many places each rule stands
	seen  map[int]bool // the rules in named
	named []int        // rules that stand in several places, by first use
}

// maxIndent is how deep a loop is indented at most: grammars may nest deeper
// than a line has room.
const maxIndent = 40

// body writes the right-hand side of a rule and the loops in it.
func (l *loopWriter) body(rule int) {
	g := l.grammar
	type level struct {
		rule  int
		terms []sequitur.Term // that are left
	}
	stack := []level{{rule, terms(g, rule)}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(top.terms) == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		t := top.terms[0]
		top.terms = top.terms[1:]
		l.writeTimes(top.rule, t)
		l.out.WriteString(strings.Repeat("  ", min(len(stack), maxIndent)))
		if t.Count > 1 {
			fmt.Fprintf(l.out, "%s × ", text.Count(t.Count))
		}
		switch {
		case t.Rule < 0:
			fmt.Fprintln(l.out, l.call(t.Symbol))
		case l.uses[t.Rule] == 1:
			fmt.Fprintf(l.out, "loop of %s:\n", text.Plural(g.RuleLen(t.Rule), "call"))
			stack = append(stack, level{t.Rule, terms(g, t.Rule)})
		default:
			if !l.seen[t.Rule] {
				l.named = append(l.named, t.Rule)
				l.seen[t.Rule] = true
			}
			fmt.Fprintf(l.out, "R%d\n", t.Rule)
		}
	}
}

// timeColumns is the format of the columns of times.
const timeColumns = "%10s %10s %8s  "

// writeTimes writes the times of a symbol on the right-hand side of a rule, if there are
// any.
func (l *loopWriter) writeTimes(rule int, t sequitur.Term) {
	if !l.isTimed() {
		return
	}
	var each, inCalls float64
	if t.Rule >= 0 {
		each, inCalls = l.times.Rules[t.Rule].Time, l.times.Rules[t.Rule].InCalls
	} else {
		duration, gap := l.times.Mean(t.Symbol)
		each, inCalls = duration+gap, duration
	}
	share := "-"
	if whole := l.times.Rules[len(l.times.Rules)-1].Time; whole > 0 {
		share = fmt.Sprintf("%.1f %%", 100*each*float64(t.Count)*float64(l.times.Rules[rule].Iterations)/whole)
	}
	fmt.Fprintf(l.out, timeColumns, text.Duration(each), text.Duration(inCalls), share)
}

func terms(g *sequitur.Grammar, rule int) []sequitur.Term {
	var out []sequitur.Term
	for t := range g.Body(rule) {
		out = append(out, t)
	}
	return out
}
