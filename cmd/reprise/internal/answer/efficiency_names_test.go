package answer

import (
	"slices"
	"testing"
)

func TestShortNames(t *testing.T) {
	for _, tt := range []struct{ paths, want []string }{
		{[]string{"run4.rpz", "runs/run8.rpz"}, []string{"run4", "run8"}},
		{[]string{"a/run.rpz", "b/run.rpz"}, []string{"a/run", "b/run"}},
		{[]string{"/x/a/b/run.rpz", "/y/a/b/run.rpz", "c.rpz"}, []string{"x/a/b/run", "y/a/b/run", "c"}},
		{[]string{"run.rpz", "a/run.rpz"}, []string{"run", "a/run"}},
		{[]string{"run.rpz", "./run.rpz"}, []string{"run", "run"}},
	} {
		var traces []traceEfficiency
		for _, path := range tt.paths {
			traces = append(traces, traceEfficiency{Trace: path})
		}
		if got := shortNames(traces); !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.paths, got, tt.want)
		}
	}
}
