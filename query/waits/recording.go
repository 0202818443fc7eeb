package waits

import (
	"context"
	"io"
	"math"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// A recording is the times of the calls of a trace, and what was found of the calls that waited.
type recording struct {
	trace       *trace.Trace
	differences *query.Differences
	guarantee   timing.Guarantee
	startsOff   int64        // by how much starts may be off, in nanoseconds
	threads     bool         // ranks may have several
	ranks       *rankenc.Set // whose waits are told; nil for all
	region      *query.Region
	begin       int64 // the first of the starts of the first calls of ranks, in nanoseconds

	clocks map[clockKey]*clock
	recent *clock
	stop   context.CancelCauseFunc

	names      query.Sites
	signatures []int32 // number of the site, by signature; −1 for one that no call had yet
	sites      []Site
	numbers    map[Site]int32

	times *query.Times
	run   *query.RunTimes // nil if they are not known

	victims map[victimKey]*victim
	causes  map[delayKey]*cause

	// Some that were looked for last, each in a place that follows from its key.
	lastCauses [256]struct {
		key delayKey
		of  *cause
	}

	short  uint64
	pairs  map[pairKey]*pair // nil if they are not asked for
	listed *rankenc.Set      // ranks whose calls are listed
	calls  map[int][]waited  // of these
	early  bool              // a call that received a message ended before that was sent
	apart  apart
}

// An apart is by how much clocks of ranks differ, as collective operations show that no rank ends before all begin.
type apart struct {
	calls, early uint64  // those that began before the last of them, and those of these that ended before it, too
	by           float64 // how long before, in nanoseconds, at least
}

type victimKey struct {
	rank int
	site int32
	kind uint8
}

// wrongOrder is the kind of a late sender in the wrong order.
const wrongOrder = math.MaxUint8

type victim struct {
	calls          uint64
	wait, off, max float64
	by             map[int]float64 // wait, by the rank that it is for
}

type delayKey struct {
	rank     int
	inCall   bool
	from, to int32 // numbers of sites; −1 for none
}

// ofAny returns the key of the same on any rank.
func (k delayKey) ofAny() delayKey {
	k.rank = -1
	return k
}

type cause struct{ cost, direct float64 }

type pairKey struct {
	victimKey
	cause delayKey
}

// A pair is how long a victim waited because of a cause, and the call that did so longest.
type pair struct {
	wait, longest float64
	position      uint64
}

// maxPairs is how many different pairs there may be.
const maxPairs = 1 << 18

func newRecording(model *semantics.Model, o Options) (*recording, error) {
	tr := model.Trace()
	times, err := o.Times, error(nil)
	if times == nil {
		times, err = query.OpenTimes(tr)
	}
	if err != nil {
		return nil, err
	}
	r := &recording{trace: tr, ranks: o.Ranks, region: o.Region, clocks: make(map[clockKey]*clock),
		names:      query.SitesOf(tr),
		signatures: make([]int32, tr.Signatures()), numbers: make(map[Site]int32),
		victims: make(map[victimKey]*victim), causes: make(map[delayKey]*cause),
		times: times, listed: o.Calls, calls: make(map[int][]waited)}
	if o.Pairs {
		r.pairs = make(map[pairKey]*pair)
	}
	for i := range r.signatures {
		r.signatures[i] = -1
	}
	if r.guarantee, err = times.Guarantee(); err != nil {
		return nil, err
	}
	if r.differences, err = times.Differences(); err != nil {
		return nil, err
	}
	r.threads, r.startsOff = query.HasThreads(tr), times.Starts()
	r.begin = math.MaxInt64
	for _, rank := range tr.RankSet().All() {
		s, err := tr.Series(rank)
		if err != nil {
			return nil, err
		}
		start, err := s.Start(0)
		if err != nil {
			return nil, err
		}
		r.begin = min(r.begin, start)
	}
	return r, nil
}

type clockKey struct {
	rank   *trace.Rank
	thread int
}

// A clock reads the times of the calls of a thread.
type clock struct {
	key   clockKey
	times *trace.TimeReader
	now   timing.Time // of the call before position at
	next  timing.Time // of the call there
	at    uint64
	ended bool // there is none
	gaps  bool // times have the gaps before calls
}

// clockOf returns the clock of the thread of a call.
func (r *recording) clockOf(c *replay.Call) *clock {
	k := clockKey{c.Rank.Rank, c.Thread}
	if r.recent != nil && r.recent.key == k {
		return r.recent
	}
	t := r.clocks[k]
	if t == nil {
		t = &clock{key: k, at: c.Position, gaps: c.Rank.Series() != nil && c.Rank.Series().Form() == timing.Gaps}
		t.times = c.Rank.ReadTimes(c.Position)
		r.read(t)
		t.at = c.Position
		r.clocks[k] = t
	}
	r.recent = t
	return t
}

// read goes on to the next call of the rank of a clock.
func (r *recording) read(t *clock) {
	if t.ended {
		r.stop(io.ErrUnexpectedEOF)
		return
	}
	var err error
	t.now, t.at = t.next, t.at+1
	if t.next, err = t.times.Next(); err != nil {
		if t.ended = true; err != io.EOF {
			r.stop(err)
		}
	}
}

// Times returns when a call started and ended, and when it may have ended at the latest.
func (r *recording) Times(c *replay.Call) (start, end, latest replay.Time) {
	t := r.clockOf(c)
	for t.at <= c.Position { // calls of other threads come between
		if r.read(t); t.ended && t.at <= c.Position {
			return 0, 0, 0
		}
	}
	from, to, last := t.now.Start, wire.AddTimes(t.now.Start, max(0, t.now.Duration)), int64(0)
	if last = to; r.guarantee != timing.Exact {
		to, last = r.nearest(t)
	}
	if signature := c.Rank.Signature(c.Terminal); r.signatures[signature] < 0 {
		r.meet(c, signature)
	}
	return r.time(from), r.time(to), r.time(last)
}

// nearest returns when a call ended whose times are not exact, and when it did at the latest: by how long it
// took, or by the gap to the next call of the thread, if that is shorter.
func (r *recording) nearest(t *clock) (end, latest int64) {
	at := &t.now
	end = wire.AddTimes(at.Start, max(0, at.Duration))
	off := 2 * float64(r.guarantee) * float64(max(0, at.Duration))
	if !t.ended && !r.threads {
		next := &t.next
		if gap := max(0, next.Delta); t.gaps && gap < at.Duration {
			end, off = max(at.Start, wire.SubTimes(next.Start, gap)), 2*float64(r.guarantee)*float64(gap)
		}
		off = min(off, max(0, float64(next.Start)-float64(end)))
	}
	return end, wire.AddTimes(end, int64(min(off, math.MaxInt64/4))+2*r.startsOff)
}

// time returns a time of the recording as one of the replay.
func (r *recording) time(ns int64) replay.Time {
	const most = int64(math.MaxInt64 / replay.Nanosecond / 2)
	return replay.Time(max(-most, min(wire.SubTimes(ns, r.begin), most))) * replay.Nanosecond
}

// meet takes note of the site of a signature.
func (r *recording) meet(c *replay.Call, signature int) {
	call := c.Rank.Call(c.Terminal)
	s := Site{Function: call.Function.Name}
	if place := r.names.Of(&call); place != "" {
		s.Place = query.Frames(place)[0]
	}
	n, ok := r.numbers[s]
	if !ok {
		n = int32(len(r.sites))
		r.numbers[s], r.sites = n, append(r.sites, s)
	}
	r.signatures[signature] = n
}

// Site returns the number of the site of a call whose times were read.
func (r *recording) Site(c *replay.Call) int { return int(r.signatures[c.Rank.Signature(c.Terminal)]) }

// A told is a wait of a victim that may turn out to be in the wrong order.
type told struct {
	key       victimKey
	wait, off float64
	by        int
	position  uint64
	causes    []share // if pairs are asked for
	listed    int     // its number among the calls of its rank, −1 if these are not listed
}

// A waited is a call that is listed.
type waited struct {
	position uint64
	wait     float64
	by       int32
	kind     uint8
}

// A share is a part of a wait that a delay caused.
type share struct {
	of   delayKey
	wait float64
}

// Waited takes note of a call that waits, unless that may come from times and clocks.
func (r *recording) Waited(w *replay.Waited) any {
	rank := w.Call.Rank.Number()
	since, off := r.differences.Of(rank, r.nanoseconds(w.Start), w.Rank, r.nanoseconds(w.Since))
	takes := float64(w.Latest-w.Start) / float64(replay.Nanosecond)
	all := w.Kind == replay.WaitAtBarrier || w.Kind == replay.WaitAtNxN
	if all = all && query.NeedsAll(r.sites[r.Site(w.Call)].Function); all {
		r.apart.calls++
	}
	if since > takes+off {
		if all {
			r.apart.early, r.apart.by = r.apart.early+1, max(r.apart.by, since-takes-off)
		}
		r.early = r.early || w.Kind == replay.LateSender
		return nil
	}
	switch {
	case r.ranks != nil && !r.ranks.Contains(rank), r.inStartup(w),
		r.region != nil && !r.region.Contains(rank, w.Call.Position):
		return nil
	}
	wait := min(since, takes)
	if wait <= off || wait <= 0 {
		r.short++
		return nil
	}
	t := &told{victimKey{rank, int32(r.Site(w.Call)), uint8(w.Kind)}, wait, off, w.Rank,
		w.Call.Position, nil, -1}
	r.victim(t.key).add(t, 1)
	if r.listed != nil && r.listed.Contains(rank) {
		t.listed = len(r.calls[rank])
		r.calls[rank] = append(r.calls[rank], waited{t.position, wait, int32(w.Rank), t.key.kind})
	}
	for _, d := range w.Delays() {
		k := r.keyOf(&d)
		c := r.cause(k)
		c.cost += d.Share * wait
		if d.Rank == w.Rank {
			c.direct += d.Share * wait
		}
		if r.pairs != nil {
			t.causes = append(t.causes, share{k, d.Share * wait})
		}
	}
	r.pair(t, 1)
	if w.Kind != replay.LateSender {
		return nil
	}
	return t
}

// cause returns the cause with a key. It keeps some that were looked for last at hand.
func (r *recording) cause(k delayKey) *cause {
	at := &r.lastCauses[uint32(int32(k.rank)*31+k.from*7+k.to*5)%uint32(len(r.lastCauses))]
	if at.of != nil && at.key == k {
		return at.of
	}
	c := r.causes[k]
	if c == nil {
		c = new(cause)
		r.causes[k] = c
	}
	at.key, at.of = k, c
	return c
}

// pair adds the causes of a wait to those of its victim, or takes them away. The longest stays.
func (r *recording) pair(t *told, sign float64) {
	for _, c := range t.causes {
		k := pairKey{t.key, c.of}
		p := r.pairs[k]
		if p == nil {
			if len(r.pairs) >= maxPairs {
				continue
			}
			p = new(pair)
			r.pairs[k] = p
		}
		if p.wait += sign * c.wait; c.wait > p.longest {
			p.longest, p.position = c.wait, t.position
		}
	}
}

// inStartup reports whether a call starts before the run, beyond what that may be off.
func (r *recording) inStartup(w *replay.Waited) bool {
	return r.run != nil && float64(r.nanoseconds(w.Start)) < float64(r.run.Begin)-float64(r.run.Error)
}

// WrongOrder takes note of a wait that turned out to be in the wrong order.
func (r *recording) WrongOrder(kept any) {
	t := kept.(*told)
	r.victim(t.key).add(t, -1)
	r.pair(t, -1)
	if r.victims[t.key].calls == 0 {
		delete(r.victims, t.key)
	}
	t.key.kind = wrongOrder
	r.victim(t.key).add(t, 1)
	r.pair(t, 1)
	if t.listed >= 0 {
		r.calls[t.key.rank][t.listed].kind = wrongOrder
	}
}

func (r *recording) victim(k victimKey) *victim {
	v := r.victims[k]
	if v == nil {
		v = &victim{by: make(map[int]float64)}
		r.victims[k] = v
	}
	return v
}

// add adds a wait to those of a victim, or takes it away. The longest stays.
func (v *victim) add(t *told, sign float64) {
	if sign > 0 {
		v.calls, v.max = v.calls+1, max(v.max, t.wait)
	} else {
		v.calls--
	}
	v.wait, v.off = v.wait+sign*t.wait, v.off+sign*t.off
	v.by[t.by] += sign * t.wait
}

func (r *recording) keyOf(d *replay.Delay) delayKey {
	if d.InCall {
		return delayKey{d.Rank, true, -1, int32(d.Before)}
	}
	return delayKey{d.Rank, false, int32(d.After), int32(d.Before)}
}

func (r *recording) delay(k delayKey) Delay {
	d := Delay{Rank: k.rank, InCall: k.inCall, To: r.sites[k.to]}
	if k.from >= 0 {
		d.From = &r.sites[k.from]
	}
	return d
}

// nanoseconds returns a time of the replay as one of the recording.
func (r *recording) nanoseconds(t replay.Time) int64 {
	return wire.AddTimes(r.begin, int64(t/replay.Nanosecond))
}
