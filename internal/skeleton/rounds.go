package skeleton

import "slices"

// rounds looks for calls and loops that come the same number of times, one after the
// other, and makes a loop of the rounds if they have half of their calls in common. The
// outermost such loop comes first, of those with most calls that all rounds have.
func (f *folder) rounds(seq []*Node) ([]*Node, bool) {
	places := make(map[int][]int)
	var order []int // classes by first place
	for i, n := range seq {
		if places[n.class] == nil {
			order = append(order, n.class)
		}
		places[n.class] = append(places[n.class], i)
	}
	var often []int
	for _, class := range order {
		if n := len(places[class]); n >= 2 && !slices.Contains(often, n) {
			often = append(often, n)
		}
	}
	slices.Sort(often)
	size := leaves(seq)
	var best [][]int
	for _, n := range often {
		if best != nil && (n >= 4*len(best[0]) || n >= 2*len(best[0]) && len(best) > 1) {
			break // these are loops in it
		}
		for i, class := range order {
			if len(places[class]) != n {
				continue
			}
			if !f.align.do(size + n*len(order)) {
				return seq, false
			}
			members := chain(order[i:], places, n)
			if (best == nil || n*len(members) > len(best)*len(best[0])) && f.inCommon(seq, members) {
				best = members
			}
		}
	}
	if best == nil {
		return seq, false
	}
	return f.loopOf(seq, best), true
}

// chain returns the places of the first class of order, and of those after it that come as
// often and once in each round, behind each other.
func chain(order []int, places map[int][]int, n int) [][]int {
	members := [][]int{places[order[0]]}
	first := members[0]
	for _, class := range order[1:] {
		at, last := places[class], members[len(members)-1]
		if len(at) != n {
			continue
		}
		fits := true
		for i := range n {
			fits = fits && at[i] > last[i] && (i+1 == n || at[i] < first[i+1])
		}
		if fits {
			members = append(members, at)
		}
	}
	return members
}

// inCommon reports whether rounds have more than half of their calls in common with the
// next, the more the fewer they are.
func (f *folder) inCommon(seq []*Node, members [][]int) bool {
	first, last := members[0], members[len(members)-1]
	var before map[int]int // calls by class
	shared, all, length := 0, 0, 0
	for i, begin := range first {
		end := last[i] + 1
		if i+1 < len(first) {
			end = first[i+1]
		}
		calls, sum := make(map[int]int), 0
		for _, n := range seq[begin:end] {
			k := n.leaves()
			calls[n.class], sum = calls[n.class]+k, sum+k
		}
		if i > 0 {
			for class, k := range calls {
				shared += min(k, before[class])
			}
			all += max(length, sum)
		}
		before, length = calls, sum
	}
	steady := false
	for _, at := range members {
		n := seq[at[0]]
		steady = steady || n.IsLoop() || 2*n.steady > maxSteady
	}
	switch {
	case !steady, len(members) == 1 && (len(first) < 8 || f.how == inner), len(first) == 2 && len(members) < 4:
		return false
	case len(first) == 2:
		return 4*shared >= 3*all
	}
	return 2*shared > all
}

// loopOf makes a loop of rounds: of their members, and what is between these. What comes
// between rounds belongs to their ends if it also comes after the last, or to their
// beginnings if it also comes before the first.
func (f *folder) loopOf(seq []*Node, members [][]int) []*Node {
	first, last := members[0], members[len(members)-1]
	n := len(first)
	begin, end := first[0], last[n-1]+1
	gap := seq[last[0]+1 : first[1]] // the shortest
	for i := range first[1:] {
		if g := seq[last[i]+1 : first[i+1]]; len(g) < len(gap) {
			gap = g
		}
	}
	leads := false
	if after := seq[end:min(len(seq), end+2*len(gap))]; len(gap) > 0 {
		if a := f.align.align(gap, after); 2*a.shared >= leaves(gap) {
			end += a.pairs[len(a.pairs)-1].y + 1
		} else {
			from := max(0, begin-2*len(gap))
			if a := f.align.align(seq[from:begin], gap); 2*a.shared >= leaves(gap) {
				begin, leads = from+a.pairs[0].x, true
			}
		}
	}
	cut := func(i int) int { // where round i begins
		switch {
		case i == 0:
			return begin
		case i == n:
			return end
		case leads:
			return last[i-1] + 1
		}
		return first[i]
	}
	var body []*Node
	for k := -1; k < len(members); k++ { // members, each with what comes after it
		var own, between [][]*Node
		for i := range n {
			from, to := cut(i), cut(i+1)
			if k >= 0 {
				own, from = append(own, seq[members[k][i]:members[k][i]+1]), members[k][i]+1
			}
			if k+1 < len(members) {
				to = members[k+1][i]
			}
			between = append(between, f.fold(slices.Clip(seq[from:to])))
		}
		body = append(append(body, f.merged(own)...), f.merged(between)...)
	}
	return append(append(slices.Clip(seq[:begin]), f.loop(body, uint64(n))), seq[end:]...)
}
