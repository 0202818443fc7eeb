package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// TestNeedsEach runs each command that reads a trace on one that was made to fit a size. It refuses the trace
// if query says that its question needs each call as it was. If not, it does not; it warns, but for info and
// cat, which say themselves what is not exact, and what makes another trace of it.
func TestNeedsEach(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "random.txt", strings.Join(random(), ""))
	must(t, "compress", "--bounded", "700", "random.txt", "-o", "small.rpz")
	tr, err := trace.Open("small.rpz", trace.Options{})
	if err != nil || tr.Content().Exact {
		t.Fatal("all calls are exact", err)
	}
	defer tr.Close()
	quiet := []string{"info", "cat", "codecs", "repair", "merge", "extrapolate"}
	refusing := make(map[string]bool)
	for _, row := range boundedRows["trace"] {
		args := strings.Fields(strings.ReplaceAll(row, "$", "small.rpz"))
		if args[0] == "replay" { // which compiles a program
			continue
		}
		refuses := query.CheckExact(tr, args[0]) != nil
		refusing[args[0]] = refuses
		r := invoke(t, "", args...)
		refused, warned := strings.Contains(r.stderr, "needs each call as it was"),
			strings.Contains(r.stderr, "was made to fit a size: ")
		if refused != refuses || refuses && (r.status != cli.ExitFailure || r.stdout != "") ||
			warned != (!refuses && !slices.Contains(quiet, args[0])) {
			t.Errorf("%s: status %d, %q, %q; refused by query: %v", row, r.status, r.stdout, r.stderr, refuses)
		}
	}
	for _, name := range []string{"at", "diff", "efficiency", "export", "hang", "match", "verify", "view"} {
		if !refusing[name] {
			t.Errorf("%s does not need each call", name)
		}
	}
	r := invoke(t, "", "predict", "small.rpz", "-o", "out.rpz")
	if r.status != cli.ExitFailure || !strings.Contains(r.stderr, "a prediction with -o needs each call as recorded") {
		t.Errorf("predict -o: status %d, %q", r.status, r.stderr)
	}
}
