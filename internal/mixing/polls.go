package mixing

import "slices"

// A program that polls repeats few calls until something has happened: how often is random, and says nothing
// of what comes next. Such calls are loops then, also where they are made once, and what follows is predicted
// as if they were not there.

const (
	maxPoll  = 4  // items in the body of a loop that polls
	fewPolls = 16 // loops there are of one that does, at least
	fewTrips = 4  // numbers of iterations that these have, at least
)

// A pollBody is the classes of the symbols of a loop that polls.
type pollBody struct {
	classes [maxPoll]uint32
	n       int
}

// bodyOf returns the classes of items, if they may be such a body.
func (a *Alphabet) bodyOf(list []item) (b pollBody, ok bool) {
	if b.n = len(list); b.n > maxPoll {
		return b, false
	}
	for i, x := range list {
		if x.body != nil || x.count != 1 {
			return b, false
		}
		b.classes[i] = a.Class[x.symbol]
	}
	return b, b.n > 0
}

// polls are the bodies of loops that poll.
type polls map[pollBody]bool

// findPolls returns the bodies of loops that are often made, with different numbers of iterations.
func findPolls(lists [][]item, a *Alphabet) polls {
	trips := make(map[pollBody][]uint64)
	var find func(list []item)
	find = func(list []item) {
		for _, x := range list {
			if b, ok := a.bodyOf(x.body); ok {
				trips[b] = append(trips[b], x.count)
			} else {
				find(x.body)
			}
		}
	}
	for _, list := range lists {
		find(list)
	}
	found := make(polls)
	for b, list := range trips {
		slices.Sort(list)
		if len(list) >= fewPolls && len(slices.Compact(list)) >= fewTrips {
			found[b] = true
		}
	}
	return found
}

// fold returns a list in which all iterations of loops that poll are loops.
func (p polls) fold(list []item, a *Alphabet) (folded []item) {
	for i := 0; i < len(list); {
		x := list[i]
		if x.body == nil {
			n := p.at(list[i:], a)
			if n == 0 {
				folded = append(folded, x)
				i++
				continue
			}
			x = item{body: list[i : i+n : i+n], length: uint64(n), count: 1}
			i += n
		} else {
			if b, ok := a.bodyOf(x.body); !ok || !p[b] {
				x.body = p.fold(x.body, a)
			}
			i++
		}
		if last := len(folded) - 1; last >= 0 && equalBodies(folded[last].body, x.body) {
			folded[last].count += x.count
		} else {
			folded = append(folded, x)
		}
	}
	return folded
}

// items returns how many items of a list are loops that poll, with what is in them.
func (p polls) items(list []item, a *Alphabet) (n int) {
	for _, x := range list {
		if b, ok := a.bodyOf(x.body); ok && p[b] {
			n += 2 + len(x.body)
		} else {
			n += p.items(x.body, a)
		}
	}
	return n
}

// at returns how many items at the beginning of a list are the body of a loop that polls, 0 if none are.
func (p polls) at(list []item, a *Alphabet) int {
	for n := 1; n <= min(maxPoll, len(list)); n++ {
		if b, ok := a.bodyOf(list[:n]); ok && p[b] {
			return n
		}
	}
	return 0
}

// A pollModel forgets loops of few symbols when they end.
type pollModel struct {
	open  []aroundLoop
	ended uint64 // hash of the loop that has just ended and was forgotten, 0 if none has

	at     []int             // by place in the history: 1 + the last loop that was forgotten there
	bodies [][maxPoll]uint32 // the variants of the symbols of loops
}

// An aroundLoop is what was known where a loop began.
type aroundLoop struct {
	place, next, length int // in the history
	kept                keptPlace
	alike               [2]int // 1 + loops that were forgotten where this one may be again, 0 if none were
	nests               bool   // there are loops in it
}

// opens codes whether a loop begins.
func (m *sequenceModel) opens(s uint32, base *contexts) bool {
	in := *base
	for i := range in {
		in[i] = hashNext(in[i], 1<<50)
	}
	in[4] = hash(90, m.polls.ended)
	m.find(&in)
	return m.code(bit(s == markOpen), 0, setOpens) == 1
}

// see has contexts tell whether a loop was forgotten, and the first two which one.
func (p *pollModel) see(in *contexts) {
	in[0], in[1] = hashNext(in[0], p.ended), hashNext(in[1], p.ended)
	if p.ended == 0 {
		return
	}
	for i := 2; i < len(in); i++ {
		in[i] = hashNext(in[i], 1)
	}
}

// begin takes note of what is known before a loop begins.
func (p *pollModel) begin(m *sequenceModel) {
	h := &m.history
	if last := len(p.open) - 1; last >= 0 {
		p.open[last].nests = true
	}
	x := aroundLoop{place: len(h.list), next: h.next, length: h.length, kept: m.kept.keptPlace}
	for i, next := range [2]int{h.next, m.kept.next} {
		if next >= 0 && next < len(p.at) {
			x.alike[i] = p.at[next]
		}
	}
	p.open = append(p.open, x)
}

// end forgets the loop that has ended if it has few symbols and no loops.
func (p *pollModel) end(m *sequenceModel) {
	last := len(p.open) - 1
	if last < 0 { // a damaged block
		return
	}
	x, h := p.open[last], &m.history
	p.open = p.open[:last]
	first, end := x.place+1, len(h.list)-1
	if x.nests || end-first > maxPoll {
		return
	}
	p.ended = hash(91)
	for _, s := range h.list[first:end] {
		p.ended = hashNext(p.ended, uint64(s))
	}
	var body [maxPoll]uint32
	copy(body[:], m.chosen[first:end])
	p.bodies = append(p.bodies, body)
	for len(p.at) <= x.place {
		p.at = append(p.at, 0)
	}
	p.at[x.place] = len(p.bodies)
	h.list, h.next, h.length = h.list[:x.place], x.next, x.length
	m.kept.keptPlace = x.kept
	m.counts, m.chosen = m.counts[:x.place], m.chosen[:x.place]
	m.position--
}

// variant returns the variant that the symbol had where the loop that is open was before, and whether there
// is one.
func (p *pollModel) variant(m *sequenceModel) (v uint32, ok bool) {
	x := &p.open[len(p.open)-1]
	i := len(m.history.list) - x.place - 2
	for _, loop := range x.alike {
		if loop > 0 && 0 <= i && i < maxPoll {
			return p.bodies[loop-1][i], true
		}
	}
	return 0, false
}
