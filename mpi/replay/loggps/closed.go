package loggps

import "github.com/reprise-trace/reprise/mpi/replay"

// Algorithms with as many steps as members, in closed form. With equal links and blocks, they come to what
// their steps come to one by one.

// ring has each member send blocks to the next as many times as there are others: one that is k further has
// waited for k messages one after the other.
func (g *group) ring(size int64) {
	n, h := len(g.t), g.hop(size)
	w := h.worst()
	own := times(plus(w.Send, w.Receive), n-1)
	if w.Rendezvous {
		g.all(times(plus(plus(w.Send, w.Transfer), w.Receive), n-1))
		return
	}
	g.window(func(i int) replay.Time { return h.of(i, (i+1)%n).Transfer }, true)
	for i, t := range g.next {
		g.t[i] = plus(t, own)
	}
}

// all has members be done some time after the last.
func (g *group) all(after replay.Time) {
	last := replay.Time(0)
	for _, t := range g.t {
		last = max(last, t)
	}
	for i := range g.t {
		g.t[i] = plus(last, after)
	}
}

// maxSpan is how long an operation may take, some 26 days: beyond it, it never ends.
const maxSpan = endOfTime / 4

// window sets next of each member to the latest of what comes round to it: from each member at its t, and
// later by the time that the way takes from one member to the next. That of the member itself counts only if
// own is set.
func (g *group) window(way func(i int) replay.Time, own bool) {
	first, last, round := endOfTime, replay.Time(0), replay.Time(0)
	for i, t := range g.t {
		first, last, round = min(first, t), max(last, t), plus(round, way(i))
	}
	if round > maxSpan || last-first > maxSpan {
		for i := range g.next {
			g.next[i] = endOfTime
		}
		return
	}
	latest, at := -endOfTime/2, round // of the members after one, whose way goes by the end
	for i := len(g.t) - 1; i >= 0; i-- {
		at -= way(i)
		g.next[i] = latest + round + at
		if own {
			g.next[i] = max(g.next[i], g.t[i]-first)
		}
		latest = max(latest, g.t[i]-first-at)
	}
	latest, at = -endOfTime/2, 0
	for i, t := range g.t {
		g.next[i] = plus(max(0, g.next[i], latest+at), first)
		latest = max(latest, t-first-at)
		at += way(i)
	}
}

// pairwise has each member exchange blocks with each other, in an order in which no two send to one at a
// time. What a member waits for has come by all others, or, but for one member, by all except one.
func (g *group) pairwise(size int64) {
	n, h := len(g.t), g.hop(size)
	if h.worst().Rendezvous {
		w := h.worst()
		g.all(times(plus(plus(w.Send, w.Transfer), w.Receive), n-1))
		return
	}
	last, second := -1, -1 // members to enter
	for i, t := range g.t {
		switch {
		case last < 0 || t > g.t[last]:
			last, second = i, last
		case second < 0 || t > g.t[second]:
			second = i
		}
	}
	far := 0 // how far what goes in all steps comes: the sum of 1 to n−1
	if n%2 == 0 {
		far = n / 2
	}
	for i := range g.t {
		within := g.neighbours(i)
		busy := plus(times(plus(h.within.Send, h.within.Receive), within),
			times(plus(h.between.Send, h.between.Receive), n-1-within))
		way := plus(times(h.within.Transfer, within), times(h.between.Transfer, n-1-within))
		least := h.between.Transfer
		if g.alone || within > 0 && h.within.Transfer < least {
			least = h.within.Transfer
		}
		from, other := (i-far+n)%n, last
		if other == from {
			other = second
		}
		done := plus(g.t[from], way)
		if other >= 0 {
			done = max(done, plus(g.t[other], max(0, way-least)))
		}
		g.next[i] = plus(done, busy)
	}
	g.t, g.next = g.next, g.t
}

// neighbours returns how many other members are on the node of one.
func (g *group) neighbours(member int) int {
	if g.node == nil {
		return 0
	}
	if g.beside == nil {
		count := make(map[int]int)
		for _, node := range g.node {
			count[node]++
		}
		for _, node := range g.node {
			g.beside = append(g.beside, count[node]-1)
		}
	}
	return g.beside[member]
}

// linear has each member send to each other without waiting in between, those after it first. What a member
// sends shares its bandwidth.
func (g *group) linear(size int64) {
	n, h := len(g.t), g.hop(size)
	w := h.worst()
	apart := max(w.Send, g.slowest(size))
	g.window(func(int) replay.Time { return apart }, false)
	way := plus(w.Send, w.Transfer)
	for i, t := range g.t {
		sent := plus(plus(t, times(w.Send, n-1)), times(w.Receive, n-2))
		came := plus(max(0, g.next[i]-apart), way)
		g.next[i] = plus(max(sent, came), w.Receive)
	}
	g.t, g.next = g.next, g.t
}

// slowest returns how long some bytes take at the bandwidth of the slowest link between members.
func (g *group) slowest(size int64) replay.Time {
	size = max(size, 0)
	switch {
	case g.alone:
		return g.within.bytes(size)
	case g.node == nil:
		return g.between.bytes(size)
	}
	return max(g.within.bytes(size), g.between.bytes(size))
}
