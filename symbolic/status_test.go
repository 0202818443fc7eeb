package symbolic

import (
	"testing"

	"pgregory.net/rapid"
)

func TestStatuses(t *testing.T) {
	const (
		anySource, anyTag, procNull = -2, -1, -3
		implied                     = -1000
	)
	s := Statuses{Implied: implied}
	tests := []struct {
		name             string
		asked, got, want int64
	}{
		{"Given", 3, 3, implied},
		{"AnySource", anySource, 5, 5},
		{"AnyTag", anyTag, 0, 0},
		{"ProcNullSource", procNull, procNull, implied},
		{"ProcNullTag", 7, anyTag, anyTag},
		{"EmptyStatus", anySource, anySource, implied},
	}
	for _, tt := range tests {
		if got := s.Keep(tt.asked, tt.got); got != tt.want {
			t.Errorf("%s: kept %d, want %d", tt.name, got, tt.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Int64Range(-10, 100)
		asked, got := number.Draw(t, "asked"), number.Draw(t, "got")
		if back := s.Restore(asked, s.Keep(asked, got)); back != got {
			t.Fatalf("asked for %d: %d came back as %d", asked, got, back)
		}
	})
}
