package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/sequitur"
)

func newGrammar() *cobra.Command {
	var (
		rank          int
		asDOT, asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "grammar TRACE.rpz --rank R",
		Short: "Show the loops of a rank with the calls spelled out",
		Long: `Show the loops of a rank, with the calls spelled out. A rule of the grammar that
stands in several places goes by its number, as R4, and is spelled out at the end.

JSON and Graphviz have the same numbers. The last rule is the one to begin with.`,
		Example: `  reprise grammar lu.rpz --rank 3
  reprise grammar lu.rpz --dot | dot -Tsvg -o loops.svg`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case asDOT && asJSON:
				return usageError{errors.New("--dot does not go with --json")}
			case rank < 0:
				return usageError{fmt.Errorf("there is no rank %d", rank)}
			}
			return oneTrace(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			trace, err := openTrace(args[0])
			if err != nil {
				return err
			}
			defer trace.Close()
			r, err := openRank(trace, args[0], rank)
			if err != nil {
				return err
			}
			switch out := cmd.OutOrStdout(); {
			case asDOT:
				return r.Grammar().WriteDOT(out, func(s sequitur.Symbol) string { return r.Call(uint32(s)).String() })
			case asJSON:
				return printJSON(out, grammarJSON(r))
			default:
				return writeLoops(out, r)
			}
		},
	}
	cmd.Flags().IntVar(&rank, "rank", 0, "the rank to show")
	cmd.Flags().BoolVar(&asDOT, "dot", false, "write a Graphviz graph")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the rules as JSON")
	return cmd
}

type jsonTerm struct {
	Call  string `json:"call,omitempty"`
	Rule  *int   `json:"rule,omitempty"`
	Count uint64 `json:"count"`
}

type jsonRule struct {
	Rule  int        `json:"rule"`
	Calls uint64     `json:"calls"`
	Body  []jsonTerm `json:"body"`
}

// grammarJSON lists the rules, the start rule last.
func grammarJSON(r *reprise.Rank) []jsonRule {
	g := r.Grammar()
	rules := []jsonRule{}
	for i := range g.Rules() {
		rule := jsonRule{Rule: i, Calls: g.RuleLen(i)}
		for t := range g.Body(i) {
			if t.Rule >= 0 {
				rule.Body = append(rule.Body, jsonTerm{Rule: &t.Rule, Count: t.Count})
			} else {
				rule.Body = append(rule.Body, jsonTerm{Call: r.Call(uint32(t.Symbol)).String(), Count: t.Count})
			}
		}
		rules = append(rules, rule)
	}
	return rules
}

// writeLoops writes the loops of a rank, a call a line, nested by indentation.
func writeLoops(w io.Writer, r *reprise.Rank) error {
	out := bufio.NewWriter(w)
	g := r.Grammar()
	fmt.Fprintf(out, "%s, %s different, as %s with %s\n\n", plural(r.Len(), "call"), comma(uint64(r.Table().Len())),
		plural(uint64(g.Rules()), "rule"), plural(uint64(g.Symbols()), "symbol"))
	l := loopWriter{out: out, rank: r, uses: make([]int, g.Rules()), seen: make(map[int]bool)}
	for i := range g.Rules() {
		for t := range g.Body(i) {
			if t.Rule >= 0 {
				l.uses[t.Rule]++
			}
		}
	}
	if g.Rules() > 0 {
		l.body(g.Rules() - 1)
	}
	for i := 0; i < len(l.named); i++ {
		fmt.Fprintf(out, "\nR%d, %s:\n", l.named[i], plural(g.RuleLen(l.named[i]), "call"))
		l.body(l.named[i])
	}
	return out.Flush()
}

// A loopWriter is the state of writeLoops.
type loopWriter struct {
	out   *bufio.Writer
	rank  *reprise.Rank
	uses  []int        // in how many places each rule stands
	seen  map[int]bool // the rules in named
	named []int        // rules that stand in several places, by first use
}

// maxIndent is how deep a loop is indented at most: grammars may nest deeper
// than a line has room.
const maxIndent = 40

// body writes the right-hand side of a rule and the loops in it.
func (l *loopWriter) body(rule int) {
	g := l.rank.Grammar()
	stack := [][]sequitur.Term{terms(g, rule)}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(*top) == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		t := (*top)[0]
		*top = (*top)[1:]
		l.out.WriteString(strings.Repeat("  ", min(len(stack), maxIndent)))
		if t.Count > 1 {
			fmt.Fprintf(l.out, "%s × ", comma(t.Count))
		}
		switch {
		case t.Rule < 0:
			fmt.Fprintln(l.out, l.rank.Call(uint32(t.Symbol)))
		case l.uses[t.Rule] == 1:
			fmt.Fprintf(l.out, "loop of %s:\n", plural(g.RuleLen(t.Rule), "call"))
			stack = append(stack, terms(g, t.Rule))
		default:
			if !l.seen[t.Rule] {
				l.named = append(l.named, t.Rule)
				l.seen[t.Rule] = true
			}
			fmt.Fprintf(l.out, "R%d\n", t.Rule)
		}
	}
}

func terms(g *sequitur.Grammar, rule int) []sequitur.Term {
	var out []sequitur.Term
	for t := range g.Body(rule) {
		out = append(out, t)
	}
	return out
}
