package merge

import "testing"

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
			t.Errorf("%s: tried %d of %d times, found %d, want %d to %d", tt.name, tried, tt.n, found, tt.least, tt.most)
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
