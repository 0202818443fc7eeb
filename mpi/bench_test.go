package mpi

import (
	"context"
	"errors"
	"io"
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

// BenchmarkDecoder decodes the calls of a small stencil.
func BenchmarkDecoder(b *testing.B) {
	isend, irecv, waitall := number(b, "MPI_Isend"), number(b, "MPI_Irecv"), number(b, "MPI_Waitall")
	segment := newSegment(0)
	calls := 0
	for i := range 5000 {
		for k := range 2 {
			at := 4000 + 1000*i + 100*k
			segment.add(recordBegin, irecv, flagOutermost, at, 0x7000, 270, 9, k, 2000, 1)
			segment.add(recordEnd, irecv, 0, at+10, 0, 50+k)
			segment.add(recordBegin, isend, flagOutermost, at+20, 0x7000, 270, 9, k, 2000, 1)
			segment.add(recordEnd, isend, 0, at+30, 0, 60+k)
			calls += 2
		}
		segment.add(recordBegin, waitall, flagOutermost, 4300+1000*i, 4, 4, 50, 60, 51, 61)
		segment.add(recordEnd, waitall, 0, 4400+1000*i, 0, 4, 0, 0, 0, 0, -2)
		calls++
	}
	b.ReportAllocs()
	for b.Loop() {
		var d Decoder
		if err := d.Segment(segment.data); err != nil {
			b.Fatal(err)
		}
		for {
			if _, err := d.Next(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*calls), "ns/call")
	b.ReportMetric(0, "ns/op")
}
