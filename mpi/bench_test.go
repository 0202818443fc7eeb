package mpi

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
// of MPI: the difference between the medians of five runs of 10⁷ calls with and
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
			var with, without []float64
			for b.Loop() {
				for range 5 {
					without = append(without, m.localCalls(b, "", program))
					spool, err := os.MkdirTemp("", "spool")
					if err != nil {
						b.Fatal(err)
					}
					with = append(with, m.localCalls(b, spool, program))
					os.RemoveAll(spool)
				}
			}
			slices.Sort(with)
			slices.Sort(without)
			b.ReportMetric(without[len(without)/2], "ns/call-without")
			b.ReportMetric(with[len(with)/2]-without[len(without)/2], "ns/call-added")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// localCalls returns the time of one call in nanoseconds.
func (m *implementation) localCalls(b *testing.B, spool, program string) float64 {
	b.Helper()
	output, err := m.command(context.Background(), b, "1", spool, program, "10000000").Output()
	if err != nil {
		b.Fatal(err)
	}
	ns, err := strconv.ParseFloat(strings.TrimSpace(string(output)), 64)
	if err != nil {
		b.Fatal(err)
	}
	return ns
}
