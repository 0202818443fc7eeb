package clocks

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// read adds readings of the clocks of machines at some times of the second, off by up to an error.
func read(c *Clocks, r *rand.Rand, k int, m machine, error int64, times ...float64) {
	for _, at := range times {
		real := 1_700_000_000_000_000_000 + int64(at) + r.Int64N(2*error+1) - error
		c.AddReading(k, m.at(at), real, error+2)
	}
}

// TestReadings aligns clocks by readings of real time where there are no messages, or only between some:
// clocks agree within the error that is told.
func TestReadings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		machines := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) machine {
			return machine{rapid.Int64Range(-5e9, 5e9).Draw(t, "offset"),
				rapid.Float64Range(-1e-4, 1e-4).Draw(t, "rate")}
		}), 2, 6).Draw(t, "machines")
		var pairs [][2]int
		for k := 1; k < len(machines); k++ {
			if to := rapid.IntRange(-1, k-1).Draw(t, "messages to"); to >= 0 {
				pairs = append(pairs, [2]int{to, k})
			}
		}
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		c := exchange(r, machines, pairs, rapid.IntRange(4, 50).Draw(t, "count"), 2000)
		for k, m := range machines {
			read(c, r, k, m, rapid.Int64Range(1, 1e7).Draw(t, "error"), 0, 1e9)
		}
		all, _ := c.Align(0)
		for k := range all {
			if all[k].Contradicted {
				t.Fatalf("the readings of clock %d are contradicted", k)
			}
		}
		check(t, machines, all)
	})
}

// TestReadingsClosely checks by how much clocks are off that have readings only, and those that have few
// messages besides.
func TestReadingsClosely(t *testing.T) {
	machines := []machine{{0, 0}, {3_000_000_000, 1e-4}, {-2_000_000_000, -1e-4}, {7, 0}}
	r := rand.New(rand.NewPCG(1, 2))
	c := exchange(r, machines, [][2]int{{0, 1}}, 4, 1e6) // which take a millisecond
	for k, m := range machines[:3] {
		read(c, r, k, m, 1000, 0, 1e9)
	}
	all, _ := c.Align(0)
	check(t, machines[:3], all[:3])
	for k, a := range all[1:3] {
		if a.Error > 10_000 {
			t.Errorf("clock %d: the error is %d ns", k+1, a.Error)
		}
	}
	if all[3].Error != -1 {
		t.Errorf("a clock without messages and readings: %+v", all[3])
	}
}

// TestReadingsOfPieces checks that real time is told by a clock that is stepped, which messages tell of, to
// one without messages.
func TestReadingsOfPieces(t *testing.T) {
	stepped := unevenClock{machine: machine{3_000_000_000, 1e-4}, at: 5e8, step: 1e9}
	other := machine{-2_000_000_000, -5e-5}
	c := New(3)
	exchangeUneven(c, []unevenClock{{}, stepped}, [][2]int{{0, 1}}, 2000)
	for _, at := range []float64{1e8, 9e8} {
		c.AddReading(1, stepped.now(at), machine{}.at(at), 1000)
		c.AddReading(2, other.at(at), machine{}.at(at), 1000)
	}
	all, even := c.Align(0)
	if !even || all[2].Error < 0 || all[2].Error > 100_000 {
		t.Fatalf("%+v, %t", all, even)
	}
	for at := 1e8; at <= 9e8; at += 1e8 {
		if off := all[2].Apply(other.at(at)) - (machine{}).at(at); max(off, -off) > all[2].Error {
			t.Errorf("off by %d ns at %g ns, more than %d", off, at, all[2].Error)
		}
	}
}

// TestReadingsContradicted checks that readings do not count where messages contradict them, whether they are
// of most clocks, of the first, or of one that is reached by real time: errors are no greater than without
// readings.
func TestReadingsContradicted(t *testing.T) {
	machines := []machine{{0, 0}, {3_000_000_000, 1e-4}, {-2_000_000_000, -1e-4}, {1_000_000_000, 0}, {5, 0}, {8, 1e-5}}
	for wrong := range machines {
		pairs := [][2]int{{0, 1}, {1, 2}, {2, 3}, {4, 5}}
		unread, _ := exchange(rand.New(rand.NewPCG(uint64(wrong), 2)), machines, pairs, 1000, 2000).Align(0)
		r := rand.New(rand.NewPCG(uint64(wrong), 2))
		c := exchange(r, machines, pairs, 1000, 2000)
		for k, m := range machines {
			if k == wrong {
				m.offset += 50_000_000
			}
			read(c, r, k, m, 1_000_000, 0, 1e9)
		}
		all, _ := c.Align(0)
		contradicted := -1
		for k, a := range all {
			if a.Contradicted {
				contradicted = k
			}
		}
		if wrong < 4 && contradicted != wrong || wrong > 4 && contradicted < 4 {
			t.Errorf("the readings of clock %d are wrong: those of %d do not count", wrong, contradicted)
		}
		if wrong < 4 {
			check(t, machines, all)
		} else {
			check(t, machines[:4], all[:4])
		}
		for k, a := range all[1:4] {
			if least := unread[k+1].Error; a.Error > min(least, 10_000) {
				t.Errorf("clock %d: the error is %d ns, without readings %d", k+1, a.Error, least)
			}
		}
		placed := []bool{true, true, true, true, true, true, false}
		if early := c.early(append(all, Aligned{}), placed, nil); early > 2 {
			t.Errorf("a message arrives %d ns before it is sent", early)
		}
	}
}
