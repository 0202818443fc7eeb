package layout

import (
	"fmt"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/format"
	"pgregory.net/rapid"
)

func TestSplitRuns(t *testing.T) {
	for _, tt := range []struct {
		name    string
		origins []format.Origin
		want    string
	}{
		{"none", nil, "[]"},
		{"old", []format.Origin{{}, {Hosts: []string{"a"}}}, "[]"},
		{"one", []format.Origin{{Runs: []string{"x"}}, {Runs: []string{"x"}}}, "[[0 1]]"},
		{"two", []format.Origin{{Runs: []string{"x"}, World: 4}, {Runs: []string{"y"}, World: 4},
			{Runs: []string{"x"}, World: 4}}, "[[0 2] [1]]"},
		{"spawned", []format.Origin{{Runs: []string{"x"}}, {Runs: []string{"y"}}, {Runs: []string{"x", "y"}}},
			"[[0 1 2]]"},
		{"old and new", []format.Origin{{}, {Runs: []string{"x"}}, {World: 9}}, "[[1]]"},
		{"sizes", []format.Origin{{World: 4}, {World: 8}, {World: 4}, {}}, "[[0 2] [1]]"},
	} {
		if got := fmt.Sprint(SplitRuns(tt.origins)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestSplitRunsAnyOrder checks that the runs that files are of do not depend on their order.
func TestSplitRunsAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"})
		origins := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) (o format.Origin) {
			MergeOrigin(&o, format.Origin{Runs: rapid.SliceOfN(id, 0, 3).Draw(t, "runs"),
				World: rapid.IntRange(0, 2).Draw(t, "world")})
			return o
		}), 0, 8).Draw(t, "origins")
		order := make([]int, len(origins))
		for i := range order {
			order[i] = i
		}
		order = rapid.Permutation(order).Draw(t, "order")
		moved := make([]format.Origin, len(origins))
		for i, from := range order {
			moved[i] = origins[from]
		}
		back := SplitRuns(moved)
		for _, run := range back {
			for i := range run {
				run[i] = order[run[i]]
			}
			slices.Sort(run)
		}
		slices.SortFunc(back, slices.Compare)
		want := SplitRuns(origins)
		if fmt.Sprint(back) != fmt.Sprint(want) {
			t.Fatalf("%v in another order, %v in this", back, want)
		}
		for i, run := range want {
			for j, other := range want {
				for _, a := range run {
					for _, b := range other {
						if i != j && slices.ContainsFunc(origins[a].Runs, func(id string) bool {
							return slices.Contains(origins[b].Runs, id)
						}) {
							t.Fatalf("%d and %d have an id in common", a, b)
						}
					}
				}
			}
		}
	})
}
