package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
)

// Limits of the section about loops.
const (
	maxLoopShapes = 12
	maxNodes      = 3000 // of all shapes
	maxShapeNodes = 800
	maxDepth      = 30
	openNodes     = 60 // what has no more lines is shown unfolded
)

// A loopText is the loops of the shapes of a trace.
type loopText struct {
	About  string
	Shapes []loopShape
	More   string
}

type loopShape struct {
	Name  string
	Open  bool
	Nodes []loopNode
}

// A loopNode is a line: a call, or a loop with what is in it.
type loopNode struct {
	Count string // empty for once
	Text  string
	Time  string
	Open  bool
	Inner []loopNode
	ID    string // of what has lines in it
	Same  string // ID of that which has the same lines as this one
	Find  string // as in a cell
}

// addLoops adds the loops of the shapes of most ranks.
func (p *page) addLoops(ctx context.Context, tr *trace.Trace, _ Options) error {
	t := tr
	order := shapesByRanks(t)
	if len(order) == 0 {
		return nil
	}
	if len(order) > 1 {
		programs, err := query.Programs(ctx, t)
		if err != nil {
			return err
		}
		p.programs = len(programs)
	}
	p.Loops = &loopText{About: "Ranks with equal control flow are one shape. A line is a call with its arguments, or a loop with its trip count; an argument that differs from rank to rank is a rank expression."}
	p.Loops.About += p.aboutLoopTimes()
	left := maxNodes
	for i, number := range order[:min(len(order), maxLoopShapes)] {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		times, err := p.timesOfShape(ctx, t, number)
		if err != nil {
			return err
		}
		l, err := times.ShapeLoops(number)
		if err != nil {
			return err
		}
		if p.exact != nil {
			if err := l.ReadSeries(ctx, t.ShapeRanks(number), p.query()); err != nil {
				return err
			}
		}
		shape, used, err := shapeLoops(tr, l, number, min(left, maxShapeNodes))
		if err != nil {
			return err
		}
		left -= used
		shape.Open = i == 0 && len(shape.Nodes) <= openNodes
		p.Loops.Shapes = append(p.Loops.Shapes, shape)
	}
	if n := len(order) - maxLoopShapes; n > 0 {
		p.Loops.More = fmt.Sprintf("… and %s more", text.Plural(n, "shape"))
	}
	return nil
}

// timesOfShape returns the times of the ranks of a shape alone if the times of every call
// are read, and otherwise those of all ranks.
func (p *page) timesOfShape(ctx context.Context, t *trace.Trace, number int) (*query.Times, error) {
	switch {
	case p.exact == nil:
		return p.times, nil
	case t.Shapes() == 1:
		return p.exact, nil
	}
	o := p.query()
	ranks := t.ShapeRanks(number)
	o.Ranks = &ranks
	return p.times.ReadSeries(ctx, o)
}

// aboutLoopTimes says what the times of loops are.
func (p *page) aboutLoopTimes() string {
	switch {
	case p.exact != nil:
		return " Times are the means of the ranks of the shape, by the times of every call; reprise grammar --ranks has those of one rank."
	case p.profile.Timed && p.hasSeries:
		return " Times are the means of the calls of all ranks, by statistics; reprise grammar --ranks has those of one rank, by the times of every call."
	case p.profile.Timed:
		return " Times are the means of the calls of all ranks."
	}
	return ""
}

// A loopWriter makes the lines of a shape.
type loopWriter struct {
	*query.Loops
	words func(int) string // calls
	seen  []bool
	shape int
	left  int // lines that there is room for
	open  bool
}

// shapeLoops returns the loops of a shape, in at most so many lines, and how many there
// are.
func shapeLoops(tr *trace.Trace, l *query.Loops, number, most int) (loopShape, int, error) {
	shape, err := tr.Shape(number)
	if err != nil {
		return loopShape{}, 0, err
	}
	words := wordsOf(tr, shape, tr.Printer(trace.PrintOptions{}), shape.Signature)
	g := l.Grammar
	w := loopWriter{Loops: l, words: words, seen: make([]bool, g.Rules()), shape: number, left: most,
		open: g.Symbols() <= openNodes}
	ranks := shape.Ranks
	name := fmt.Sprintf("Shape %d: %s with %s each", number, text.Plural(ranks.Len(), "rank"),
		text.Plural(g.Len(), "call"))
	if ranks.Len() == 1 {
		name = fmt.Sprintf("Shape %d: rank %d with %s", number, ranks.At(0), text.Plural(g.Len(), "call"))
	} else if text := ranks.String(); len(text) < 60 {
		name += ": ranks " + text
	}
	loops := loopShape{Name: name}
	if g.Rules() > 0 {
		loops.Nodes = w.body(g.Rules()-1, 1)
	}
	return loops, most - w.left, nil
}

// body returns the lines of the right-hand side of a rule.
func (w *loopWriter) body(rule, depth int) []loopNode {
	var nodes []loopNode
	symbols := 0
	for t := range w.Grammar.Body(rule) {
		if symbols++; w.left <= 0 || depth > maxDepth {
			continue
		}
		w.left--
		nodes = append(nodes, w.node(t, depth))
	}
	if n := symbols - len(nodes); n > 0 {
		nodes = append(nodes, loopNode{Text: "… and " + text.Plural(n, "line") + " more"})
	}
	return nodes
}

func (w *loopWriter) node(t sequitur.Term, depth int) loopNode {
	var n loopNode
	if t.Count > 1 {
		n.Count = text.Count(t.Count)
	}
	if t.Rule < 0 {
		n.Text, n.Find = w.words(int(t.Symbol)), fmt.Sprint("signature=", t.Symbol)
		if w.Source != query.None {
			took, _ := w.Mean(t.Symbol)
			n.Time = text.Duration(took)
		}
		return n
	}
	n.Text = text.Plural(w.Grammar.RuleLen(t.Rule), "call")
	if t.Count > 1 {
		n.Text = "loop of " + n.Text
	}
	of := w.Rules[t.Rule]
	if of.Places > 1 {
		n.Text = fmt.Sprintf("R%d, %s, %d occurrences", t.Rule, n.Text, of.Places)
	}
	if w.Source != query.None {
		n.Time = text.Duration(of.Time)
		if t.Count > 1 {
			n.Time += " each"
		}
		n.Time += fmt.Sprintf(", altogether %s of the time", text.Percent(of.Share, 1))
	} else if t.Count > 1 {
		n.Time = fmt.Sprintf("altogether %s of the calls", text.Percent(of.Share, 1))
	}
	id := fmt.Sprintf("shape%d-rule%d", w.shape, t.Rule)
	if w.seen[t.Rule] {
		n.Same = id
		return n
	}
	w.seen[t.Rule], n.ID = true, id
	n.Inner = w.body(t.Rule, depth+1)
	n.Open = w.open || depth == 1 && len(n.Inner) <= openNodes/4
	return n
}

// wordsOf returns a function that writes signatures as the ranks of a shape make the
// calls.
func wordsOf(tr *trace.Trace, shape *trace.Shape, p *trace.Printer,
	signature func(int) trace.Signature) func(int) string {
	rank := sync.OnceValue(func() *trace.Rank {
		if shape.Ranks.Len() == 0 {
			return nil
		}
		r, _ := tr.Folded(int(shape.Ranks.At(0)), nil) // nil if it cannot be read
		return r
	})
	known := make(map[int]string)
	return func(n int) string {
		text, ok := known[n]
		if !ok {
			if s, err := p.Signature(rank(), signature(n)); err == nil {
				text = printable(s)
			} else {
				text = unreadable(tr, n)
			}
			known[n] = text
		}
		return text
	}
}

// unreadable stands for a signature that cannot be read.
func unreadable(tr *trace.Trace, n int) string {
	return printable(tr.Functions()[tr.FunctionOf(n)].Name) + "(cannot be read)"
}

// shapesByRanks returns the shapes of a trace that have ranks, those of most ranks first.
func shapesByRanks(tr *trace.Trace) []int {
	var order []int
	for i := range tr.Shapes() {
		if tr.ShapeRanks(i).Len() > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(tr.ShapeRanks(b).Len(), tr.ShapeRanks(a).Len())
	})
	return order
}
