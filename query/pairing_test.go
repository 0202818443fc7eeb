package query

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/mpi/semantics"
)

// most returns how many of the sends among ends the receives can get at most, one by one,
// of receives without those that were cancelled unless all is set.
func most(ends []end, all bool) int {
	var sends, receives []Channel
	for _, e := range ends {
		n := e.count
		if e.direction == semantics.Receive && !all {
			n -= e.cancelled
		}
		for range n {
			if e.direction == semantics.Send {
				sends = append(sends, e.channel)
			} else {
				receives = append(receives, e.channel)
			}
		}
	}
	fits := func(s, r Channel) bool {
		return (r.Source < 0 || r.Source == s.Source) && (r.Tag < 0 || s.Tag < 0 || r.Tag == s.Tag)
	}
	of := make([]int, len(receives)) // the number of the send, from 1 on
	matched := 0
	for s := range sends {
		seen := make([]bool, len(receives))
		var try func(s int) bool
		try = func(s int) bool {
			for r := range receives {
				if seen[r] || !fits(sends[s], receives[r]) {
					continue
				}
				seen[r] = true
				if of[r] == 0 || try(of[r]-1) {
					of[r] = s + 1
					return true
				}
			}
			return false
		}
		if try(s) {
			matched++
		}
	}
	return matched
}

// testPairing checks, of ends that are drawn, that as many are matched as can be, and that
// channels are told exactly if they may have what is left.
func testPairing(t *rapid.T) {
	m := &Match{inexact: make(map[place][]Channel), abandoned: make(map[Channel]bool), full: make(map[Channel]bool)}
	cancel := rapid.Bool().Draw(t, "cancel")
	var ends []end
	for _, direction := range []semantics.Direction{semantics.Send, semantics.Receive} {
		for source := -1; source < 3; source++ {
			for tag := int64(-2); tag < 3; tag++ {
				if direction == semantics.Send && (source < 0 || tag == semantics.AnyTag) ||
					rapid.IntRange(0, 2).Draw(t, "skip") > 0 {
					continue
				}
				e := end{channel: Channel{nil, source, 0, tag}, direction: direction,
					count: rapid.Uint64Range(1, 3).Draw(t, "count")}
				if cancel && direction == semantics.Receive {
					e.cancelled = rapid.Uint64Range(0, e.count).Draw(t, "cancelled")
				}
				e.left = e.count
				ends = append(ends, e)
			}
		}
	}
	if len(ends) == 0 {
		return
	}
	var list []*end
	for _, e := range ends {
		list = append(list, &e)
	}
	slices.SortFunc(list, compareEnds)
	if err := m.pairAt(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	all, certain := most(ends, true), most(ends, false)
	if m.Messages != uint64(all) {
		t.Fatalf("%d messages, want %d, of %+v", m.Messages, all, ends)
	}
	left := map[semantics.Direction]int{semantics.Send: -all, semantics.Receive: -certain}
	for _, e := range ends {
		left[e.direction] += int(e.count)
		if e.direction == semantics.Receive {
			left[e.direction] -= int(e.cancelled)
		}
	}
	told := make(map[semantics.Direction][]Channel)
	for _, u := range m.Unmatched {
		left[u.Direction] -= int(u.Count)
		if told[u.Direction] = append(told[u.Direction], u.Among...); len(u.Among) == 0 {
			told[u.Direction] = append(told[u.Direction], u.Channel)
		}
	}
	if left[semantics.Send] != 0 || left[semantics.Receive] != 0 {
		t.Fatalf("unmatched: %+v, more by %v, of %+v", m.Unmatched, left, ends)
	}
	for i, e := range ends {
		if cancel {
			continue
		}
		fewer := slices.Clone(ends)
		fewer[i].count--
		if may := most(fewer, true) == all; may != slices.Contains(told[e.direction], e.channel) {
			t.Fatalf("%+v may be left: %v, but unmatched is %+v, of %+v", e, may, m.Unmatched, ends)
		}
	}
}

func TestPairing(t *testing.T) { rapid.Check(t, testPairing) }

// Numbers that are as large as any can be are matched as others.
func TestPairingLarge(t *testing.T) {
	m := &Match{inexact: make(map[place][]Channel), abandoned: make(map[Channel]bool), full: make(map[Channel]bool)}
	const all = 1<<64 - 1
	var list []*end
	for _, e := range []end{
		{channel: Channel{nil, 0, 0, 1}, direction: semantics.Send, count: all},
		{channel: Channel{nil, 1, 0, 2}, direction: semantics.Send, count: all},
		{channel: Channel{nil, -1, 0, 1}, direction: semantics.Receive, count: all},
		{channel: Channel{nil, 1, 0, -1}, direction: semantics.Receive, count: all},
	} {
		e.left = e.count
		list = append(list, &e)
	}
	slices.SortFunc(list, compareEnds)
	if err := m.pairAt(t.Context(), list); err != nil || m.Messages != all || len(m.Unmatched) > 0 {
		t.Fatal(m.Messages, m.Unmatched, err)
	}
}

func BenchmarkPairing(b *testing.B) {
	const sources, tags = 100, 100
	for b.Loop() {
		m := &Match{inexact: make(map[place][]Channel), abandoned: make(map[Channel]bool), full: make(map[Channel]bool)}
		var list []*end
		add := func(source int, tag int64, direction semantics.Direction, n uint64) {
			list = append(list, &end{channel: Channel{nil, source, 0, tag}, direction: direction, count: n, left: n})
		}
		for s := range sources {
			for tag := range int64(tags) {
				add(s, tag, semantics.Send, 10)
			}
			add(s, semantics.AnyTag, semantics.Receive, tags*5)
		}
		for tag := range int64(tags) {
			add(semantics.AnySource, tag, semantics.Receive, sources*5-1)
		}
		slices.SortFunc(list, compareEnds)
		if err := m.pairAt(b.Context(), list); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(sources*tags), "ns/channel")
	b.ReportMetric(0, "ns/op")
}
