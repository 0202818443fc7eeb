package query

import (
	"cmp"
	"context"
	"slices"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// A Skew says how far apart the members of a communicator begin what is one collective
// operation, by the clocks of the recording. Where clocks of several machines may be off by as much, members
// count as if they began together.
type Skew struct {
	Communicator *semantics.Communicator `json:"communicator"`
	Function     string                  `json:"function"`
	Root         int                     `json:"root"` // in the run; −1 if there is none

	Instances uint64 `json:"instances"` // operations that the reference of [Instances] has
	Sampled   int    `json:"sampled"`   // those that were looked at, which all members agree on

	Mean        Nanoseconds `json:"mean_ns"` // from the first member that begins to the last
	Median      Nanoseconds `json:"median_ns"`
	Max         int64       `json:"max_ns"`
	MaxInstance uint64      `json:"max_instance"` // the number on its communicator of the one with the maximum

	// MaxStraggler is the member that is the last to begin that one, the lowest if there
	// are several, at the position MaxPosition and the time MaxStart since [Times.Begin].
	MaxStraggler int    `json:"max_straggler"`
	MaxPosition  uint64 `json:"max_position"`
	MaxStart     int64  `json:"max_start_ns"`

	// Guarantee is how far the time from a call to the next may be from what it was, of
	// the member of which that is most.
	Guarantee timing.Guarantee `json:"relative_error"`

	// StartError is how many nanoseconds each start may be off at most, by the longest time
	// between calls in the run: skews of less mean nothing. It is nil if the trace has no
	// statistics that tell.
	StartError *int64 `json:"start_error_ns,omitzero"`

	// Apart is how far the clocks of ranks differ at least, by operations that end on a member before another begins
	// them: see [ClocksDiffer]. Then it is the clocks that the skews are of. Only exact times tell it.
	Apart Nanoseconds `json:"clocks_differ_ns,omitzero"`

	// Straggler is the member that is most often last to arrive: of all skews together,
	// those of operations that it was the last to begin are most. StragglerShare is the
	// share of these, from 0 to 1.
	Straggler      int     `json:"straggler"`
	StragglerShare float64 `json:"straggler_share"`
}

// Limits of what is looked at for a Skew.
const (
	maxStarts     = 1 << 18 // on a communicator, of all members
	minSamples    = 16
	maxSkewStarts = 1 << 21 // on all communicators together
)

// Skew returns the skew of the collective operations of each communicator on which
// several members have the times of every call, the largest first. It looks at all operations
// of a communicator if its members make 262,144 calls for them at most. Of more it looks at
// some, of which each is drawn from an equal part of all, so that members make that many, and
// 16 at least. Each costs every member the decoding of a block of times, and all of them at
// most that of all. Communicators of few operations are left out where there are too many.
func (m *Match) Skew(ctx context.Context, times *Times, o Options) ([]Skew, error) {
	need.That(times != nil, "query: no times")
	jobs, err := m.operations(ctx, times, o)
	if err != nil {
		return nil, err
	}
	clocks, err := times.clocks()
	if err != nil {
		return nil, err
	}
	var list []Skew
	for _, j := range jobs {
		list = append(list, j.skews(clocks)...)
	}
	begin, err := times.Begin()
	if err != nil {
		return nil, err
	}
	for i := range list {
		s := &list[i]
		s.MaxStart = wire.SubTimes(s.MaxStart, begin)
		s.StartError = times.knownStartError(s.Guarantee, minTime, maxTime)
	}
	slices.SortStableFunc(list, func(a, b Skew) int {
		return cmp.Compare(float64(b.Mean)*float64(b.Instances), float64(a.Mean)*float64(a.Instances))
	})
	return list, nil
}

// operations returns the collective operations of each communicator that are looked at, with their times.
func (m *Match) operations(ctx context.Context, times *Times, o Options) ([]*skewJob, error) {
	timed, _, err := times.trace.SeriesRanks()
	if err != nil {
		return nil, err
	}
	var jobs []*skewJob
	total := 0
	byRank := make(map[int][]skewPart)
	for i := range m.Instances {
		if !severalOf(timed, m.Instances[i].Members) {
			continue
		}
		j := newSkewJob(&m.Instances[i], m.maxStarts)
		if total += len(j.samples) * len(j.members); j.members == nil || total > maxSkewStarts {
			continue
		}
		jobs = append(jobs, j)
		for k, rank := range j.members {
			byRank[rank] = append(byRank[rank], skewPart{j, k})
		}
	}
	var ranks []int
	for rank := range byRank {
		ranks = append(ranks, rank)
	}
	slices.Sort(ranks)
	done := progress{tell: o.Progress}
	err = o.each(ctx, len(ranks), func(i int) error {
		defer done.add(1)
		return m.starts(ctx, ranks[i], byRank[ranks[i]])
	})
	return jobs, err
}

// severalOf reports whether a set has more than one of some ranks.
func severalOf(set, ranks rankenc.Set) bool {
	n := 0
	for _, rank := range ranks.All() {
		if set.Contains(int(rank)) {
			if n++; n > 1 {
				return true
			}
		}
	}
	return false
}

// A skewJob is the operations of a communicator that are looked at.
type skewJob struct {
	instances *Instances
	members   []int
	samples   []uint64                  // numbers of operations
	starts    [][]callTime              // by member, then by sample; nil if it has no times
	off       []timing.Guarantee        // of these
	calls     []CollectiveCall          // of the reference, by sample
	flows     []flow                    // the same
	counts    map[CollectiveCall]uint64 // of operations that are agreed on, by function and root
}

// A callTime is when a call began, and how long it took.
type callTime struct {
	position        uint64
	start, duration int64
}

// A skewPart is a member of a job.
type skewPart struct {
	job    *skewJob
	member int
}

func newSkewJob(n *Instances, maxStarts int) *skewJob {
	j := &skewJob{instances: n}
	agreed := n.Count
	for _, d := range n.Different {
		agreed = min(agreed, d.Instance)
	}
	members := n.Members.Len()
	if agreed == 0 || members < 2 {
		return j
	}
	for _, rank := range n.Members.All() {
		j.members = append(j.members, int(rank))
	}
	j.starts, j.off = make([][]callTime, members), make([]timing.Guarantee, members)
	j.samples = sampled(agreed, uint64(max(maxStarts/members, minSamples)))
	return j
}

// sampled returns the numbers below n if they are at most so many, and otherwise as many
// of them, each from an equal part.
func sampled(n, most uint64) []uint64 {
	var samples []uint64
	if n <= most {
		for k := range n {
			samples = append(samples, k)
		}
		return samples
	}
	width := n / most
	for k := range most {
		offset := (k + 1) * 0x9e3779b97f4a7c15 >> 16 // so that a period of the program is not met
		samples = append(samples, k*width+offset%width)
	}
	return samples
}

// starts finds out when a rank begins the operations of its jobs.
func (m *Match) starts(ctx context.Context, rank int, parts []skewPart) error {
	one, err := m.read(ctx, rank)
	if err != nil {
		return err
	}
	r := one.rank
	var wanted []*callTime
	for i, p := range parts {
		s, err := one.sequence(ctx, p.job.instances.Communicator)
		if err != nil {
			return err
		}
		if p.job.instances.Reference == rank {
			p.job.name(one.operations, s)
		}
		if r.Series() == nil {
			continue
		}
		starts := make([]callTime, len(p.job.samples))
		p.job.starts[p.member], p.job.off[p.member] = starts, r.Series().Guarantee()
		for i, k := range p.job.samples {
			starts[i].position, _ = s.at(k)
			wanted = append(wanted, &starts[i])
		}
		if i%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return readTimes(r.Rank, wanted)
}

// readTimes reads when calls of a rank began that has the times of every call, and how
// long they took. Each block of these is decoded once.
func readTimes(r *trace.Rank, wanted []*callTime) error {
	slices.SortFunc(wanted, func(a, b *callTime) int { return cmp.Compare(a.position, b.position) })
	for len(wanted) > 0 {
		at := wanted[0].position
		block, _ := r.Series().Find(at)
		end := r.Series().First(block + 1)
		for t, err := range r.Times(at) {
			if err != nil {
				return err
			}
			for len(wanted) > 0 && wanted[0].position == at {
				wanted[0].start, wanted[0].duration = t.Start, t.Duration
				wanted = wanted[1:]
			}
			if at++; at >= end || len(wanted) == 0 || wanted[0].position >= end {
				break
			}
		}
	}
	return nil
}

// name says which operations the samples are, by the calls of the reference, and how many
// there are of each.
func (j *skewJob) name(o *operations, s sequence) {
	for _, k := range j.samples {
		c, operation := o.call(j.instances.Communicator, s, k)
		c.Position = 0
		j.calls, j.flows = append(j.calls, c), append(j.flows, flowOf(c.Function, operation))
	}
	j.counts = make(map[CollectiveCall]uint64)
	for _, found := range o.collectives[j.instances.Communicator].list {
		for _, p := range operationsOn(found.Operation, j.instances.Communicator) {
			c := CollectiveCall{0, collectiveName(functionOf(o.rank, found.Terminal)), p.Root}
			j.counts[c] = wire.AddSat(j.counts[c], found.Count)
		}
	}
}

// A skewSum adds up the skew of operations of one function and root.
type skewSum struct {
	Skew
	widths []int64
	last   map[int]float64 // nanoseconds, by rank
	hidden int             // of widths, that clocks explain

	early uint64 // operations that end on a member before another begins them
	apart int64  // how long before, at most
}

// skews returns the skew of each function and root, but for those that may all come from the clocks alone: a
// skew of one operation that may is none.
func (j *skewJob) skews(clocks clockErrors) (list []Skew) {
	var timed []int // members
	for k, starts := range j.starts {
		if starts != nil {
			timed = append(timed, k)
		}
	}
	if len(timed) < 2 {
		return nil
	}
	sums := make(map[CollectiveCall]*skewSum)
	var order []*skewSum
	for i, c := range j.calls {
		s := sums[c]
		if s == nil {
			s = &skewSum{Skew: Skew{Communicator: j.instances.Communicator, Function: c.Function,
				Root: c.Root, Instances: j.counts[c]}, last: make(map[int]float64)}
			sums[c] = s
			order = append(order, s)
		}
		j.addSkew(s, i, timed, clocks)
	}
	for _, s := range order {
		if s.hidden < len(s.widths) {
			list = append(list, s.finish())
		}
	}
	return list
}

// addSkew adds sample i of those members whose times are known.
func (j *skewJob) addSkew(s *skewSum, i int, timed []int, clocks clockErrors) {
	first, last := timed[0], timed[0]
	for _, member := range timed {
		if j.starts[member][i].start < j.starts[first][i].start {
			first = member
		}
		if j.starts[member][i].start > j.starts[last][i].start {
			last = member
		}
		s.Guarantee = max(s.Guarantee, j.off[member])
	}
	if j.flows[i] == allToAll {
		j.addEarly(s, i, timed, last, clocks)
	}
	latest := j.starts[last][i]
	earliest := j.starts[first][i].start
	from, to := clocks.onClock(j.members[first], earliest, j.members[last], latest.start)
	width := to - from
	if clocks.explain(j.members[first], earliest, j.members[last], latest.start, float64(width)) {
		width, s.hidden = 0, s.hidden+1
	}
	if width > s.Max || len(s.widths) == 0 {
		s.Max, s.MaxInstance = width, j.samples[i]
		s.MaxStraggler, s.MaxPosition, s.MaxStart = j.members[last], latest.position, latest.start
	}
	s.widths = append(s.widths, width)
	s.last[j.members[last]] += float64(width)
}

// addEarly takes note of a sample that ends on a member before the last begins it.
func (j *skewJob) addEarly(s *skewSum, i int, timed []int, last int, clocks clockErrors) {
	by, latest := int64(0), j.starts[last][i].start
	for _, member := range timed {
		at := j.starts[member][i]
		start, begun := clocks.onClock(j.members[member], at.start, j.members[last], latest)
		before := wire.SubTimes(begun, wire.AddTimes(start, max(0, at.duration)))
		if before > by && !clocks.explain(j.members[member], at.start, j.members[last], latest, float64(before)) {
			by = before
		}
	}
	if by > 0 {
		s.early, s.apart = s.early+1, max(s.apart, by)
	}
}

// finish returns the skew of all operations that were added.
func (s *skewSum) finish() Skew {
	slices.Sort(s.widths)
	total := 0.0
	for _, w := range s.widths {
		total += float64(w)
	}
	s.Mean = Nanoseconds(total / float64(len(s.widths)))
	if s.Guarantee == timing.Exact && ClocksDiffer(s.early, uint64(len(s.widths))) {
		s.Apart = Nanoseconds(s.apart)
	}
	s.Sampled, s.Median, s.Straggler = len(s.widths), Nanoseconds(s.widths[len(s.widths)/2]), -1
	for rank, skew := range s.last {
		if share := skew / max(total, 1); s.Straggler < 0 || share > s.StragglerShare ||
			share == s.StragglerShare && rank < s.Straggler {
			s.Straggler, s.StragglerShare = rank, share
		}
	}
	return s.Skew
}
