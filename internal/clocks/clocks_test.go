package clocks

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/piecewise"
)

// A machine is a clock as it is in tests.
type machine struct {
	offset int64 // seconds
	rate   float64
}

// at returns what the clock says at a time in nanoseconds.
func (m machine) at(time float64) int64 {
	return 1_700_000_000_000_000_000 + m.offset + int64(math.Floor(time+time*m.rate))
}

// exchange has messages between pairs of clocks that take latency nanoseconds at least, over a second, and
// returns the clocks with them.
func exchange(r *rand.Rand, machines []machine, pairs [][2]int, n int, latency float64) *Clocks {
	c := New(len(machines))
	for _, p := range pairs {
		for i := range n {
			sent := 1e9 * (float64(i) + r.Float64()) / float64(n)
			took := latency + r.ExpFloat64()*latency
			from, to := p[i%2], p[1-i%2]
			c.Add(from, to, machines[from].at(sent), machines[to].at(sent+took))
		}
	}
	return c
}

// check checks that clocks agree within what they say, while there are messages, and returns the most that
// they do not.
func check(t interface{ Fatalf(string, ...any) }, machines []machine, all []Aligned) (most int64) {
	if all[0].Alignment != (format.Alignment{}) || all[0].Error != 0 {
		t.Fatalf("the first clock is moved: %+v", all[0])
	}
	for k, a := range all {
		if a.Error < 0 {
			t.Fatalf("clock %d is not aligned", k)
		}
		for i := range 11 {
			at := 2.5e8 + 5e7*float64(i)
			off := a.Apply(machines[k].at(at)) - machines[0].at(at)
			if off = max(off, -off); off > a.Error+4 {
				t.Fatalf("clock %d is off by %d ns at %g ns, more than %d: %+v of %+v", k, off, at, a.Error,
					a, machines[k])
			}
			most = max(most, off)
		}
	}
	return most
}

// TestAlign aligns clocks that are seconds and up to 100 ppm apart, along rings and over stars, by messages
// with random latencies: they agree within the error that is told, and no message arrives before it was sent.
func TestAlign(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		machines := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) machine {
			return machine{rapid.Int64Range(-5e9, 5e9).Draw(t, "offset"),
				rapid.Float64Range(-1e-4, 1e-4).Draw(t, "rate")}
		}), 2, 6).Draw(t, "machines")
		star := rapid.Bool().Draw(t, "star")
		var pairs [][2]int
		for k := range machines {
			switch {
			case star && k > 0:
				pairs = append(pairs, [2]int{0, k})
			case !star && len(machines) > 2:
				pairs = append(pairs, [2]int{k, (k + 1) % len(machines)})
			case !star && k > 0:
				pairs = append(pairs, [2]int{k - 1, k})
			}
		}
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		c := exchange(r, machines, pairs, rapid.IntRange(4, 200).Draw(t, "messages"), 2000)
		all, _ := c.Align(0)
		for k := range all {
			if all[k].Error < 0 {
				t.Fatalf("clock %d is not aligned", k)
			}
		}
		placed := make([]bool, len(machines))
		for k := range placed {
			placed[k] = true
		}
		if early := c.early(all, placed, nil); early > 2 {
			t.Fatalf("a message arrives %d ns before it is sent", early)
		}
		check(t, machines, all)
	})
}

// TestAlignClosely checks how closely clocks agree with messages that take 2 µs and sometimes much more.
func TestAlignClosely(t *testing.T) {
	machines := []machine{{0, 0}, {3_000_000_000, 1e-4}, {-2_000_000_000, -1e-4}}
	r := rand.New(rand.NewPCG(1, 2))
	all, _ := exchange(r, machines, [][2]int{{0, 1}, {1, 2}, {2, 0}}, 10_000, 2000).Align(0)
	if most := check(t, machines, all); most > 1000 {
		t.Errorf("off by %d ns", most)
	}
	for k, a := range all {
		if a.Error > 6000 {
			t.Errorf("clock %d: the error is %d ns", k, a.Error)
		}
	}
}

// TestAlignInexact checks that clocks run evenly, and agree within the error that is told, where messages
// arrive before they are sent by no more than times may be off.
func TestAlignInexact(t *testing.T) {
	const inexact = 100_000
	machines := []machine{{0, 0}, {3_000_000_000, 1e-4}, {-2_000_000_000, -1e-4}}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 2))
		c := New(len(machines))
		for i := range 2000 {
			p := [][2]int{{0, 1}, {1, 2}, {2, 0}}[i%3]
			from, to := p[i/3%2], p[1-i/3%2]
			sent := 5e5 * float64(i)
			off := func() int64 { return r.Int64N(2*inexact+1) - inexact }
			c.Add(from, to, machines[from].at(sent)+off(), machines[to].at(sent+2000)+off())
		}
		all, even := c.Align(inexact)
		if !even {
			t.Fatalf("seed %d: %+v", seed, all)
		}
		for k, a := range all {
			if len(a.Later) > 0 || a.Early > 0 || k > 0 && a.Error > 10*inexact {
				t.Errorf("seed %d, clock %d: %+v", seed, k, a)
			}
		}
		check(t, machines, all)
	}
}

// TestAlignAlone checks clocks that no messages reach, or only in one direction, and one at which all
// messages are at once.
func TestAlignAlone(t *testing.T) {
	c := New(4)
	c.Add(0, 1, 100, 500)
	c.Add(2, 0, 1_000, 50)
	c.Add(0, 2, 40, 1_100)
	all, _ := c.Align(0)
	if unknown := (Aligned{Error: -1}); !reflect.DeepEqual(all[1], unknown) || !reflect.DeepEqual(all[3], unknown) {
		t.Errorf("%+v", all)
	}
	if a := all[2]; a.Rate != 0 || a.Apply(1_050) < 40 || a.Apply(1_000) > 50 || a.Error > 100 {
		t.Errorf("%+v", a)
	}
	if all, _ := New(1).Align(0); !reflect.DeepEqual(all, []Aligned{{}}) {
		t.Errorf("%+v", all)
	}
}

// TestAlignAnything checks that nothing panics, whatever the times are.
func TestAlignAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := New(3)
		for range rapid.IntRange(0, 50).Draw(t, "messages") {
			from := rapid.IntRange(0, 2).Draw(t, "from")
			to := (from + rapid.IntRange(1, 2).Draw(t, "to")) % 3
			c.Add(from, to, rapid.Int64().Draw(t, "sent"), rapid.Int64().Draw(t, "received"))
		}
		all, _ := c.Align(0)
		for _, a := range all {
			if a.Rate > piecewise.MaxRate || a.Rate < -piecewise.MaxRate {
				t.Fatalf("%+v", a)
			}
		}
	})
}
