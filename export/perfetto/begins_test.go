package perfetto

import (
	"fmt"
	"testing"

	"github.com/reprise-trace/reprise/export/internal/events"
)

// TestBegins checks that of calls that begin at the same time the outermost begins first,
// however many are in it, and that no more are kept back than there is room for.
func TestBegins(t *testing.T) {
	var b begins
	var written []string
	most := 0
	add := func(start, end int64) {
		b.add(events.Event{Start: start, End: end}, func(e events.Event) {
			written = append(written, fmt.Sprint(e.Start, "-", e.End))
		})
		most = max(most, len(b.kept))
	}
	const n = maxKept - 10
	for i := range int64(n) {
		add(10*i, 10*i+5)
	}
	add(0, 7*n)
	add(0, 10*n)
	for i := range int64(3 * maxKept) {
		add(10*(n+i), 10*(n+i)+5)
	}
	if len(written) < n+2 || written[n-1] != fmt.Sprint("0-", 10*n) || written[n] != fmt.Sprint("0-", 7*n) ||
		written[n+1] != "0-5" {
		t.Errorf("%v, want the outermost of 0 first", written[max(0, n-3):])
	}
	if most > maxKept {
		t.Errorf("%d are kept, want at most %d", most, maxKept)
	}
}
