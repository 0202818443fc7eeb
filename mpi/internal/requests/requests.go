// Package requests gives symbolic ids to MPI's requests, as package symbolic does to handles.
//
// Pools of ids for each signature are those of C. Wang, Y. Guo, P. Balaji and M. Snir, "Near-Lossless MPI
// Tracing and Proxy Application Autogeneration", IEEE TPDS 34(1), 2023, §2.3.3. This package departs from it
// in allowing for several requests with one handle.
package requests

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/reprise-trace/reprise/internal/requestid"
	"github.com/reprise-trace/reprise/internal/wordmap"
	"github.com/reprise-trace/reprise/symbolic"
)

// Requests gives symbolic ids to requests: operations that one call begins and
// another, some time, finds complete. The zero Requests knows none. With one thread, every method
// takes expected constant time for each request, and allocates only for more
// requests than were ever outstanding at once, and for new keys.
//
// There is a pool of ids for each key, such as the signature of the call that
// made the request, but for the request itself and for what may vary without a pattern: for whatever
// order requests of different calls complete in, the same calls make the same ids in the next
// iteration of a loop. Pools are numbered in the order of first use, and an id
// tells the number of its pool and the one within: see [requestid.Join]. A caller
// that wants to know about a request what its key says, such as whether it
// receives from any source, keeps that by the number of the pool. Whoever reads
// ids numbers the pools the same way, by the calls that made requests as they
// come.
//
// The handles of requests, the raw values, are not unique: a library may hand out
// one handle for all operations that are complete when the call that began them
// returns. Requests with equal handles are in line: a call is given the first that
// its own thread made, or if there is none, the first of all. A call
// that is given requests to wait for, test or free them is one that enters, with
// [Requests.Enter], and says what became of each with [Requests.Leave] or [Requests.Free]. Between
// the two its requests are not in line, so that another thread that begins an
// operation meanwhile, with a handle that the library has used again, does not
// meet them. A call that does anything else with requests, such as starting or
// cancelling them, only looks, with [Requests.Look], and may do so while another
// thread waits for them.
type Requests struct {
	// Thread is the number of the thread whose calls are told of next.
	Thread int

	pools     []keyPool
	byKey     wordmap.Map[int32] // first pool + 1 for each hash of a key
	keys      []byte             // all of them
	seed      maphash.Seed
	entries   []request
	spare     int32                 // first free entry + 1, linked by next
	byID      wordmap.Map[int32]    // entry of each id
	lines     wordmap.Map[line]     // of each raw value
	constants wordmap.Map[constant] // of raw values that are declared
	shared    wordmap.Map[constant] // raw values that several requests may have at a time
	seq       uint64
	looked    []int64 // by the call that is told of
}

type constant int64

// A keyPool is the pool of a key, keys[from:to] of a Requests.
type keyPool struct {
	symbolic.Pool
	from, to int
	next     int32 // + 1, of those with an equal hash; 0 is none
}

// A line holds the requests with one raw value in the order of their creation, by
// entry + 1, 0 being none. The first that has not entered a call is ready, and
// those before it have all entered.
type line struct{ first, last, ready int32 }

type request struct {
	raw        uint64
	id         int64
	seq        uint64 // order of creation
	next, prev int32  // in line, entry + 1
	thread     int    // that made it
	entered    bool
	persistent bool
}

// Declare says that a raw value is a constant, such as MPI_REQUEST_NULL, with an
// id that should be negative. Constants are never in line.
func (q *Requests) Declare(raw uint64, id int64) { *q.constants.Put(raw) = constant(id) }

// Create returns the id of a request that was made now, by a call with the given
// key. It does not keep key. For a constant it returns that, and makes nothing.
// A persistent request stays until it is freed, and is started and completed any number
// of times between. Starting one changes nothing here.
func (q *Requests) Create(raw uint64, key []byte, persistent bool) int64 {
	if c := q.constants.Find(raw); c != nil {
		return int64(*c)
	}
	return q.entries[q.add(raw, key, persistent)-1].id
}

// add puts a new request in line and returns its entry + 1.
func (q *Requests) add(raw uint64, key []byte, persistent bool) int32 {
	pool := q.pool(key)
	id := requestid.Join(int64(pool), q.pools[pool].Take())
	e := q.spare
	if e == 0 {
		q.entries = append(q.entries, request{})
		e = int32(len(q.entries))
	} else {
		q.spare = q.entries[e-1].next
	}
	q.seq++
	*q.byID.Put(uint64(id)) = e
	l := q.lines.Put(raw)
	q.entries[e-1] = request{raw: raw, id: id, seq: q.seq, prev: l.last, thread: q.Thread, persistent: persistent}
	if l.last == 0 {
		l.first = e
	} else {
		q.entries[l.last-1].next = e
	}
	l.last = e
	if l.ready == 0 {
		l.ready = e
	} else {
		q.Share(raw)
	}
	return e
}

// pool returns the number of the pool of a key.
func (q *Requests) pool(key []byte) int32 {
	if q.pools == nil {
		q.seed = maphash.MakeSeed()
	}
	first := q.byKey.Put(maphash.Bytes(q.seed, key))
	for n := *first; n != 0; n = q.pools[n-1].next {
		if p := &q.pools[n-1]; bytes.Equal(q.keys[p.from:p.to], key) {
			return n - 1
		}
	}
	from := len(q.keys)
	q.keys = append(doubled(q.keys, len(key)), key...)
	q.pools = append(doubled(q.pools, 1), keyPool{from: from, to: len(q.keys), next: *first})
	*first = int32(len(q.pools))
	return *first - 1
}

// doubled returns s with room for n more elements, and twice the room if there is none: each
// element is moved about once where all keys are new.
func doubled[T any](s []T, n int) []T {
	if len(s)+n > cap(s) {
		return slices.Grow(s, max(n, cap(s)))
	}
	return s
}

// Lookup returns the id of the request with a handle, or that of a constant, and
// whether there is one. Of several it is the one that [Requests.Enter] would take,
// or if all of them entered calls, the last that was made. It changes nothing.
func (q *Requests) Lookup(raw uint64) (id int64, ok bool) {
	if c := q.constants.Find(raw); c != nil {
		return int64(*c), true
	}
	l := q.lines.Find(raw)
	switch {
	case l == nil:
		return 0, false
	case l.ready != 0:
		return q.entries[q.first(l)-1].id, true
	}
	return q.entries[l.last-1].id, true
}

// Look appends to dst the ids of the requests that a call is given by the given
// handles and leaves as they are, in their order, and returns the extended slice:
// those of [Requests.Lookup], or of new requests as with [Requests.Enter] for
// handles that are not known. They stay in line. A handle that occurs several times
// stands for as many requests, as far as there are some.
func (q *Requests) Look(dst []int64, raws ...uint64) []int64 {
	for _, raw := range raws {
		id, known := q.Lookup(raw)
		if !known {
			id = q.entries[q.add(raw, nil, false)-1].id
		}
		dst = append(dst, id)
		if e := q.byID.Find(uint64(id)); e != nil && len(raws) > 1 && !q.entries[*e-1].entered {
			q.entries[*e-1].entered = true // the next is another
			q.advance(q.lines.Find(raw))
			q.looked = append(q.looked, id)
		}
	}
	for _, id := range q.looked {
		q.Leave(id, false)
	}
	q.looked = q.looked[:0]
	return dst
}

// Enter appends to dst the ids of the requests that a call is given by the given
// handles, in their order, and returns the extended slice. It takes them out of
// line: a handle that occurs several times stands for as many requests. The
// caller passes each of the ids to [Requests.Leave] or [Requests.Free] when the call has
// returned. A
// handle that is not known was made by a call that was not seen; its request gets
// an id from the pool of the empty key.
func (q *Requests) Enter(dst []int64, raws ...uint64) []int64 {
	for _, raw := range raws {
		if c := q.constants.Find(raw); c != nil {
			dst = append(dst, int64(*c))
			continue
		}
		l := q.lines.Find(raw)
		if l == nil || l.ready == 0 {
			q.add(raw, nil, false)
			l = q.lines.Find(raw)
		}
		r := &q.entries[q.first(l)-1]
		r.entered = true
		q.advance(l)
		dst = append(dst, r.id)
	}
	return dst
}

// first returns the entry + 1 of the request that a call of the thread is given by a
// handle of which some have not entered a call. It takes time in proportion to those
// that other threads made before.
func (q *Requests) first(l *line) int32 {
	for e := l.ready; e != 0; e = q.entries[e-1].next {
		if r := &q.entries[e-1]; r.thread == q.Thread && !r.entered {
			return e
		}
	}
	return l.ready
}

// advance moves l.ready to the first request from there on that has not entered
// a call.
func (q *Requests) advance(l *line) {
	for l.ready != 0 && q.entries[l.ready-1].entered {
		l.ready = q.entries[l.ready-1].next
	}
}

// Leave says that a request left the call that it entered, and whether it was found
// complete. Then it is gone, unless it is persistent: that one stays, to be started
// again. Constants may be passed, and stay what they are. It panics if the id is that of
// no request that entered.
func (q *Requests) Leave(id int64, complete bool) {
	e := q.entered(id)
	if e == 0 {
		return
	}
	r := &q.entries[e-1]
	if complete && !r.persistent {
		q.remove(e)
		return
	}
	r.entered = false
	l := q.lines.Find(r.raw)
	if l.ready == 0 || r.seq < q.entries[l.ready-1].seq {
		l.ready = e
	}
}

// Free is [Requests.Leave] for a request that the call freed, complete or not.
func (q *Requests) Free(id int64) {
	if e := q.entered(id); e != 0 {
		q.remove(e)
	}
}

// entered returns the entry + 1 of a request that entered a call, or 0 for a constant.
func (q *Requests) entered(id int64) int32 {
	e := q.byID.Find(uint64(id))
	if id < 0 && e == nil {
		return 0
	}
	if e == nil || !q.entries[*e-1].entered {
		panic(fmt.Sprintf("requests: request %d leaves a call that it did not enter", id))
	}
	return *e
}

// remove removes the request of entry e−1, which is not ready.
func (q *Requests) remove(e int32) {
	r := &q.entries[e-1]
	l := q.lines.Find(r.raw)
	if r.prev == 0 {
		l.first = r.next
	} else {
		q.entries[r.prev-1].next = r.next
	}
	if r.next == 0 {
		l.last = r.prev
	} else {
		q.entries[r.next-1].prev = r.prev
	}
	if l.first == 0 {
		q.lines.Remove(r.raw)
	}
	pool, index := requestid.Split(r.id)
	q.pools[pool].Release(index)
	q.byID.Remove(uint64(r.id))
	r.next, q.spare = q.spare, e
}

// Share says that the library may give a handle to several requests that exist at
// the same time. It is so for a handle of which a second request was made while
// another was in line, without saying.
func (q *Requests) Share(raw uint64) { *q.shared.Put(raw) = 0 }

// Drop says that the completion of requests with a handle that are in line, if any,
// may not have been seen, and the library has given the handle to a new request now.
// So they are gone, unless the handle is shared: then they may be waited for yet,
// and stay. It takes time in proportion to those that are with the handle.
func (q *Requests) Drop(raw uint64) {
	if q.shared.Find(raw) != nil {
		return
	}
	for {
		l := q.lines.Find(raw)
		if l == nil || l.ready == 0 {
			return
		}
		e := l.ready
		q.entries[e-1].entered = true
		q.advance(l)
		q.remove(e)
	}
}
