package otf2

// requestNumbers numbers the requests of a location that are active: the lowest numbers that no other has.
type requestNumbers struct {
	active map[uint64]int64
	free   []int64 // a heap
	next   int64
	ids    hidden // of requests that start, and of those that were not active: differences
	last   uint64
}

// notActive stands for a request that is not active.
const notActive = -1

// number returns the number of a request that an event names, which may start or end it.
func (q *requestNumbers) number(starts, ends bool, id uint64) int64 {
	n, ok := q.active[id]
	switch {
	case starts && !ok:
		if q.active == nil {
			q.active = make(map[uint64]int64)
		}
		n = q.lowest()
		q.active[id] = n
	case !ok:
		n = notActive
	}
	if starts || !ok {
		q.ids.add(int64(id - q.last))
		q.last = id
	}
	if ends && ok {
		delete(q.active, id)
		q.release(n)
	}
	return n
}

// lowest takes the lowest number that is free.
func (q *requestNumbers) lowest() int64 {
	if len(q.free) == 0 {
		q.next++
		return q.next - 1
	}
	n := q.free[0]
	end := len(q.free) - 1
	q.free[0] = q.free[end]
	q.free = q.free[:end]
	for i := 0; ; {
		child := 2*i + 1
		if child >= end {
			return n
		}
		if child+1 < end && q.free[child+1] < q.free[child] {
			child++
		}
		if q.free[i] <= q.free[child] {
			return n
		}
		q.free[i], q.free[child] = q.free[child], q.free[i]
		i = child
	}
}

func (q *requestNumbers) release(n int64) {
	q.free = append(q.free, n)
	for i := len(q.free) - 1; i > 0; {
		parent := (i - 1) / 2
		if q.free[parent] <= q.free[i] {
			return
		}
		q.free[i], q.free[parent] = q.free[parent], q.free[i]
		i = parent
	}
}
