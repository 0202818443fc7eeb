package otf2

import (
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

// A causalProgram is calls of ranks, each of whose messages is sent before it is received.
type causalProgram struct {
	t     *rapid.T
	calls [][]testtrace.Call
}

// gap draws a time that is mostly short.
func (p *causalProgram) gap(label string) int64 {
	if rapid.IntRange(0, 9).Draw(p.t, "long") == 0 {
		return rapid.Int64Range(0, 100_000).Draw(p.t, label)
	}
	return rapid.Int64Range(0, 100).Draw(p.t, label)
}

// now returns when the last call of a rank ended.
func (p *causalProgram) now(rank int) int64 {
	if n := len(p.calls[rank]); n > 0 {
		return p.calls[rank][n-1].Start + p.calls[rank][n-1].Duration
	}
	return 1000
}

// call adds a call of a rank that ends no earlier than a time, and returns when it starts.
func (p *causalProgram) call(rank int, least int64, name string, pairs ...any) int64 {
	c := testtrace.MPICall(name, pairs...)
	c.Start = p.now(rank) + p.gap("gap")
	c.Duration = max(p.gap("duration"), least-c.Start)
	p.calls[rank] = append(p.calls[rank], c)
	return c.Start
}

// message sends a message from one rank to another, or to itself.
func (p *causalProgram) message(from, to int) {
	send := []any{"count", 1, "datatype", "MPI_BYTE", "dest", to, "tag", 0, "comm", "MPI_COMM_WORLD"}
	receive := []any{"count", 1, "datatype", "MPI_BYTE", "source", from, "tag", 0, "comm", "MPI_COMM_WORLD"}
	nonblocking := from == to || rapid.Bool().Draw(p.t, "nonblocking")
	if nonblocking {
		p.call(to, 0, "MPI_Irecv", append(receive, "request", 1)...)
	}
	at := p.call(from, 0, "MPI_Send", send...) + rapid.Int64Range(0, 50).Draw(p.t, "latency")
	if nonblocking {
		p.call(to, at, "MPI_Wait", "request", 1)
	} else {
		p.call(to, at, "MPI_Recv", receive...)
	}
}

// drawCausal draws a program.
func drawCausal(t *rapid.T) [][]testtrace.Call {
	ranks := rapid.IntRange(1, 5).Draw(t, "ranks")
	p := &causalProgram{t, make([][]testtrace.Call, ranks)}
	rank := rapid.IntRange(0, ranks-1)
	for range rapid.IntRange(1, 40).Draw(t, "steps") {
		switch from := rank.Draw(t, "from"); rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0: // along a chain, and each rank sends as soon as it has received
			for next := 1; next < ranks; next++ {
				p.message((from+next-1)%ranks, (from+next)%ranks)
			}
		case 1:
			p.call(from, 0, "MPI_Comm_rank", "comm", "MPI_COMM_WORLD", "rank", from)
		default:
			p.message(from, rank.Draw(t, "to"))
		}
	}
	return p.calls
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
		from, to uint64
		receives bool
	}
	times := make(map[end][]uint64)
	for i := range records {
		switch e := &records[i]; e.Kind.Name {
		case "MpiSend":
			k := end{e.Location, e.Values[0], false}
			times[k] = append(times[k], e.Time)
		case "MpiRecv", "MpiIrecv":
			k := end{e.Values[0], e.Location, true}
			times[k] = append(times[k], e.Time)
		}
	}
	for k, received := range times {
		for i, at := range received {
			if k.receives && at < times[end{k.from, k.to, false}][i] {
				n++
			}
		}
	}
	return n
}

// TestCausal checks that no message is received before it is sent in what is written of times within an error, and
// that they are within it.
func TestCausal(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		calls := drawCausal(r)
		share := rapid.SampledFrom([]float64{0.01, 0.1, 0.5}).Draw(r, "error")
		starts := rapid.SampledFrom([]int64{0, 10, 60, 1000}).Draw(r, "starts")
		records, said := writeCausal(t, calls, share, starts)
		if n := reversed(records); n > 0 || said.Reversed > 0 {
			r.Fatalf("%d messages are received before they are sent, and %d are said to be", n, said.Reversed)
		}
		begin, longest := int64(1<<62), int64(0)
		for _, list := range calls {
			for i, c := range list {
				begin = min(begin, c.Start)
				if i > 0 {
					longest = max(longest, c.Start-list[i-1].Start-list[i-1].Duration)
				}
			}
		}
		bound := int64(float64(longest)*share) + 1
		if starts > 0 {
			bound = min(bound, starts)
		}
		entered, left := make(map[uint64]int), make(map[uint64]int)
		for i := range records {
			e := &records[i]
			switch l := e.Location; e.Kind.Name {
			case "Enter":
				c := calls[l][entered[l]]
				entered[l]++
				if off := int64(e.Time) + begin - c.Start; max(off, -off) > bound {
					r.Fatalf("call %d of rank %d starts %d ns off, of %d", entered[l]-1, l, off, bound)
				}
			case "Leave":
				c := calls[l][left[l]]
				left[l]++
				off := int64(e.Time) + begin - c.Start - c.Duration
				if most := bound + int64(share*float64(c.Duration)) + 1; max(off, -off) > most {
					r.Fatalf("call %d of rank %d ends %d ns off, of %d", left[l]-1, l, off, most)
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
