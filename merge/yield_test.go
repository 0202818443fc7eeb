package merge

import (
	"testing"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/rankenc"
)

// TestYield counts how often what succeeds once in so many times is tried of many alike.
func TestYield(t *testing.T) {
	for _, tt := range []struct {
		name        string
		n           int
		succeeds    int // every so many, 0 for never
		least, most int // times it is tried
	}{
		{"few that never succeed", failsAtFirst, 0, failsAtFirst, failsAtFirst},
		{"many that never succeed", 250_000, 0, 5000, 6500},
		{"as often as it is worth", 250_000, successWorth, 250_000, 250_000},
		{"seldom", 250_000, 4 * successWorth, 5000, 50_000},
	} {
		var y yield
		tried, found := 0, 0
		for i := range tt.n {
			if !y.tries() {
				continue
			}
			tried++
			ok := tt.succeeds > 0 && i%tt.succeeds == tt.succeeds-1
			if y.tell(ok); ok {
				found++
			}
		}
		if tried < tt.least || tried > tt.most {
			t.Errorf("%s: tried %d of %d times, found %d, want %d to %d", tt.name, tried, tt.n, found,
				tt.least, tt.most)
		}
	}
}

// TestYieldReturns has nothing succeed for long, and then everything: nearly all of that is found.
func TestYieldReturns(t *testing.T) {
	var y yield
	const without, with = 20_000, 20_000
	found := 0
	for i := range without + with {
		if !y.tries() {
			continue
		}
		ok := i >= without
		if y.tell(ok); ok {
			found++
		}
	}
	if missed := with - found; missed > 1000 {
		t.Errorf("%d of %d were not tried", missed, with)
	}
}

// TestKnownFit has a column of which the expression is known when others are not worth trying.
func TestKnownFit(t *testing.T) {
	ranks := spans(nil).add(0, 7)
	f := newFitter(&shape{ranks: ranks}, 8)
	var c column
	for r := range 8 {
		c.push(r, r, int64(r^1))
	}
	if _, ok := f.fit(&c, layout.Rank, new(yield)); !ok {
		t.Fatal("not fitted")
	}
	if _, ok := f.fit(&c, layout.Rank, &yield{waiting: 9}); !ok {
		t.Error("not found again")
	}
}

// TestPays has columns of few ranks whose expressions take half as many bytes as the values or more.
func TestPays(t *testing.T) {
	far := make([]int64, 8) // parts of a file of which every rank has one
	for r := range far {
		far[r] = 1<<40 + int64(r)<<10
	}
	expr, ok := rankenc.Fit([]int64{0, 1, 2, 3, 4, 5, 6, 7}, far, 8, rankenc.Options{})
	enc, _ := expr.AppendBinary(nil)
	if !ok || !pays(len(enc), far) {
		t.Errorf("%d bytes of a line through large values do not pay", len(enc))
	}
	if pays(4, []int64{3, 1, 0, 2}) {
		t.Error("4 bytes of 4 values up to 3 pay")
	}
}
