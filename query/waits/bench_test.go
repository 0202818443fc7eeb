package waits_test

import (
	"testing"

	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query/waits"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// exact keeps the times of every call.
var exact = tracer.Options{Series: must.Get(timing.NewSeriesCodec(
	must.Get(timing.NewLossless(timing.Zstd)), must.Get(timing.NewLossless(timing.Zstd)), timing.Gaps))}

// A network is a machine on which ranks compute for a time that differs from call to call, and messages take some.
type network struct{ replay.Instant }

func (network) Compute(c *replay.Call) (before, within replay.Time) {
	return replay.Time(2+(c.Position*7919+uint64(c.Rank.Number())*104729)%13) * replay.Microsecond, 0
}

func (network) Message(m *replay.Message) replay.Cost {
	return replay.Cost{Send: replay.Microsecond / 4, Transfer: 2*replay.Microsecond + replay.Time(max(0, m.Bytes))*200,
		Rendezvous: m.Bytes > 1<<12}
}

// withTimes returns a trace with the times that its calls have on a network.
func withTimes(t testing.TB, tr *trace.Trace) *trace.Trace {
	t.Helper()
	model := must.Get(semantics.Open(t.Context(), tr))
	times := make(map[int][][2]int64)
	_, err := replay.RunWith(t.Context(), model, network{}, replay.Options{
		Ended: func(c *replay.Call, start, end replay.Time) {
			from, to := int64(start/replay.Nanosecond), int64(end/replay.Nanosecond)
			times[c.Rank.Number()] = append(times[c.Rank.Number()], [2]int64{from, to - from})
		}})
	if err != nil {
		t.Fatal(err)
	}
	var parts []merge.Part
	for rank := range tr.Ranks() {
		r := must.Get(tracer.New(exact))
		read := must.Get(tr.Rank(rank))
		for c, err := range read.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			at := times[rank][c.Position]
			r.CallAt(r.Declare(*c.Function), at[0], at[1], c.Args...)
		}
		parts = append(parts, r.Finish(rank))
	}
	return testtrace.Write(t, tr.Run(), parts)
}

// BenchmarkOpen finds the waits of real programs with the times of a network.
func BenchmarkOpen(b *testing.B) {
	for _, name := range []string{"lu.W.16", "cg.S.16", "cg.S.64"} {
		b.Run("trace="+name, func(b *testing.B) {
			model := must.Get(semantics.Open(b.Context(), withTimes(b, testtrace.Real(b, "ti/"+name+".ti.zst"))))
			calls := uint64(0)
			for rank := range model.Trace().Ranks() {
				calls += must.Get(model.Trace().Rank(rank)).Len()
			}
			b.ReportAllocs()
			for b.Loop() {
				must.Get(waits.Open(b.Context(), model, waits.Options{}))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(calls), "ns/call")
			b.ReportMetric(0, "ns/op")
		})
	}
}
