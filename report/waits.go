package report

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/query/diagnosis"
	"github.com/reprise-trace/reprise/query/waits"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

// maxWaitRows is how many rows the table of waits has.
const maxWaitRows = 200

// A waitText is the calls that waited for other ranks, and why.
type waitText struct {
	About string
	Table *table
	Notes []string
}

// A partsText is what ranks spend the run in.
type partsText struct {
	About string
	Waits bool // they are known
}

// addDiagnosis says why the run took as long as it did, unless it was cut short: ranks were not to stop where
// they did.
func (p *page) addDiagnosis(ctx context.Context, tr *trace.Trace, o Options) error {
	shown, _ := chooseRanks(tr, o.Ranks)
	listed := rankenc.SetOf(shown...)
	if p.served { // which any rank may be asked of
		listed = tr.RankSet()
	}
	d, err := diagnosis.Open(ctx, tr, diagnosis.Options{MaxCalls: query.MaxUnasked, Pairs: true, Calls: &listed})
	if d == nil || err != nil || p.unfinished.Len() > 0 {
		return err
	}
	p.diagnosis = d
	for _, s := range answers.Diagnosis(d) {
		p.Diagnosis = append(p.Diagnosis, printable(s))
	}
	return nil
}

// waiting returns the calls that waited, nil if they are not known.
func (p *page) waiting() *waits.Run {
	if p.diagnosis == nil {
		return nil
	}
	return p.diagnosis.Waits
}

// addWaits adds who waits for whom, and why, if that is known.
func (p *page) addWaits(context.Context, *trace.Trace, Options) error {
	r := p.waiting()
	if r == nil {
		return nil
	}
	whole := r.Time * query.Nanoseconds(r.Ranks)
	t := &waitText{Table: waitsTable(r)}
	t.About = fmt.Sprintf("Ranks wait %s for others, %s of %s of all ranks. "+
		"A call waits from its start until another rank starts the call that it needs. "+
		"The cause is what took longer on the way of the rank that was late. "+
		"A click on a wait state shows the call that waited longest.",
		text.Around(r.Wait, r.WaitError), shareOf(float64(r.Wait), float64(whole)), text.Duration(whole))
	told := query.Nanoseconds(0)
	for i := range r.Pairs {
		told += r.Pairs[i].Wait
	}
	t.Table = t.Table.shown()
	if rest := r.Wait - told; rest > r.Wait/1000 {
		t.Notes = append(t.Notes, text.Duration(rest)+" of waits without a known cause left out.")
	}
	t.Notes = append(t.Notes, answers.WaitsNotes(r)...)
	p.Waits = t
	return nil
}

// waitsTable returns the table of waits and their causes.
func waitsTable(r *waits.Run) *table {
	t := newTable("wait", maxWaitRows, "Wait state", "Rank", "↓Wait time", "% of time", "Cause", "of rank")
	whole := r.Time * query.Nanoseconds(r.Ranks)
	for i := range r.Pairs {
		c := &r.Pairs[i]
		t.row(cell{Text: printable(c.Kind + ", " + answers.Site(c.Site)), Name: true,
			Find: fmt.Sprintf("call=%d,%d", c.Rank, c.Position)}, order(c.Rank), nanos(c.Wait),
			valued(int64(c.Wait), text.Percent(c.Wait, whole)), name(printable(answers.Delay(&c.Cause))),
			order(c.Cause.Rank))
	}
	return t
}

// waitsOfRanks returns how long each rank waits in the run, nil if that is not known.
func (p *page) waitsOfRanks() map[int]float64 {
	r := p.waiting()
	if r == nil {
		return nil
	}
	by := make(map[int]float64)
	for _, v := range r.Victims {
		if !query.InStartup(v.Function) {
			by[v.Rank] += float64(v.Wait)
		}
	}
	return by
}

// addParts adds to the load of ranks, of some in each bin, what else their time is: computing and, in calls,
// waiting. It reports whether that is known.
func (p *page) addParts(l *loadData, counts []float64, bin func(rank int) int) bool {
	outside, waits, by := make([]float64, l.Bins), make([]float64, l.Bins), p.waitsOfRanks()
	for _, r := range p.byRank.Ranks {
		if math.IsInf(float64(r.Outside), 1) {
			return false
		}
		outside[bin(r.Rank)] += float64(max(0, r.Outside))
		waits[bin(r.Rank)] += min(by[r.Rank], float64(r.Time))
	}
	for i, n := range counts {
		if n > 0 {
			outside[i], waits[i] = tenth(outside[i]/n), tenth(waits[i]/n)
		}
	}
	mean := func(list []float64) (sum float64) {
		for i, v := range list {
			sum += v * counts[i]
		}
		return sum
	}
	l.Outside = outside
	computes, calls := mean(outside), mean(l.Values)
	all := computes + calls
	p.Parts = &partsText{About: fmt.Sprintf("Of the time of all ranks in the run, %s is computing, and %s is in calls.",
		shareOf(computes, all), shareOf(calls, all))}
	if by != nil {
		l.Wait = waits
		waited := mean(waits)
		p.Parts.Waits = true
		p.Parts.About = fmt.Sprintf(
			"Of the time of all ranks in the run, %s is computing, %s waiting for others, and %s transfer: "+
				"the rest of the time in calls.",
			shareOf(computes, all), shareOf(waited, all), shareOf(calls-waited, all))
	}
	return true
}

// shareOf writes a part of a whole.
func shareOf(part, whole float64) string { return cmp.Or(text.Percent(part, whole), "0 %") }
