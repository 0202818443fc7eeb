//go:build linux

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
)

// TestRecordRings records 8 ranks that do the same, relative to their places in
// communicators of 5 and of 3, with values that tracers have been seen to lose: it is
// one shape, and the values are there.
func TestRecordRings(t *testing.T) {
	mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
		if m.Name != "openmpi" {
			t.Skip("so many ranks keep the processors busy while they wait")
		}
		directory := t.TempDir()
		trace, raw := filepath.Join(directory, "run.rpz"), filepath.Join(directory, "raw")
		cmd := recorder(t, m, []string{"--times", "none", "--sites", "none", "-o", trace, "--keep-raw", raw},
			m.Launch(8, m.Build(t, "ring.c"), filepath.Join(directory, "file"))...)
		// Windows of two communicators of one number clash in shared memory.
		cmd.Env = append(cmd.Env, "OMPI_MCA_osc=pt2pt")
		if got := outcome(t, cmd); got.status != 0 {
			t.Fatal(got.stderr)
		}
		if got := must(t, "verify", trace, raw); !strings.HasPrefix(got, "equal") {
			t.Error(got)
		}
		i := infoOf(t, trace)
		if i.ShapeCount != 1 || i.Size != 8 {
			t.Errorf("%d ranks of %d shapes", i.Size, i.ShapeCount)
		}
		inGroups := 0
		for _, f := range i.Arguments {
			if f.Form == "(rank+c) mod N in group" {
				inGroups += f.Count
			}
		}
		if inGroups < 6 { // in two rounds two peers and a target
			t.Errorf("%d arguments are relative to groups: %v", inGroups, i.Arguments)
		}
		lines := strings.Split(must(t, "cat", trace, "--ranks", "1", "--format", "text"), "\n")
		for _, want := range ringCalls {
			found := false
			for len(lines) > 0 && !found {
				found = containsAll(lines[0], want)
				lines = lines[1:]
			}
			if !found {
				t.Fatalf("no call is %q, in this order:\n%s", want,
					must(t, "cat", trace, "--ranks", "1", "--format", "text"))
			}
		}
	})
}

// ringCalls are calls of rank 1, which is the first of three, in their order.
var ringCalls = [][]string{
	{"MPI_Comm_split(comm=MPI_COMM_WORLD, color=78, key=-5, newcomm=comm#0)"},
	{"MPI_Comm_rank(comm=comm#0, rank=rank)"},
	{"MPI_Sendrecv(", "dest=rank+1, sendtag=1,", "source=", "comm=comm#0, status=MPI_STATUS_IGNORE)"},
	{"MPI_Put(", "target_rank=rank+1, target_disp=1,", "win=win#0)"},
	{"MPI_Gather(", "root=0, comm=comm#0)"},
	{"MPI_Bcast(", "root=0, comm=MPI_COMM_SELF)"},
	{"MPI_Irecv(", "source=rank-1, tag=10, comm=MPI_COMM_WORLD, request=irecv#0)"},
	{"MPI_Irecv(", "source=rank-1, tag=13, comm=MPI_COMM_WORLD, request=irecv#0.3)"},
	{"MPI_Waitall(count=4, array_of_requests=[irecv#0.1 irecv#0.3 irecv#0 irecv#0.2], array_of_statuses=[{} {} {} {}])"},
	{"MPI_Recv_init(", "source=MPI_ANY_SOURCE, tag=MPI_ANY_TAG,", "request=recv_init#0)"},
	{"MPI_Wait(request=recv_init#0, status={source=rank-1, tag=20})"},
	{"MPI_Wait(request=recv_init#0, status={source=rank-1, tag=21})"},
	{"MPI_Startall(count=2, array_of_requests=[recv_init#0 recv_init#0.1])"},
	{"MPI_Testall(count=2, array_of_requests=[recv_init#0 recv_init#0.1], flag=1, array_of_statuses=[{source=", "tag=30} {source=", "tag=31}])"},
	{"MPI_Iallreduce(", "op=MPI_SUM, comm=MPI_COMM_WORLD, request=iallreduce#0)"},
	{"MPI_Ibarrier(comm=MPI_COMM_WORLD, request=ibarrier#0)"},
	{"MPI_Waitall(count=2, array_of_requests=[ibarrier#0 iallreduce#0], array_of_statuses=MPI_STATUSES_IGNORE)"},
	{"MPI_Bcast(buffer=heap#0+480, count=1, datatype=MPI_DOUBLE, root=0,"},
	{"MPI_File_write_at(fh=file#0, offset=2000000019, buf=heap#0+0, count=1, datatype=MPI_DOUBLE,"},
}

func containsAll(s string, parts []string) bool {
	for _, p := range parts {
		_, rest, found := strings.Cut(s, p)
		if !found {
			return false
		}
		s = rest
	}
	return true
}
