package extrapolate

import "slices"

// Which call sites follow which, on all ranks of all traces, is the control flow of the program: calls that follow
// each other in a circle are those of a loop. So a loop is found of which no rank makes all calls, as of a scan: ranks
// have partners on one side in some iterations only.

// A flow is the calls of a program, one for each call site, from 1 on: 0 is what is before the first and after the
// last.
type flow struct {
	calls []*node
	after [][]bool // which follow which
	first [][]int  // how many ranks make one for the first time before another

	optional bool // ranks may make none of the calls of a loop
}

// newFlow returns that of the ranks of a class, nil if their calls have no sites or are too many.
func newFlow(c *class) *flow {
	f, numbers := new(flow), make(map[int]int)
	next, orders := make(map[[2]int]bool), [][]int{}
	var walk func(seq []*node, before int) int
	walk = func(seq []*node, before int) int {
		for _, n := range seq {
			if n.trips > 0 {
				for _, round := range n.rounds {
					before = walk(round, before)
				}
				if before >= 0 && n.trips > 1 && len(n.rounds) == 1 {
					before = walk(n.rounds[0], before)
				}
				continue
			}
			number, known := numbers[n.ids[sited]]
			if !known {
				number = len(numbers) + 1
				numbers[n.ids[sited]] = number
				f.calls = append(f.calls, n)
			}
			if own := &orders[len(orders)-1]; !slices.Contains(*own, number) {
				*own = append(*own, number)
			}
			next[[2]int{before, number}] = true
			before = number
		}
		return before
	}
	for _, list := range c.all {
		for _, r := range list {
			if !r.sited || len(f.calls) > maxMerged {
				return nil
			}
			orders = append(orders, nil)
			next[[2]int{walk(r.folded[labelled], 0), 0}] = true
		}
	}
	for i := range len(f.calls) + 1 {
		f.after = append(f.after, make([]bool, len(f.calls)+1))
		f.first = append(f.first, make([]int, len(f.calls)+1))
		for k := range f.after[i] {
			f.after[i][k] = next[[2]int{i, k}]
		}
	}
	for _, order := range orders {
		for i, a := range order {
			for _, b := range order[i+1:] {
				f.first[a][b]++
			}
		}
	}
	return f
}

// body returns the program of some calls, where so many follow each other in an iteration; nil if their order is not
// known.
func (f *flow) body(calls []int, inside [][]bool) []*place {
	reach := make([][]bool, len(f.after)) // in an iteration
	for _, i := range calls {
		reach[i] = slices.Clone(inside[i])
	}
	for _, k := range calls {
		for _, i := range calls {
			for _, j := range calls {
				reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
			}
		}
	}
	var parts [][]int // a call, or those of a loop
	at := make([]int, len(f.after))
	for i := range at {
		at[i] = -1
	}
	order := slices.Clone(calls)
	before := func(i, k int) bool { return reach[i][k] && !reach[k][i] }
	rank := func(i int) (n int) {
		for _, k := range calls {
			if before(k, i) {
				n++
			}
		}
		return n
	}
	slices.SortStableFunc(order, func(i, k int) int { return rank(i) - rank(k) })
	for _, i := range order {
		last := len(parts) - 1
		switch {
		case last >= 0 && reach[i][parts[last][0]] && reach[parts[last][0]][i]:
			parts[last] = append(parts[last], i)
		case last >= 0 && !reach[parts[last][0]][i]:
			return nil // neither is before the other
		default:
			parts = append(parts, []int{i})
		}
		at[i] = len(parts) - 1
	}
	list := make([]*place, 0, len(parts))
	for _, part := range parts {
		p := &place{like: f.calls[part[0]-1].ids}
		if len(part) > 1 || inside[part[0]][part[0]] {
			if p = f.loop(part, inside); p == nil {
				return nil
			}
		}
		list = append(list, p)
	}
	skipped := func(from, to int) {
		for k := from; k < to; k++ {
			list[k].optional = true
		}
	}
	for i, row := range f.after {
		for k, follows := range row {
			switch from, to := at[i], at[k]; {
			case !follows || from == to:
			case from >= 0 && to >= 0 && inside[i][k]:
				skipped(from+1, to)
			default:
				if from >= 0 {
					skipped(from+1, len(list))
				}
				skipped(0, to)
			}
		}
	}
	return list
}

// loop returns a loop of calls, nil if the order of these is not known. What ranks come to from outside begins an
// iteration, and what they leave the loop after ends one. So such calls that follow each other are of two iterations,
// unless more ranks make them first in this order.
func (f *flow) loop(calls []int, inside [][]bool) *place {
	begins, ends := make([]bool, len(inside)), make([]bool, len(inside))
	for _, i := range calls {
		for k := range f.after {
			if !slices.Contains(calls, k) {
				begins[i] = begins[i] || f.after[k][i]
				ends[i] = ends[i] || f.after[i][k]
			}
		}
	}
	iteration, cut := make([][]bool, len(inside)), false
	next := func(apart func(i, k int) bool) {
		for _, i := range calls {
			iteration[i] = slices.Clone(inside[i])
			for _, k := range calls {
				if inside[i][k] && begins[k] && apart(i, k) {
					iteration[i][k], cut = false, true
				}
			}
		}
	}
	next(func(i, k int) bool { return ends[i] && f.first[i][k] <= f.first[k][i] })
	if !cut { // ranks leave the loop within an iteration
		next(func(int, int) bool { return true })
	}
	if !cut {
		return nil
	}
	body := f.body(calls, iteration)
	if body == nil {
		return nil
	}
	for _, p := range body {
		p.optional = p.optional || f.optional
	}
	return &place{loop: true, varies: true, body: body}
}

// flowing finds a program of all ranks of a class by the flow of their calls. If ranks make different numbers of
// iterations, they may make none of the calls of some.
func (s *solver) flowing(c *class) (failed *failure) {
	f := newFlow(c)
	if f == nil {
		return &failure{class: c.name, what: "there are no call sites"}
	}
	calls := make([]int, 0, len(f.calls))
	for i := range f.calls {
		calls = append(calls, i+1)
	}
	for _, f.optional = range []bool{false, true} {
		body := f.body(calls, f.after)
		if body != nil {
			body = s.underConditions(body, 0)
		}
		if body == nil {
			return &failure{class: c.name, what: "the order of calls is not known"}
		}
		tries := 1
		if failed = s.fitProgram(c, body, labelled, sited, false, &tries); failed == nil {
			break
		}
	}
	return failed
}

// idle gives loops of which ranks may make no call in an iteration as many iterations on all ranks of a run as any
// makes calls in.
func idle(body []*place) {
	for _, p := range body {
		if !p.loop {
			continue
		}
		if !p.condition && !slices.ContainsFunc(p.body, func(q *place) bool { return !q.loop }) {
			p.addIdle()
		}
		idle(p.body)
	}
}

func (p *place) addIdle() {
	type around struct {
		ranks  int64
		rounds [maxDepth]int64
	}
	most := make(map[around]uint64)
	of := func(v visit) around { return around{v.rank.ranks, v.rounds} }
	for _, v := range p.visits {
		most[of(v)] = max(most[of(v)], v.value)
	}
	for i, v := range p.visits {
		trips := most[of(v)]
		for round := v.value; round < trips && trips <= maxUnrolled; round++ {
			empty := visit{rank: v.rank, rounds: v.rounds}
			empty.rounds[p.depth] = int64(round)
			for _, q := range p.body {
				q.visits = append(q.visits, empty)
			}
			p.visits[i].value = trips
		}
	}
}
