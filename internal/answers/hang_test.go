package answers_test

import (
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/query/diagnosis"
	"github.com/reprise-trace/reprise/rankenc"
)

// TestHangDuration checks that nothing is said where it is not known how long calls had lasted.
func TestHangDuration(t *testing.T) {
	for _, tt := range []struct {
		name  string
		group query.HangGroup
		want  string
	}{
		{"one", query.HangGroup{Least: 2e9, Most: 2e9, Source: query.Series}, "2.00 s"},
		{"several", query.HangGroup{Least: 1e9, Most: 2e9, Source: query.Series}, "1.00 s to 2.00 s"},
		{"after all that was recorded", query.HangGroup{Source: query.Series}, ""},
		{"no times", query.HangGroup{Least: 2e9, Most: 2e9, Source: query.None}, ""},
		{"outside", query.HangGroup{State: query.Outside, Least: 2e9, Most: 2e9, Source: query.Series}, ""},
	} {
		if got := answers.HangDuration(&tt.group); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestHangAborted checks what is said of a rank that ends the run.
func TestHangAborted(t *testing.T) {
	g := query.HangGroup{Ranks: rankenc.SetOf(1),
		Waits: []query.HangWait{{For: query.ForEnd, Tag: semantics.NoTag}}}
	h := &query.Hang{Groups: []query.HangGroup{{Ranks: rankenc.SetOf(0)}, g}}
	if got, want := answers.HangSuspects(h), "rank 1 called MPI_Abort, which ended the run"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := answers.HangWaits(&g), "the launcher to end the run"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	d := &diagnosis.Diagnosis{Early: rankenc.SetOf(0, 1), Aborted: rankenc.SetOf(1)}
	if got, want := answers.Diagnosis(d), []string{"It ended early: rank 1 called MPI_Abort."}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSeveralWorlds checks that the startup of a run that started processes is said to have calls of the program.
func TestSeveralWorlds(t *testing.T) {
	if got := answers.SeveralWorlds(&query.RunTimes{Worlds: 1, Startup: 1}); got != "" {
		t.Error(got)
	}
	want := "Calls before the last of 2 MPI_COMM_WORLDs began are in the startup, not in the run."
	if got := answers.SeveralWorlds(&query.RunTimes{Worlds: 2, Startup: 1}); got != want {
		t.Error(got)
	}
}
