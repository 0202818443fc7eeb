package query

import (
	"cmp"
	"container/heap"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// A regionUse is what a rank does in a region.
type regionUse struct {
	calls         uint64
	time          Nanoseconds // in calls, those of all threads
	span, inCalls Nanoseconds // as those of a [RegionTime]
	unknown       bool        // how much of span is in calls
}

// uses returns what the rank of a clock does in each of some regions, none of which is of times. It reads the times of
// its calls once: it costs that, and O(log threads) for each call and each span if the threads nest their regions
// alike. Only if calls of a thread overlap, it reads those of each region.
func (c *Clock) uses(t *trace.Trace, regions []*Region) ([]regionUse, error) {
	list := make([]regionUse, len(regions))
	starts := threadStarts(c.rank, t)
	lanes := make([]lane, len(starts))
	for i := range lanes {
		lanes[i] = lane{number: i, at: starts[i], end: c.rank.Len()}
		if i > 0 {
			lanes[i-1].end = starts[i]
		}
	}
	for n, g := range regions {
		for _, s := range byThread(g.Spans(c.rank.Number()), starts) {
			i, found := slices.BinarySearch(starts, s.First)
			if !found {
				i--
			}
			l := &lanes[i]
			l.boundaries = append(l.boundaries, boundary{s.First, n, true}, boundary{s.End, n, false})
			list[n].calls = wire.AddSat(list[n].calls, s.End-s.First)
		}
	}
	for _, l := range lanes {
		slices.SortFunc(l.boundaries, func(a, b boundary) int {
			if a.position == b.position && a.enters != b.enters { // a region is left before it is entered again
				if b.enters {
					return -1
				}
				return 1
			}
			return cmp.Or(cmp.Compare(a.position, b.position), cmp.Compare(a.region, b.region))
		})
	}
	switch c.source {
	case None:
		return list, nil
	case Series:
		sweep := regionSweep{uses: list, in: make([]regionState, len(list))}
		apart, err := sweep.run(c.rank, lanes)
		if err != nil || apart {
			return list, err
		}
		return list, c.usesByRegion(list, regions)
	}
	return list, c.usesOfEstimate(list, lanes)
}

// usesByRegion sets what the rank does in each region, one after the other.
func (c *Clock) usesByRegion(list []regionUse, regions []*Region) error {
	for n, g := range regions {
		w, spent, err := c.within(g, minTime, maxTime)
		if err != nil {
			return err
		}
		u := &list[n]
		u.span = spent
		_, u.time = w.Total()
		if u.unknown = math.IsInf(w.Covered, 1); u.unknown {
			u.inCalls = min(u.time, spent)
		} else {
			u.inCalls = min(Nanoseconds(w.Covered), spent)
		}
	}
	return nil
}

// usesOfEstimate sets what the rank does in regions by the time that goes by, and the time in calls, up to the
// boundaries of their spans.
func (c *Clock) usesOfEstimate(list []regionUse, lanes []lane) error {
	e := c.clock.(*rankEstimate)
	inCalls := newPairs(e.pairs.grammar, e.costs.inCalls())
	began := make([]int64, len(list))
	for _, l := range lanes {
		for _, b := range l.boundaries {
			var at int64
			var err error
			if b.position == l.at {
				at, _, err = c.Time(b.position)
			} else {
				var duration int64
				at, duration, err = c.Time(b.position - 1)
				at = wire.AddTimes(at, duration)
			}
			if err != nil {
				return err
			}
			u, time := &list[b.region], Nanoseconds(math.Ldexp(float64(inCalls.before(b.position)), -e.shift))
			if b.enters {
				began[b.region], u.time = at, u.time-time
				continue
			}
			u.time += time
			u.span += Nanoseconds(max(0, elapsed(began[b.region], at)))
		}
	}
	for n := range list {
		u := &list[n]
		u.time = Nanoseconds(math.Round(float64(u.time)))
		u.inCalls, u.unknown = min(u.time, u.span), true
	}
	return nil
}

// A lane is the calls of a thread of a rank, in the order of which they come.
type lane struct {
	number  int
	at, end uint64 // of the calls that are to be read
	times   *trace.TimeReader

	boundaries []boundary // that are to come
	last       timing.Time
	inCall     bool
	next       int64 // when something happens
	spent      float64
}

// A boundary is where a thread comes to a region, which it does after the call before a position, or leaves it.
type boundary struct {
	position uint64
	region   int
	enters   bool
}

// ends returns when the last call that was read ends.
func (l *lane) ends() int64 { return wire.AddTimes(l.last.Start, l.last.Duration) }

// read reads the next call. It reports whether there is one, and whether it begins and ends no earlier than the one
// before, of which it may begin before the end.
func (l *lane) read() (more, apart bool, err error) {
	if l.at == l.end || len(l.boundaries) == 0 { // all that is asked for is known
		return false, true, nil
	}
	start, end := l.last.Start, l.ends()
	first := l.next == minTime
	if l.last, err = l.times.Next(); err != nil {
		if err == io.EOF { // it has no times
			err = nil
		}
		return false, true, err
	}
	l.at++
	if l.next = l.last.Start; !first {
		l.next = max(l.next, end)
	}
	return true, l.last.Duration >= 0 && (first || l.last.Start >= start && l.ends() >= end), nil
}

// A threadSet is threads that are in a region at once. Covered is how long at least one of them was in a call, while
// the set was that of a region, up to the time since which one is, if busy threads are.
type threadSet struct {
	threads []int
	toggled map[int]*threadSet // with a thread more, or less

	regions int // of which it is the set
	busy    int
	since   int64
	covered float64
}

func (s *threadSet) coveredAt(time int64) float64 {
	if s.busy > 0 {
		return s.covered + elapsed(s.since, time)
	}
	return s.covered
}

// A regionState is what a sweep knows of a region. Threads is nil if none is in it.
type regionState struct {
	threads *threadSet
	since   int64   // when the set was not empty any more
	before  float64 // covered of threads when it became the set
}

// minSets is how many sets of threads are kept at least.
const minSets = 1 << 10

// A regionSweep goes through the calls of the threads of a rank in the order of time, and adds up how long they are in
// regions. Regions in which the same threads are share what these do.
type regionSweep struct {
	uses []regionUse
	in   []regionState
	none *threadSet
	sets map[string]*threadSet // those of regions, and some that were
	most int                   // before those are forgotten that are of none
	of   [][]*threadSet        // by thread: the sets of regions that it is in
	busy []bool                // by thread
	heap laneHeap
}

// run adds up everything. It reports false, and what was added up is nothing, if calls of a thread overlap.
func (s *regionSweep) run(r *trace.Rank, lanes []lane) (apart bool, err error) {
	s.sets, s.most, s.none = make(map[string]*threadSet), minSets, &threadSet{toggled: make(map[int]*threadSet)}
	s.of, s.busy = make([][]*threadSet, len(lanes)), make([]bool, len(lanes))
	for i := range lanes {
		l := &lanes[i]
		if len(l.boundaries) == 0 {
			continue
		}
		l.times, l.next = r.ReadTimes(l.at), minTime
		begin := l.at
		more, apart, err := l.read()
		if err != nil || !apart {
			return false, err
		}
		if more {
			s.cross(l, begin, l.last.Start)
			s.heap = append(s.heap, l)
		}
	}
	heap.Init(&s.heap)
	for len(s.heap) > 0 {
		l := s.heap[0]
		more := true
		if l.inCall = !l.inCall; l.inCall {
			s.setBusy(l.number, true, l.next)
			l.next = l.ends()
		} else {
			s.setBusy(l.number, false, l.next)
			l.spent += float64(l.last.Duration)
			s.cross(l, l.at, l.next)
			if more, apart, err = l.read(); err != nil || !apart {
				return false, err
			}
		}
		if more {
			heap.Fix(&s.heap, 0)
		} else {
			heap.Pop(&s.heap)
		}
	}
	return true, nil
}

// cross has a thread cross the boundaries up to a position, at a time.
func (s *regionSweep) cross(l *lane, position uint64, time int64) {
	for len(l.boundaries) > 0 && l.boundaries[0].position <= position {
		b := l.boundaries[0]
		l.boundaries = l.boundaries[1:]
		u := &s.uses[b.region]
		if b.enters {
			u.time -= Nanoseconds(l.spent)
		} else {
			u.time += Nanoseconds(l.spent)
		}
		s.toggle(b.region, l.number, time)
	}
}

// toggle has a thread come to a region, or leave it.
func (s *regionSweep) toggle(region, thread int, time int64) {
	in, u := &s.in[region], &s.uses[region]
	old := cmp.Or(in.threads, s.none)
	set := old.toggled[thread]
	if set == nil {
		threads := slices.Clone(old.threads)
		if i, found := slices.BinarySearch(threads, thread); found {
			threads = slices.Delete(threads, i, i+1)
		} else {
			threads = slices.Insert(threads, i, thread)
		}
		set = s.setOf(threads)
		old.toggled[thread] = set
	}
	switch {
	case len(old.threads) == 0:
		in.since = time
	case len(set.threads) == 0:
		u.span += Nanoseconds(elapsed(in.since, time))
	}
	if len(old.threads) > 0 {
		u.inCalls += Nanoseconds(old.coveredAt(time) - in.before)
		if old.regions--; old.regions == 0 {
			s.drop(old)
		}
	}
	if len(set.threads) > 0 {
		if set.regions++; set.regions == 1 {
			s.follow(set, time)
		}
		in.before = set.coveredAt(time)
	} else {
		set = nil
	}
	in.threads = set
}

// setOf returns the set of some threads, which are in order.
func (s *regionSweep) setOf(threads []int) *threadSet {
	if len(threads) == 0 {
		return s.none
	}
	key := make([]byte, 0, 8*len(threads))
	for _, thread := range threads {
		key = wire.AppendUvarint(key, uint64(thread))
	}
	set := s.sets[string(key)]
	if set == nil {
		if len(s.sets) >= s.most {
			s.forget()
		}
		set = &threadSet{threads: threads, toggled: make(map[int]*threadSet)}
		s.sets[string(key)] = set
	}
	return set
}

// forget forgets the sets that are of no region.
func (s *regionSweep) forget() {
	maps.DeleteFunc(s.sets, func(_ string, set *threadSet) bool { return set.regions == 0 })
	for _, set := range s.sets {
		clear(set.toggled)
	}
	clear(s.none.toggled)
	s.most = max(minSets, 2*len(s.sets))
}

// follow adds a set to those of its threads, of which some may be in a call.
func (s *regionSweep) follow(set *threadSet, time int64) {
	set.busy, set.since, set.covered = 0, time, 0
	for _, thread := range set.threads {
		s.of[thread] = append(s.of[thread], set)
		if s.busy[thread] {
			set.busy++
		}
	}
}

// drop takes a set that is of no region from those of its threads.
func (s *regionSweep) drop(set *threadSet) {
	for _, thread := range set.threads {
		i := slices.Index(s.of[thread], set)
		s.of[thread] = slices.Delete(s.of[thread], i, i+1)
	}
}

// setBusy has a thread come to a call or leave it.
func (s *regionSweep) setBusy(thread int, busy bool, time int64) {
	s.busy[thread] = busy
	for _, set := range s.of[thread] {
		switch {
		case busy:
			if set.busy++; set.busy == 1 {
				set.since = time
			}
		default:
			if set.busy--; set.busy == 0 {
				set.covered += elapsed(set.since, time)
			}
		}
	}
}

// A laneHeap has the lane first in which something happens next.
type laneHeap []*lane

func (h laneHeap) Len() int           { return len(h) }
func (h laneHeap) Less(i, j int) bool { return h[i].next < h[j].next }
func (h laneHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *laneHeap) Push(l any)        { *h = append(*h, l.(*lane)) }

func (h *laneHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
