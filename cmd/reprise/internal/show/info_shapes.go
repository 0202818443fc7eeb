package show

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
)

// A shapeInfo is what info tells of a shape, and how it differs from the one of
// most ranks. Calls are compared by the ranks among their arguments, and only if
// there is no difference by all arguments.
type shapeInfo struct {
	Shape   int              `json:"shape"`
	Ranks   rankenc.Set      `json:"rank_set"`
	Calls   uint64           `json:"calls_each"`
	Without []string         `json:"without"` // calls that only the shape of most ranks has
	With    []string         `json:"with"`    // calls that only this one has
	Often   []countDifferent `json:"other_numbers"`
	Order   bool             `json:"other_order"` // nothing else differs
}

// A countDifferent is a call that a shape has another number of times.
type countDifferent struct {
	Call  string `json:"call"`
	Times uint64 `json:"count"`
	Most  uint64 `json:"count_in_largest_shape"`
}

// A differ tells shapes apart.
type differ struct {
	trace *trace.Trace
	names map[sequitur.Symbol]callName
	most  *trace.Shape // the one of most ranks

	// The last rank that its calls were compared with alone, and their names on that.
	aloneOn int
	alone   map[string]string

	// As the ranks of s have it, or all ranks if s is nil.
	signature func(s *trace.Shape, n int) (words, error)
}

// A callName is what a call is named. The brief name has only the ranks of its
// arguments; several signatures may have the same.
type callName struct{ full, brief string }

func (d *differ) name(n sequitur.Symbol) callName {
	name, ok := d.names[n]
	if ok {
		return name
	}
	s, err := d.signature(nil, int(n))
	if err != nil {
		function := text.Printable(d.trace.Functions()[d.trace.FunctionOf(int(n))].Name)
		name.full, name.brief = function+"(unreadable)", function+"(…)"
	} else {
		name.full, name.brief = s.text, s.brief()
	}
	d.names[n] = name
	return name
}

// nameIn returns the name of a call of a shape, full or brief. A call of a single rank has the
// brief name of one in the shape of most ranks that would be the same on it: rank+1 is 1 on rank 0.
func (d *differ) nameIn(s *trace.Shape, n sequitur.Symbol, brief bool) string {
	if !brief {
		return d.name(n).full
	}
	if s != d.most && s.Ranks.Len() == 1 {
		rank := s.Ranks.At(0)
		if key, ok := d.keyOn(rank, n); ok {
			if name, ok := d.onRank(rank)[key]; ok {
				return name
			}
		}
	}
	return d.name(n).brief
}

// onRank returns the brief names of the calls of the shape of most ranks, by what they are on a rank,
// without those of which several are one.
func (d *differ) onRank(rank int) map[string]string {
	if d.alone == nil || d.aloneOn != rank {
		d.aloneOn, d.alone = rank, make(map[string]string)
		several := make(map[string]bool)
		for n := range d.most.Grammar.Occurrences() {
			if key, ok := d.keyOn(rank, n); ok {
				name := d.name(n).brief
				several[key] = several[key] || d.alone[key] != "" && d.alone[key] != name
				d.alone[key] = name
			}
		}
		for key, many := range several {
			if many {
				delete(d.alone, key)
			}
		}
	}
	return d.alone
}

// keyOn returns what a brief name says of a call on a rank, if that is known.
func (d *differ) keyOn(rank int, n sequitur.Symbol) (key string, ok bool) {
	s := d.trace.Signature(int(n))
	key = s.Function.Name
	for i, p := range s.Function.Params {
		if p.Type.Kind != cst.KindRank {
			continue
		}
		switch v := s.Args[i].Values[0]; {
		case v.Form == trace.Constant:
			key += fmt.Sprintf(" %d", v.Number)
		case v.Form == trace.Expression && !v.InGroup:
			key += fmt.Sprintf(" %d", v.Expr.Eval(int64(rank), int64(d.trace.Ranks())))
		default:
			return "", false
		}
	}
	return key, true
}

// words are a signature in the words of cat.
type words struct {
	function *cst.Function
	text     string
	args     []string
}

// inWords returns the words of a signature, of which r, unless it is nil, is a rank.
func inWords(p *trace.Printer, r *trace.Rank, s trace.Signature) (words, error) {
	text, err := p.Signature(r, s)
	if err != nil {
		return words{}, err
	}
	args, err := p.Arguments(r, s)
	return words{s.Function, text, args}, err
}

// brief returns a call with no arguments but ranks, such as send(rank+1).
func (s words) brief() string {
	var ranks []string
	for i, p := range s.function.Params {
		if p.Type.Kind == cst.KindRank {
			ranks = append(ranks, s.args[i])
		}
	}
	if len(ranks) == 0 && len(s.args) > 0 {
		ranks = []string{"…"}
	}
	return text.Printable(s.function.Name) + "(" + strings.Join(ranks, ", ") + ")"
}

// count returns how often the ranks of a shape make each call, by brief or by
// full name.
func (d *differ) count(s *trace.Shape, brief bool) map[string]uint64 {
	calls := make(map[string]uint64)
	for n, times := range s.Grammar.Occurrences() {
		name := d.nameIn(s, n, brief)
		calls[name] = wire.AddSat(calls[name], times)
	}
	return calls
}

// shown returns the name of a call as the ranks of a shape make it: with the values
// of these ranks, unless several calls of that name have different ones.
func (d *differ) shown(s *trace.Shape, name string, brief bool) string {
	as := ""
	for n := range s.Grammar.Occurrences() {
		if d.nameIn(s, n, brief) != name {
			continue
		}
		signature, err := d.signature(s, int(n))
		if err != nil {
			return name
		}
		text := signature.text
		if brief {
			text = signature.brief()
		}
		if as != "" && as != text {
			return name
		}
		as = text
	}
	return as
}

// describe returns how a shape differs from the one of most ranks.
func (d *differ) describe(s *trace.Shape) shapeInfo {
	i := shapeInfo{Calls: s.Grammar.Len(), Without: []string{}, With: []string{}, Often: []countDifferent{}}
	if s == d.most {
		return i
	}
	for _, brief := range []bool{true, false} {
		calls, most := d.count(s, brief), d.count(d.most, brief)
		for _, name := range byTimes(most) {
			if calls[name] == 0 {
				i.Without = append(i.Without, d.shown(d.most, name, brief))
			}
		}
		for _, name := range byTimes(calls) {
			switch most[name] {
			case 0:
				i.With = append(i.With, d.shown(s, name, brief))
			case calls[name]:
			default:
				i.Often = append(i.Often, countDifferent{d.shown(s, name, brief), calls[name], most[name]})
			}
		}
		if len(i.Without)+len(i.With)+len(i.Often) > 0 {
			return i
		}
	}
	i.Order = true
	return i
}

// byTimes returns the names of calls, the most frequent first.
func byTimes(calls map[string]uint64) []string {
	return slices.SortedFunc(maps.Keys(calls), func(a, b string) int {
		return cmp.Or(cmp.Compare(calls[b], calls[a]), cmp.Compare(a, b))
	})
}

// describeShapes returns what tells shapes apart, those of most ranks first, and
// of at most so many of them. Those that are nil are left out.
func describeShapes(tr *trace.Trace, shapes []*trace.Shape, most int) []shapeInfo {
	var order []int
	for i, s := range shapes {
		if s != nil {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(shapes[b].Ranks.Len(), shapes[a].Ranks.Len())
	})
	list := []shapeInfo{}
	if len(order) == 0 {
		return list
	}
	d := differ{trace: tr, names: make(map[sequitur.Symbol]callName), most: shapes[order[0]],
		signature: signaturesOf(tr)}
	for _, number := range order[:min(len(order), most)] {
		s := d.describe(shapes[number])
		s.Shape, s.Ranks = number, shapes[number].Ranks
		list = append(list, s)
	}
	return list
}

// signaturesOf returns a function that describes the signatures of a trace, in the
// words of cat.
func signaturesOf(tr *trace.Trace) func(s *trace.Shape, n int) (words, error) {
	p := tr.Printer(trace.PrintOptions{})
	known := make(map[*trace.Shape]func(trace.Signature) (words, error))
	return func(s *trace.Shape, n int) (words, error) {
		if s == nil {
			return inWords(p, nil, tr.Signature(n))
		}
		if known[s] == nil {
			known[s] = wordsOf(tr, p, s)
		}
		return known[s](s.Signature(n))
	}
}

// Print writes a line for the shape, and some for what it differs in.
func (s shapeInfo) Print(w io.Writer) {
	ranks := "1 rank with " + text.Plural(s.Calls, "call")
	if n := s.Ranks.Len(); n != 1 {
		ranks = fmt.Sprintf("%s with %s each", text.Plural(n, "rank"), text.Plural(s.Calls, "call"))
	}
	fmt.Fprintf(w, "shape %d: %s: %s\n", s.Shape, ranks, s.Ranks.Abbreviated(cli.MaxListText))
	printSome(w, "without ", cutNames(w, s.Without))
	printSome(w, "with ", cutNames(w, s.With))
	var often []string
	for _, c := range s.Often {
		often = append(often, fmt.Sprintf("%s × %s, not %s", text.Count(c.Times), cutName(w, c.Call),
			text.Count(c.Most)))
	}
	printSome(w, "", often)
	if s.Order {
		fmt.Fprintln(w, "  the same calls in another order")
	}
}

// printSome writes a line with the first of some names.
func printSome(w io.Writer, what string, names []string) {
	const most = 4
	if len(names) == 0 {
		return
	}
	some, rest := names[:min(len(names), most)], ""
	if n := len(names) - most; n > 0 {
		rest = fmt.Sprintf("; and %s more", text.Count(n))
	}
	fmt.Fprintf(w, "  %s%s%s\n", what, strings.Join(some, "; "), rest)
}

func cutNames(w io.Writer, names []string) []string {
	var cut []string
	for _, name := range names {
		cut = append(cut, cutName(w, name))
	}
	return cut
}

// cutName returns a name that stands among others in a line, cut if the line has an end and
// the name is long.
func cutName(w io.Writer, name string) string {
	r := text.RulerOf(w)
	if r.Columns() == 0 {
		return name
	}
	return r.Cut(name, r.Columns()-len("  without "))
}
