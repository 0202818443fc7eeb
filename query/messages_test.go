package query

import (
	"reflect"
	"testing"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/programs"
)

// TestOpenMessages compares the answers with those to the questions asked one by one, and
// counts how often a rank is read.
func TestOpenMessages(t *testing.T) {
	for name, p := range map[string]programs.Program{"stencil": programs.Stencil2D(4, 4, 30), "random": programs.RandomPartners(8, 40, 3)} {
		t.Run(name, func(t *testing.T) {
			trace := openProgram(t, p)
			model := openModel(t, trace)
			for _, bins := range []int{0, 3} {
				read := 0
				o := Options{Progress: func(n int) { read = max(read, n) }}
				all, err := OpenMessages(t.Context(), model, bins, o)
				if err != nil {
					t.Fatal(err)
				}
				if want := trace.RankSet().Len(); read != want {
					t.Errorf("%d ranks are read, not %d", read, want)
				}
				compareMessages(t, trace, all, bins)
			}
		})
	}
}

func compareMessages(t *testing.T, trace *reprise.Trace, all *Messages, bins int) {
	t.Helper()
	model := openModel(t, trace)
	sizes, err := OpenSizes(t.Context(), model, Options{})
	if err != nil || !reflect.DeepEqual(all.Sizes, sizes) || len(sizes.List) == 0 {
		t.Errorf("sizes %v, want %v (%v)", all.Sizes, sizes, err)
	}
	uses, err := OpenCommunicators(t.Context(), model, Options{})
	if err != nil || len(uses) != len(all.Communicators) || len(uses) == 0 {
		t.Fatalf("%d communicators, want %d (%v)", len(all.Communicators), len(uses), err)
	}
	for i, u := range all.Communicators {
		u.Communicator, uses[i].Communicator = nil, nil // of two models
		if u != uses[i] {
			t.Errorf("communicator %d: %v, want %v", i, u, uses[i])
		}
	}
	if bins == 0 {
		traffic, err := OpenTraffic(t.Context(), model, Options{})
		if err != nil || !reflect.DeepEqual(all.Traffic, traffic) || all.Matrix != nil {
			t.Errorf("traffic %v, want %v (%v)", all.Traffic, traffic, err)
		}
		return
	}
	matrix, err := OpenMatrix(t.Context(), model, bins, Options{})
	if err != nil || !reflect.DeepEqual(all.Matrix, matrix) || all.Traffic != nil {
		t.Errorf("matrix %v, want %v (%v)", all.Matrix, matrix, err)
	}
}
