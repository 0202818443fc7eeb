package answers_test

import (
	"testing"

	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/query"
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
