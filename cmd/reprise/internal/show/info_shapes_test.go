package show

import (
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
)

// TestDiffer checks what is said of a shape beside one that calls aabc, where A
// is a with another size.
func TestDiffer(t *testing.T) {
	names := map[sequitur.Symbol]callName{
		'a': {full: "a(rank+1, 8)", brief: "a(rank+1)"}, 'A': {full: "a(rank+1, 9)", brief: "a(rank+1)"},
		'b': {full: "b()", brief: "b()"}, 'c': {full: "c(rank-1)", brief: "c(rank-1)"},
		'd': {full: "d(0, 5)", brief: "d(0)"},
	}
	shape := func(calls string) *trace.Shape {
		var b sequitur.Builder
		for _, c := range calls {
			b.Append(sequitur.Symbol(c))
		}
		return &trace.Shape{Grammar: b.Finish()}
	}
	d := differ{names: names, most: shape("aabc"), signature: func(*trace.Shape, int) (words, error) {
		return words{}, format.ErrCorrupt // which leaves the names
	}}
	for _, tt := range []struct {
		calls, want string
	}{
		{"aab", "without c(rank-1)"},
		{"d", "without a(rank+1); b(); c(rank-1), with d(0)"},
		{"aabcdd", "with d(0)"},
		{"aabcc", "2 × c(rank-1), not 1"},
		{"aabccAd", "with d(0), 3 × a(rank+1), not 2; 2 × c(rank-1), not 1"},
		{"aAbc", "with a(rank+1, 9), 1 × a(rank+1, 8), not 2"},
		{"AAbc", "without a(rank+1, 8), with a(rank+1, 9)"},
		{"baac", "the same calls in another order"},
	} {
		var b strings.Builder
		s := d.describe(shape(tt.calls))
		s.Print(&b)
		lines := strings.Split(strings.TrimSpace(b.String()), "\n  ")
		if got := strings.Join(lines[1:], ", "); got != tt.want || s.Calls != uint64(len(tt.calls)) {
			t.Errorf("%s: %s, want %s", tt.calls, got, tt.want)
		}
	}
	if s := d.describe(d.most); s.Order || len(slices.Concat(s.With, s.Without))+len(s.Often) > 0 {
		t.Errorf("the shape of most ranks differs from itself: %+v", s)
	}
}
