package efficiency

import (
	"cmp"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// An extent is where a number is that is not known exactly: low ≤ number ≤ high.
type extent struct{ low, high float64 }

// spread returns where a time was that a codec of a guarantee has.
func spread(time float64, g timing.Guarantee) extent {
	high := math.Inf(1)
	if g < 1 {
		high = time / (1 - float64(g))
	}
	return extent{time / (1 + float64(g)), high}
}

// plus returns the extent of a number that may be off besides.
func (e extent) plus(off float64) extent { return extent{max(0, e.low-off), e.high + off} }

// and returns the extent of a number that is also in another; e if rounding leaves nothing.
func (e extent) and(o extent) extent {
	if both := (extent{max(e.low, o.low), min(e.high, o.high)}); both.low <= both.high {
		return both
	}
	return e
}

// over returns the extent of a quotient of times that is at most 1.
func (e extent) over(o extent) extent {
	if o.low <= 0 || math.IsInf(e.high, 1) {
		return extent{min(1, e.low/o.high), 1}.and(extent{0, 1})
	}
	return extent{min(1, e.low/o.high), min(1, e.high/o.low)}
}

// quotient returns where the quotient is of two times that may be off.
func quotient(a, aOff, b, bOff query.Nanoseconds) extent {
	high := math.Inf(1)
	if b > bOff {
		high = float64((a + aOff) / (b - bOff))
	}
	return extent{float64(max(0, a-aOff) / (b + bOff)), high}
}

// nearest returns the number in e that is nearest to another.
func (e extent) nearest(v float64) float64 { return max(e.low, min(v, e.high)) }

// off returns how far a number may be off, but for what the last bits of numbers are.
func (e extent) off(v float64) float64 {
	if off := max(e.high-v, v-e.low); off > 1e-12*v {
		return off
	}
	return 0
}

// Sums are what threads did in spans.
type sums struct {
	run   *query.RunTimes
	whole bool // the span is the run

	threads       int
	visits, ideal []visit // by the number of the span: in ns as recorded, and in the time of the replay
	most          float64 // computing
	total         float64
	maxRank       int
	maxThread     int

	mostIn, totalIn extent
	mostOf          extent           // of the computing of maxThread of maxRank
	otherHigh       float64          // of the computing of all but that of the most
	idealOff        float64          // ns
	guarantee       timing.Guarantee // the weakest
	estimated       bool             // times of threads are means
	gapless         bool             // how far gaps may be off is not known
}

// A visit is from when the first thread begins a span to when the last one ends it, and by how many nanoseconds
// each may be off.
type visit struct {
	begin, end       int64
	beginOff, endOff float64
}

// addVisit adds what a thread does in the n-th span.
func addVisit(list *[]visit, n int, begin, end came) {
	if n == len(*list) {
		*list = append(*list, visit{begin.at, end.at, begin.off, end.off})
		return
	}
	v := &(*list)[n]
	v.begin, v.end = min(v.begin, begin.at), max(v.end, end.at)
	v.beginOff, v.endOff = max(v.beginOff, begin.off), max(v.endOff, end.off)
}

// lasting returns how long visits take together, and how far that may be off. What several have in common counts once.
func lasting(list []visit) (sum, off float64) {
	slices.SortFunc(list, func(a, b visit) int { return cmp.Compare(a.begin, b.begin) })
	end := int64(math.MinInt64)
	for _, v := range list {
		off += v.beginOff + v.endOff
		if v.begin = max(v.begin, end); v.end > v.begin {
			sum, end = sum+float64(uint64(v.end)-uint64(v.begin)), v.end
		}
	}
	return sum, off
}

// add adds spans of a thread of a run.
func (s *sums) add(t *thread, spans []trace.Span) error {
	if len(spans) == 0 {
		return nil
	}
	computing := replay.Time(0)
	startup, idealOff := 0.0, 0.0 // how far computing and moments may be off, as the begin of the run is
	for n, of := range spans {
		begin, err := t.recorded(of.First)
		if err != nil {
			return err
		}
		if s.run != nil && t.first > 0 {
			off := float64(s.run.BeginError) + t.rank.off
			off += float64(t.atBegin) / float64(replay.Nanosecond)
			if idealOff = off; float64(begin.at-s.run.Begin) <= off {
				startup = off
			}
			if begin.at < s.run.Begin {
				begin.at = s.run.Begin
			}
			begin.off = max(begin.off, float64(s.run.BeginError))
		}
		end, err := t.recorded(of.End)
		if err != nil {
			return err
		}
		a, b := t.marked[of.First], t.marked[of.End]
		addVisit(&s.visits, n, begin, end)
		addVisit(&s.ideal, n, came{at: int64(a.at)}, came{at: int64(b.at)})
		computing += b.computing - a.computing
	}
	s.idealOff += idealOff
	s.addComputing(t, float64(computing)/float64(replay.Nanosecond), startup)
	return nil
}

// addComputing adds what a thread computes, which may be off by so much besides the error of gaps.
func (s *sums) addComputing(t *thread, computing, startup float64) {
	g, in := t.rank.clock.Guarantee(), extent{0, math.Inf(1)}
	switch {
	case t.rank.means != nil:
		s.estimated, s.gapless = true, true
	case g == timing.Exact || t.rank.gaps:
		in = spread(computing, g).plus(startup)
	default:
		s.gapless = true
	}
	if s.whole && (t.rank.means != nil || g != timing.Exact) {
		in = in.and(t.rank.bounds)
	}
	computing = in.nearest(computing)
	s.guarantee = max(s.guarantee, g)
	s.threads++
	s.total += computing
	s.totalIn.low, s.totalIn.high = s.totalIn.low+in.low, s.totalIn.high+in.high
	other := in.high
	if s.threads == 1 || computing > s.most {
		other, s.most, s.maxRank, s.maxThread = s.mostOf.high, computing, t.rank.number, t.number
		s.mostOf = in
	}
	if s.threads > 1 {
		s.otherHigh = max(s.otherHigh, other)
	}
	s.mostIn.low, s.mostIn.high = max(s.mostIn.low, in.low), max(s.mostIn.high, in.high)
}

// part returns the efficiency, without what depends on receives if the trace lacks these.
func (s *sums) part(lacksReceives bool) Part {
	time, timeOff := lasting(s.visits)
	if s.whole && s.run != nil && (s.estimated || float64(s.run.Error) < timeOff) {
		time, timeOff = float64(s.run.Run), float64(s.run.Error)
	}
	ideal, _ := lasting(s.ideal)
	ideal /= float64(replay.Nanosecond)
	timeIn, idealIn := (extent{time, time}).plus(timeOff), extent{s.mostIn.low, math.Inf(1)}
	if !s.gapless {
		idealIn = spread(ideal, s.guarantee)
		for _, v := range s.ideal { // each may be off by a part of all before it
			begin := float64(v.begin) / float64(replay.Nanosecond)
			idealIn = idealIn.plus(2*(spread(begin, s.guarantee).high-begin) + 2*s.idealOff)
		}
		idealIn.low = max(idealIn.low, s.mostIn.low)
	}
	p := Part{Time: query.Nanoseconds(time), Ideal: query.Nanoseconds(ideal), Total: query.Nanoseconds(s.total),
		Max: query.Nanoseconds(s.most), MaxRank: s.maxRank, MaxThread: s.maxThread, Threads: s.threads}
	if s.threads == 0 {
		return p
	}
	ideal = max(ideal, s.most)
	mean, n := s.total/float64(s.threads), float64(s.threads)
	meanIn := extent{s.totalIn.low / n, s.totalIn.high / n}
	p.Ideal, p.Mean, p.Longer = query.Nanoseconds(ideal), query.Nanoseconds(mean), ideal > time
	p.TimeError, p.IdealError = query.Nanoseconds(timeIn.off(time)), query.Nanoseconds(idealIn.off(ideal))
	p.TotalError, p.MeanError = query.Nanoseconds(s.totalIn.off(s.total)), query.Nanoseconds(meanIn.off(mean))
	p.MaxError, p.MaxKnown = query.Nanoseconds(s.mostIn.off(s.most)), s.mostOf.low >= s.otherHigh
	if s.most > 0 && time > 0 {
		took := max(time, s.most) // less is only an error of the times
		ideal = min(ideal, took)
		f := &Factors{Parallel: mean / took, LoadBalance: mean / s.most, Communication: s.most / took}
		communication := s.mostIn.over(timeIn)
		e := &Factors{Parallel: meanIn.over(timeIn).off(f.Parallel),
			LoadBalance: meanIn.over(s.mostIn).off(f.LoadBalance), Communication: communication.off(f.Communication)}
		if !lacksReceives {
			serialization, transfer := s.most/ideal, ideal/took
			f.Serialization, f.Transfer = &serialization, &transfer
			rest := extent{communication.low, 1}
			a, b := s.mostIn.over(idealIn).and(rest).off(serialization), idealIn.over(timeIn).and(rest).off(transfer)
			e.Serialization, e.Transfer = &a, &b
		}
		if p.Factors = f; !math.IsInf(s.mostIn.high+timeIn.high, 1) {
			p.Errors = e
		}
	}
	return p
}
