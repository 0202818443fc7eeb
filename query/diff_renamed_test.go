package query

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/requestid"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/trace"
)

// A timedRun records one run of a program: what is up to time and to addresses is drawn for each run, all
// else is the program's.
type timedRun struct {
	*rapid.T
	testtrace.Recording
	free []int64 // numbers of requests that are not in use, in the order of this run
}

func (r *timedRun) begin() int {
	k := rapid.IntRange(0, len(r.free)-1).Draw(r.T, "request")
	id := r.free[k]
	r.free[k] = r.free[len(r.free)-1]
	r.free = r.free[:len(r.free)-1]
	return int(id)
}

// address is where a buffer of so many elements is.
func (r *timedRun) address(count int) cst.Value {
	if count == 0 && rapid.Bool().Draw(r.T, "NULL") {
		return cst.PointerTo(cst.Pointer{Segment: -1})
	}
	return cst.PointerTo(cst.Pointer{Segment: 5, Displacement: int64(rapid.IntRange(0, 3).Draw(r.T, "address"))})
}

// A timedStep is a part of the program: receives that are begun, of so many elements each, and waited for in
// an order; or messages from sources that probes find, which are answered, perhaps after a question, while
// tests find out when a request is complete.
type timedStep struct {
	counts  []int
	waits   []int
	sources []int
	asks    bool
	tested  []int // how many elements the receives have that are tested
	works   int   // messages that are sent meanwhile, to one of the sources
	none    bool  // a wait for nothing
}

func drawStep(t *rapid.T) timedStep {
	if rapid.IntRange(0, 5).Draw(t, "none") == 0 {
		return timedStep{none: true}
	}
	if rapid.Bool().Draw(t, "probes") {
		return timedStep{
			sources: rapid.Permutation([]int{1, 2, 3}).Draw(t, "sources")[:rapid.IntRange(1, 3).Draw(t, "messages")],
			asks:    rapid.Bool().Draw(t, "asks"),
			tested:  rapid.SliceOfN(rapid.IntRange(0, 2), 0, 2).Draw(t, "tested"),
			works:   rapid.IntRange(0, 2).Draw(t, "works"),
		}
	}
	s := timedStep{counts: rapid.SliceOfN(rapid.IntRange(0, 2), 1, 4).Draw(t, "counts")}
	for i := range s.counts {
		s.waits = append(s.waits, i)
	}
	s.waits = rapid.Permutation(s.waits).Draw(t, "waits")
	return s
}

func (r *timedRun) step(s timedStep) {
	switch {
	case s.none:
		typ, requests := cst.ArrayOf(cst.HandleOf("request")), cst.Array()
		if rapid.Bool().Draw(r.T, "NULL") {
			typ, requests = cst.HandleOf(spec.PlaceholderClass), cst.Handle(spec.ID("NULL"))
		}
		r.Call(r.Declare(cst.Function{Name: "MPI_Waitall", Params: []cst.Param{
			{Name: "count", Type: cst.Type{Kind: cst.KindInt}},
			{Name: "array_of_requests", Type: typ, Direction: cst.InOut},
		}}), cst.Int(0), requests)
		return
	case s.sources != nil:
		r.serve(s)
		return
	}
	requests := r.receive(s.counts)
	for _, k := range s.waits {
		r.MPI(1, "MPI_Wait", "request", requests[k])
	}
	r.end(requests...)
}

// receive begins receives of so many elements each.
func (r *timedRun) receive(counts []int) (requests []int) {
	for _, n := range counts {
		id := r.begin()
		requests = append(requests, id)
		r.MPI(1, "MPI_Irecv", "buf", r.address(n), "count", n, "datatype", "MPI_INT", "source", 1, "tag", 2,
			"comm", "MPI_COMM_WORLD", "request", id)
	}
	return requests
}

func (r *timedRun) end(requests ...int) {
	for _, id := range requests {
		r.free = append(r.free, int64(id))
	}
}

// serve receives and answers messages of the sources of a step as they come, and tests each of its requests
// until it is complete.
func (r *timedRun) serve(s timedStep) {
	tested := r.receive(s.tested)
	const test, work = -1, -2
	events := append([]int(nil), s.sources...)
	for range tested {
		events = append(events, test)
	}
	for range s.works {
		events = append(events, work)
	}
	next, last := 0, work
	for _, source := range rapid.Permutation(events).Draw(r.T, "order") {
		polls := rapid.IntRange(0, 2).Draw(r.T, "polls")
		if source == work && last != test {
			polls++ // before its next step it asks whether there is something, so that this is no answer
		}
		last = source
		for range polls {
			r.MPI(1, "MPI_Iprobe", "source", "MPI_ANY_SOURCE", "tag", 4, "comm", "MPI_COMM_WORLD", "flag", 0)
		}
		switch source {
		case test:
			r.MPI(1, "MPI_Test", "request", tested[next], "flag", 1)
			next++
			continue
		case work:
			r.MPI(1, "MPI_Send", "buf", r.address(2), "count", 2, "datatype", "MPI_INT", "dest", 1, "tag", 6,
				"comm", "MPI_COMM_WORLD")
			continue
		}
		r.MPI(1, "MPI_Iprobe", "source", "MPI_ANY_SOURCE", "tag", 4, "comm", "MPI_COMM_WORLD", "flag", 1,
			"status", cst.Status{Source: int64(source), Tag: -9})
		r.MPI(1, "MPI_Recv", "buf", r.address(source), "count", source, "datatype", "MPI_INT", "source",
			source, "tag", 4, "comm", "MPI_COMM_WORLD")
		if s.asks {
			r.MPI(1, "MPI_Comm_rank", "comm", "MPI_COMM_WORLD", "rank", 0)
		}
		r.MPI(1, "MPI_Send", "buf", r.address(1), "count", 1, "datatype", "MPI_INT", "dest", source, "tag", 5,
			"comm", "MPI_COMM_WORLD")
	}
	r.end(tested...)
}

func runOf(t *rapid.T, steps []timedStep) *trace.Trace {
	r := &timedRun{T: t}
	for i := range 6 {
		r.free = append(r.free, requestid.Join(int64(i%3), int64(i/3)))
	}
	for _, s := range steps {
		r.step(s)
	}
	return openParts(t, merge.Run{Ranks: 4}, []merge.Part{r.Finish(0)})
}

// TestDiffRuns compares two runs of a program, which differ in addresses, numbers of requests, the order of
// messages that probes find and the time that requests are complete, and programs that are not equal: with
// another wait, another message, another answer or another question.
func TestDiffRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(drawStep), 1, 6).Draw(t, "program")
		ignore := Ignored{Addresses: true, Completions: true, Polls: true}
		a := runOf(t, steps)
		d, err := OpenDiff(t.Context(), a, runOf(t, steps), DiffOptions{Ignore: ignore})
		if err != nil || !d.Equal() {
			t.Fatalf("runs of one program differ: %v, %v", d.First, err)
		}
		k := rapid.IntRange(0, len(steps)-1).Draw(t, "changed")
		other := append([]timedStep(nil), steps...)
		s := other[k]
		switch {
		case s.none:
			other = append(other, s)
		case s.sources != nil && rapid.Bool().Draw(t, "other question"):
			s.asks = !s.asks
		case s.sources != nil:
			s.sources = append([]int{3}, s.sources...)
		case len(s.waits) > 1: // waits for another request first
			s.waits = append([]int{s.waits[1], s.waits[0]}, s.waits[2:]...)
		default:
			s.counts = []int{s.counts[0] + 1}
		}
		if !s.none {
			other[k] = s
		}
		if d, err = OpenDiff(t.Context(), a, runOf(t, other), DiffOptions{Ignore: ignore}); err != nil || d.Equal() {
			t.Fatalf("runs of two programs are equal: %v", err)
		}
	})
}
