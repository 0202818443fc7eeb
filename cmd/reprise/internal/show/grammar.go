package show

import (
	"errors"
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
)

func NewGrammar() *cobra.Command {
	var (
		q     *cli.Question
		shape int
		dot   bool
		one   bool
	)
	check := func() error {
		switch {
		case dot && q.JSON:
			return errors.New("--dot does not go with --json")
		case q.Flags().Changed("ranks") && q.Flags().Changed("shape"):
			return errors.New("--ranks does not go with --shape")
		case shape < 0:
			return fmt.Errorf("no shape %d", shape)
		case one && (dot || q.Flags().Changed("ranks") || q.Flags().Changed("shape")):
			return errors.New("--together does not go with --ranks, --shape and --dot")
		}
		return nil
	}
	q = cli.NewQuestion("grammar", check, func(q *cli.Question) error {
		if one || q.Trace.Shapes() > 1 && !dot && !q.Flags().Changed("ranks") && !q.Flags().Changed("shape") {
			if err := together(q); one || !errors.Is(err, ErrApart) {
				return err
			}
			cli.Warn(q.ErrOrStderr(), "%s: %v; --ranks and --shape choose", q.Path, ErrApart)
		}
		list, err := chosenLoops(q, shape)
		if err != nil {
			return err
		}
		if dot {
			if len(list) != 1 {
				return cli.BadUsage(errors.New("--dot draws the loops of one rank or shape"))
			}
			return writeDOT(q.OutOrStdout(), list[0].Grammar, list[0].Call)
		}
		a := grammarAnswer{Header: q.Header()}
		for _, l := range list {
			a.Grammars = append(a.Grammars, l.info())
		}
		return q.Answer(a, func() {
			for i, l := range list {
				if i > 0 {
					q.Printf("\n")
				}
				l.Print(q)
			}
		})
	}, cli.OptJSON, cli.OptRanks, cli.OptRegion)
	q.Flags().Lookup("ranks").DefValue = "the first with calls"
	q.Flags().IntVar(&shape, "shape", 0, "show the loops of the shape with this `number`")
	q.Flags().Lookup("shape").DefValue = "none"
	q.Flags().BoolVar(&one, "together", false, "show the loops of all shapes together, with their differences")
	q.Flags().BoolVar(&dot, "dot", false, "write a Graphviz graph")
	return q.Command
}

// Loops are a grammar with its calls and times.
type Loops struct {
	answers.LoopTree
	title     string
	rank      *int // whose they are; nil for a shape
	shape     *int
	ranks     rankenc.Set
	Different int    // calls
	by        string // where times are from
}

// chosenLoops returns the loops of the ranks or of the shape that are chosen.
func chosenLoops(q *cli.Question, shape int) ([]*Loops, error) {
	if q.Flags().Changed("shape") {
		l, err := loopsOfShape(q, shape)
		return []*Loops{l}, err
	}
	made := q.Trace.RankSet()
	var ranks rankenc.Set
	switch {
	case q.Ranks != nil:
		ranks = *q.Ranks
	case q.RankText == "all":
		ranks = made
	case made.Len() == 0:
		return nil, cli.NoCalls(q.Path)
	default:
		ranks = rankenc.SetOf(made.At(0))
	}
	var list []*Loops
	for _, rank := range ranks.All() {
		r, err := q.Trace.Folded(int(rank), nil)
		if err != nil {
			return nil, err
		}
		l, err := loopsOfRank(q, r, int(rank))
		if err != nil {
			return nil, err
		}
		list = append(list, l)
	}
	return list, nil
}

// loopsOfRank returns the loops of a rank.
func loopsOfRank(q *cli.Question, r *trace.Rank, rank int) (*Loops, error) {
	l := &Loops{rank: &rank, ranks: rankenc.SetOf(rank), Different: r.Terminals()}
	l.title = fmt.Sprintf("rank %d of %s: ", rank, text.Count(q.Trace.Ranks()))
	l.LoopTree.Call = CallsOfRank(q.Trace, r)
	return l, l.read(q, func(o query.Options) (*query.Loops, error) {
		return query.OpenRankLoops(q.Context(), q.Trace, r, o)
	})
}

// CallsOfRank returns a function that writes the calls of a rank.
func CallsOfRank(tr *trace.Trace, r *trace.Rank) func(sequitur.Symbol) string {
	p := tr.Printer(trace.PrintOptions{})
	return func(s sequitur.Symbol) string { return string(p.AppendCall(nil, r.Call(s))) }
}

// loopsOfShape returns the loops that the ranks of a shape have in common.
func loopsOfShape(q *cli.Question, number int) (*Loops, error) {
	t := q.Trace
	switch n := t.Shapes(); {
	case n == 0:
		return nil, fmt.Errorf("no shape %d: the trace has no calls", number)
	case number >= n:
		return nil, fmt.Errorf("no shape %d: the trace has shapes 0 to %d", number, n-1)
	}
	if t.ShapeRanks(number).Len() == 0 {
		return nil, cli.DamageOf(q.Path, t)
	}
	shape, err := t.Shape(number)
	if err != nil {
		return nil, err
	}
	words := wordsOf(q.Trace, q.Trace.Printer(trace.PrintOptions{}), shape)
	texts := make(map[sequitur.Symbol]string)
	for n := range shape.Grammar.Occurrences() {
		c, err := words(shape.Signature(int(n)))
		if err != nil {
			return nil, err
		}
		texts[n] = c.text
	}
	l := &Loops{shape: &number, ranks: shape.Ranks, Different: len(texts)}
	l.title = fmt.Sprintf("shape %d of %d, %s: ", number, t.Shapes(), text.Ranks(shape.Ranks))
	l.LoopTree.Call = func(s sequitur.Symbol) string { return texts[s] }
	return l, l.read(q, func(o query.Options) (*query.Loops, error) {
		return query.OpenShapeLoops(q.Context(), t, number, o)
	})
}

// wordsOf returns a function that puts a signature of a shape into the words of a
// Printer.
func wordsOf(tr *trace.Trace, p *trace.Printer, s *trace.Shape) func(trace.Signature) (words, error) {
	rank := sync.OnceValue(func() *trace.Rank {
		for first := range s.Ranks.Ranges() {
			r, _ := tr.Folded(first, nil) // nil if it cannot be read
			return r
		}
		return nil
	})
	return func(signature trace.Signature) (words, error) { return inWords(p, rank(), signature) }
}

// read sets the loops, with the times that tell most of them.
func (l *Loops) read(q *cli.Question, open func(query.Options) (*query.Loops, error)) error {
	err := q.Query("times of loops", func(o query.Options) (err error) {
		l.Loops, err = open(o)
		return err
	})
	if err != nil {
		return err
	}
	unread := ""
	if l.Unread {
		unread = fmt.Sprintf(", because the ranks have more than %s", text.Plural(query.MaxLoopCalls, "call"))
	}
	switch {
	case l.Source == query.Series && len(q.Trace.Run().Origin.Times) == 0:
		l.by = fmt.Sprintf("means from the times of every call of %s, %s", text.Ranks(l.ranks), text.Error(l.Guarantee))
	case l.Source == query.Series:
		l.by = fmt.Sprintf("means of %s, %s", text.Ranks(l.ranks), q.SourceText(l.Source, l.Guarantee))
	case l.Scaled:
		l.by = fmt.Sprintf("from %s, scaled to the sums of the rank%s", l.Source, unread)
	case l.Timed():
		l.by = fmt.Sprintf("from %s of the calls of all ranks%s", l.Source, unread)
	}
	return nil
}

// AddedNote says what times of loops are where a rank has several threads.
const AddedNote = "the times of threads are added up: this may be longer than the run"

func (l *Loops) Print(q *cli.Question) {
	g := l.Grammar
	q.Printf("%s%s, %s different, as %s with %s\n", l.title, text.Plural(g.Len(), "call"), text.Count(l.Different),
		text.Plural(g.Rules(), "rule"), text.Plural(g.Symbols(), "symbol"))
	if l.Timed() {
		q.Printf("%s, %s\n", text.Duration(l.Run), l.by)
		if around := l.Rules[g.Rules()-1].Time - l.Run; around > 0 {
			q.Printf("startup and shutdown: %s\n", text.Duration(around))
		}
		if query.HasThreads(q.Trace) {
			q.Printf("%s\n", AddedNote)
		}
	}
	q.Printf("\n")
	l.Write(q.OutOrStdout())
}

// A grammarAnswer is the loops of ranks, or of a shape.
type grammarAnswer struct {
	cli.Header
	Grammars []grammarInfo `json:"grammars"`
	Programs []programInfo `json:"programs,omitempty"` // what shapes have in common
}

type grammarInfo struct {
	Rank   *int         `json:"rank,omitempty"`
	Shape  *int         `json:"shape,omitempty"`
	Ranks  rankenc.Set  `json:"rank_set"`
	Source query.Source `json:"source"` // of the times
	Scaled bool         `json:"scaled_to_rank"`
	Rules  []ruleInfo   `json:"rules"` // the last is the whole
}

type ruleInfo struct {
	Rule int `json:"rule"`
	query.Loop
	Functions []query.FunctionCount `json:"functions"` // calls of an iteration
	Body      []termInfo            `json:"body"`
}

type termInfo struct {
	Call  string `json:"call,omitempty"`
	Rule  *int   `json:"rule,omitempty"`
	Count uint64 `json:"count"`

	// Of a call, the means of its signature.
	Duration *query.Nanoseconds `json:"duration_ns,omitempty"`
	Gap      *query.Nanoseconds `json:"gap_ns,omitempty"`
}

// info lists the rules.
func (l *Loops) info() grammarInfo {
	i := grammarInfo{Rank: l.rank, Shape: l.shape, Ranks: l.ranks, Source: l.Source, Scaled: l.Scaled,
		Rules: []ruleInfo{}}
	for n := range l.Grammar.Rules() {
		rule := ruleInfo{Rule: n, Loop: l.Rules[n], Functions: cli.Listed(l.Functions(n))}
		for line := range l.Lines(n) {
			if line.Rule >= 0 {
				rule.Body = append(rule.Body, termInfo{Rule: &line.Rule, Count: line.Count})
				continue
			}
			term := termInfo{Call: line.Text, Count: line.Count}
			if l.Timed() {
				gap := line.Each - line.InCalls
				term.Duration, term.Gap = &line.InCalls, &gap
			}
			rule.Body = append(rule.Body, term)
		}
		i.Rules = append(i.Rules, rule)
	}
	return i
}
