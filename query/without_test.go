package query

import (
	"testing"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/rankenc"
)

func TestRanksWithout(t *testing.T) {
	trace := testtrace.TI(t, "0 init\n0 finalize\n1 init\n2 init\n2 barrier\n3 init\n3 barrier\n3 finalize\n5 init\n")
	for _, tt := range []struct {
		function string
		o        Options
		want     string
	}{
		{"finalize", Options{}, "1-2, 5"},
		{"finalize", Options{Ranks: of(rankenc.World(2))}, "1"},
		{"barrier", Options{}, "0-1, 5"},
		{"init", Options{}, ""},
		{"other", Options{}, "0-3, 5"},
	} {
		if got, err := RanksWithout(t.Context(), trace, tt.function, tt.o); err != nil || got.String() != tt.want {
			t.Errorf("without %s: %v, %v, want %s", tt.function, got, err, tt.want)
		}
	}
}
