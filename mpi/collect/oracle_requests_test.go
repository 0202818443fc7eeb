package collect

import (
	"math"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/requestid"
	"github.com/reprise-trace/reprise/mpi/internal/spool"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// A knownRequest is a request that was made and is not gone.
type knownRequest struct {
	raw, id    int64
	maker      *thread // whose call made it
	inCall     bool    // a call waits for it or tests it
	persistent bool
	lasts      bool // followed even while recording is off
	stale      bool // recording was off since it was made: it may be gone
	gone       bool
	asked      messageAsked
}

// A messageAsked is what a request says of the message to receive.
type messageAsked struct {
	any         bool // whether there is one
	source, tag int64
}

// open is a source or a tag that a request leaves to the status.
const open = math.MinInt64

// knownRequests are the requests of a process. There is a pool of ids for each call
// that makes requests, which is told by all that the call says but for how much a message has.
type knownRequests struct {
	constants map[int64]int64
	pools     []*numbers
	poolOf    map[string]int
	live      map[int64]*knownRequest // by id
	lines     map[int64]*requestLine  // by handle
	calls     map[*thread][]requestCall
}

// A requestLine has the requests of one handle in the order of creation. A call waits
// for each of the first few.
type requestLine struct {
	list   []*knownRequest
	inCall int
}

// A requestCall is a call that was given requests and has not returned.
type requestCall struct {
	function, depth int
	raws            []int64
	requests        []*knownRequest // nil for constants
	unseen          bool            // recording is off, and none of the requests is followed all the same
}

func (k *knownRequests) pool(key string) int {
	n, ok := k.poolOf[key]
	if !ok {
		n = len(k.pools)
		k.poolOf[key] = n
		k.pools = append(k.pools, new(numbers))
	}
	return n
}

// add makes a request, which in the trace has the id traced. That is not the lowest
// only if one that is stale was gone.
func (k *knownRequests) add(maker *thread, raw int64, key string, traced int64) *knownRequest {
	n := k.pool(key)
	pool, index := requestid.Split(traced)
	if old := k.live[traced]; old != nil && old.stale && pool == int64(n) && index < k.pools[n].lowest() {
		k.remove(old)
	}
	q := &knownRequest{raw: raw, maker: maker, id: requestid.Join(int64(n), k.pools[n].take()),
		asked: messageAsked{true, open, open}}
	k.live[q.id] = q
	if k.lines[raw] == nil {
		k.lines[raw] = new(requestLine)
	}
	k.lines[raw].list = append(k.lines[raw].list, q)
	return q
}

func (k *knownRequests) remove(q *knownRequest) {
	if q.gone {
		return
	}
	q.gone = true
	n, index := requestid.Split(q.id)
	k.pools[n].release(index)
	delete(k.live, q.id)
	line := k.lines[q.raw]
	at := slices.Index(line.list, q)
	if at == 0 {
		line.list = line.list[1:]
	} else {
		line.list = slices.Delete(line.list, at, at+1)
	}
	if at < line.inCall {
		line.inCall--
	}
	if len(line.list) == 0 {
		delete(k.lines, q.raw)
	}
}

// switchedOff says that what becomes of requests is not known for a while.
func (k *knownRequests) switchedOff() {
	for _, q := range k.live {
		q.stale = true
	}
}

// first returns the request of a handle that a call of a thread is given, or nil, for a
// call that waits for it, of those that no call waits for. A thread waits for what it
// has begun: another's request is meant only if the thread has made none with the
// handle that is left.
func (k *knownRequests) first(t *thread, raw int64, looking bool) *knownRequest {
	line := k.lines[raw]
	if line == nil {
		return nil
	}
	own := slices.IndexFunc(line.list, func(q *knownRequest) bool { return q.maker == t && !q.inCall })
	if own >= 0 {
		return line.list[own]
	}
	for n := len(line.list); line.inCall < n; line.inCall++ {
		if q := line.list[line.inCall]; !q.inCall {
			return q
		}
	}
	if looking {
		return line.list[len(line.list)-1]
	}
	return nil
}

// release says that no call waits for a request any more.
func (k *knownRequests) release(q *knownRequest) {
	q.inCall = false
	if line := k.lines[q.raw]; line != nil {
		line.inCall = 0
	}
}

// looking reports whether a function leaves the requests that it is given as they are.
func looking(f *knownFunction) bool {
	switch f.Name {
	case "MPI_Wait", "MPI_Waitany", "MPI_Waitall", "MPI_Waitsome",
		"MPI_Test", "MPI_Testany", "MPI_Testall", "MPI_Testsome", "MPI_Request_free":
		return false
	}
	return true
}

// enter follows a call that begins and is given requests.
func (k *knownRequests) enter(t *thread, r *spool.Record) {
	k.abandon(t, r.Depth)
	f := &knownFunctions[r.Function]
	c := requestCall{function: r.Function, depth: r.Depth}
	switch v := r.Arguments[f.requests].Before; {
	case v.Presence != spool.Given:
	case f.Params[f.requests].Form != spec.Array:
		c.raws = append(c.raws, v.Int())
	default:
		for i := range v.Len() {
			c.raws = append(c.raws, v.Index(i))
		}
	}
	c.unseen = r.Hidden && !slices.ContainsFunc(c.raws, func(raw int64) bool {
		_, constant := k.constants[raw]
		q := k.first(t, raw, true)
		return !constant && q != nil && q.lasts
	})
	for _, raw := range c.raws {
		if c.unseen {
			break
		}
		if _, constant := k.constants[raw]; constant {
			c.requests = append(c.requests, nil)
			continue
		}
		q := k.first(t, raw, looking(f))
		if q == nil {
			q = k.add(t, raw, "", -1)
		}
		if !looking(f) {
			q.inCall = true
		} else if !q.inCall { // for the call alone, which may be given the handle for others, too
			q.inCall = true
			defer k.release(q)
		}
		c.requests = append(c.requests, q)
	}
	k.calls[t] = append(k.calls[t], c)
}

// abandon gives up calls of a depth and more, which were never left.
func (k *knownRequests) abandon(t *thread, depth int) {
	calls := k.calls[t]
	for n := len(calls); n > 0 && calls[n-1].depth >= depth; n-- {
		if c := calls[n-1]; !looking(&knownFunctions[c.function]) {
			for _, q := range c.requests {
				if q != nil {
					k.release(q)
				}
			}
		}
		calls = calls[:n-1]
	}
	k.calls[t] = calls
}

// current returns the call of the thread that a record ends.
func (k *knownRequests) current(t *thread, r *spool.Record) *requestCall {
	if n := len(k.calls[t]); n == 0 || k.calls[t][n-1].function != r.Function || k.calls[t][n-1].depth != r.Depth {
		k.enter(t, r)
	}
	return &k.calls[t][len(k.calls[t])-1]
}

// settle decides, with the ids in the trace, which requests that are stale are gone:
// those in front of the one that the trace has.
func (k *knownRequests) settle(t *thread, c *requestCall, traced []int64) {
	looks := looking(&knownFunctions[c.function])
	for i, q := range c.requests {
		if q == nil || i >= len(traced) || q.id == traced[i] {
			continue
		}
		isTraced := func(o *knownRequest) bool { return o.id == traced[i] }
		for q != nil && q.stale && !isTraced(q) && slices.ContainsFunc(k.lines[q.raw].list, isTraced) {
			k.remove(q)
			q = k.first(t, q.raw, looks)
		}
		if q != nil {
			q.inCall = q.inCall || !looks
			c.requests[i] = q
		}
	}
}

// leave follows a call that returns: what it has replaced by the null request is gone,
// but for persistent requests that were not freed.
func (k *knownRequests) leave(t *thread, r *spool.Record) {
	calls := k.calls[t]
	c := calls[len(calls)-1]
	k.calls[t] = calls[:len(calls)-1]
	f := &knownFunctions[r.Function]
	if looking(f) {
		return
	}
	v := r.Arguments[f.requests].After
	for i, q := range c.requests {
		if q == nil {
			continue
		}
		after := c.raws[i]
		switch {
		case v.Presence != spool.Given:
		case f.Params[f.requests].Form != spec.Array:
			after = v.Int()
		case i < v.Len():
			after = v.Index(i)
		}
		_, null := k.constants[after]
		switch {
		case null && (!q.persistent || f.Name == "MPI_Request_free"):
			k.remove(q)
		case !q.gone:
			k.release(q)
		}
	}
}

// ids returns the requests of a call as the trace has them.
func (k *knownRequests) ids(c *requestCall) []cst.Value {
	var list []cst.Value
	for i, q := range c.requests {
		if q == nil {
			list = append(list, cst.Handle(k.constants[c.raws[i]]))
		} else {
			list = append(list, cst.Handle(q.id))
		}
	}
	return list
}

// handlesIn returns the ids in an argument of a trace.
func handlesIn(v cst.Value) []int64 {
	switch v.Kind() {
	case cst.KindHandle:
		return []int64{v.Int()}
	case cst.KindArray:
		var list []int64
		for i := range v.Len() {
			if e := v.Index(i); e.Kind() == cst.KindHandle {
				list = append(list, e.Int())
			}
		}
		return list
	}
	return nil
}
