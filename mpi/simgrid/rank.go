package simgrid

import (
	"fmt"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/tracer"
)

// A rankRecorder records the calls of one rank.
type rankRecorder struct {
	rank int

	// A run may have many ranks of few calls: these are kept as they are, until there are more.
	few      []fewCall
	recorder *tracer.Recorder // nil until then

	// numbers holds, by index of Functions, the number in the Recorder plus one,
	// or 0. It reaches to the last function of the rank.
	numbers []uint16
}

// A fewCall is a call that is kept as it is.
type fewCall struct {
	function int
	args     []cst.Value
}

// functionList is what [Functions] returns.
var functionList = Functions()

// maxFew is how many calls of a rank are kept as they are.
const maxFew = 32

// call records a call for a trace with a bound, 0 if there is none, and returns how many bytes more are held: modulo
// 2⁶⁴, as they may be fewer.
func (r *rankRecorder) call(c *Call, bound int64) (more uint64) {
	if r.recorder == nil && len(r.few) < maxFew {
		r.few = append(r.few, fewCall{c.Function, c.Args})
		if c.ID == 0 { // nobody else has the arguments
			more = sizeOf(c.Args)
		}
		return more + callMemory
	}
	before := uint64(0)
	if r.recorder == nil {
		r.start(bound)
	} else {
		before = r.recorder.Held()
	}
	r.record(c.Function, c.Args)
	return r.recorder.Held() - before
}

// start has a Recorder record the calls, those so far, too.
func (r *rankRecorder) start(bound int64) {
	r.recorder, _ = tracer.New(tracer.Options{Bounded: bound}) // which has no errors without times
	for _, c := range r.few {
		r.record(c.function, c.args)
	}
	r.few = nil
}

func (r *rankRecorder) record(function int, args []cst.Value) {
	if more := function + 1 - len(r.numbers); more > 0 {
		r.numbers = append(r.numbers, make([]uint16, more)...)
	}
	if r.numbers[function] == 0 {
		r.numbers[function] = uint16(r.recorder.Declare(functionList[function]) + 1)
	}
	r.recorder.Call(int(r.numbers[function])-1, args...)
}

// finish returns the part of the rank.
func (r *rankRecorder) finish(bound int64) merge.Part {
	if r.recorder == nil {
		r.start(bound)
	}
	return r.recorder.Finish(r.rank)
}

// What is held of a rank, at least, of a call that is kept as it is, and of a symbol of a grammar, in bytes:
// with what the garbage collector leaves of it.
const (
	rankMemory   = 1 << 10
	callMemory   = 1 << 7
	symbolMemory = 1 << 6
)

// sizeOf returns about how many bytes arguments take.
func sizeOf(args []cst.Value) (n uint64) {
	for _, v := range args {
		n += valueSize
		switch v.Kind() {
		case cst.KindArray:
			n += valueSize * uint64(v.Len())
		case cst.KindString:
			n += uint64(len(v.Text()))
		}
	}
	return 2 * n
}

const (
	leastMemory   = 512 << 20
	memoryPerByte = 512 // of the input
)

// checkMemory returns an error if the ranks so far take more bytes than they may.
func (r *Reader) checkMemory(ranks int, held uint64) error {
	most := uint64(r.options.Memory)
	if most == 0 {
		most = max(leastMemory, memoryPerByte*uint64(r.input.taken))
	}
	if held <= most {
		return nil
	}
	err := &format.MemoryError{What: "ranks so far", N: uint64(ranks), Need: held, Most: most, Grows: true}
	return fmt.Errorf("simgrid: %s: %w", r.fileName(r.next-1), err)
}
