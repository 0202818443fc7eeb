package report

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/klauspost/compress/flate"

	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
)

// exactTime is up to where a browser tells nanoseconds apart: 104 days.
const exactTime = 1 << 53

// packCalls returns the times of all calls of a rank as calls.js reads them: deflated
// varints, zigzag where they have a sign, first of all gaps, then of all durations, both
// by terminal, and of a terminal in the order of the calls. A gap is the time from the end
// of the call before, as the trace has them in order; that of the first call from first on.
// It returns nil if times are farther from first than a browser can count.
func packCalls(r *trace.Rank, first int64) ([]byte, error) {
	gaps, durations := make([][]byte, r.Terminals()), make([][]byte, r.Terminals())
	end := first
	for call, err := range callTimes(r) {
		if err != nil {
			return nil, err
		}
		if !near(call.start, first) || call.duration > exactTime {
			return nil, nil
		}
		gaps[call.terminal] = binary.AppendVarint(gaps[call.terminal], call.start-end)
		durations[call.terminal] = binary.AppendUvarint(durations[call.terminal], uint64(call.duration))
		end = call.start + call.duration
	}
	return deflated(append(gaps, durations...)...), nil
}

// near reports whether a browser can count the time from one to the other.
func near(a, b int64) bool { return uint64(max(a, b))-uint64(min(a, b)) <= exactTime }

// pageLevel is how hard times are deflated. The best level, 9, takes half of the time of a report of millions of
// calls, and makes it 2 % smaller.
const pageLevel = 6

// deflated returns bytes as a browser inflates them.
func deflated(pieces ...[]byte) []byte {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, pageLevel)
	if err != nil {
		panic(err) // the level is valid
	}
	for _, p := range pieces {
		_, _ = w.Write(p) // to memory, which does not fail
	}
	_ = w.Close()
	return out.Bytes()
}

// A callTime is when a call began, and how long it took, which is not negative.
type callTime struct {
	terminal        uint32
	start, duration int64
}

// callTimes returns an iterator over the calls of a rank that has the times of every call,
// as the trace has them in order.
func callTimes(r *trace.Rank) func(yield func(callTime, error) bool) {
	return func(yield func(callTime, error) bool) {
		walk, run := r.Walk(0), sequitur.Run{}
		for t, err := range r.Times(0) {
			if run.Count == 0 {
				run = walk.Next()
			}
			run.Count--
			duration := min(max(0, t.Duration), math.MaxInt64-max(0, t.Start))
			if !yield(callTime{run.Symbol, t.Start, duration}, err) {
				return
			}
		}
	}
}
