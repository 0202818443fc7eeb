package merge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/rankenc"
)

// RankSet returns the ranks of which a has calls.
func (a *Accumulator) RankSet() rankenc.Set {
	a.settle()
	return a.ranks.set()
}

// RankSet returns the ranks that made calls.
func (t *Trace) RankSet() rankenc.Set {
	return rankenc.UnionOf(t.sets...) // that have ranks in common if the file contradicts itself
}

// ShapeRanks returns the ranks of a shape, number < t.Shapes(), without reading
// the shape.
func (t *Trace) ShapeRanks(number int) rankenc.Set { return t.sets[number] }

// ShapeOf returns the number of the shape of a rank, and whether it has one:
// whether it made calls.
func (t *Trace) ShapeOf(rank int) (number int, ok bool) { return t.index.find(rank) }

// Signatures returns the number of signatures, which the grammars of all shapes
// are over.
func (t *Trace) Signatures() int { return len(t.signatures.functions) }

// FunctionOf returns the number of the function of a signature,
// n < t.Signatures(), in [Trace.Functions].
func (t *Trace) FunctionOf(n int) int { return int(t.signatures.functions[n]) }

// A Signature describes a call as all ranks have it that make it, or those of a
// shape.
type Signature struct {
	Function *cst.Function // must not be changed

	// Args has a text for each parameter: the value that all ranks have, by its name
	// if the trace has one, or the expression of the rank that they have, such as
	// rank+1. Of values that are stored rank by rank, and of texts and floating-point
	// numbers, which no expression is about, it is the ranks that have each, or a displacement, if
	// these are regular, as {rank+1 on 0-30, 0 on 31}; the displacements, if they
	// are few, as rank+{-8, -1, 1, 8}; the few values that there are, as {18, 33};
	// or the least and the greatest, as {18 … 33}. Of values that vary from call to
	// call it is likewise {18 … 33 by call}, which is always of all ranks. An
	// expression of the rank in the group that the call names, not in the run, is as
	// (rank+1) mod N in group, N being the size of that group. An array
	// that is not the same for all ranks is the number of its elements, as
	// [64 by rank].
	Args []string
}

// String returns s as it is written in listings, such as
// send(destination=rank+1, tag=0).
func (s Signature) String() string {
	var b strings.Builder
	b.WriteString(quoted(s.Function.Name))
	b.WriteByte('(')
	for i, p := range s.Function.Params {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quoted(p.Name) + "=" + s.Args[i])
	}
	b.WriteByte(')')
	return b.String()
}

// quoted returns a name, which may come from a file, as people can read it.
func quoted(name string) string {
	for _, r := range name {
		if r == utf8.RuneError || !strconv.IsPrint(r) {
			return strconv.Quote(name)
		}
	}
	return name
}

// Limits of what is looked at to describe an argument.
const (
	maxListed    = 3       // values in braces
	maxDisplaced = 6       // displacements in braces
	maxPieces    = 3       // with the ranks that have them
	maxLooked    = 1 << 16 // stored values of one argument; more are {by rank}
	maxMakers    = 64      // shapes, of whose ranks the texts of one argument are told
	maxElements  = 8       // of an array
	maxText      = 128     // bytes
)

// Signature describes a signature, n < t.Signatures(). It reads the columns that
// the signature has, if they are not too long. An error about the file is a
// [*SectionError].
func (t *Trace) Signature(n int) (Signature, error) {
	return describer{Trace: t, number: n}.signature(n)
}

// Signature describes a signature of the trace as the ranks of s have it, which
// make that call. It takes time in proportion to their number, up to a limit.
// An error about the file is a [*SectionError].
func (s *Shape) Signature(n int) (Signature, error) { return describer{s.trace, s, n}.signature(n) }

// A describer describes what the ranks of a shape have, or all ranks if shape is
// nil.
type describer struct {
	*Trace
	shape  *Shape
	number int // of the signature
}

func (t describer) signature(n int) (Signature, error) {
	fn := t.FunctionOf(n)
	g, i := &t.signatures.groups[fn], int(t.signatures.indexes[n])
	s := Signature{Function: &t.Functions()[fn]}
	var lengths []int
	if g.starts != nil {
		lengths = g.lengths[g.starts[i]:g.starts[i+1]]
	}
	slots, streams := 0, g.mask(i)
	for k, p := range s.Function.Params {
		var text string
		var err error
		if p.Type.Kind == cst.KindArray {
			text, err = t.describeArray(&g.params[k], i, p.Type, &lengths)
		} else {
			text, err = t.describeValue(g.params[k].slots, i, p.Type, elastic{fn, slots}, streams)
			slots += len(g.params[k].slots)
			streams >>= len(g.params[k].slots)
		}
		if err != nil {
			return Signature{}, err
		}
		s.Args = append(s.Args, text)
	}
	return s, nil
}

// mask returns which scalar slots of signature i of a function have streams.
func (g *group) mask(i int) uint64 {
	if g.masks.Len() == 0 {
		return 0
	}
	return uint64(g.masks.At(i))
}

// form returns how a slot of signature i of a function is written: by an
// expression or, if there is none, as the column of a number.
func (r *slotReader) form(i int) (e formula, column int, ok bool) {
	written, k := r.written.At(i), i
	if r.index != nil {
		k = int(r.index[i])
	}
	switch written {
	case writtenConstant:
		return formula{rankenc.Constant(r.values[written].At(k)), false}, 0, true
	case writtenShift:
		return formula{rankenc.Shift(r.values[written].At(k)), false}, 0, true
	case writtenColumn:
		return formula{}, int(r.values[written].At(k)), false
	case writtenGroup:
		return formula{*r.groups.at(k), true}, 0, true
	}
	return formula{*r.others.at(k), false}, 0, true
}

// groupColumn returns the number of the column with the ranks in the group that a
// slot of signature i refers to.
func (r *slotReader) groupColumn(i int) int {
	k := i
	if r.index != nil {
		k = int(r.index[i])
	}
	return int(r.values[writtenGroup].At(k))
}

// describeValue describes an argument that is no array. The first of its slots is
// the given one, and bit k of streams says that the k-th one has a stream.
func (t describer) describeValue(slots []slotReader, i int, typ cst.Type, first elastic, streams uint64) (string, error) {
	constants := make([]int64, len(slots))
	texts := make([]string, len(slots))
	constant := true
	for k := range slots {
		if streams>>k&1 != 0 {
			texts[k], constant = t.describeStreams(elastic{first.function, first.slot + k}, typ), false
			continue
		}
		v, text, err := t.describeSlot(&slots[k], i, slotType(typ, k))
		if err != nil {
			return "", err
		}
		constants[k], texts[k] = v, text
		if text == "" {
			texts[k] = strconv.FormatInt(v, 10)
		}
		constant = constant && text == ""
	}
	switch {
	case constant:
		return t.text(typ, constants, nil), nil
	case typ.Kind == cst.KindPointer:
		return fmt.Sprintf("{segment=%s, displacement=%s, device=%s}", texts[0], texts[1], texts[2]), nil
	case typ.Kind == cst.KindStatus:
		return fmt.Sprintf("{source=%s, tag=%s, error=%s}", texts[0], texts[1], texts[2]), nil
	}
	return texts[0], nil
}

// text returns the value of a type that has these slots and lengths, cut off if
// it is long.
func (t *Trace) text(typ cst.Type, slots []int64, lengths []int) string {
	u := unflattener{slots: slots, lengths: lengths, texts: t.texts}
	v := u.value(typ)
	if v.Kind() != cst.KindArray || v.Len() <= maxElements {
		return clip(t.valueText(typ, v))
	}
	var b strings.Builder
	for i := range maxElements - 1 {
		b.WriteString(t.valueText(*typ.Elem, v.Index(i)) + " ")
	}
	return "[" + clip(b.String()) + "… " + strconv.Itoa(v.Len()) + " elements]"
}

// valueText returns v, of a type, by its name if it has one.
func (t *Trace) valueText(typ cst.Type, v cst.Value) string {
	if len(t.run.Names) == 0 {
		return v.String()
	}
	n := Name{Kind: typ.Kind, Class: typ.Class}
	switch typ.Kind {
	case cst.KindInt, cst.KindRank, cst.KindTag, cst.KindHandle:
		n.Value = v.Int()
	case cst.KindPointer:
		n.Value = v.Pointer().Segment
	case cst.KindArray:
		texts := make([]string, v.Len())
		for i := range texts {
			texts[i] = t.valueText(*typ.Elem, v.Index(i))
		}
		return "[" + strings.Join(texts, " ") + "]"
	}
	i, ok := slices.BinarySearchFunc(t.run.Names, n, compareNames)
	switch {
	case !ok:
		return v.String()
	case typ.Kind == cst.KindPointer && v.Pointer().Displacement != 0:
		return fmt.Sprintf("%s%+d", quoted(t.run.Names[i].Name), v.Pointer().Displacement)
	}
	return quoted(t.run.Names[i].Name)
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

// describeStreams describes the values that an elastic argument has anywhere.
func (t *Trace) describeStreams(argument elastic, typ cst.Type) string {
	table := t.signatures.streams
	i := slices.Index(table.arguments, argument)
	if i < 0 || len(table.values[i]) > maxLooked {
		return "{by call}"
	}
	if typ.Kind == cst.KindPointer || typ.Kind == cst.KindStatus {
		typ = cst.Type{Kind: cst.KindInt} // one slot of three
	}
	return t.list(slices.Clone(table.values[i]), typ, " by call")
}

// list returns what stands for values of a slot, which it sorts.
func (t *Trace) list(values []int64, typ cst.Type, how string) string {
	compare := cmp.Compare[int64]
	if typ.Kind == cst.KindFloat {
		float := func(v int64) float64 { return math.Float64frombits(uint64(v)) }
		compare = func(a, b int64) int { return cmp.Or(cmp.Compare(float(a), float(b)), cmp.Compare(a, b)) }
	}
	slices.SortFunc(values, compare)
	values = slices.Compact(values)
	texts := make([]string, 0, maxListed)
	for _, v := range values[:min(len(values), maxListed)] {
		texts = append(texts, t.text(typ, []int64{v}, nil))
	}
	switch {
	case len(values) <= maxListed:
		return "{" + strings.Join(texts, ", ") + how + "}"
	case typ.Kind == cst.KindString || typ.Kind == cst.KindBytes:
		return fmt.Sprintf("{%s … %d texts%s}", texts[0], len(values), how)
	}
	return fmt.Sprintf("{%s … %s%s}", texts[0], t.text(typ, values[len(values)-1:], nil), how)
}

// describeArray describes an argument that is an array, and takes the lengths of
// its arrays.
func (t describer) describeArray(r *paramReader, i int, typ cst.Type, lengths *[]int) (string, error) {
	own := *lengths
	slots, _ := countSlots(0, typ, lengths)
	byRank := fmt.Sprintf("[%d by rank]", own[0])
	switch {
	case slots == 0:
		return t.text(typ, nil, own), nil
	case slots > maxLooked:
		return byRank, nil
	}
	n := int(r.matrices.At(int(r.index[i])))
	places, err := t.places(n)
	if err != nil || len(places) == 0 || len(places) > maxLooked/slots {
		return byRank, err
	}
	c := sliceReader{trace: t.Trace, number: n}
	var first, values []int64
	for k, p := range places {
		if err := c.seek(p.position); err != nil {
			return "", err
		}
		if l := c.rowLen(p.position); l != slots {
			return "", t.columnError(c.slice, corrupt("column %d has a row of %d, not %d", n, l, slots))
		}
		if values = c.appendRow(values[:0], p.position); k == 0 {
			first = slices.Clone(values)
		} else if !slices.Equal(values, first) {
			return byRank, nil
		}
	}
	return t.text(typ, first, own), nil
}
