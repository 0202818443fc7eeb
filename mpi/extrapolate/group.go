package extrapolate

import "github.com/reprise-trace/reprise/cst"

// A communicator is a run of its own: peers in it depend on the rank in it and its size, as those of all ranks do.
// Programs ask for these.

// A member is a rank in a communicator.
type member struct{ own, size int64 }

// askedMembers returns what a rank asks of its communicators, by their handles: those of which it hears one answer.
func (s *solver) askedMembers(r *rank) map[int64]member {
	known := make(map[int64]member)
	for i, fn := range r.fns {
		if fn < 0 {
			continue
		}
		f := &s.declared.Functions()[fn]
		if f.Name != "MPI_Comm_rank" && f.Name != "MPI_Comm_size" || len(f.Params) < 2 {
			continue
		}
		at := communicatorOf(f.Params)
		if at < 0 || at > 1 {
			continue
		}
		comm, v := r.args[i][at].Int(), r.args[i][1-at].Int()
		m, ok := known[comm]
		if !ok {
			m = member{-1, -1}
		}
		of := &m.own
		if f.Name == "MPI_Comm_size" {
			of = &m.size
		}
		if *of >= 0 && *of != v { // a handle of several communicators
			v = 0
			m = member{0, 0}
		}
		*of = v
		known[comm] = m
	}
	return known
}

// inCommunicator returns the rank in the communicator of a call, and the size of that; 0 if they are not known.
func (r *rank) inCommunicator(terminal uint64) (own, size int64) {
	if g, ok := r.groups[uint32(terminal)]; ok {
		return int64(g.Rank), int64(g.Size)
	}
	comm := r.comms[terminal]
	if comm < 0 {
		return 0, 0
	}
	m := r.members[r.args[terminal][comm].Int()]
	if m.own < 0 || m.own >= m.size {
		return 0, 0
	}
	return m.own, m.size
}

// communicatorOf returns which parameter of a function is its communicator, -1 if none is.
func communicatorOf(params []cst.Param) int {
	for i, p := range params {
		if p.Type.Kind == cst.KindHandle && p.Type.Class == "comm" && p.Direction != cst.Out {
			return i
		}
	}
	return -1
}

// inGroup returns the expressions of peers in communicators in which ranks form a line; none if these are not known,
// or are of all ranks.
func (f *solver) inGroup(at []*point, values []int64, depth int, array bool) (list []expr) {
	line := &grid{dims: 1, extents: func(ranks int64) [3]int64 { return [3]int64{ranks, 1, 1} }, numbers: f.ranks}
	inside := func(p *point, own, size int64) *point {
		q := &point{ranks: size, rank: own, rounds: p.rounds, index: p.index}
		q.spot = line.spot(size, own)
		return q
	}
	var points []*point
	var owns, sizes []int64
	whole := true
	for _, p := range at {
		if p.size < 1 {
			return nil
		}
		whole = whole && p.size == p.ranks
		points = append(points, inside(p, p.own, p.size))
		owns, sizes = append(owns, p.own), append(sizes, p.size)
	}
	if whole {
		return nil
	}
	own, size := f.fit(at, owns, depth, array, roleRank), f.fit(at, sizes, depth, array, roleGroup)
	if len(own) == 0 || len(size) == 0 {
		return nil
	}
	for _, e := range fit(line, features(line, depth, array), nil, points, values, roleRank) {
		in := e
		in.text += " in the communicator"
		in.terms = e.terms.longer(1)
		in.uses |= own[0].uses | size[0].uses
		in.binary = in.binary || own[0].binary || size[0].binary
		in.basis, in.coefficients, in.constant = nil, 0, false
		in.at = func(p *point) (int64, bool) {
			r, ok := own[0].at(p)
			n, ok2 := size[0].at(p)
			if !ok || !ok2 || r < 0 || r >= n {
				return 0, false
			}
			return e.at(inside(p, r, n))
		}
		list = append(list, in)
	}
	return list
}

// inLayer returns the expressions of peers in the layers of squares that ranks are in, which are communicators.
func (f *solver) inLayer(at []*point, values []int64, depth int, array bool) (list []expr) {
	if !f.grid.layered() {
		return nil
	}
	numbers := []int64{}
	for _, n := range f.ranks {
		numbers = append(numbers, n/f.grid.extents(n)[2])
	}
	square := &grid{dims: 2, numbers: numbers, extents: func(ranks int64) [3]int64 {
		side := squareRoot(ranks)
		return [3]int64{side, side, 1}
	}}
	inside := func(p *point) *point {
		q := &point{ranks: p.stride[2], rank: p.rank % p.stride[2], rounds: p.rounds, index: p.index}
		q.spot = square.spot(q.ranks, q.rank)
		return q
	}
	var points []*point
	for _, p := range at {
		points = append(points, inside(p))
	}
	for _, e := range fit(square, features(square, depth, array), nil, points, values, roleRank) {
		in := e
		in.text += " in the layer"
		in.terms = e.terms.longer(1)
		in.basis, in.coefficients = nil, 0
		in.at = func(p *point) (int64, bool) { return e.at(inside(p)) }
		list = append(list, in)
	}
	return list
}
