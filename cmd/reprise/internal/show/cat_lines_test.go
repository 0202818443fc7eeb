package show

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/trace"
)

// TestCallLines asks for the texts of calls of several ranks, more than are kept.
func TestCallLines(t *testing.T) {
	made := 0
	long := strings.Repeat("x", 10_000)
	lines := newCallLines(func(dst []byte, c trace.Call) ([]byte, error) {
		made++
		return fmt.Appendf(dst, "%d %d %s", c.Rank, c.Terminal, long), nil
	})
	calls := 0
	for round := range 5 {
		for rank := range 4 {
			for terminal := range uint32(300) {
				for range 3 {
					calls++
					got, err := lines.of(trace.Call{Rank: rank, Terminal: terminal * 300})
					if want := fmt.Sprintf("%d %d %s", rank, terminal*300, long); err != nil || string(got) != want {
						t.Fatalf("round %d: %.20s, want %.20s: %v", round, got, want, err)
					}
				}
			}
		}
	}
	if lines.kept > maxLines+maxLines/8 || made == calls {
		t.Errorf("%d bytes are kept; %d of %d texts were made", lines.kept, made, calls)
	}
}
