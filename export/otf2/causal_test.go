package otf2

import (
	"cmp"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	archive "github.com/reprise-trace/reprise/mpi/otf2"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/tracer"
)

// A causalProgram is calls of threads of ranks, each of whose messages is sent before it is received.
type causalProgram struct {
	t       *rapid.T
	threads int
	calls   [][]testtrace.Call // by rank and thread
}

// gap draws a time that is mostly short.
func (p *causalProgram) gap(label string) int64 {
	if rapid.IntRange(0, 9).Draw(p.t, "long") == 0 {
		return rapid.Int64Range(0, 100_000).Draw(p.t, label)
	}
	return rapid.Int64Range(0, 100).Draw(p.t, label)
}

// now returns when the last call of a thread ended.
func (p *causalProgram) now(thread int) int64 {
	if n := len(p.calls[thread]); n > 0 {
		return p.calls[thread][n-1].Start + p.calls[thread][n-1].Duration
	}
	return 1000
}

// call adds a call of a thread that ends no earlier than a time, and returns when it starts.
func (p *causalProgram) call(thread int, least int64, name string, pairs ...any) int64 {
	if p.threads > 1 {
		pairs = append([]any{"thread", thread % p.threads}, pairs...)
	}
	c := testtrace.MPICall(name, pairs...)
	c.Start = p.now(thread) + p.gap("gap")
	c.Duration = max(p.gap("duration"), least-c.Start)
	p.calls[thread] = append(p.calls[thread], c)
	return c.Start
}

// message sends a message from one thread to another, or to itself.
func (p *causalProgram) message(from, to int) {
	tag := from%p.threads*p.threads + to%p.threads
	send := []any{"count", 1, "datatype", "MPI_BYTE", "dest", to / p.threads, "tag", tag, "comm", "MPI_COMM_WORLD"}
	receive := []any{"count", 1, "datatype", "MPI_BYTE", "source", from / p.threads, "tag", tag,
		"comm", "MPI_COMM_WORLD"}
	nonblocking := from == to || rapid.Bool().Draw(p.t, "nonblocking")
	if nonblocking {
		p.call(to, 0, "MPI_Irecv", append(receive, "request", 1+to%p.threads)...)
	}
	at := p.call(from, 0, "MPI_Send", send...) + rapid.Int64Range(0, 50).Draw(p.t, "latency")
	if nonblocking {
		p.call(to, at, "MPI_Wait", "request", 1+to%p.threads)
	} else {
		p.call(to, at, "MPI_Recv", receive...)
	}
}

// drawCausal draws the calls of a program by rank, in the order in which they return.
func drawCausal(t *rapid.T) (calls [][]testtrace.Call) {
	ranks := rapid.IntRange(1, 5).Draw(t, "ranks")
	p := &causalProgram{t: t, threads: rapid.SampledFrom([]int{1, 1, 2, 3}).Draw(t, "threads")}
	all := ranks * p.threads
	p.calls = make([][]testtrace.Call, all)
	thread := rapid.IntRange(0, all-1)
	for range rapid.IntRange(1, 40).Draw(t, "steps") {
		switch from := thread.Draw(t, "from"); rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0: // along a chain, and each sends as soon as it has received
			for next := 1; next < all; next++ {
				p.message((from+next-1)%all, (from+next)%all)
			}
		case 1:
			p.call(from, 0, "MPI_Comm_rank", "comm", "MPI_COMM_WORLD", "rank", from/p.threads)
		default:
			p.message(from, thread.Draw(t, "to"))
		}
	}
	for rank := range ranks {
		list := slices.Concat(p.calls[rank*p.threads : (rank+1)*p.threads]...)
		slices.SortStableFunc(list, func(a, b testtrace.Call) int {
			return cmp.Compare(a.Start+a.Duration, b.Start+b.Duration)
		})
		calls = append(calls, list)
	}
	return calls
}

// threadOf returns the thread of a call.
func threadOf(c testtrace.Call) int64 {
	if c.Function.Params[0].Name == "thread" {
		return c.Args[0].Int()
	}
	return 0
}

// atLocations returns calls by rank as calls by location.
func atLocations(calls [][]testtrace.Call) map[uint64][]testtrace.Call {
	at := make(map[uint64][]testtrace.Call)
	for rank, list := range calls {
		threads := make(map[int64][]testtrace.Call)
		for _, c := range list {
			threads[threadOf(c)] = append(threads[threadOf(c)], c)
		}
		for k, thread := range slices.Sorted(maps.Keys(threads)) {
			at[locationID(rank, k)] = threads[thread]
		}
	}
	return at
}

// writeCausal returns what is written of calls whose times have an error.
func writeCausal(t testing.TB, calls [][]testtrace.Call, share float64, starts int64) (collector, Summary) {
	codec := must.Get(timing.NewEntropy(share))
	series := must.Get(timing.NewSeriesCodec(codec, codec, timing.Gaps))
	series.Starts = starts
	var parts []merge.Part
	for rank, list := range calls {
		r := must.Get(tracer.New(tracer.Options{Series: series}))
		for _, c := range list {
			r.CallAt(r.Declare(c.Function), c.Start, c.Duration, c.Args...)
		}
		if len(list) > 0 {
			parts = append(parts, r.Finish(rank))
		}
	}
	tr := testtrace.Write(t, merge.Run{Ranks: len(calls)}, parts)
	choice, err := choose(t.Context(), tr, export.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer choice.Close()
	var c collector
	w := newWriter(&c, choice)
	if err := w.write(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c, w.summary
}

// reversed returns how many messages are received before they are sent.
func reversed(records []archive.Record) (n uint64) {
	type end struct {
		from, to, tag uint64
		receives      bool
	}
	const rank = 1<<32 - 1
	times := make(map[end][]uint64)
	for i := range records {
		switch e := &records[i]; e.Kind.Name {
		case "MpiSend":
			k := end{e.Location & rank, e.Values[0], e.Values[2], false}
			times[k] = append(times[k], e.Time)
		case "MpiRecv", "MpiIrecv":
			k := end{e.Values[0], e.Location & rank, e.Values[2], true}
			times[k] = append(times[k], e.Time)
		}
	}
	for k, received := range times {
		for i, at := range received {
			if k.receives && at < times[end{k.from, k.to, k.tag, false}][i] {
				n++
			}
		}
	}
	return n
}

// TestCausal checks that no message is received before it is sent in what is written of times within an error, and
// that they are within it. Of threads, which overlap, some may be, which are counted.
func TestCausal(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		calls := drawCausal(r)
		share := rapid.SampledFrom([]float64{0.01, 0.1, 0.5}).Draw(r, "error")
		starts := rapid.SampledFrom([]int64{0, 10, 60, 1000}).Draw(r, "starts")
		records, said := writeCausal(t, calls, share, starts)
		if n := reversed(records); n > 0 || n != said.Reversed {
			r.Fatalf("%d messages are received before they are sent, and %d are said to be", n, said.Reversed)
		}
		at := atLocations(calls)
		begin, longest := int64(1<<62), int64(0)
		for _, list := range calls {
			for i, c := range list {
				begin = min(begin, c.Start)
				if i > 0 {
					gap := c.Start - list[i-1].Start - list[i-1].Duration
					longest = max(longest, gap, -gap)
				}
			}
		}
		bound := int64(float64(longest)*share) + 1
		if starts > 0 {
			bound = min(bound, starts)
		}
		if len(at) > len(calls) {
			bound *= 2 // the call that begins first is not the first to return, and has an error, too
		}
		entered, left := make(map[uint64]int), make(map[uint64]int)
		for i := range records {
			e := &records[i]
			switch l := e.Location; e.Kind.Name {
			case "Enter":
				c := at[l][entered[l]]
				entered[l]++
				if off := int64(e.Time) + begin - c.Start; max(off, -off) > bound {
					r.Fatalf("call %d at location %d starts %d ns off, of %d", entered[l]-1, l, off, bound)
				}
			case "Leave":
				c := at[l][left[l]]
				left[l]++
				off := int64(e.Time) + begin - c.Start - c.Duration
				if most := bound + int64(share*float64(c.Duration)) + 1; max(off, -off) > most {
					r.Fatalf("call %d at location %d ends %d ns off, of %d", left[l]-1, l, off, most)
				}
			}
		}
	})
}

// TestReversed checks that messages of clocks that differ by more than the error are counted, and stay where they are.
func TestReversed(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		calls := drawCausal(r)
		for rank, list := range calls {
			off := rapid.SampledFrom([]int64{0, 0, 30, 5000, 1e9}).Draw(r, "clock")
			for i := range list {
				calls[rank][i].Start += off
			}
		}
		records, said := writeCausal(t, calls, 0.1, 20)
		if n := reversed(records); n != said.Reversed {
			r.Fatalf("%d messages are received before they are sent, and %d are said to be", n, said.Reversed)
		}
	})
}
