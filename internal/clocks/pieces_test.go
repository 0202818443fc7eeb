package clocks

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/piecewise"
	"github.com/reprise-trace/reprise/internal/test/tier"
)

// An unevenClock is one that is stepped, and whose drift changes, at a time.
type unevenClock struct {
	machine
	at, step, rate float64 // the rate is more or less than that of the machine from then on
}

func (u unevenClock) now(time float64) int64 {
	if time < u.at {
		return u.machine.at(time)
	}
	return u.machine.at(time) + int64(u.step+(time-u.at)*u.rate)
}

// exchangeUneven has messages between pairs of clocks over a second, and returns when.
func exchangeUneven(c *Clocks, clocks []unevenClock, pairs [][2]int, n int) (sent, received []float64, of [][2]int) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		at := 1e9 * float64(i) / float64(n)
		for _, p := range pairs {
			from, to := p[i%2], p[1-i%2]
			arrival := at + 2000 + r.ExpFloat64()*2000
			c.Add(from, to, clocks[from].now(at), clocks[to].now(arrival))
			sent, received, of = append(sent, at), append(received, arrival), append(of, [2]int{from, to})
		}
	}
	return sent, received, of
}

// TestPieces aligns clocks of which one is stepped by a second, or whose drift changes, in a star, a line and
// a ring: no message arrives before it is sent, and away from where a piece ends, the clocks agree within
// what is told.
func TestPieces(t *testing.T) {
	shapes := map[string][][2]int{"pair": {{0, 1}}, "line": {{0, 1}, {1, 2}}, "star": {{0, 1}, {0, 2}},
		"ring": {{0, 1}, {1, 2}, {2, 0}}}
	for _, u := range []unevenClock{
		{at: 4e8, step: 1e9}, {at: 4e8, step: -2e5}, {at: 6e8, rate: 2e-4}, {at: 6e8, rate: -1e-4, step: 5e5},
		{at: 5e8, step: 40_000},
	} {
		for name, pairs := range shapes {
			t.Run(fmt.Sprintf("%s/%g,%g", name, u.step, u.rate), func(t *testing.T) {
				u.machine = machine{3_000_000_000, 1e-4}
				clocks := []unevenClock{{}, u, {machine: machine{-2_000_000_000, -1e-4}}}
				if name == "pair" {
					clocks = clocks[:2]
				}
				c := New(len(clocks))
				sent, received, of := exchangeUneven(c, clocks, pairs, 2000)
				all, even := c.Align(0)
				checkPieces(t, clocks, all)
				if !even {
					t.Error("messages arrive too early")
				}
				for i, p := range of {
					early := all[p[0]].Apply(clocks[p[0]].now(sent[i])) - all[p[1]].Apply(clocks[p[1]].now(received[i]))
					if early > 2 {
						t.Fatalf("a message arrives %d ns before it is sent", early)
					}
				}
			})
		}
	}
}

// checkPieces checks that times go forward, and that clocks agree but for a hundredth of a second around
// where they do not run evenly.
func checkPieces(t *testing.T, clocks []unevenClock, all []Aligned) {
	t.Helper()
	pieces := 0
	for k, a := range all {
		last := int64(0)
		for at := 1e7; at < 9.9e8; at += 1e6 {
			now := a.Apply(clocks[k].now(at))
			off := max(now-clocks[0].now(at), clocks[0].now(at)-now)
			if far, told := max(at-clocks[1].at, clocks[1].at-at) > 1e7, a.errorAt(clocks[k].now(at)); far &&
				off > told+4 {
				t.Fatalf("clock %d is off by %d ns at %g ns, more than %d: %+v", k, off, at, told, a)
			}
			if now < last && (clocks[k].step >= 0 || k == 0) {
				t.Fatalf("clock %d goes back", k)
			}
			last = now
		}
		pieces += len(a.Later)
		if !slices.IsSortedFunc(a.Later, func(x, y format.Alignment) int {
			return map[bool]int{true: -1, false: 1}[x.Since < y.Since]
		}) {
			t.Errorf("%+v", a)
		}
	}
	if pieces == 0 || pieces > 4 {
		t.Errorf("%d pieces: %+v", pieces, all)
	}
}

// TestPieceError checks that the error of a piece is that of its own messages, though the next of those to
// the clock, which are a second later by it, fits as well.
func TestPieceError(t *testing.T) {
	u := unevenClock{machine: machine{3_000_000_000, 1e-4}, at: 4e8 - 1, step: 1e9}
	c := New(2)
	for i := range 200 {
		at := 5e6 * float64(i)
		c.Add(0, 1, int64(at), u.now(at+1000))
		c.Add(1, 0, u.now(at+2000), int64(at)+3000)
	}
	// Two microseconds are between the messages to the clock and those from it.
	if all, even := c.Align(0); !even || len(all[1].Later) != 1 || all[1].Error > 2100 {
		t.Errorf("%+v, %t", all, even)
	}
}

// TestPieceErrors checks that each piece has the error of its own messages: those of the second half take ten
// times as long. A clock that has messages to that one alone is off by as much as that is when it has them.
func TestPieceErrors(t *testing.T) {
	u := unevenClock{machine: machine{3_000_000_000, 1e-4}, at: 5e8 - 1, step: 1e9}
	last := unevenClock{at: 5e8 - 1, step: 2e9}
	c := New(3)
	for i := range 200 {
		at, took := 5e6*float64(i), 1000.0
		if i >= 100 {
			took = 10_000
		}
		c.Add(0, 1, int64(at), u.now(at+took))
		c.Add(1, 0, u.now(at+2*took), int64(at+3*took))
		if i != 99 { // after which the clock is stepped before it has another message of the first
			c.Add(1, 2, u.now(at+4*took), last.now(at+5*took))
			c.Add(2, 1, last.now(at+6*took), u.now(at+7*took))
		}
	}
	all, even := c.Align(0)
	if !even || len(all[1].Errors) != 2 || len(all[2].Errors) != 2 {
		t.Fatalf("%+v, %t", all, even)
	}
	for k, most := range map[int][2]int64{1: {2250, 21_000}, 2: {6500, 65_000}} {
		errors := all[k].Errors
		if errors[0] < 1000 || errors[0] > most[0] || errors[1] < 10_000 || errors[1] > most[1] ||
			all[k].Error != errors[1] {
			t.Errorf("clock %d: the errors are %d, and %d", k, errors, all[k].Error)
		}
	}
	all[1].raise(u.now(0), 5000)
	if all[1].Errors[0] != 5000 || all[1].Error != all[1].Errors[1] {
		t.Errorf("%+v", all[1])
	}
}

// TestUnsurePieces checks the errors where a clock begins to drift otherwise, at a time that messages do not
// tell exactly, as the earlier ones take much longer: what the clock may have done until then counts for the
// later piece, too.
func TestUnsurePieces(t *testing.T) {
	u := unevenClock{machine: machine{3_000_000_000, 1e-4}, at: 5e8, rate: 3e-4}
	for changed := range 40 {
		u.at = 4e8 + 5e6*float64(changed)
		c := New(2)
		times := func(i int) (at, took float64) {
			if at, took = 5e6*float64(i), 100_000; i >= 100 {
				took = 1000
			}
			return at, took
		}
		for i := range 200 {
			at, took := times(i)
			c.Add(0, 1, int64(at), u.now(at+took))
			c.Add(1, 0, u.now(at+2*took), int64(at+3*took))
		}
		all, even := c.Align(0)
		if !even || len(all[1].Errors) != 2 {
			t.Fatalf("%+v, %t", all[1], even)
		}
		for i := range 200 {
			for answer := range 2 {
				at, took := times(i)
				at += float64(answer+1) * took
				if off, told := all[1].Apply(u.now(at))-int64(at), all[1].errorAt(u.now(at)); max(off, -off) > told {
					t.Fatalf("changed at %g: off by %d ns at %g, %d told: %+v", u.at, off, at, told, all[1])
				}
			}
		}
	}
}

// TestUnevenErrors aligns clocks of which one is stepped or begins to drift otherwise, by anything from next
// to nothing to a second and 500 ppm, with messages that are few or many, go to and fro or up to eight one
// way first, and take long or not, by times that are exact or not: whenever a message is sent or arrives, the
// clocks agree within what is told, in all but 1 of 100 runs, and within twice as much in all. Between the
// messages around where it is stepped, nothing tells.
func TestUnevenErrors(t *testing.T) {
	runs := tier.Number(100, 400)
	shapes := [][][2]int{{{0, 1}}, {{0, 1}, {1, 2}}, {{0, 1}, {0, 2}}, {{0, 1}, {1, 2}, {2, 0}}}
	beyond := 0
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 7))
		between := func(least, most float64) float64 { return least * math.Pow(most/least, r.Float64()) }
		u := unevenClock{machine: machine{3_000_000_000, 1e-4}, at: 1e9 * (0.1 + 0.8*r.Float64())}
		if seed%3 > 0 {
			u.step = between(1e3, 1e9)
		}
		if seed%3 < 2 {
			u.rate = between(1e-6, 5e-4) * float64(1-2*r.IntN(2))
		}
		inexact := []int64{0, 0, 0, 500, 5_000, 50_000, 500_000}[seed%7]
		clocks := []unevenClock{{}, u, {machine: machine{-2_000_000_000, -1e-4}}}
		c := New(len(clocks))
		sights := exchangeRandomly(c, inexact, r, clocks, shapes[r.IntN(len(shapes))], int(between(40, 2000)),
			between(500, 2e4), between(500, 1e5))
		all, even := c.Align(inexact)
		if even && all[0].Error != 0 {
			t.Errorf("seed %d: the times of the first clock, which are as they were, are said to be off by %d ns", seed, all[0].Error)
		}
		worst, last, first := 0.0, make([]int64, len(all)), make([]int64, len(all))
		for k := range all {
			if len(all[k].Later) > 0 {
				last[k], first[k] = c.unseen(k, clocks[k].now(u.at), all)
			}
		}
		for _, s := range sights {
			x := clocks[s.clock].now(s.at)
			off := math.Abs(float64(all[s.clock].Apply(x) - clocks[0].now(s.at)))
			if known := all[s.clock].Error >= 0; known && (x <= last[s.clock] || x >= first[s.clock]) {
				worst = max(worst, (off-2)/float64(1+all[s.clock].errorAt(x)))
			}
		}
		if worst > 2 {
			t.Errorf("seed %d: off by %.2f of what is told: %+v", seed, worst, all)
		}
		if worst > 1 {
			beyond++
		}
	}
	if beyond > runs/100 {
		t.Errorf("%d of %d runs are off by more than is told", beyond, runs)
	}
}

// TestBentErrors aligns a clock that begins to drift otherwise by more than kernels have clocks do, while
// messages to and fro take long, mostly more in one direction, so that a line often fits them: then the clock
// is off by more than is told in no more than 1 of 20 such runs, and in none by 2.5 times as much.
func TestBentErrors(t *testing.T) {
	fits, beyond := 0, 0
	for seed := range uint64(tier.Number(100, 400)) {
		r := rand.New(rand.NewPCG(seed, 9))
		u := unevenClock{machine: machine{3_000_000_000, 1e-4}, at: 3e7 + 2e8*r.Float64(),
			rate: 1e-4 * float64(1+seed%5)}
		longer, apart := 1e4*float64(1+seed%16), math.Exp(r.NormFloat64())
		c := New(2)
		var sights []float64
		for at, n := 1e6, 0; n < 200; n++ {
			arrives := at + 500 + r.ExpFloat64()*longer*apart
			answered := arrives + 1500 + r.ExpFloat64()*longer/apart
			c.Add(0, 1, int64(at), u.now(arrives))
			c.Add(1, 0, u.now(arrives+1000), int64(answered))
			sights = append(sights, arrives, arrives+1000)
			at = answered + 1e6
		}
		all, _ := c.Align(0)
		if len(all[1].Later) > 0 {
			continue
		}
		fits++
		worst := 0.0
		for _, at := range sights {
			worst = max(worst, math.Abs(float64(all[1].Apply(u.now(at)))-at)/float64(all[1].Error))
		}
		if worst > 2.5 {
			t.Errorf("seed %d: off by %.2f of what is told: %+v", seed, worst, all[1])
		}
		if worst > 1 {
			beyond++
		}
	}
	t.Logf("of %d, %d are off by more than is told", fits, beyond)
	if fits < tier.Number(12, 50) || beyond > fits/20 {
		t.Errorf("%d of %d are off by more than is told", beyond, fits)
	}
}

// A sight is a true time at which a clock sends or receives a message.
type sight struct {
	clock int
	at    float64
}

// exchangeRandomly has messages between pairs of clocks over a second, which take so long at least, and so
// much longer on average, by times that are off by so much at most.
func exchangeRandomly(c *Clocks, inexact int64, r *rand.Rand, clocks []unevenClock, pairs [][2]int, n int,
	least, longer float64) (sights []sight) {
	burst := 1 + r.IntN(2)*r.IntN(8) // messages in one direction
	read := func(clock int, at float64) int64 { return clocks[clock].now(at) + r.Int64N(2*inexact+1) - inexact }
	for i := range n {
		at := 1e9 * float64(i) / float64(n)
		for _, p := range pairs {
			from, to := p[i/burst%2], p[1-i/burst%2]
			arrival := at + least + r.ExpFloat64()*longer
			c.Add(from, to, read(from, at), read(to, arrival))
			sights = append(sights, sight{from, at}, sight{to, arrival})
		}
	}
	return sights
}

// unseen returns the last limit of a clock before a time and the first one after, by clocks that were placed
// before it.
func (c *Clocks) unseen(clock int, time int64, all []Aligned) (last, first int64) {
	links, placed := c.links(), make([]bool, len(all))
	for _, k := range breadthFirst(links, 0) {
		if k == clock {
			break
		}
		placed[k] = true
	}
	last, first = math.MinInt64, math.MaxInt64
	for _, l := range c.limits(clock, links[clock], all, placed) {
		if l.x < time {
			last = l.x
		} else {
			first = min(first, l.x)
		}
	}
	return last, first
}

// TestUncertainLimits checks that the error of a line is not less by a later limit that fits as well, of a
// clock that may be off by more.
func TestUncertainLimits(t *testing.T) {
	var limits []limit
	for x := int64(0); x < 1000; x += 100 {
		limits = append(limits, limit{x, x - 10_000, true, 0}, limit{x, x + 50_000, false, 0})
	}
	limits = append(limits, limit{1000, 42_000, false, 30_000}) // fits both lines
	for x := int64(1001); x < 2000; x += 100 {
		limits = append(limits, limit{x, x - 20_000, false, 30_000}, limit{x + 50, x - 50_000, true, 30_000})
	}
	lines := cut(limits, 0, 0)
	if len(lines) != 2 || lines[0].to != 900 || lines[1].from != 1000 {
		t.Fatalf("%+v", lines)
	}
	if own, next := lines[0].error, lines[1].error; own < 34_000 || own > 36_000 || next < 44_000 || next > 46_000 {
		t.Errorf("the errors are %d and %d", own, next)
	}
}

// TestEarly checks what is said of a clock that no pieces fit, as it is stepped back and forth after every
// message: the messages that arrive before they are sent are counted, and the errors are as much as that.
func TestEarly(t *testing.T) {
	c := New(2)
	times := func(i int) (at, clock int64) { return 1e6 * int64(i), 1e6*int64(i) + 300_000*int64(i%2) }
	for i := range 400 {
		at, clock := times(i)
		c.Add(0, 1, at, clock+1000)
		c.Add(1, 0, clock+2000, at+3000)
	}
	all, even := c.Align(0)
	if even || all[1].Early == 0 {
		t.Fatalf("%+v, %t", all, even)
	}
	worst, early := int64(0), [2]uint64{}
	for i := range 400 {
		at, clock := times(i)
		for k, by := range [2]int64{all[1].Apply(clock+2000) - (at + 3000), at - all[1].Apply(clock+1000)} {
			if worst = max(worst, by); by > 2 {
				early[k]++
			}
		}
	}
	if early[0] != all[0].Early || early[1] != all[1].Early || all[0].Error < worst || all[1].Error < worst ||
		worst < 1000 {
		t.Errorf("%d are early, by %d ns: %+v", early, worst, all)
	}
}

// TestPiecesUnplaced checks that a clock of which nothing is known is not said to be aligned where another is
// stepped.
func TestPiecesUnplaced(t *testing.T) {
	u := unevenClock{machine: machine{3_000_000_000, 1e-4}, at: 4e8, step: 1e9}
	c := New(3)
	exchangeUneven(c, []unevenClock{{}, u}, [][2]int{{0, 1}}, 200)
	c.Add(0, 2, 1000, 2000)
	if all, _ := c.Align(0); len(all[1].Later) == 0 || all[2].Error != -1 {
		t.Errorf("%+v", all)
	}
}

// TestNotAfter checks that the time is not too late, also of a clock that runs much slower, and not much too
// early.
func TestNotAfter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := format.Alignment{Offset: rapid.Int64Range(-1e12, 1e12).Draw(t, "offset"),
			Rate: rapid.Int64Range(-piecewise.MaxRate, piecewise.MaxRate).Draw(t, "rate")}
		at := rapid.Int64Range(0, 1e15).Draw(t, "time")
		other := piecewise.Apply(a, at) - rapid.Int64Range(-1000, 1e12).Draw(t, "back")
		got := notAfter(a, at, other)
		early := other - piecewise.Apply(a, got)
		if early < 0 || got > at || got < at && early > (at-got)/30+2 {
			t.Fatalf("%d of %d, %d ns early", got, at, early)
		}
	})
}

// TestDoubt checks the error of a clock that runs unevenly by less than times may be off, so that it has one
// line.
func TestDoubt(t *testing.T) {
	lines := 0
	for _, inexact := range []int64{1000, 5000, 20_000, 100_000} {
		for _, drift := range []float64{1e-6, 3e-6, 1e-5, 3e-5, 1e-4} {
			u := unevenClock{machine: machine{3_000_000_000, 1e-4}, at: 5e8, rate: 1e-4 + drift}
			c := New(2)
			for i := range 200 {
				at, took := 5e6*float64(i), 1000.0
				c.Add(0, 1, int64(at), u.now(at+took))
				c.Add(1, 0, u.now(at+2*took), int64(at+3*took))
			}
			all, _ := c.Align(inexact)
			if len(all[1].Later) > 0 {
				continue
			}
			lines++
			for at := 0.0; at < 1e9; at += 1e6 {
				if off := all[1].Apply(u.now(at)) - int64(at); off > all[1].Error || -off > all[1].Error {
					t.Fatalf("inexact by %d, %v more: off by %d at %v, %d told", inexact, drift, off, at, all[1].Error)
				}
			}
		}
	}
	if lines < 5 {
		t.Errorf("%d clocks with one line", lines)
	}
}

// TestPiecesBeyond has messages of which a line is found that goes on beyond the limits that the one after it
// is of.
func TestPiecesBeyond(t *testing.T) {
	c := New(3)
	for _, m := range [][4]int64{
		{0, 1, 0, 0}, {0, 1, 0, 0}, {0, 2, 575, 412}, {0, 1, 0, 0}, {0, 1, 0, 0}, {0, 1, 0, 0}, {1, 2, 0, 0},
		{1, 0, -1, -10}, {1, 2, 0, 352}, {1, 2, 0, 532}, {0, 1, 0, 0}, {1, 2, 0, 0}, {1, 2, 0, 0}, {0, 1, -10, 0},
		{0, 2, -4744, -2}, {1, 2, 0, 0}, {0, 2, 7, 5646}, {0, 1, 0, 0}, {1, 2, 0, -173}, {2, 1, 1484, 0},
		{1, 0, math.MinInt64, -5}, {0, 1, 0, 0}, {0, 1, 0, 0}, {2, 0, 353, 0},
	} {
		c.Add(int(m[0]), int(m[1]), m[2], m[3])
	}
	if all, even := c.Align(0); even || all[1].Error <= 0 {
		t.Errorf("%+v, %t", all, even)
	}
}

// TestRounded has messages that contradict each other by two nanoseconds, as where times are rounded: the
// clocks run evenly, and the first, whose times are as they were, is right.
func TestRounded(t *testing.T) {
	c := New(2)
	for at := int64(0); at < 1e9; at += 1e7 {
		c.Add(0, 1, at, at-1)
		c.Add(1, 0, at+1, at)
	}
	if all, even := c.Align(0); !even || all[0].Error != 0 || all[1].Error <= 0 {
		t.Errorf("%+v, %t", all, even)
	}
}
