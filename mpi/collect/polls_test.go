package collect_test

import (
	"iter"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// checkPolls collects the records again without calls that look for something in vain, and checks that these
// and no others are left out, and that they are counted.
func checkPolls(t *testing.T, r *recording) {
	t.Helper()
	c, err := collect.New(r.spool, collect.Options{Untimed: true, Keep: true, DropPolls: true})
	if err != nil {
		t.Fatal(err)
	}
	a, s, err := c.Finish(t.Context())
	if err != nil || s.Problems != nil {
		t.Fatal(err, s.Problems)
	}
	_, dropped := written(t, a)
	names := make(map[int64]string)
	for _, n := range r.trace.Run().Names {
		if n.Kind == cst.KindHandle && n.Class == "site" {
			names[n.Value] = n.Name
		}
	}
	type place struct{ function, site string }
	want := make(map[place]uint64)
	for rank := range r.trace.Ranks() {
		next, stop := iter.Pull2(callsOf(t, dropped)(rank))
		for f, args := range callsOf(t, r.trace)(rank) {
			if inVain(f, args) {
				at := place{function: f.Name}
				for i, p := range f.Params {
					if p.Name == "site" {
						at.site = names[args[i].Int()]
					}
				}
				want[at]++
				continue
			}
			g, others, ok := next()
			if !ok || g.Name != f.Name || !equalValues(args, others) {
				t.Fatalf("rank %d: %v, %v is in the trace without polls for %s %v", rank, g, others, f.Name, args)
			}
		}
		if f, _, ok := next(); ok {
			t.Errorf("rank %d: %s is in the trace without polls alone", rank, f.Name)
		}
		stop()
	}
	got := dropped.Run().Origin.Polls
	for _, p := range got {
		if n := want[place{p.Function, p.Site}]; n != p.Calls || p.Ranks.Len() == 0 {
			t.Errorf("%+v is left out, want %d", p, n)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%+v are left out, want %v", got, want)
	}
	// Merging adds nothing that is known.
	var again format.Origin
	layout.MergeOrigin(&again, dropped.Run().Origin)
	layout.MergeOrigin(&again, dropped.Run().Origin)
	for i, p := range again.Polls {
		if p.Calls != got[i].Calls {
			t.Errorf("%+v, twice of the same trace %+v", got[i], p)
		}
	}
}

// inVain reports whether a call says that it has found nothing.
func inVain(f *cst.Function, args []cst.Value) bool {
	found := map[string]string{
		"MPI_Test": "flag", "MPI_Testall": "flag", "MPI_Testany": "flag", "MPI_Testsome": "outcount",
		"MPI_Iprobe": "flag", "MPI_Improbe": "flag", "MPI_Request_get_status": "flag",
		"MPI_Request_get_status_all": "flag", "MPI_Request_get_status_any": "flag",
		"MPI_Request_get_status_some": "outcount",
	}[f.Name]
	if found == "" || spec.OutcomeOf(f) != spec.Succeeded {
		return false
	}
	for i, p := range f.Params {
		if p.Name == found {
			return args[i].Int() == 0
		}
	}
	return false
}

func equalValues(a, b []cst.Value) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !a[i].Equal(b[i]) {
			return false
		}
	}
	return true
}
