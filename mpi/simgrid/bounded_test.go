package simgrid

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/tier"
)

// TestRecordBounded records lines of random ranks with random sizes: what is held stays within
// bounds, and nothing is lost but the order.
func TestRecordBounded(t *testing.T) {
	tier.Long(t, "many lines")
	const lines, ranks = 600_000, 4
	random := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	want := make([]int64, ranks)
	for range lines {
		rank, size := random.IntN(ranks), random.Int64N(1_000_000)
		fmt.Fprintf(&text, "%d send %d 0 %d 6\n", rank, (rank+1)%ranks, size)
		want[rank] += size
	}
	run, parts, err := Record(NewReader(strings.NewReader(text.String()), Options{Bounded: 1000}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if run.Interleaving != nil {
		t.Errorf("the order of %d lines is kept", run.Interleaving.Len())
	}
	for _, p := range parts {
		sum := int64(0)
		for terminal, n := range p.Grammar.Occurrences() {
			_, args := p.Table.Signature(terminal)
			sum += int64(n) * args[2].Int()
		}
		if sum != want[p.Rank] || p.Held() > 1<<17 || p.Bounded == nil || !p.Bounded.Unordered {
			t.Errorf("rank %d: %d bytes, not %d; %d symbols and bytes are held; %+v", p.Rank, sum,
				want[p.Rank], p.Held(), p.Bounded)
		}
	}
}
