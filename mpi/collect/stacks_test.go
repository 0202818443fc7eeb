package collect_test

import (
	"context"
	"regexp"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/query"
)

// TestStacks records the callers of calls that come through frames of all kinds, and compares
// the functions with those of the program.
func TestStacks(t *testing.T) {
	want := []string{
		"leaf < main", "leaf < main", "leaf < inlined < around < main", "leaf < growing < main",
		"leaf < aligned < main",
		"leaf < recursive < recursive < main", // of 100 the innermost 64 are seen, which are one
		"leaf < recursive < recursive",
		"leaf < even < odd < even < main", "leaf < nothing < main", "leaf < recursive < recursive < nothing < main",
		"leaf < compare < main",
	}
	want = append(want, want...)
	line := regexp.MustCompile(`[^ ]*:[0-9]+ | #[0-9]+`)
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		m.Parallel(t)
		for _, flags := range [][]string{{"-O2", "-g"}, {"-O1", "-g", "-fno-omit-frame-pointer"}} {
			r := recordSites(t, m, mpitest.Program{Source: "stacks.c", Ranks: 1,
				Flags: append(flags, "-pthread")}, "stack")
			rank, err := r.trace.Rank(0)
			if err != nil {
				t.Fatal(err)
			}
			sites := query.SitesOf(r.trace)
			var got []string
			threads := 0
			for call, err := range rank.Calls(0) {
				if err != nil {
					t.Fatal(err)
				}
				if call.Function.Name != "MPI_Barrier" {
					continue
				}
				if name := line.ReplaceAllString(sites.Of(&call), ""); name == "leaf < thread" {
					threads++
				} else {
					got = append(got, name)
				}
			}
			if !slices.Equal(got, want) || threads != 2 {
				t.Errorf("%v: barriers in %q and %d of a thread, want %q", flags, got, threads, want)
			}
			if n, err := collect.Compare(context.Background(), r.spool, callsOf(t, r.trace)); err != nil ||
				n != r.summary.Calls {
				t.Errorf("%d of %d calls are as recorded: %v", n, r.summary.Calls, err)
			}
		}
	})
}

// checkProfile checks what a profile has of a place.
func checkProfile(t *testing.T, r *recording, want query.SiteProfile) {
	t.Helper()
	profile, err := query.OpenProfile(t.Context(), r.trace, query.Options{})
	if err != nil {
		t.Fatal(err)
	}
	list := profile.Sites(r.trace)
	for i := range list {
		list[i].Time = nil
	}
	if !slices.Contains(list, want) {
		t.Errorf("no %+v in %+v", want, list)
	}
}

// TestStacksOfOneShape checks that processes which differ in outer frames only are of one shape.
func TestStacksOfOneShape(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		m.Parallel(t)
		r := recordSites(t, m, mpitest.Program{Source: "paths.c", Ranks: 4}, "stack")
		if n := r.trace.Shapes(); n != 1 {
			t.Errorf("%d shapes", n)
		}
		checkProfile(t, r, query.SiteProfile{Site: "paths.c:9 ring < …", Function: "MPI_Sendrecv",
			Calls: uint64(50 * m.Ranks(4)), Ranks: m.Ranks(4)})
		sites := query.SitesOf(r.trace)
		for i, want := range []string{"paths.c:9 ring < paths.c:16 even < paths.c:31 main",
			"paths.c:9 ring < paths.c:22 odd < paths.c:29 main"} {
			rank, err := r.trace.Rank(i)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for call, err := range rank.Calls(0) {
				if err != nil {
					t.Fatal(err)
				}
				if site := sites.Of(&call); call.Function.Name == "MPI_Sendrecv" {
					if n++; site != want {
						t.Fatalf("rank %d, call %d comes from %s, not %s", i, n, site, want)
					}
				}
			}
			if n != 50 {
				t.Errorf("rank %d has %d calls of MPI_Sendrecv", i, n)
			}
		}
	})
}
