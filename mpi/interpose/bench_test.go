package interpose

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// BenchmarkInterposer measures what recording adds to a call of a local function
// of MPI, ten frames from main: the difference between the medians of five runs of 10⁷ calls with and
// without, in turn. It takes the processor time of the thread, the kernel's for
// the pages of the spool included.
func BenchmarkInterposer(b *testing.B) {
	for _, mpicc := range compilers(b) {
		m := &implementation{mpicc: mpicc, mpirun: strings.Replace(mpicc, "mpicc", "mpirun", 1)}
		if _, err := exec.LookPath(m.mpirun); err != nil {
			b.Skip(err)
		}
		b.Run("mpi="+strings.TrimPrefix(mpicc, "mpicc."), func(b *testing.B) {
			m.library = interposer(b, mpicc)
			program := m.build(b, "local.c")
			var without, with, sited, stacked []float64
			for b.Loop() {
				for range 5 {
					without = append(without, m.localCalls(b, program, ""))
					with = append(with, m.localCalls(b, program, "none"))
					sited = append(sited, m.localCalls(b, program, "caller"))
					stacked = append(stacked, m.localCalls(b, program, "stack"))
				}
			}
			for _, list := range [][]float64{without, with, sited, stacked} {
				slices.Sort(list)
			}
			middle := len(without) / 2
			b.ReportMetric(without[middle], "ns/call-without")
			b.ReportMetric(with[middle]-without[middle], "ns/call-added")
			b.ReportMetric(sited[middle]-without[middle], "ns/call-added-with-sites")
			b.ReportMetric(stacked[middle]-without[middle], "ns/call-added-with-stacks")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// localCalls returns the time of one call in nanoseconds, recorded with sites or none, or, for
// the empty text, not recorded.
func (m *implementation) localCalls(b *testing.B, program, sites string) float64 {
	b.Helper()
	spool := ""
	if sites != "" {
		var err error
		if spool, err = os.MkdirTemp("", "spool"); err != nil {
			b.Fatal(err)
		}
		defer os.RemoveAll(spool)
	}
	c := m.command(context.Background(), b, "1", spool, program, "10000000", "9")
	c.Env = append(c.Env, "REPRISE_SITES="+sites)
	output, err := c.Output()
	if err != nil {
		b.Fatal(err)
	}
	ns, err := strconv.ParseFloat(strings.TrimSpace(string(output)), 64)
	if err != nil {
		b.Fatal(err)
	}
	return ns
}
