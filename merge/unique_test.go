package merge_test

import (
	"github.com/reprise-trace/reprise/internal/test/tier"
	. "github.com/reprise-trace/reprise/merge"

	"bytes"
	"fmt"
	"testing"
)

// TestWriteUnique checks ranks no two calls of which have the same arguments, of
// which there are so many that large versions of the trace are not held, and what is
// added after writing.
func TestWriteUnique(t *testing.T) {
	tier.SlowRace(t)
	n := MaxHeld + 3
	if Racing || !tier.Nightly {
		n /= 16
	}
	for _, tt := range tier.Some([]struct{ program, ranks int }{{0, 1}, {1, 1}, {2, 1}, {0, 2}}, 2) {
		unique := uniqueCalls[tt.program]
		t.Run(fmt.Sprintf("%s/%d", unique.name, tt.ranks), func(t *testing.T) {
			var (
				a     Accumulator
				b     bytes.Buffer
				parts []Part
			)
			for rank := range tt.ranks {
				p := uniquePart(rank, n, unique.arguments)
				parts = append(parts, p)
				if err := a.Add(p); err != nil {
					t.Fatal(err)
				}
				b.Reset()
				if err := a.Write(&b); err != nil {
					t.Fatal(err)
				}
			}
			want := write(t, Run{Ranks: len(parts)}, parts)
			if !bytes.Equal(b.Bytes(), want) {
				t.Errorf("%d bytes, not the %d of a trace that is written once", b.Len(), len(want))
			}
			trace := open(t, want)
			checkCalls(t, trace, parts)
			if tt.program == 0 && tableOf(t, want).Streams != nil {
				t.Error("a column that takes a few bytes is a stream")
			}
		})
	}
}
