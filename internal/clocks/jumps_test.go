package clocks

import (
	"cmp"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/tier"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/piecewise"
)

// A wanderer is a clock that is off by another amount in each part of the time, to which it goes at once, or
// in small steps.
type wanderer struct {
	machine
	every float64 // how long a part takes, in nanoseconds
	off   []float64
	steps float64 // of a part
}

// now returns what the clock says at a time.
func (w wanderer) now(time float64) int64 {
	part := max(0, min(len(w.off)-2, int(time/w.every)))
	gone := math.Floor((time/w.every-float64(part))*w.steps) / w.steps
	return w.machine.at(time) + int64(w.off[part]+(w.off[part+1]-w.off[part])*max(0, min(1, gone)))
}

// wander returns clocks that are off by sums of random amounts over a second, or by random amounts.
func wander(r *rand.Rand, n int, every, sigma, steps float64, sums bool) (clocks []wanderer) {
	for range n {
		w := wanderer{machine: machine{r.Int64N(2e9) - 1e9, (r.Float64() - 0.5) * 2e-4}, every: every, steps: steps}
		at := 0.0
		for range int(1e9/every) + 2 {
			w.off = append(w.off, at)
			if !sums {
				at = 0
			}
			at += sigma * r.NormFloat64()
		}
		clocks = append(clocks, w)
	}
	return clocks
}

// A posted is a message between two clocks, when it is truly sent and received, and what the clocks say then.
type posted struct {
	from, to       int
	sent, received float64
	message
}

// post returns n messages between clocks over a second, by times that may be off by so much.
func post(r *rand.Rand, clocks []wanderer, n int, inexact int64) (list []posted) {
	read := func(k int, time float64) int64 { return clocks[k].now(time) + r.Int64N(2*inexact+1) - inexact }
	for i := range n {
		from := r.IntN(len(clocks))
		p := posted{from: from, to: (from + 1 + r.IntN(len(clocks)-1)) % len(clocks),
			sent: 1e9 * float64(i) / float64(n)}
		p.received = p.sent + 2000 + 5000*r.ExpFloat64()
		p.message = message{read(p.from, p.sent), read(p.to, p.received)}
		list = append(list, p)
	}
	return list
}

// alignPosted aligns clocks by messages.
func alignPosted(n int, list []posted, inexact int64) ([]Aligned, bool) {
	c := New(n)
	for _, p := range list {
		c.Add(p.from, p.to, p.message.sent, p.message.received)
	}
	return c.Align(inexact)
}

// withoutJumps returns clocks that do not jump.
func withoutJumps(all []Aligned) []Aligned {
	all = slices.Clone(all)
	for k := range all {
		all[k].Jumps = nil
	}
	return all
}

// earlyOf returns how many messages to each clock arrive too early by more than a tolerance, and by how much
// those to it and from it, at most.
func earlyOf(all []Aligned, list []posted, tolerance int64) (count []uint64, worst []int64) {
	count, worst = make([]uint64, len(all)), make([]int64, len(all))
	for _, p := range list {
		if all[p.from].Error < 0 || all[p.to].Error < 0 {
			continue
		}
		if early := all[p.from].Apply(p.message.sent) - all[p.to].Apply(p.message.received); early > tolerance {
			count[p.to]++
			worst[p.to], worst[p.from] = max(worst[p.to], early), max(worst[p.from], early)
		}
	}
	return count, worst
}

// checkJumping checks what must be so of clocks, whatever they are: messages that are early are counted, and
// errors are as much as that; jumps are in order and no more than the errors, times do not go back, and
// clocks that fit do not jump.
func checkJumping(t interface{ Fatalf(string, ...any) }, all []Aligned, list []posted, inexact int64) {
	count, worst := earlyOf(all, list, tolerance(inexact))
	before, worstBefore := earlyOf(withoutJumps(all), list, tolerance(inexact))
	if sum(count) > 0 && sum(count) > sum(before)/2 && !reflect.DeepEqual(count, before) {
		t.Fatalf("%d are early, before %d", count, before)
	}
	for k, a := range all {
		if a.Early != count[k] || a.Error >= 0 && a.Error < worst[k] {
			t.Fatalf("clock %d: %d are early, by %d ns: %+v", k, count, worst, all)
		}
		if len(a.Jumps) > 0 && (sum(before) == 0 || a.Jumps.Most() > a.Error ||
			a.Jumps.Most() > 2*slices.Max(worstBefore)) {
			t.Fatalf("clock %d jumps, as messages are early by %d ns: %+v", k, slices.Max(worstBefore), a)
		}
		for i, j := range a.Jumps {
			if i > 0 && j.Since <= a.Jumps[i-1].Since || j.Ahead <= a.Jumps[:i].Ahead(j.Since) {
				t.Fatalf("clock %d jumps to %+v", k, j)
			}
		}
		var times []int64
		for _, p := range list {
			if p.from == k {
				times = append(times, p.message.sent)
			}
			if p.to == k {
				times = append(times, p.message.received, p.message.received-1)
			}
		}
		slices.Sort(times)
		if !slices.IsSortedFunc(times, func(x, y int64) int { return cmp.Compare(a.Apply(x), a.Apply(y)) }) {
			t.Fatalf("clock %d goes back: %+v", k, a)
		}
	}
}

// TestJumps checks what must be so of clocks that wander by little or much, or not at all, and that the order
// in which messages are added does not matter.
func TestJumps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		every := rapid.SampledFrom([]float64{1e6, 5e6, 2e7}).Draw(t, "every")
		sigma := rapid.SampledFrom([]float64{0, 2e3, 2e4, 2e5, 2e9}).Draw(t, "sigma")
		clocks := wander(r, rapid.IntRange(2, 5).Draw(t, "clocks"), every, sigma,
			rapid.SampledFrom([]float64{1, 100}).Draw(t, "steps"), rapid.Bool().Draw(t, "sums"))
		inexact := rapid.SampledFrom([]int64{0, 0, 1000, 50_000}).Draw(t, "inexact")
		list := post(r, clocks, rapid.IntRange(2, 300).Draw(t, "messages"), inexact)
		all, _ := alignPosted(len(clocks), list, inexact)
		checkJumping(t, all, list, inexact)
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		if again, _ := alignPosted(len(clocks), list, inexact); !reflect.DeepEqual(again, all) {
			t.Fatalf("%+v, and in another order %+v", all, again)
		}
	})
}

// TestJumpsExtreme checks that clocks by any times at all have jumps and errors that can be written.
func TestJumpsExtreme(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clocks := rapid.IntRange(2, 4).Draw(t, "clocks")
		time := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64, 0}),
			rapid.Int64Range(-1000, 1000))
		c := New(clocks)
		for range rapid.IntRange(1, 20).Draw(t, "messages") {
			from := rapid.IntRange(0, clocks-1).Draw(t, "from")
			to := (from + rapid.IntRange(1, clocks-1).Draw(t, "to")) % clocks
			c.Add(from, to, time.Draw(t, "sent"), time.Draw(t, "received"))
		}
		all, _ := c.Align(rapid.Int64Range(0, 1000).Draw(t, "inexact"))
		for k, a := range all {
			if a.Error < -1 || a.Error == math.MaxInt64 || a.Jumps.Most() > max(0, a.Error) ||
				len(a.Errors) > 0 && slices.Max(a.Errors) != a.Error {
				t.Fatalf("clock %d: %+v", k, a)
			}
			for i, j := range a.Jumps {
				if i > 0 && j.Since <= a.Jumps[i-1].Since || j.Ahead <= a.Jumps[:i].Ahead(j.Since) {
					t.Fatalf("clock %d jumps to %+v", k, j)
				}
			}
		}
	})
}

// TestJumpsMend checks clocks that wander by some microseconds every few milliseconds, which no 64 pieces
// follow: no message arrives early any more, though most did not fit before, and in no run are times off by
// more, at most or in the middle of all.
func TestJumpsMend(t *testing.T) {
	for seed := range uint64(tier.Number(6, 12)) {
		r := rand.New(rand.NewPCG(seed, 4))
		clocks := wander(r, 2+int(seed%3)*3, []float64{1e6, 5e6}[seed%2], 5e3*float64(1+seed%2*3),
			[]float64{1, 100}[seed/2%2], seed/4%2 == 0)
		list := post(r, clocks, 5000, 0)
		all, even := alignPosted(len(clocks), list, 0)
		checkJumping(t, all, list, 0)
		if before, _ := earlyOf(withoutJumps(all), list, 2); even || sum(before) < 1000 {
			t.Fatalf("seed %d: %d were early before, %t", seed, before, even)
		}
		if left, worst := earlyOf(all, list, 2); sum(left) > 0 {
			t.Errorf("seed %d: %d are early, by %d ns", seed, left, slices.Max(worst))
		}
		before, after := offOf(clocks, withoutJumps(all), list), offOf(clocks, all, list)
		if n := len(before); after[n-1] > before[n-1] || after[n/2] > before[n/2] {
			t.Errorf("seed %d: off by %d ns, before %d, and in the middle %d, before %d", seed, after[n-1],
				before[n-1], after[n/2], before[n/2])
		}
	}
}

// TestJumpsTold aligns clocks that wander by little or much, every one to twenty milliseconds, by messages
// that are few or many: hardly a message stays early, and clocks are off by no more than is told. In some
// runs times get worse.
func TestJumpsTold(t *testing.T) {
	runs, most, middle, early, left := 0, 0, 0, uint64(0), uint64(0)
	seeds := uint64(100)
	if !tier.Nightly {
		seeds = 10
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 9))
		between := func(least, most float64) float64 { return least * math.Pow(most/least, r.Float64()) }
		clocks := wander(r, 2+r.IntN(7), between(1e6, 2e7), between(2e3, 1e5), []float64{1, 100}[r.IntN(2)],
			r.IntN(2) == 0)
		inexact := []int64{0, 0, 0, 5000}[r.IntN(4)]
		list := post(r, clocks, int(between(500, 5000)), inexact)
		all, even := alignPosted(len(clocks), list, inexact)
		if even {
			continue
		}
		runs++
		checkJumping(t, all, list, inexact)
		count, _ := earlyOf(withoutJumps(all), list, tolerance(inexact))
		stay, _ := earlyOf(all, list, tolerance(inexact))
		early, left = early+sum(count), left+sum(stay)
		for _, p := range list {
			for k, at := range map[int][2]int64{p.from: {p.message.sent, clocks[0].now(p.sent)},
				p.to: {p.message.received, clocks[0].now(p.received)}} {
				if by := all[k].Apply(at[0]) - at[1]; max(by, -by) > all[k].Error+all[0].Error+inexact+4 {
					t.Errorf("seed %d: clock %d is off by %d ns, %d told", seed, k, by, all[k].Error)
				}
			}
		}
		before, after := offOf(clocks, withoutJumps(all), list), offOf(clocks, all, list)
		if n := len(before); after[n-1] > before[n-1] {
			most++
		}
		if n := len(before); after[n/2] > before[n/2] {
			middle++
		}
	}
	t.Logf("%d runs: %d messages early, then %d; off by more at most in %d runs, in the middle of all times in %d", runs, early, left, most, middle)
	if early < 1000 || left > early/1000 {
		t.Errorf("%d messages early, then %d", early, left)
	}
}

// offOf returns by how much aligned times of messages are off, by what the first clock would say if it did
// not wander, in ascending order.
func offOf(clocks []wanderer, all []Aligned, list []posted) (off []int64) {
	add := func(k int, time float64, read int64) {
		by := all[k].Apply(read) - clocks[0].machine.at(time)
		off = append(off, max(by, -by))
	}
	for _, p := range list {
		add(p.from, p.sent, p.message.sent)
		add(p.to, p.received, p.message.received)
	}
	slices.Sort(off)
	return off
}

// logicalOf returns the jumps of clocks that are aligned, by messages.
func logicalOf(n int, inexact int64, list ...posted) []piecewise.Jumps {
	c := New(n)
	for _, p := range list {
		c.Add(p.from, p.to, p.message.sent, p.message.received)
	}
	placed := slices.Repeat([]bool{true}, n+1)
	return c.jumps(make([]Aligned, n+1), placed, inexact)
}

// at returns a message that is sent and received at these times.
func at(from, to int, sent, received int64) posted {
	return posted{from: from, to: to, message: message{sent, received}}
}

// TestJumpsFollow checks which clocks jump when by messages of which each tells of a later one, in whatever
// order clocks are looked at.
func TestJumpsFollow(t *testing.T) {
	for _, tt := range []struct {
		name    string
		inexact int64
		list    []posted
		want    map[int]piecewise.Jumps
	}{
		{"Fits", 0, []posted{at(0, 1, 0, 10), at(1, 2, 20, 30), at(2, 0, 40, 38)}, nil}, // but for 2
		{"Early", 0, []posted{at(0, 1, 1000, 900)}, map[int]piecewise.Jumps{1: {{Since: 900, Ahead: 100}}}},
		{"ToTheFirst", 0, []posted{at(1, 0, 1000, 900)}, map[int]piecewise.Jumps{0: {{Since: 900, Ahead: 100}}}},
		{"Chain", 0, []posted{at(2, 1, 1000, 900), at(1, 0, 932, 1020), at(0, 3, 1052, 1058)}, map[int]piecewise.Jumps{
			1: {{Since: 900, Ahead: 100}}, 0: {{Since: 1020, Ahead: 11}}, 3: {{Since: 1058, Ahead: 4}},
		}},
		{"SentBefore", 0, []posted{at(1, 2, 899, 900), at(0, 1, 1000, 900)},
			map[int]piecewise.Jumps{1: {{Since: 900, Ahead: 100}}}},
		{"SentThen", 0, []posted{at(1, 2, 900, 901), at(0, 1, 1000, 900)},
			map[int]piecewise.Jumps{1: {{Since: 900, Ahead: 100}}, 2: {{Since: 901, Ahead: 99}}}},
		{"LedBack", 0, []posted{at(0, 1, 1000, 900), at(1, 2, 900+31*32, 950+31*32),
			at(1, 2, 900+80*32, 880+80*32)}, map[int]piecewise.Jumps{
			1: {{Since: 900, Ahead: 100}}, 2: {{Since: 950 + 31*32, Ahead: 19}, {Since: 880 + 80*32, Ahead: 40}},
		}},
		{"TwiceAtOnce", 0, []posted{at(0, 1, 1000, 900), at(2, 1, 1050, 900)},
			map[int]piecewise.Jumps{1: {{Since: 900, Ahead: 150}}}},
		{"Inexact", 30, []posted{at(0, 1, 1000, 900), at(0, 2, 1000, 938)},
			map[int]piecewise.Jumps{1: {{Since: 900, Ahead: 40}}}},
		{"Limit", 0, []posted{at(0, 1, 1000, 900), at(1, 2, 900, 800), at(2, 3, 800, 700)}, map[int]piecewise.Jumps{
			1: {{Since: 900, Ahead: 100}}, 2: {{Since: 800, Ahead: 200}}, 3: {{Since: 700, Ahead: 200}}, // a hundred less than it takes
		}},
		// Two messages arrive before the other is sent: the one that arrives at 200 does so when it does.
		{"Circle", 0, []posted{at(0, 1, 300, 400), at(1, 0, 500, 200)}, nil},
		{"CircleEarly", 0, []posted{at(0, 1, 300, 280), at(1, 0, 500, 200)},
			map[int]piecewise.Jumps{1: {{Since: 280, Ahead: 20}}}},
		{"CircleThenEarly", 0, []posted{at(0, 1, 300, 400), at(1, 0, 500, 200), at(0, 1, 1000, 900)},
			map[int]piecewise.Jumps{1: {{Since: 900, Ahead: 100}}}},
		{"EarlyThenCircle", 0, []posted{at(1, 0, 100, 50), at(0, 1, 300, 400), at(1, 0, 500, 200),
			at(1, 2, 501, 502)}, map[int]piecewise.Jumps{0: {{Since: 50, Ahead: 50}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for range 2 {
				got := logicalOf(4, tt.inexact, tt.list...)
				for k := range got {
					if !slices.Equal(got[k], tt.want[k]) {
						t.Errorf("clock %d: %+v, want %+v", k, got[k], tt.want[k])
					}
				}
				slices.Reverse(tt.list)
			}
		})
	}
}

// TestMend checks that messages that are early are counted, and told as errors, if nothing mends them.
func TestMend(t *testing.T) {
	c := New(3)
	c.Add(0, 1, 300, 400)
	c.Add(1, 0, 500, 200)
	all := make([]Aligned, 4)
	c.mend(all, slices.Repeat([]bool{true}, 4), 0)
	if all[0].Early != 1 || all[0].Error != 300 || all[1].Error != 300 || all[1].Early > 0 ||
		all[2].Error > 0 || len(all[0].Jumps)+len(all[1].Jumps) > 0 {
		t.Errorf("%+v", all)
	}
}
