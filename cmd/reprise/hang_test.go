package main

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/internal/test/tier"
)

// hangOf returns what hang says of a trace, by the ranks of each group.
func hangOf(t *testing.T, trace string) (hangJSON, map[string]groupJSON) {
	t.Helper()
	var h hangJSON
	if err := json.Unmarshal([]byte(must(t, "hang", "--json", trace)), &h); err != nil {
		t.Fatal(err)
	}
	groups := make(map[string]groupJSON)
	for _, g := range h.Groups {
		groups[g.Ranks] = g
	}
	return h, groups
}

type hangJSON struct {
	InCall     string      `json:"in_call_rank_set"`
	Outside    string      `json:"outside_rank_set"`
	Deadlocked string      `json:"deadlocked_rank_set"`
	Cycles     [][]int     `json:"cycles"`
	Groups     []groupJSON `json:"by_call"`
}

type groupJSON struct {
	Ranks      string  `json:"rank_set"`
	State      string  `json:"state"`
	Call       string  `json:"call"`
	Deadlocked bool    `json:"deadlocked"`
	Most       float64 `json:"most_ns"`
	Waits      []struct {
		For   string `json:"for"`
		Ranks string `json:"rank_set"`
		Tag   int64  `json:"tag"`
		Sent  []struct {
			Tag int64 `json:"tag"`
		} `json:"sent"`
	} `json:"waits"`
}

// TestHang records a program that hangs in several ways at once, and ends it.
func TestHang(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		m.Parallel(t)
		trace := filepath.Join(t.TempDir(), "run.rpz")
		got := outcome(t, recorder(t, m, []string{"-o", trace, "--timeout", "10s", "--on-timeout", "kill"},
			m.Launch(12, m.Build(t, "hang.c"), "pairs")...))
		if got.status == 0 || !strings.Contains(got.stderr, "no call has returned for 10s\n") ||
			!strings.Contains(got.stderr, "  4 → 5 → 4\n") {
			t.Errorf("%+v", got)
		}
		h, groups := hangOf(t, trace)
		if h.InCall != "0-7, 9-11" || h.Outside != "8" || h.Deadlocked != "0-7, 10-11" {
			t.Errorf("%+v", h)
		}
		slices.SortFunc(h.Cycles, slices.Compare)
		if want := [][]int{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {10, 11}}; !slices.EqualFunc(h.Cycles, want, slices.Equal) {
			t.Errorf("cycles %v", h.Cycles)
		}
		type wait struct {
			call, reason, ranks string
			tag                 int64
		}
		for ranks, w := range map[string]wait{
			"0-1": {`MPI_Send\(.*returned=0\)`, "receiver", "0-1", 3},
			"2-3": {`MPI_Waitall\(.*\)`, "message", "2-3", 1},
			"4": {`MPI_Barrier\(comm=MPI_COMM_WORLD, site="hang\.c:[0-9]+ main", returned=0\)`, "members",
				"0-3, 5-11", -2},
			"5":  {`MPI_Recv\(.* source=4, tag=5, .*\)`, "message", "4", 5},
			"6":  {`MPI_Allreduce\(.*\)`, "members", "7", -2},
			"7":  {`MPI_Recv\(.*\)`, "message", "6", 5},
			"9":  {`MPI_Recv\(.*\)`, "message", "8", 5},
			"10": {`MPI_Recv\(.*source=MPI_ANY_SOURCE, tag=MPI_ANY_TAG.*\)`, "message", "11", -1},
			"11": {`MPI_Probe\(.*\)`, "message", "10", 4},
		} {
			g, ok := groups[ranks]
			if !ok || g.State != "in call" || !regexp.MustCompile("^"+w.call+"$").MatchString(g.Call) ||
				len(g.Waits) != 1 || g.Most < 1e9 || g.Deadlocked != (ranks != "9") {
				t.Errorf("ranks %s: %+v", ranks, g)
				continue
			}
			if is := g.Waits[0]; is.For != w.reason || is.Ranks != w.ranks || is.Tag != w.tag {
				t.Errorf("ranks %s wait for %+v, want %+v", ranks, is, w)
			}
		}
		if g := groups["8"]; g.State != "outside" || !strings.HasPrefix(g.Call, "MPI_Barrier") {
			t.Errorf("rank 8: %+v", g)
		}
		if w := groups["5"].Waits; len(w) != 1 || len(w[0].Sent) != 1 || w[0].Sent[0].Tag != 7 {
			t.Errorf("rank 5 waits for %+v", w)
		}
		text := must(t, "hang", trace)
		for _, want := range []string{
			"rank 5 was sent a message from rank 4 with tag 7", " waits for a message from rank 4, tag 5\n",
			" each waits for another of ranks 0-1 to receive, tag 3\n",
			" each waits for a message from another of ranks 2-3, tag 1\n",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s is not in\n%s", want, text)
			}
		}
		for _, command := range []string{"info", "match"} {
			if text := must(t, command, trace); !strings.Contains(text,
				"in calls that did not return, see reprise hang: ranks 0-7, 9-11\n") {
				t.Errorf("%s: %s", command, text)
			}
		}
	})
}

// TestHangGone records a program of which a rank dies while others wait for it.
func TestHangGone(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		m.Parallel(t)
		trace := filepath.Join(t.TempDir(), "run.rpz")
		outcome(t, recorder(t, m, []string{"-o", trace}, m.Launch(3, m.Build(t, "hang.c"), "gone")...))
		h, groups := hangOf(t, trace)
		if h.InCall != "0-2:2" || h.Outside != "1" || h.Deadlocked != "" || len(h.Cycles) > 0 {
			t.Errorf("%+v", h)
		}
		if g := groups["0-2:2"]; len(g.Waits) != 1 || g.Waits[0].For != "members" || g.Waits[0].Ranks != "1" {
			t.Errorf("%+v", h)
		}
	})
}

// TestHangStuck records programs of which every second rank waits for the next one, in any operation that
// may.
func TestHangStuck(t *testing.T) {
	kinds := []struct{ name, call, reason string }{
		{"Alltoallv", "MPI_Alltoallv", "members"},
		{"Neighbor_alltoallv", "MPI_Neighbor_alltoallv", "members"},
		{"Gatherv", "MPI_Gatherv", "members"},
		{"Ialltoallw", "MPI_Waitall", "members"},
		{"waitany", "MPI_Waitany", "message"},
		{"Alltoallw", "MPI_Alltoallw", "members"},
		{"Allgatherv", "MPI_Allgatherv", "members"},
		{"Scatterv", "MPI_Scatterv", "members"},
		{"Reduce_scatter", "MPI_Reduce_scatter", "members"},
		{"Neighbor_allgatherv", "MPI_Neighbor_allgatherv", "members"},
		{"Neighbor_alltoallw", "MPI_Neighbor_alltoallw", "members"},
		{"Igatherv", "MPI_Wait", "members"},
		{"Ineighbor_alltoallv", "MPI_Waitany", "members"},
		{"waitall", "MPI_Waitall", "message"},
		{"waitsome", "MPI_Waitsome", "message"},
	}
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		for some := range slices.Chunk(tier.Some(kinds, 3), 5) {
			var names []string
			for _, k := range some {
				names = append(names, k.name)
			}
			t.Run(strings.Join(names, " "), func(t *testing.T) {
				m.Parallel(t)
				trace := filepath.Join(t.TempDir(), "run.rpz")
				outcome(t, recorder(t, m, []string{"-o", trace, "--timeout", "4s", "--on-timeout", "kill"},
					m.Launch(2*len(some), m.Build(t, "stuck.c"), names...)...))
				h, groups := hangOf(t, trace)
				for i, k := range some {
					waits, idle := strconv.Itoa(2*i), strconv.Itoa(2*i+1)
					g, ok := groups[waits]
					arrays := strings.HasPrefix(k.call, "MPI_Wait") ||
						strings.Contains(g.Call, "counts=[1 2]") ||
						strings.Contains(g.Call, "counts={1, 2}") ||
						strings.HasPrefix(k.name, "Neighbor_") && strings.Contains(g.Call, "counts=[1]")
					if !ok || !arrays && k.name != "Scatterv" || !strings.HasPrefix(g.Call, k.call+"(") ||
						len(g.Waits) != 1 || g.Waits[0].For != k.reason || g.Waits[0].Ranks != idle {
						t.Errorf("%s, rank %s: %+v\n%+v", k.name, waits, g, h)
					}
				}
			})
		}
	})
}
