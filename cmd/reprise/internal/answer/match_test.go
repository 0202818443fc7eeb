package answer

import (
	"fmt"
	"testing"

	"github.com/reprise-trace/reprise/query"
)

// TestStragglersOf checks that no straggler is named where starts are as far off as the largest skew.
func TestStragglersOf(t *testing.T) {
	for off, want := range map[int64]string{99: "3 2 100.0 %", 100: "– – –"} {
		s := query.Skew{Max: 100, MaxStraggler: 3, Straggler: 2, StragglerShare: 1, StartError: &off}
		if got := fmt.Sprintln(stragglersOf(&s)); got != want+"\n" {
			t.Errorf("starts that are %d ns off: %s, want %s", off, got, want)
		}
	}
}
