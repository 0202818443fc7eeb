package replay_test

import (
	"context"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
)

// A link is a machine with a latency and a bandwidth, on which gaps take a time that
// depends on the rank and the call.
type link struct{ replay.Instant }

func (link) Compute(c *replay.Call) (before, within replay.Time) {
	return replay.Time(c.Terminal%7+1) * replay.Microsecond, 0
}

func (link) Steady() bool { return true }

func (link) Message(m *replay.Message) replay.Cost {
	return replay.Cost{Send: 500 * replay.Nanosecond, Transfer: replay.Microsecond +
		replay.Time(max(m.Bytes, 0))*100, Receive: 500 * replay.Nanosecond, Rendezvous: m.Bytes > 65536}
}

// BenchmarkRun replays real runs, and says how many calls it replays in a second.
func BenchmarkRun(b *testing.B) {
	for _, name := range []string{"lu.W.16", "lu.W.64", "cg.S.64", "cg.S.16.compute"} {
		trace := testtrace.Real(b, "ti/"+name+".ti.zst")
		for _, machine := range []struct {
			name string
			is   replay.Machine
			o    replay.Options
		}{
			{"instant", plain{replay.Instant{}}, replay.Options{}}, {"link", plain{link{}}, replay.Options{}},
			{"link+path", link{}, replay.Options{CriticalPath: true}}, {"link+loops-skipped", link{}, replay.Options{}},
		} {
			b.Run("trace="+name+"/machine="+machine.name, func(b *testing.B) {
				b.ReportAllocs()
				model, err := semantics.Open(b.Context(), trace)
				if err != nil {
					b.Fatal(err)
				}
				calls := uint64(0)
				for b.Loop() {
					res, err := replay.RunWith(b.Context(), model, machine.is, machine.o)
					if err != nil {
						b.Fatal(err)
					}
					calls += res.Calls
				}
				b.ReportMetric(float64(calls)/b.Elapsed().Seconds()/1e6, "Mcalls/s")
			})
		}
	}
}

var ctx = context.Background()

// BenchmarkSkip replays a stencil of 1,024 ranks that make some 10⁹ calls, in which loops are skipped.
func BenchmarkSkip(b *testing.B) {
	p := programs.Stencil2D(32, 32, 120_000)
	trace := testtrace.Write(b, p.Run(), p.Parts())
	for _, machine := range []struct {
		name string
		is   replay.Machine
	}{{"link", link{}}, {"mixed", mixed{seed: 1}}} {
		b.Run("machine="+machine.name, func(b *testing.B) {
			b.ReportAllocs()
			model, err := semantics.Open(b.Context(), trace)
			if err != nil {
				b.Fatal(err)
			}
			calls, executed := uint64(0), uint64(0)
			for b.Loop() {
				executed = 0
				res, err := replay.Run(b.Context(), model, counted{machine.is, &executed})
				if err != nil {
					b.Fatal(err)
				}
				calls = res.Calls
			}
			b.ReportMetric(float64(calls)/1e6, "Mcalls")
			b.ReportMetric(float64(executed)/1e6, "Mexecuted")
		})
	}
}
