package main

import (
	"errors"
	"testing"

	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
)

// TestSeriesDamage checks which series have a part in a damaged section: the first
// is in sections 0 to 2, up to the end of the last, the second in 3, the third in 3
// and 4, where the fourth follows.
func TestSeriesDamage(t *testing.T) {
	domain := rankenc.Over(rankenc.World(4), 4)
	for section, want := range []string{"0", "0", "0", "12", "23", "3"} {
		table := seriesTable{
			ranks:    rankenc.World(4),
			sections: rankenc.NewColumn(domain, []int64{0, 3, 3, 4}, rankenc.Options{}),
			offsets:  rankenc.NewColumn(domain, []int64{0, 0, 100, 50}, rankenc.Options{}),
			damaged:  []damagedSection{{int64(section), errors.New("damaged")}},
		}
		got := ""
		for i := range 4 {
			if table.damage(i) != nil {
				got += string(rune('0' + i))
			}
		}
		if got != want {
			t.Errorf("section %d: series %s, want %s", section, got, want)
		}
	}
	if err := (&seriesTable{ranks: rankenc.World(4), sections: rankenc.NewColumn(domain, make([]int64, 4), rankenc.Options{})}).damage(0); err != nil {
		t.Error(err)
	}
}

func TestGuaranteeText(t *testing.T) {
	for g, want := range map[timing.Guarantee]string{
		timing.Exact: "exact", timing.NoBound: "no bound", 0.1: "at most 10 % off", 0.07: "at most 7 % off", 1e-4: "at most 0.01 % off",
	} {
		if got := guaranteeText(g); got != want {
			t.Errorf("%v is %q, want %q", g, got, want)
		}
	}
}
