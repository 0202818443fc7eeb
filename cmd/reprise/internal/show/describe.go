package show

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/skeleton"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
)

// A describer puts calls into words that several signatures stand for.
type describer struct {
	trace    *trace.Trace
	printer  *trace.Printer
	pooled   *trace.Printer // of what is compared
	programs []skeleton.Program
	known    map[sequitur.Symbol]*lookup
	of       map[sequitur.Symbol]int // the rank that alone calls it, or −1
	err      error                   // the first
}

func newDescriber(t *trace.Trace, programs []skeleton.Program) *describer {
	d := &describer{trace: t, printer: t.Printer(trace.PrintOptions{}),
		pooled: t.Printer(trace.PrintOptions{Pooled: true}), programs: programs,
		known: make(map[sequitur.Symbol]*lookup), of: make(map[sequitur.Symbol]int)}
	for _, p := range programs {
		for s := range p.Grammar.Occurrences() {
			if _, known := d.of[s]; known || p.Ranks.Len() > 1 {
				d.of[s] = -1
			} else {
				d.of[s] = p.Ranks.At(0)
			}
		}
	}
	return d
}

// A lookup is what is looked up of a signature.
type lookup struct {
	trace.Signature
	args  []string // as all ranks have them, where they vary by call as all calls of the function
	away  []away   // of each, if it is a rank
	fails bool     // it is a test that fails
}

// away is how far a rank is from the caller, if that is known.
type away struct {
	by int64
	ok bool
}

func (d *describer) look(s sequitur.Symbol) *lookup {
	if k := d.known[s]; k != nil {
		return k
	}
	k := &lookup{Signature: d.trace.Signature(int(s))}
	var err error
	if k.args, err = d.pooled.Arguments(nil, k.Signature); err != nil {
		d.err = cmp.Or(d.err, err)
		k.args = make([]string, len(k.Args))
	}
	for _, a := range k.Args {
		k.away = append(k.away, d.awayOf(s, a))
	}
	k.fails = fails(k.Signature)
	d.known[s] = k
	return k
}

// fails reports whether calls of a signature test whether something is complete, or there is a
// message, and it is not so.
func fails(s trace.Signature) bool {
	role := spec.RoleOf(s.Function.Name)
	if role.Class != spec.Completion && role.Class != spec.Probe {
		return false
	}
	for i, p := range s.Function.Params {
		done := p.Name == "flag" || p.Name == "outcount" && role.Requests == spec.Tests
		if v := s.Args[i].Values; done && p.Type.Kind == cst.KindInt && v[0].Form == trace.Constant &&
			v[0].Number == 0 {
			return true
		}
	}
	return false
}

func (d *describer) awayOf(s sequitur.Symbol, a trace.Argument) away {
	if a.Type.Kind != cst.KindRank || a.Values[0].InGroup {
		return away{}
	}
	v, rank := a.Values[0], int64(d.of[s])
	switch {
	case v.Form == trace.Expression && rank < 0:
		by, ok := v.Expr.Shift()
		return away{by, ok}
	case v.Form == trace.Expression:
		return away{v.Expr.Eval(rank, int64(d.trace.Ranks())) - rank, true}
	case v.Form == trace.Constant && v.Number >= 0 && rank >= 0:
		return away{v.Number - rank, true}
	}
	return away{}
}

// compare tells how much two signatures are alike. Those of their arguments that depend on
// others do not count.
func (d *describer) compare(a, b sequitur.Symbol) skeleton.Likeness {
	fn := d.trace.FunctionOf(int(a))
	if fn != d.trace.FunctionOf(int(b)) {
		return skeleton.Different
	}
	x, y := d.look(a), d.look(b)
	if x.fails != y.fails {
		return skeleton.Different
	}
	peers, values := 0, 0
	for i, p := range d.trace.Functions()[fn].Params {
		switch {
		case x.args[i] == y.args[i]:
		case x.away[i].ok && x.away[i] == y.away[i]:
		case p.Type.Kind == cst.KindRank:
			peers++
		case dependent(p.Type):
		default:
			values++
		}
	}
	switch {
	case values == 0 && peers > 0:
		return skeleton.Peers
	case values <= 1 && peers == 0:
		return skeleton.OneValue
	}
	return skeleton.Different
}

// dependent reports whether an argument is one that depends on others: a request, a pointer, an
// array or a status.
func dependent(t cst.Type) bool {
	switch t.Kind {
	case cst.KindArray, cst.KindPointer, cst.KindStatus:
		return true
	}
	return t.Kind == cst.KindHandle && t.Class == "request"
}

// Details are what tells calls apart, from the most to the least: all arguments, those that are
// neither ranks nor depend on others, and the place in the program alone.
var details = []func(f *cst.Function, arg int) bool{
	func(*cst.Function, int) bool { return true },
	func(f *cst.Function, arg int) bool {
		t := f.Params[arg].Type
		return t.Kind != cst.KindRank && !dependent(t)
	},
	func(f *cst.Function, arg int) bool { return arg == layout.SiteOf(f) },
}

// kinds returns a function that returns for a signature one that stands for all of the same
// function with the same arguments, of those that tell them apart. Tests that fail are never of the
// kind of others.
func (d *describer) kinds(tells func(f *cst.Function, arg int) bool) func(sequitur.Symbol) sequitur.Symbol {
	kinds, first := make(map[sequitur.Symbol]sequitur.Symbol), make(map[string]sequitur.Symbol)
	return func(s sequitur.Symbol) sequitur.Symbol {
		kind, ok := kinds[s]
		if ok {
			return kind
		}
		fn := d.trace.FunctionOf(int(s))
		key := fmt.Sprint(fn, d.look(s).fails)
		for i, arg := range d.look(s).args {
			if tells(&d.trace.Functions()[fn], i) {
				key += "\x00" + arg
			}
		}
		if kind, ok = first[key]; !ok {
			kind, first[key] = s, s
		}
		kinds[s] = kind
		return kind
	}
}

// call writes the call of a node, and reports whether it is a test that fails.
func (d *describer) call(n *skeleton.Node) (words string, fails bool) {
	var signatures []sequitur.Symbol
	for _, c := range n.Calls {
		signatures = append(signatures, c.Call)
	}
	slices.Sort(signatures)
	signatures = slices.Compact(signatures)
	function := d.trace.Functions()[d.trace.FunctionOf(int(signatures[0]))]
	if len(signatures) == 1 {
		s, err := d.printer.Signature(nil, d.trace.Signature(int(signatures[0])))
		d.err = cmp.Or(d.err, err)
		return s, d.look(signatures[0]).fails
	}
	var args []string
	for i, p := range function.Params {
		value := ""
		if p.Type.Kind == cst.KindRank {
			value = d.fit(n, i)
		}
		if value == "" {
			value = d.value(signatures, i)
		}
		args = append(args, text.Printable(p.Name)+"="+value)
	}
	return text.Printable(function.Name) + "(" + strings.Join(args, ", ") + ")", d.look(signatures[0]).fails
}

// value writes an argument that several signatures have.
func (d *describer) value(signatures []sequitur.Symbol, arg int) string {
	var varying []trace.Argument
	var texts []string
	for _, s := range signatures {
		a := d.look(s).Args[arg]
		if len(a.Values) == 1 && a.Values[0].Form == trace.Stream {
			varying = append(varying, a)
		} else if text := d.look(s).args[arg]; !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if len(varying) > 0 {
		texts = append(texts, d.printer.Varying(varying...))
	}
	if dependent(*d.look(signatures[0]).Args[arg].Type) && len(texts) > 1 {
		return "…"
	}
	return alternatives(texts)
}

// alternatives writes the values of an argument that differs.
func alternatives(texts []string) string {
	const most = 3
	if len(texts) == 1 {
		return texts[0]
	}
	var numbers []int64
	for _, t := range texts {
		if n, err := strconv.ParseInt(t, 10, 64); err == nil {
			numbers = append(numbers, n)
		}
	}
	switch {
	case len(texts) <= most:
		return "{" + strings.Join(texts, ", ") + "}"
	case len(numbers) == len(texts):
		return fmt.Sprintf("{%d … %d}", slices.Min(numbers), slices.Max(numbers))
	}
	return "{" + strings.Join(texts[:most], ", ") + ", …}"
}

// fit returns the expression of a rank among the arguments of a node, or nothing if there is
// none.
func (d *describer) fit(n *skeleton.Node, arg int) string {
	const most = 1 << 16 // ranks
	var values []skeleton.RankValue
	last := -1
	for _, c := range n.Calls {
		ranks := d.programs[c.Program].Ranks
		v := d.look(c.Call).Args[arg].Values[0]
		if c.Program == last || v.InGroup || len(values)+ranks.Len() > most {
			return ""
		}
		last = c.Program
		for _, rank := range ranks.All() {
			number := v.Number
			switch v.Form {
			case trace.Constant:
			case trace.Expression:
				number = v.Expr.Eval(int64(rank), int64(d.trace.Ranks()))
			default:
				return ""
			}
			if number < 0 {
				return "" // it has a name
			}
			values = append(values, skeleton.RankValue{Rank: rank, Value: number})
		}
	}
	e, ok := skeleton.Fit(values, d.trace.Ranks(), rankenc.Options{Ranks: true})
	if !ok {
		return ""
	}
	return e.String()
}
