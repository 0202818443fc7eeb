package trace

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/rankenc"
)

// Limits of the texts of arguments over ranks.
const (
	maxListed    = 3   // values in braces
	maxDisplaced = 6   // displacements in braces
	maxPieces    = 3   // with the ranks that have them
	maxElements  = 8   // of an array
	maxText      = 128 // bytes
)

// Signature returns a signature as it is written in listings, such as
// send(destination=rank+1, tag=0), with the arguments that [Printer.Arguments] returns.
func (p *Printer) Signature(r *Rank, s Signature) (string, error) {
	args, err := p.Arguments(r, s)
	if err != nil {
		return "", err
	}
	x := printing{Printer: p, function: s.Function}
	return x.text(func() { x.list(func(i int) { x.dst = append(x.dst, args[i]...) }) }), nil
}

// String returns s as [Printer.Signature] writes it, or the name of the function if
// that fails.
func (s Signature) String() string {
	need.That(s.trace != nil, "trace: not a signature of a trace")
	text, err := s.trace.Printer(PrintOptions{}).Signature(nil, s)
	if err != nil {
		return fmt.Sprintf("%s(cannot be read: %v)", s.Function.Name, err)
	}
	return text
}

// Arguments returns a text for each argument of a signature: the value that all ranks have, as AppendCall
// writes it, or the expression of the rank, such as rank+1. Of values that are stored rank by rank, and of
// strings, bytes and floats, which no expression is about, it is the ranks that have each, or a displacement,
// if these are regular, as {rank+1 on 0-30, 0 on 31}; the displacements, if they are few, as rank+{-8, -1, 1,
// 8}; the few values that there are, as {18, 33}; or the smallest and the largest, as {18 … 33}. Values that
// vary from call to call are, in the same way, {18 … 33 by call}: of the calls that the signature is of, if calls of
// ranks with such values are no more than 1,048,576, or else of all calls of the function. An expression of
// the rank in the group that the call names, not in the run, is as (rank+1) mod N in group, N being the size
// of that group. An array that is not the same for all ranks is the number of its elements, as [64 by rank].
//
// Requests are called what they are called in the calls of r, one of the ranks that the
// signature is of, or nil: then all are as request#7. It reads columns, if they are not
// too long.
func (p *Printer) Arguments(r *Rank, s Signature) ([]string, error) {
	need.That(s.trace != nil && len(s.Args) == len(s.Function.Params), "trace: not a signature of a trace")
	x := printing{Printer: p, of: r}
	if r != nil {
		x.pools = p.printed(r).pools
	}
	texts := make([]string, len(s.Args))
	for i, a := range s.Args {
		var err error
		if texts[i], err = x.overRanks(a); err != nil {
			return nil, s.trace.named(err)
		}
	}
	return texts, nil
}

// text returns what write writes.
func (p *printing) text(write func()) string {
	p.dst = p.dst[:0]
	write()
	return string(p.dst)
}

// clip returns text with no more than maxText bytes of it.
func clip(text string) string {
	if len(text) <= maxText {
		return text
	}
	end := maxText
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// constant returns the text of a value of type t, cut off if it is long.
func (p *printing) constant(t *cst.Type, v cst.Value) string {
	if t.Kind != cst.KindArray || v.Len() <= maxElements {
		return clip(p.text(func() { p.value(t, v, -1) }))
	}
	var b strings.Builder
	for i := range maxElements - 1 {
		b.WriteString(p.text(func() { p.value(t.Elem, v.Index(i), -1) }))
		b.WriteByte(' ')
	}
	return "[" + clip(b.String()) + "… " + strconv.Itoa(v.Len()) + " elements]"
}

// overRanks returns the text of an argument.
func (p *printing) overRanks(a Argument) (string, error) {
	a.check()
	if a.Type.Kind == cst.KindArray {
		return p.arrayOverRanks(a)
	}
	if a.Values[0].Form == Stream && len(a.Values) == 1 {
		return p.stream(a, 0), nil
	}
	if a.Type.Kind == cst.KindPointer {
		if text, ok := p.constantButAdvancing(a); ok {
			return text, nil
		}
	}
	numbers := make([]int64, len(a.Values))
	texts := make([]string, len(a.Values))
	constant := true
	for k := range a.Values {
		var err error
		if numbers[k], texts[k], err = p.slot(a, k); err != nil {
			return "", err
		}
		constant = constant && texts[k] == ""
	}
	switch {
	case constant:
		return p.constant(a.Type, a.of.trace.value(a.Type, numbers, nil)), nil
	case len(texts) == 1:
		return texts[0], nil
	case a.Type.Kind == cst.KindStatus:
		return p.statusParts(numbers, texts), nil
	}
	for k := range texts {
		if texts[k] == "" {
			texts[k] = strconv.FormatInt(numbers[k], 10)
		}
	}
	return fmt.Sprintf("{segment=%s, displacement=%s, device=%s}", texts[0], texts[1], texts[2]), nil
}

// statusParts returns the text of a status of which some numbers differ, and have
// texts.
func (p *printing) statusParts(numbers []int64, texts []string) string {
	var parts []string
	for k, name := range [...]string{"source", "tag", "error"} {
		text, nothing := texts[k], int64(implied)
		if k == 2 {
			nothing = 0
		}
		if text == "" && numbers[k] == nothing {
			continue
		}
		if text == "" {
			text = p.text(func() { p.value(statusTypes[k], cst.Int(numbers[k]), -1) })
		}
		parts = append(parts, name+"="+text)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// statusTypes are the types of the numbers of a status.
var statusTypes = [...]*cst.Type{&rankType, &tagType, &intType}

// slotType returns the type of the k-th number of an argument that is no array.
func (a Argument) slotType(k int) *cst.Type {
	switch a.Type.Kind {
	case cst.KindStatus:
		return statusTypes[k]
	case cst.KindPointer:
		return &intType
	}
	return a.Type
}

// arrayOverRanks returns the text of an argument that is an array.
func (p *printing) arrayOverRanks(a Argument) (string, error) {
	if a.array.Slots == 0 {
		return p.constant(a.Type, a.of.trace.value(a.Type, nil, a.Lengths)), nil
	}
	row, err := a.sameRow()
	if err != nil || row == nil {
		return fmt.Sprintf("[%d by rank]", a.Lengths[0]), err
	}
	return p.constant(a.Type, a.of.trace.value(a.Type, row, a.Lengths)), nil
}

// slot returns the text of the k-th number of an argument, empty if it is one that all
// ranks have.
func (p *printing) slot(a Argument, k int) (number int64, text string, err error) {
	v, typ := a.Values[k], a.slotType(k)
	switch {
	case v.Form == Stream:
		return 0, p.stream(a, k), nil
	case v.Form == Constant:
		return v.Number, "", nil
	case v.InGroup:
		return a.of.inGroup(v)
	}
	s, known := a.of, v.Form == Expression
	coded := typ.Kind == cst.KindString || typ.Kind == cst.KindBytes || typ.Kind == cst.KindFloat ||
		typ.Equal(layout.Site.Type)
	if _, shift := v.Expr.Shift(); known && !coded && (s.shape == nil || shift && s.shape.Ranks.Len() > 1) {
		return 0, v.Expr.String(), nil
	}
	var points []point
	if known {
		points = s.evaluated(v.Expr)
	} else if points, err = s.stored(v.column); err != nil {
		return 0, "", err
	}
	switch {
	case len(points) == 0 && known && !coded:
		return 0, v.Expr.String(), nil
	case len(points) == 0:
		return 0, "{by rank}", nil
	case !slices.ContainsFunc(points, func(p point) bool { return p.value != points[0].value }):
		return points[0].value, "", nil
	}
	if c, ok := displacement(points); ok && typ.Kind == cst.KindRank {
		return 0, rankenc.Shift(c).String(), nil
	}
	if known && !coded {
		return 0, v.Expr.String(), nil
	}
	return 0, p.summary(s.trace, points, typ), nil
}

// inGroup returns the text of an expression of the rank in a group, or the value that
// all ranks of the shape have, if there is one.
func (s *Signature) inGroup(v Value) (number int64, text string, err error) {
	text = v.Expr.String() + " in group"
	if s.shape == nil {
		return 0, text, nil
	}
	ranks, err := s.stored(v.column)
	if err != nil || len(ranks) == 0 {
		return 0, text, err
	}
	sizes, err := s.stored(v.column + 1)
	if err != nil {
		return 0, "", err
	}
	number = v.Expr.Eval(ranks[0].value, sizes[0].value)
	for i := range ranks {
		if v.Expr.Eval(ranks[i].value, sizes[i].value) != number {
			return 0, text, nil
		}
	}
	return number, "", nil
}

// Varying returns the text of a parameter that is a Stream in each of several signatures
// of one function: of the values that it has in calls of any of these. There must be one.
func (p *Printer) Varying(args ...Argument) string {
	var values []int64
	need.That(len(args) > 0, "trace: no argument")
	for _, a := range args {
		a.check()
		need.That(len(a.Values) == 1 && a.Values[0].Form == Stream, "trace: an argument that is no stream")
		values = append(values, p.streamed(a, 0)...)
	}
	x := printing{Printer: p}
	return x.varying(args[0], 0, values)
}

// streamed returns the values that stand for the k-th number of an argument, a stream.
func (p *Printer) streamed(a Argument, k int) []int64 {
	if p.options.Pooled {
		return a.of.streamValues(a.first + k)
	}
	return a.of.rangeOf(a.first + k)
}

// stream returns the text of the k-th number of an argument, a stream.
func (p *printing) stream(a Argument, k int) string {
	if text, ok := p.advancing(a, k, a.of.advancingRanks(), false); ok {
		return text
	}
	return p.varying(a, k, p.streamed(a, k))
}

// varying returns the text of a stream that has these values.
func (p *printing) varying(a Argument, k int, values []int64) string {
	if len(values) == 0 || len(values) > maxLooked {
		return "{by call}"
	}
	return p.values(a.of.trace, slices.Clone(values), a.slotType(k), " by call")
}

// values returns what stands for values of a slot, which it sorts.
func (p *printing) values(t *Trace, values []int64, typ *cst.Type, how string) string {
	compare := cmp.Compare[int64]
	if typ.Kind == cst.KindFloat {
		float := func(v int64) float64 { return math.Float64frombits(uint64(v)) }
		compare = func(a, b int64) int { return cmp.Or(cmp.Compare(float(a), float(b)), cmp.Compare(a, b)) }
	}
	slices.SortFunc(values, compare)
	values = slices.Compact(values)
	text := func(v int64) string { return p.constant(typ, t.value(typ, []int64{v}, nil)) }
	switch {
	case len(values) <= maxListed:
		texts := make([]string, len(values))
		for i, v := range values {
			texts[i] = text(v)
		}
		return "{" + strings.Join(texts, ", ") + how + "}"
	case typ.Kind == cst.KindString || typ.Kind == cst.KindBytes:
		return fmt.Sprintf("{%s … %d texts%s}", text(values[0]), len(values), how)
	}
	return fmt.Sprintf("{%s … %s%s}", text(values[0]), text(values[len(values)-1]), how)
}

// displacement returns what every value is more than its rank, if it is the same
// for all of at least two.
func displacement(points []point) (int64, bool) {
	c := points[0].value - points[0].rank
	return c, len(points) > 1 && !slices.ContainsFunc(points, func(p point) bool { return p.value-p.rank != c })
}

// summary returns what stands for values that are not all equal.
func (p *printing) summary(t *Trace, points []point, typ *cst.Type) string {
	if text := p.pieces(t, points, typ); text != "" {
		return text
	}
	var values, displacements, special []int64
	for _, q := range points {
		values = append(values, q.value)
		if q.value < 0 { // of a rank: it stands for none
			special = append(special, q.value)
		} else {
			displacements = append(displacements, q.value-q.rank)
		}
	}
	special, displacements = distinct(special), distinct(displacements)
	others := len(distinct(slices.Clone(values))) - len(special)
	if typ.Kind != cst.KindRank || len(displacements) > maxDisplaced || len(displacements) >= others ||
		len(special) > maxListed {
		return p.values(t, values, typ, "")
	}
	join := func(list []int64, text func(int64) string) string {
		texts := make([]string, len(list))
		for i, v := range list {
			texts[i] = text(v)
		}
		return strings.Join(texts, ", ")
	}
	text := "rank+{" + join(displacements, func(v int64) string { return strconv.FormatInt(v, 10) }) + "}"
	if len(special) > 0 {
		text = "{" + join(special, func(v int64) string { return p.constant(typ, cst.Rank(v)) }) + ", " + text + "}"
	}
	return text
}

// distinct sorts a list and returns the different numbers in it.
func distinct(list []int64) []int64 {
	slices.Sort(list)
	return slices.Compact(list)
}

// A pattern is a value, or a displacement, that several ranks may have.
type pattern struct {
	shift bool
	c     int64
}

func (p pattern) has(q point) bool {
	if p.shift {
		return q.value-q.rank == p.c
	}
	return q.value == p.c
}

// pieces returns the values, or displacements, with the ranks that have each, or
// an empty text if they are many, or those ranks are not regular.
func (p *printing) pieces(t *Trace, points []point, typ *cst.Type) string {
	var texts []string
	for left := points; len(left) > 0; {
		if len(texts) == maxPieces {
			return ""
		}
		common := mostFrequent(left, typ.Kind == cst.KindRank)
		var ranks []int
		var rest []point
		for _, q := range left {
			if common.has(q) {
				ranks = append(ranks, int(q.rank))
			} else {
				rest = append(rest, q)
			}
		}
		set := rankenc.SetOf(ranks...)
		if strings.ContainsAny(set.String(), "(,") {
			return ""
		}
		text := rankenc.Shift(common.c).String()
		if !common.shift {
			text = p.constant(typ, t.value(typ, []int64{common.c}, nil))
		}
		texts = append(texts, fmt.Sprintf("%s on %v", text, set))
		left = rest
	}
	return "{" + strings.Join(texts, ", ") + "}"
}

// mostFrequent returns the pattern that most points are of, one that is a value
// before one that is a displacement.
func mostFrequent(points []point, shifts bool) pattern {
	counts := make(map[pattern]int)
	for _, q := range points {
		counts[pattern{false, q.value}]++
		if shifts && q.value >= 0 {
			counts[pattern{true, q.value - q.rank}]++
		}
	}
	var best pattern
	most := 0
	for p, n := range counts {
		order := cmp.Or(cmp.Compare(n, most), compareBool(best.shift, p.shift), cmp.Compare(best.c, p.c))
		if most == 0 || order > 0 {
			best, most = p, n
		}
	}
	return best
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
