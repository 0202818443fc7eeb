package answers

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/sequitur"
)

// A LoopTree is the loops of a rank, or of the ranks of a shape, as lines: calls, and
// loops with what is in them.
type LoopTree struct {
	*query.Loops
	Call func(sequitur.Symbol) string // in words
}

// A Line is a symbol on the right-hand side of a rule: a call, or a loop.
type Line struct {
	Count   uint64 // how often it comes, or the loop goes round
	Text    string // the call, or loop of 12 calls
	Rule    int    // of the loop; −1 for a call
	Shared  bool   // the rule stands in several places
	Each    query.Nanoseconds
	InCalls query.Nanoseconds // of Each
	Share   float64           // of all times that it comes here, in the run; 0 of calls outside it
}

// Timed reports whether the tree has times.
func (t *LoopTree) Timed() bool { return t.Source != query.None }

// Lines returns the lines of the right-hand side of a rule. The last rule is the
// whole.
func (t *LoopTree) Lines(rule int) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		for s := range t.Grammar.Body(rule) {
			if !yield(t.line(rule, s)) {
				return
			}
		}
	}
}

func (t *LoopTree) line(rule int, s sequitur.Term) Line {
	l := Line{Count: s.Count, Rule: s.Rule}
	if s.Rule < 0 {
		l.Text = t.Call(s.Symbol)
		duration, gap := t.Mean(s.Symbol)
		l.Each, l.InCalls = query.Nanoseconds(duration+gap), query.Nanoseconds(duration)
	} else {
		of := t.Rules[s.Rule]
		l.Text, l.Shared, l.Each, l.InCalls = text.Plural(of.Calls, "call"), of.Places > 1, of.Time, of.InCalls
		if s.Count > 1 || !l.Shared {
			l.Text = "loop of " + l.Text
		}
	}
	if t.Run > 0 && (s.Rule >= 0 || t.OutsideRun(s.Symbol) == "") {
		l.Share = float64(l.Each) * float64(s.Count) * float64(t.Rules[rule].Iterations) / float64(t.Run)
	}
	return l
}

// loopColumns is the format of the columns of times.
const loopColumns = "%8s %8s %8s  "

// timesWidth is how many columns of a terminal they take, unless times are very long.
const timesWidth = 28

// maxIndent is how deep a line is indented at most: grammars may nest deeper than a
// line has room.
const maxIndent = 40

// minCall is how many columns of a line the text of a call has at least: the nesting counts for
// more than the arguments.
const minCall = 16

// indent returns by how many columns a line is indented that is so deep in loops: not so
// many that its text has no room.
func (t *LoopTree) indent(r text.Ruler, depth int) int {
	times := 0
	if t.Timed() {
		times = timesWidth
	}
	return indentation(r, depth, times)
}

// indentation is LoopTree.indent, with columns of times that are so wide.
func indentation(r text.Ruler, depth, times int) int {
	most := maxIndent
	if r.Columns() > 0 {
		most = min(most, max(2, (r.Columns()-times-minCall)/2))
	}
	return 2 * min(depth, most)
}

// Write writes the tree, a line each, nested by indentation. Loops in several places
// have a name, and come at the end.
func (t *LoopTree) Write(w io.Writer) {
	if len(t.Rules) == 0 {
		return
	}
	if t.Timed() {
		fmt.Fprintln(w, text.RulerOf(w).Style(strings.TrimRight(
			fmt.Sprintf(loopColumns, "each", "in calls", "share"), " "), text.Title))
	}
	seen := make(map[int]bool)
	named := t.body(w, len(t.Rules)-1, nil, seen)
	for i := 0; i < len(named); i++ {
		of := t.Rules[named[i]]
		fmt.Fprintf(w, "\nR%d, %s", named[i], text.Plural(of.Calls, "call"))
		if t.Timed() {
			fmt.Fprintf(w, ", %s each, %s of the time", text.Duration(of.Time), text.Percent(of.Share, 1))
		}
		fmt.Fprintln(w, ":")
		named = t.body(w, named[i], named, seen)
	}
}

// body writes the right-hand side of a rule and the loops in it. It returns the named
// rules with those that it has seen first.
func (t *LoopTree) body(w io.Writer, rule int, named []int, seen map[int]bool) []int {
	type level struct {
		rule  int
		terms []sequitur.Term // that are left
	}
	ruler := text.RulerOf(w)
	stack := []level{{rule, slices.Collect(t.Grammar.Body(rule))}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(top.terms) == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		symbol, l := top.terms[0].Symbol, t.line(top.rule, top.terms[0])
		top.terms = top.terms[1:]
		line := ""
		if t.Timed() {
			share := "-"
			if l.Rule < 0 && t.OutsideRun(symbol) != "" {
				share = t.OutsideRun(symbol)
			} else if t.Run > 0 {
				share = text.Percent(l.Share, 1)
			}
			line = fmt.Sprintf(loopColumns, text.Duration(l.Each), text.Duration(l.InCalls), share)
		}
		line += strings.Repeat(" ", t.indent(ruler, len(stack)))
		if l.Count > 1 {
			line += text.Count(l.Count) + " × "
		}
		fmt.Fprint(w, line)
		switch {
		case l.Rule < 0 && ruler.Columns() == 0:
			fmt.Fprintln(w, l.Text)
		case l.Rule < 0:
			fmt.Fprintln(w, ruler.Cut(l.Text, max(1, ruler.Columns()-ruler.Width(line))))
		case l.Shared:
			if !seen[l.Rule] {
				named, seen[l.Rule] = append(named, l.Rule), true
			}
			fmt.Fprintf(w, "R%d\n", l.Rule)
		default:
			fmt.Fprintf(w, "%s:\n", l.Text)
			stack = append(stack, level{l.Rule, slices.Collect(t.Grammar.Body(l.Rule))})
		}
	}
	return named
}
