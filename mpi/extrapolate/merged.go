package extrapolate

import (
	"fmt"
	"slices"
)

// Ranks of trees, and of what is no grid otherwise, differ in which calls they make, not in classes of ranks that
// are next to each other. Where no grid has a program, one is tried that has the calls of all ranks, each under a
// condition: calls at one call site are one of the program.

// maxMerged bounds the calls and loops of a program in one loop, and the different ones that are merged.
const (
	maxMerged    = 256
	maxSequences = 128
)

// merged finds a program of all ranks of a class, with conditions.
func (s *solver) merged(c *class, like likeness) *failure {
	failed := &failure{class: c.name, what: "the calls of ranks have no program with conditions"}
	known := make(map[string]bool)
	var sequences [][]*place
	for t := len(c.all) - 1; t >= 0; t-- { // the largest trace has the most
		for _, r := range c.all[t] {
			seq := r.folded[like]
			key := ""
			for _, n := range seq {
				key += fmt.Sprint(n.ids[labelled], n.trips > 0, " ")
			}
			if known[key] {
				continue
			}
			if known[key] = true; len(known) > maxSequences {
				return failed
			}
			own := newPlaces(seq, 0)
			if own == nil {
				return failed
			}
			sequences = append(sequences, own)
		}
	}
	// Loops of which one has what two others have each are one with both, if it is first.
	slices.SortStableFunc(sequences, func(a, b []*place) int { return size(b) - size(a) })
	body := sequences[0]
	for _, other := range sequences[1:] {
		if body = merge2(body, other); body == nil {
			return failed
		}
	}
	body = s.underConditions(body, 0)
	if body == nil {
		return failed
	}
	tries := 1
	return s.fitProgram(c, body, like, labelled, false, &tries)
}

// size returns how many calls and loops a body has.
func size(body []*place) (n int) {
	for _, p := range body {
		n += 1 + size(p.body)
	}
	return n
}

// merge2 returns a program that has the calls of two, in the order of both, those that only one has as optional
// ones. It is nil if that takes too long.
func merge2(a, b []*place) []*place {
	if len(a) > maxMerged || len(b) > maxMerged {
		return nil
	}
	common := make([][]int, len(a)+1) // the most that the rests have in common
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			common[i][j] = max(common[i+1][j], common[i][j+1])
			if n := a[i].shares(b[j]); n > 0 {
				common[i][j] = max(common[i][j], common[i+1][j+1]+n)
			}
		}
	}
	list := []*place{}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i].shares(b[j]) > 0 && common[i][j] == common[i+1][j+1]+a[i].shares(b[j]):
			p := a[i]
			if p.optional = p.optional || b[j].optional; p.loop {
				if p.body = merge2(p.body, b[j].body); p.body == nil {
					return nil
				}
				p.varies = p.varies || b[j].varies
			}
			list = append(list, p)
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			a[i].optional = true
			list = append(list, a[i])
			i++
		default:
			b[j].optional = true
			list = append(list, b[j])
			j++
		}
	}
	return list
}

// shares returns how many calls two places have in common: one of two calls that are alike, and those of loops.
func (p *place) shares(q *place) (n int) {
	if p.loop != q.loop {
		return 0
	}
	if !p.loop {
		if p.like[labelled] == q.like[labelled] {
			return 1
		}
		return 0
	}
	for _, x := range p.body {
		if slices.ContainsFunc(q.body, func(y *place) bool { return x.shares(y) > 0 }) {
			n++
		}
	}
	return n
}

// underConditions returns a body whose optional calls are loops of one iteration or none; nil if loops are too deep.
func (s *solver) underConditions(body []*place, depth int) []*place {
	list := []*place{}
	for _, p := range body {
		switch {
		case p.loop:
			if p.body = s.underConditions(p.body, depth+1); p.body == nil {
				return nil
			}
			p.depth = depth
			list = append(list, p)
		case p.optional && depth == maxDepth:
			return nil
		case p.optional:
			p.depth = depth + 1
			list = append(list, &place{depth: depth, loop: true, varies: true, condition: true, body: []*place{p}})
		default:
			p.depth = depth
			list = append(list, p)
		}
	}
	return list
}
