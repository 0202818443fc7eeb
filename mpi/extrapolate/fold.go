package extrapolate

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/reprise-trace/reprise/sequitur"
)

// A likeness is what calls have in common.
type likeness int

const (
	equal    likeness = iota // all arguments
	similar                  // all but ranks, requests and statuses
	sized                    // the same, and tags
	labelled                 // function, strings, tags, handles and segments of memory
	function                 // function and strings
	likenesses
	sited = likenesses // function, strings and call site, or labelled where there is none: of calls alone
)

// within says of which likeness loops are made first.
var within = [likenesses]likeness{similar: equal, sized: similar, labelled: similar, function: labelled}

// A node is a call or a loop.
type node struct {
	terminal uint32
	ids      [likenesses + 1]int // that like nodes share; of calls, those of all traces
	trips    uint64              // of a loop; 0 for a call
	rounds   [][]*node           // one if all are equal
}

// round returns an iteration of a loop.
func (n *node) round(i int) []*node {
	if len(n.rounds) == 1 {
		i = 0
	}
	return n.rounds[i]
}

const (
	maxBody   = 1024    // calls and loops in a loop that is found
	maxRounds = 1 << 14 // of a loop whose rounds differ
	maxCalls  = 1 << 21 // calls and loops of a rank, with equal rounds written once
)

var errLong = errors.New("a rank makes too many calls outside of loops")

// An interner numbers keys.
type interner map[string]int

func (in interner) number(key []byte) int {
	n, ok := in[string(key)]
	if !ok {
		n = len(in)
		in[string(key)] = n
	}
	return n
}

// A folder finds loops.
type folder struct {
	numbers interner
	calls   []*node // by terminal
	left    int     // nodes that may be written
}

// loop returns a loop of rounds that are alike.
func (f *folder) loop(trips uint64, rounds [][]*node) *node {
	n := &node{trips: trips, rounds: rounds}
	if len(rounds) > 1 {
		same := true
		for _, r := range rounds[1:] {
			same = same && alike(rounds[0], r, equal)
		}
		if same {
			n.rounds = rounds[:1]
		}
	}
	for like := range likenesses {
		key := []byte{1}
		if like == equal {
			key = binary.AppendUvarint(key, trips)
		}
		same := true
		for _, r := range n.rounds[1:] {
			same = same && alike(n.rounds[0], r, like)
		}
		written := n.rounds
		if same {
			written = n.rounds[:1]
		}
		for _, r := range written {
			key = binary.AppendUvarint(key, uint64(len(r)))
			for _, c := range r {
				key = binary.AppendUvarint(key, uint64(c.ids[like]))
			}
		}
		n.ids[like] = f.numbers.number(key)
	}
	return n
}

func alike(a, b []*node, like likeness) bool {
	return slices.EqualFunc(a, b, func(x, y *node) bool { return x.ids[like] == y.ids[like] })
}

// grammar returns the calls of a grammar, with the loops of equal calls.
func (f *folder) grammar(g *sequitur.Grammar) ([]*node, error) {
	if g.Rules() == 0 {
		return nil, nil
	}
	f.left = maxCalls
	rules := make([][]*node, g.Rules())
	for r := range rules {
		var list []*node
		for t := range g.Body(r) {
			body := []*node{}
			if t.Rule < 0 {
				body = append(body, f.calls[t.Symbol])
			} else {
				body = rules[t.Rule]
			}
			switch {
			case t.Count == 1:
				for _, n := range body {
					list = f.push(list, n, equal)
				}
			case len(body) == 1 && body[0].trips > 0:
				list = f.push(list, f.loop(body[0].trips*t.Count, body[0].rounds), equal)
			default:
				list = f.push(list, f.loop(t.Count, [][]*node{body}), equal)
			}
			if f.left < 0 {
				return nil, errLong
			}
		}
		rules[r] = list
	}
	return rules[len(rules)-1], nil
}

// fold returns nodes with the loops of calls that are alike.
func (f *folder) fold(seq []*node, like likeness) []*node {
	var list []*node
	for _, n := range seq {
		if n.trips > 0 && len(n.rounds) == 1 {
			n = f.loop(n.trips, [][]*node{f.fold(n.rounds[0], like)})
		}
		list = f.push(list, n, like)
	}
	return list
}

// push appends a node, and makes loops of what ends there.
func (f *folder) push(list []*node, n *node, like likeness) []*node {
	f.left--
	list = append(list, n)
	for changed := true; changed; {
		list, changed = f.reduce(list, like)
	}
	return list
}

// reduce makes a loop of what the list ends with, or adds it to a loop.
func (f *folder) reduce(list []*node, like likeness) ([]*node, bool) {
	last := list[len(list)-1]
	if len(list) > 1 && like == equal && last.trips > 0 {
		before := list[len(list)-2]
		body := last.rounds[0]
		switch {
		case before.trips > 0 && alike(before.rounds[0], body, equal):
			return append(list[:len(list)-2], f.loop(before.trips+last.trips, last.rounds)), true
		case before.ids[equal] == body[len(body)-1].ids[equal]: // begin the loop earlier
			turned := append([]*node{before}, body[:len(body)-1]...)
			list = append(list[:len(list)-2], f.loop(last.trips, [][]*node{turned}))
			for changed := true; changed; {
				list, changed = f.reduce(list, like)
			}
			return f.push(list, before, like), true
		}
	}
	for b := 1; b <= min(maxBody, len(list)-1); b++ {
		at := len(list) - b
		before := list[at-1]
		if before.trips > 0 && len(before.rounds[0]) == b && alike(before.rounds[0], list[at:], like) {
			rounds := slices.Clone(before.rounds)
			if len(rounds) == 1 && !alike(rounds[0], list[at:], equal) {
				if before.trips > maxRounds {
					continue
				}
				rounds = slices.Repeat(rounds, int(before.trips))
			}
			if len(rounds) > 1 {
				rounds = append(rounds, slices.Clone(list[at:]))
			}
			return append(list[:at-1], f.loop(before.trips+1, rounds)), true
		}
		if 2*b <= len(list) && last.ids[like] == before.ids[like] && alike(list[at-b:at], list[at:], like) {
			rounds := [][]*node{slices.Clone(list[at-b : at]), slices.Clone(list[at:])}
			return append(list[:at-b], f.loop(2, rounds)), true
		}
	}
	return list, false
}
