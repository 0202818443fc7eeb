package layout

import (
	"errors"
	"fmt"
	"iter"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/progression"
	"github.com/reprise-trace/reprise/internal/sums"
	"github.com/reprise-trace/reprise/sequitur"
)

// What advances in the calls of a rank has the numbers of streams in place of its values. A stream is of an
// argument of a function, and calls with one number there take its values in their order. The streams stand
// after the last call, in the order in which calls first take one of their values, as calls of functions that
// no program has: each begins with a call that has what comes before the first value of the first run, and
// goes on with its runs. So runs are a grammar, are the same for all ranks or go with the rank, and are merged
// and written as calls are.
var streamFunction = cst.Function{Name: "+stream", Params: numbersOf("before")}

// The functions of runs: of one value, with a step, and with an acceleration.
var (
	valueFunction = cst.Function{Name: "+value", Params: numbersOf("jump")}
	runFunction   = cst.Function{Name: "+run", Params: numbersOf("jump", "step", "length")}
	curveFunction = cst.Function{Name: "+curve", Params: numbersOf("jump", "step", "acceleration", "length")}
)

// MaxRunSlots is the largest number of slots of a run.
const MaxRunSlots = 4

// numbersOf returns parameters that are numbers.
func numbersOf(names ...string) []cst.Param {
	var params []cst.Param
	for _, n := range names {
		params = append(params, cst.Param{Name: n, Type: cst.Type{Kind: cst.KindInt}, Direction: cst.In})
	}
	return params
}

// A StreamRole is what calls of a function are among streams.
type StreamRole uint8

const (
	NoStream    StreamRole = iota // calls of a program
	StreamBegin                   // beginnings of streams
	StreamRun                     // runs
)

// StreamRoleOf returns the role of the calls of a function. None that a program has begins with a plus.
func StreamRoleOf(f *cst.Function) StreamRole {
	switch {
	case len(f.Name) == 0 || f.Name[0] != '+':
		return NoStream
	case f.Name == streamFunction.Name:
		return StreamBegin
	}
	return StreamRun
}

// AddToSlots adds a number to the arguments of which a mask has the slots, of those in no array: numbers, tags,
// and displacements of pointers.
func AddToSlots(args []cst.Value, mask uint64, n int64) {
	for i := range advancingArgs(args, mask) {
		args[i] = WithNumber(args[i], NumberOfSlot(args[i])+n)
	}
}

// NumbersIn returns an iterator over the slots of a mask, in ascending order, and the numbers of the arguments
// there.
func NumbersIn(args []cst.Value, mask uint64) iter.Seq2[int, int64] {
	return func(yield func(int, int64) bool) {
		for i, slot := range advancingArgs(args, mask) {
			if !yield(slot, NumberOfSlot(args[i])) {
				return
			}
		}
	}
}

// advancingArgs returns an iterator over the arguments of which a mask has a slot, and these.
func advancingArgs(args []cst.Value, mask uint64) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		slot := 0
		for i, v := range args {
			if v.Kind() == cst.KindArray {
				continue
			}
			at := slot
			if v.Kind() == cst.KindPointer {
				at++
			}
			if mask>>at&1 == 1 && !yield(i, at) {
				return
			}
			slot += ScalarSlots(cst.Type{Kind: v.Kind()})
		}
	}
}

// NumberOfSlot returns the number of an argument that may advance: of a pointer its displacement.
func NumberOfSlot(v cst.Value) int64 {
	if v.Kind() == cst.KindPointer {
		return v.Pointer().Displacement
	}
	return v.Int()
}

// WithNumber returns an argument with another number: a pointer with another displacement.
func WithNumber(v cst.Value, number int64) cst.Value {
	switch v.Kind() {
	case cst.KindPointer:
		p := v.Pointer()
		p.Displacement = number
		return cst.PointerTo(p)
	case cst.KindTag:
		return cst.Tag(number)
	}
	return cst.Int(number)
}

// StreamFunction returns the function of beginnings of streams.
func StreamFunction() cst.Function { return streamFunction }

// StreamCall returns the beginning of a stream as a call.
func StreamCall(before int64) (cst.Function, []cst.Value) {
	return streamFunction, []cst.Value{cst.Int(before)}
}

// StreamOf returns what comes before a stream that begins with a call of a function with these slots, and
// whether that is one.
func StreamOf(f *cst.Function, slots []int64) (before int64, ok bool) {
	if !f.Equal(streamFunction) || len(slots) != 1 {
		return 0, false
	}
	return slots[0], true
}

// RunCall returns a run as a call.
func RunCall(r progression.Run) (cst.Function, []cst.Value) {
	switch {
	case r.Length == 1:
		return valueFunction, []cst.Value{cst.Int(r.Jump)}
	case r.Acceleration == 0:
		return runFunction, []cst.Value{cst.Int(r.Jump), cst.Int(r.Step), cst.Int(int64(r.Length))}
	}
	return curveFunction, []cst.Value{cst.Int(r.Jump), cst.Int(r.Step), cst.Int(r.Acceleration),
		cst.Int(int64(r.Length))}
}

// RunOf returns the run that is a call of a function with these slots, and whether it is one.
func RunOf(f *cst.Function, slots []int64) (progression.Run, bool) {
	var r progression.Run
	switch {
	case f.Equal(valueFunction) && len(slots) == 1:
		r = progression.Run{Jump: slots[0], Length: 1}
	case f.Equal(runFunction) && len(slots) == 3:
		r = progression.Run{Jump: slots[0], Step: slots[1], Length: uint64(slots[2])}
	case f.Equal(curveFunction) && len(slots) == 4:
		r = progression.Run{Jump: slots[0], Step: slots[1], Acceleration: slots[2], Length: uint64(slots[3])}
	default:
		return r, false
	}
	return r, r.Check() == nil && int64(r.Length) > 0
}

// Streamed returns an iterator over the runs of streams, a grammar over terminals of a table, but those that are
// the same as the one before, and the first value of each.
func Streamed(t *cst.Table, streams *sequitur.Grammar) iter.Seq2[int64, progression.Run] {
	return func(yield func(int64, progression.Run) bool) {
		var (
			first int64
			args  []cst.Value
			slots []int64
		)
		for _, r := range streams.Runs() {
			var fn int
			fn, args = t.AppendSignature(args[:0], r.Symbol)
			slots = slots[:0]
			for _, v := range args {
				slots = append(slots, v.Int())
			}
			f := &t.Functions()[fn]
			if before, ok := StreamOf(f, slots); ok {
				first = before
				continue
			}
			run, _ := RunOf(f, slots)
			if run.Jump == 0 {
				r.Count = 1
			}
			for range r.Count {
				if first += run.Jump; !yield(first, run) {
					return
				}
			}
		}
	}
}

// A StreamKey says which of the streams of a rank one is.
type StreamKey struct {
	Function, Slot int // the slot is one of those in no array
	Number         int64
}

// StreamOrder numbers streams in the order in which they are first asked for.
type StreamOrder map[StreamKey]int

// Index returns the number of a stream among those of the rank.
func (o StreamOrder) Index(k StreamKey) int {
	i, ok := o[k]
	if !ok {
		i = len(o)
		o[k] = i
	}
	return i
}

// A StreamIndex says where the streams of a sequence are.
type StreamIndex struct {
	Calls  uint64   // before the streams
	Begins []uint64 // of the runs of each stream; the end of each is where the next begins, less one
	End    uint64   // of the sequence

	sums *sums.Index
}

// IndexStreams returns the index of a grammar, whose terminals have these roles. It returns an error if
// streams do not stand after the last call.
func IndexStreams(g *sequitur.Grammar, role func(sequitur.Symbol) StreamRole) (*StreamIndex, error) {
	x := &StreamIndex{sums: sums.Of(g), End: g.Len()}
	count := func(of func(StreamRole) bool) *sums.Measure {
		return x.sums.Measure(func(t sequitur.Symbol) uint64 {
			if of(role(t)) {
				return 1
			}
			return 0
		})
	}
	begins := count(func(r StreamRole) bool { return r == StreamBegin })
	x.Calls = x.End - count(func(r StreamRole) bool { return r != NoStream }).Total().Weight
	n := begins.Total().Weight
	if n > uint64(g.Symbols()) && n > maxEmptyStreams {
		return nil, fmt.Errorf("%d streams in a grammar of %d symbols", n, g.Symbols())
	}
	for i := range n {
		position, _, _ := begins.Find(i)
		if i == 0 && position != x.Calls {
			return nil, errors.New("streams that do not stand after the last call")
		}
		x.Begins = append(x.Begins, position+1)
	}
	if n == 0 && x.Calls != x.End {
		return nil, errors.New("runs of no stream")
	}
	return x, nil
}

// maxEmptyStreams is how many streams without runs there may be, which no symbol of a grammar stands for.
const maxEmptyStreams = 1 << 10

// Stream returns where the runs of a stream begin and end.
func (x *StreamIndex) Stream(number int) (begin, end uint64) {
	if number+1 < len(x.Begins) {
		return x.Begins[number], x.Begins[number+1] - 1
	}
	return x.Begins[number], x.End
}

// Check returns an error unless streams have so many values each, where runs have these lengths, and all other
// terminals none.
func (x *StreamIndex) Check(values []uint64, length func(sequitur.Symbol) uint64) error {
	all := x.sums.Measure(length)
	for i, n := range values {
		begin, end := x.Stream(i)
		if has := all.Before(end).Weight - all.Before(begin).Weight; has != n {
			return fmt.Errorf("%d values of stream %d, of which calls take %d", has, i, n)
		}
	}
	return nil
}
