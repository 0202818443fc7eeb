package trace

import (
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// A Signature describes a call as all ranks have it that make it, or those of a
// shape. [Printer.Signature] writes it as text.
type Signature struct {
	Number   int           // among the signatures of the trace
	Function *cst.Function // must not be changed
	Args     []Argument    // one for each parameter

	trace *Trace
	shape *Shape // nil for all ranks that make the call
}

// An Argument says which values ranks have for a parameter.
type Argument struct {
	Type *cst.Type // must not be changed

	// Values are the numbers of an argument that is no array: of a pointer segment,
	// displacement and device, of a status source, tag and error, and one of anything
	// else.
	Values []Value

	// Lengths are the number of elements of an array, and then of the arrays in it. The
	// elements are a column if there are any.
	Lengths []int

	of    *Signature
	first int          // slot
	array layout.Array // if it is one
}

// A Form is how the values that ranks have for a number of an argument are given.
type Form uint8

const (
	Constant   Form = iota // all ranks have the same
	Expression             // a function of the rank
	Column                 // stored rank by rank
	Stream                 // varying from call to call
)

// String returns the name of f, such as constant.
func (f Form) String() string {
	if f > Stream {
		return "invalid"
	}
	return [...]string{"constant", "expression", "column", "stream"}[f]
}

// A Value is a number of an argument as ranks have it.
type Value struct {
	Form Form

	// Number is the constant. Of a string or bytes, a float, or an element of these, it
	// stands for another value: see [Argument.Constant].
	Number int64

	// Expr gives an expression's values: of the rank in the run and its number of ranks
	// or, if InGroup, of the rank in the group of processes that the call names, such as
	// its communicator, and the size of that.
	Expr    rankenc.Expr
	InGroup bool

	column int // of a Column, or that of the ranks in groups, after which comes that of the sizes
}

// valueOf returns v as users see it.
func valueOf(v *layout.Value, stream bool) Value {
	switch {
	case stream:
		return Value{Form: Stream}
	case v.How == layout.Constant:
		return Value{Number: v.Number, Expr: rankenc.Constant(v.Number)}
	case v.How == layout.Shift:
		return Value{Form: Expression, Expr: rankenc.Shift(v.Number)}
	case v.How == layout.Column:
		return Value{Form: Column, column: int(v.Number)}
	}
	return Value{Form: Expression, Expr: *v.Expr, InGroup: v.How == layout.InGroup, column: int(v.Number)}
}

// Signature describes a signature, n < t.Signatures(), as all ranks have it that make
// that call.
func (t *Trace) Signature(n int) Signature { return t.signature(n, nil) }

// Signature describes a signature of the trace as the ranks of s have it, which
// make that call.
func (s *Shape) Signature(n int) Signature { return s.trace.signature(n, s) }

func (t *Trace) signature(n int, shape *Shape) Signature {
	need.Index(n, t.Signatures(), "trace: signature")
	var x layout.Template
	t.signatures.Template(&x, n)
	s := &Signature{Number: n, Function: &t.Functions()[x.Function], trace: t, shape: shape}
	slot, arrays, lengths := 0, x.Arrays, x.Lengths
	for k := range s.Function.Params {
		a := Argument{Type: &s.Function.Params[k].Type, of: s, first: slot}
		if a.Type.Kind == cst.KindArray {
			a.array, arrays = arrays[0], arrays[1:]
			rest := lengths
			layout.CountSlots(0, *a.Type, &rest)
			a.Lengths, lengths = lengths[:len(lengths)-len(rest)], rest
		} else {
			for range layout.ScalarSlots(*a.Type) {
				a.Values = append(a.Values, valueOf(&x.Values[slot], x.Streams>>slot&1 != 0))
				slot++
			}
		}
		s.Args = append(s.Args, a)
	}
	return *s
}

// check panics unless a is of a signature of a trace.
func (a *Argument) check() { need.That(a.of != nil, "trace: an argument of no signature") }

// Constant returns the value of an argument that all ranks have, if there is one that
// follows from constants. An array has one if it has no elements.
func (a Argument) Constant() (value cst.Value, ok bool) {
	a.check()
	slots := make([]int64, len(a.Values))
	for i, v := range a.Values {
		if v.Form != Constant {
			return cst.Value{}, false
		}
		slots[i] = v.Number
	}
	if a.array.Slots > 0 {
		return cst.Value{}, false
	}
	return a.of.trace.value(a.Type, slots, a.Lengths), true
}

// value returns the value of a type that has these slots and lengths.
func (t *Trace) value(typ *cst.Type, slots []int64, lengths []int) cst.Value {
	u := layout.Rebuilder{Slots: slots, Lengths: lengths, Texts: t.texts}
	return u.Value(*typ)
}

// At returns the value that a rank has, which must be one of those that make the call.
// It fails for an argument with a stream, and if a column cannot be read.
func (a Argument) At(rank int) (cst.Value, error) {
	a.check()
	t := a.of.trace
	number, ok := t.index.find(rank)
	if !ok || a.of.shape != nil && number != a.of.shape.number {
		return cst.Value{}, fmt.Errorf("trace: rank %d does not make the call", rank)
	}
	position, _ := t.all[number].Index(rank)
	column := func(n int) (int64, error) { return t.columnValue(n, number, position, rank) }
	var slots []int64
	var err error
	for _, v := range a.Values {
		var x int64
		switch {
		case v.Form == Stream:
			return cst.Value{}, fmt.Errorf("trace: the argument varies from call to call")
		case v.Form == Column:
			x, err = column(v.column)
		case v.InGroup:
			var size int64
			if x, err = column(v.column); err == nil {
				size, err = column(v.column + 1)
			}
			x = v.Expr.Eval(x, size)
		default:
			x = v.Expr.Eval(int64(rank), int64(t.run.Ranks))
		}
		if err != nil {
			return cst.Value{}, t.named(err)
		}
		slots = append(slots, x)
	}
	if a.array.Slots > 0 {
		if slots, err = t.row(slots, a.array.Column, number, position, rank, a.array.Slots); err != nil {
			return cst.Value{}, t.named(err)
		}
	}
	return t.value(a.Type, slots, a.Lengths), nil
}

// Stream returns the different values that an argument has in calls of the signature if
// one number is all that it is, and that is a Stream, and nothing otherwise. Of traces
// with many such calls, they are those of all calls of the function, as
// [Printer.Arguments] says. The result must not be changed.
func (a Argument) Stream() []cst.Value {
	a.check()
	if len(a.Values) != 1 || a.Values[0].Form != Stream {
		return nil
	}
	var values []cst.Value
	for _, v := range a.of.rangeOf(a.first) {
		values = append(values, a.of.trace.value(a.Type, []int64{v}, nil))
	}
	return values
}

// streamValues returns the values that a slot of s with streams has in calls of the function.
func (s *Signature) streamValues(slot int) []int64 {
	table := s.trace.signatures.Streams
	i := slices.Index(table.Arguments, layout.StreamArgument{Function: s.trace.FunctionOf(s.Number), Slot: slot})
	if i < 0 {
		return nil
	}
	return table.Values[i]
}

// Limits of what is looked at of the ranks that make a call.
const (
	maxLooked = 1 << 16 // stored values of one argument
	maxMakers = 64      // shapes
)

// makers returns the ranks that make the call of s, or nothing if they are too many
// shapes to be looked at, or cannot be read.
func (s *Signature) makers() []rankenc.Set {
	t := s.trace
	switch n := t.Shapes(); {
	case s.shape != nil:
		return []rankenc.Set{s.shape.Ranks}
	case n == 1:
		return t.sets
	case n > maxMakers:
		return nil
	}
	return s.makersOf(rankenc.World(len(t.sets)))
}

// makersOf returns the ranks of some shapes that make the call of s, or nothing if these cannot be read.
func (s *Signature) makersOf(shapes rankenc.Set) []rankenc.Set {
	t := s.trace
	var sets []rankenc.Set
	for _, number := range shapes.All() {
		if t.sets[number].Len() == 0 {
			continue
		}
		shape, err := t.shape(number)
		if err != nil {
			return nil
		}
		if slices.Contains(shape.signatures, sequitur.Symbol(s.Number)) {
			sets = append(sets, shape.Ranks)
		}
	}
	return sets
}

// A point is the value that a rank has in a slot.
type point struct{ rank, value int64 }

// evaluated returns the values of an expression of the rank in the run, or nothing if
// they are too many.
func (s *Signature) evaluated(e rankenc.Expr) []point {
	sets := s.makers()
	count := 0
	for _, set := range sets {
		count += set.Len()
	}
	if count > maxLooked {
		return nil
	}
	points := make([]point, 0, count)
	for _, set := range sets {
		for _, rank := range set.All() {
			points = append(points, point{int64(rank), e.Eval(int64(rank), int64(s.trace.run.Ranks))})
		}
	}
	return points
}

// A rankPlace is where a rank is in the domain of a column.
type rankPlace struct {
	rank     int64
	position int
}

// places returns where the ranks are in the domain of a column, which may have more, or nothing if these are
// too many.
func (s *Signature) places(column int) ([]rankPlace, error) {
	t := s.trace
	d := t.signatures.Domains[t.signatures.Columns[column].Domain]
	var places []rankPlace
	if s.shape == nil {
		if d.Len() > maxLooked {
			return nil, nil
		}
		shapes := t.signatures.Shapes[t.signatures.Columns[column].Domain]
		all := shapes.Len() == 1 || shapes.Len() > maxMakers // others have columns of their own
		var makers rankenc.Set
		if !all {
			makers = makers.Union(s.makersOf(shapes)...)
		}
		for i := range d.Len() {
			rank := int64(i)
			if !d.IsWorld() {
				rank = int64(d.At(i))
			}
			if _, ok := t.index.find(int(rank)); !ok || !all && !makers.Contains(int(rank)) {
				continue // it is left out, or makes no such call
			}
			places = append(places, rankPlace{rank, i})
		}
		return places, nil
	}
	if s.shape.Ranks.Len() > maxLooked {
		return nil, nil
	}
	all := t.all[s.shape.number]
	for _, rank := range s.shape.Ranks.All() {
		i, _ := all.Index(rank)
		at, err := t.place(column, s.shape.number, i, rank)
		if err != nil {
			return nil, err
		}
		places = append(places, rankPlace{int64(rank), at})
	}
	return places, nil
}

// stored returns the values of a column, or nothing if they are too many.
func (s *Signature) stored(column int) ([]point, error) {
	places, err := s.places(column)
	if err != nil || len(places) == 0 {
		return nil, err
	}
	points := make([]point, len(places))
	r := sliceReader{trace: s.trace, number: column}
	for i, p := range places {
		if err := r.seek(p.position); err != nil {
			return nil, err
		}
		points[i] = point{p.rank, r.value(p.position)}
	}
	return points, nil
}

// sameRow returns the elements of an array that all ranks have, or nothing if they
// differ or are too many.
func (a Argument) sameRow() ([]int64, error) {
	s, slots := a.of, a.array.Slots
	if slots > maxLooked {
		return nil, nil
	}
	places, err := s.places(a.array.Column)
	if err != nil || len(places) == 0 || len(places) > maxLooked/slots {
		return nil, err
	}
	c := sliceReader{trace: s.trace, number: a.array.Column}
	var first, values []int64
	for k, p := range places {
		if err := c.seek(p.position); err != nil {
			return nil, err
		}
		if n := c.rowLen(p.position); n != slots {
			return nil, s.trace.columnError(c.slice, layout.Corrupt("column %d has a row of %d, not %d",
				a.array.Column, n, slots))
		}
		if values = c.appendRow(values[:0], p.position); k == 0 {
			first = slices.Clone(values)
		} else if !slices.Equal(values, first) {
			return nil, nil
		}
	}
	return first, nil
}
