package clocks

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/timing"
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

// TestPieces aligns clocks of which one is stepped by a second, or whose drift changes, in a star, a line and a ring: no message arrives before it is sent,
// and away from where a piece ends, the clocks agree within what is told.
func TestPieces(t *testing.T) {
	shapes := map[string][][2]int{"pair": {{0, 1}}, "line": {{0, 1}, {1, 2}}, "star": {{0, 1}, {0, 2}}, "ring": {{0, 1}, {1, 2}, {2, 0}}}
	for _, u := range []unevenClock{
		{at: 4e8, step: 1e9}, {at: 4e8, step: -2e5}, {at: 6e8, rate: 2e-4}, {at: 6e8, rate: -1e-4, step: 5e5}, {at: 5e8, step: 40_000},
	} {
		for name, pairs := range shapes {
			t.Run(fmt.Sprintf("%s/%g,%g", name, u.step, u.rate), func(t *testing.T) {
				u.machine = machine{3_000_000_000, 1e-4}
				clocks := []unevenClock{{}, u, {machine: machine{-2_000_000_000, -1e-4}}}
				if name == "pair" {
					clocks = clocks[:2]
				}
				hulls := New(len(clocks))
				exchangeUneven(hulls, clocks, pairs, 2000)
				if _, even := hulls.Align(0); even {
					t.Error("these clocks run evenly")
				}
				c := NewWhole(len(clocks))
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

// checkPieces checks that times go forward, and that clocks agree but for a hundredth of a second around where they do not run evenly.
func checkPieces(t *testing.T, clocks []unevenClock, all []Aligned) {
	t.Helper()
	pieces := 0
	for k, a := range all {
		last := int64(0)
		for at := 1e7; at < 9.9e8; at += 1e6 {
			now := a.Apply(clocks[k].now(at))
			off := max(now-clocks[0].now(at), clocks[0].now(at)-now)
			if far := max(at-clocks[1].at, clocks[1].at-at) > 1e7; far && off > a.Error+4 {
				t.Fatalf("clock %d is off by %d ns at %g ns, more than %d: %+v", k, off, at, a.Error, a)
			}
			if now < last && (clocks[k].step >= 0 || k == 0) {
				t.Fatalf("clock %d goes back", k)
			}
			last = now
		}
		pieces += len(a.Later)
		if !slices.IsSortedFunc(a.Later, func(x, y timing.Alignment) int { return map[bool]int{true: -1, false: 1}[x.Since < y.Since] }) {
			t.Errorf("%+v", a)
		}
	}
	if pieces == 0 || pieces > 4 {
		t.Errorf("%d pieces: %+v", pieces, all)
	}
}

// TestPieceError checks that the error of a piece is that of its own messages, though the next of those to the clock, which are a second later by it, fits as well.
func TestPieceError(t *testing.T) {
	u := unevenClock{machine: machine{3_000_000_000, 1e-4}, at: 4e8 - 1, step: 1e9}
	c := NewWhole(2)
	for i := range 200 {
		at := 5e6 * float64(i)
		c.Add(0, 1, int64(at), u.now(at+1000))
		c.Add(1, 0, u.now(at+2000), int64(at)+3000)
	}
	// Two microseconds are between the messages to the clock and those from it. Twice as much, as it may not run evenly within a piece.
	if all, even := c.Align(0); !even || len(all[1].Later) != 1 || all[1].Error > 2*2100 {
		t.Errorf("%+v, %t", all, even)
	}
}

// TestNotAfter checks that the time is not too late, also of a clock that runs much slower, and not much too early.
func TestNotAfter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := timing.Alignment{Offset: rapid.Int64Range(-1e12, 1e12).Draw(t, "offset"), Rate: rapid.Int64Range(-timing.MaxRate, timing.MaxRate).Draw(t, "rate")}
		at := rapid.Int64Range(0, 1e15).Draw(t, "time")
		other := a.Apply(at) - rapid.Int64Range(-1000, 1e12).Draw(t, "back")
		got := notAfter(a, at, other)
		early := other - a.Apply(got)
		if early < 0 || got > at || got < at && early > (at-got)/30+2 {
			t.Fatalf("%d of %d, %d ns early", got, at, early)
		}
	})
}
