package report

import (
	"math"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/sequitur"
)

// Clocks are what a timeline has of the times of a trace.
type clocks struct {
	trace *reprise.Trace
	times *query.Times
	best  query.Source // of the ranks that were added
	worst query.Source
	any   bool
}

// openClocks opens the clocks of ranks. Whether some ranks are timed is decided for
// all of them, because a page has one axis.
func openClocks(trace *reprise.Trace, times *query.Times, ranks map[int]*reprise.Rank) (*clocks, error) {
	c := &clocks{trace: trace, times: times}
	for _, r := range ranks {
		clock, err := times.Clock(r)
		if err != nil {
			return nil, err
		}
		source := clock.Source()
		if !c.any || source < c.worst {
			c.worst = source
		}
		c.best, c.any = max(c.best, source), true
	}
	return c, nil
}

// timed reports whether all ranks have times.
func (c *clocks) timed() bool { return c.any && c.worst != query.None }

// models returns what a timeline has of the times of the rows of a rank that has calls.
func (c *clocks) models(r *reprise.Rank) ([]*model, error) {
	if !c.timed() {
		return []*model{{row: row{grammar: r.Grammar(), thread: -1}}}, nil
	}
	clock, err := c.times.Clock(r)
	if err != nil {
		return nil, err
	}
	if clock.Source() == query.Series {
		return seriesModels(r)
	}
	m, err := c.estimated(clock)
	return []*model{m}, err
}

// estimated returns the model of a clock that is an estimate. Where times depend on the
// call before, which the model does not know, it is exact at anchors.
func (c *clocks) estimated(clock *query.Clock) (*model, error) {
	r := clock.Rank()
	n := r.Terminals()
	m := &model{row: row{grammar: r.Grammar(), thread: -1}, durations: make([]float64, n), gaps: make([]float64, n)}
	for terminal := range n {
		duration, gap := c.times.Mean(r.Signature(uint32(terminal)))
		ends := max(0, duration+gap)
		m.durations[terminal] = tenth(min(max(0, duration), ends))
		m.gaps[terminal] = tenth(ends - m.durations[terminal])
	}
	inner := uint64(0)
	if clock.Source() == query.Histograms {
		inner = min(r.Len(), maxAnchors/4)
	}
	for i := range inner {
		position := i * (r.Len() / inner)
		start, err := clock.Start(position)
		if err != nil {
			return nil, err
		}
		m.edges, m.times = append(m.edges, int64(position)*2), append(m.times, start)
	}
	begin, end, err := clock.Span()
	if err != nil {
		return nil, err
	}
	if inner == 0 {
		m.edges, m.times = []int64{0}, []int64{begin}
	}
	m.edges, m.times = append(m.edges, int64(r.Len()-1)*2+1), append(m.times, end)
	return m, nil
}

// A model is what a timeline has of the times of a row.
type model struct {
	row
	durations []float64 // by symbol, in ns; nil without times
	gaps      []float64
	edges     []int64 // anchors
	times     []int64
	bound     float64 // of the error of what is drawn, in ns; 0 if it is not known
}

// maxKept is of how many calls the times are kept in memory, which allows for the best
// anchors.
const maxKept = 4 << 20

// seriesModels returns the models of the rows of a rank that has the times of every
// call.
func seriesModels(r *reprise.Rank) ([]*model, error) {
	if r.Len() > maxKept {
		m, err := sampledModel(r)
		return []*model{m}, err
	}
	calls, err := callsOf(r)
	if err != nil {
		return nil, err
	}
	var models []*model
	for _, row := range arrange(r, calls) {
		models = append(models, exactModel(row))
	}
	return models, nil
}

// flatModel is the model of a rank for which there is no room as it is: all calls in a
// row, one after another.
func flatModel(r *reprise.Rank) ([]*model, error) {
	calls, err := callsOf(r)
	if err != nil {
		return nil, err
	}
	return []*model{exactModel(flat(r, calls))}, nil
}

// callsOf returns the calls of a rank that has the times of every call.
func callsOf(r *reprise.Rank) ([]piece, error) {
	calls := make([]piece, 0, r.Len())
	walk, run := r.Walk(0), sequitur.Run{}
	for t, err := range r.Times(0) {
		if err != nil {
			return nil, err
		}
		if run.Count == 0 {
			run = walk.Next()
		}
		run.Count--
		calls = append(calls, piece{t.Start, t.Start + max(0, t.Duration), int32(run.Symbol), whole})
	}
	return calls, nil
}

// exactModel returns the model of a row of which all times are known.
func exactModel(row row) *model {
	symbols := 0
	for _, p := range row.pieces {
		symbols = max(symbols, int(p.symbol)+1)
	}
	m := newModel(row, max(symbols, len(row.terminals)))
	for i, p := range row.pieces {
		gap := int64(0)
		if i > 0 {
			gap = p.start - row.pieces[i-1].end
		}
		m.count(int(p.symbol), gap, p.end-p.start)
	}
	model := m.finish()
	model.anchor()
	return model
}

// sampledModel returns the model of a rank whose calls are too many to keep: anchors are
// the starts of some of them.
func sampledModel(r *reprise.Rank) (*model, error) {
	m := newModel(row{grammar: r.Grammar(), thread: -1}, r.Terminals())
	every := max(1, r.Len()/(maxAnchors/2))
	walk, run, end, position := r.Walk(0), sequitur.Run{}, int64(0), uint64(0)
	for t, err := range r.Times(0) {
		if err != nil {
			return nil, err
		}
		if run.Count == 0 {
			run = walk.Next()
		}
		run.Count--
		gap := int64(0)
		if position > 0 {
			gap = max(0, t.Start-end)
		}
		m.count(int(run.Symbol), gap, t.Duration)
		end = t.Start + t.Duration
		if position%every == 0 || position == r.Len()-1 {
			m.edges, m.times = append(m.edges, int64(position)*2), append(m.times, t.Start)
		}
		position++
	}
	return m.finish(), nil
}

// A means is a model while times are counted.
type means struct {
	*model
	counts []float64 // by symbol
}

func newModel(row row, symbols int) means {
	return means{&model{row: row, durations: make([]float64, symbols), gaps: make([]float64, symbols)}, make([]float64, symbols)}
}

func (m means) count(symbol int, gap, duration int64) {
	m.gaps[symbol] += float64(gap)
	m.durations[symbol] += float64(duration)
	m.counts[symbol]++
}

func (m means) finish() *model {
	for i, c := range m.counts {
		if c > 0 {
			m.durations[i], m.gaps[i] = tenth(m.durations[i]/c), tenth(m.gaps[i]/c)
		}
	}
	return m.model
}

// anchor chooses anchors among the edges of all pieces: as few as keep the clock within
// a tolerance, and the smallest tolerance, to a factor of 2, for which there are not too
// many.
func (m *model) anchor() {
	if len(m.pieces) == 0 {
		return
	}
	begin, end := m.pieces[0].start, m.pieces[len(m.pieces)-1].end
	for tolerance := max(1, float64(end-begin)/(1<<24)); ; tolerance *= 2 {
		a, at := anchors{tolerance: tolerance, most: maxAnchors}, 0.0
		for i, p := range m.pieces {
			at += m.gaps[p.symbol]
			a.add(edge{int64(i) * 2, at, p.start})
			at += m.durations[p.symbol]
			a.add(edge{int64(i)*2 + 1, at, p.end})
			if a.tooMany() {
				break
			}
		}
		if a.finish(); !a.tooMany() || tolerance > math.MaxInt64 {
			m.edges, m.times, m.bound = a.edges, a.times, tolerance+float64(m.moved)
			m.pieces = nil
			return
		}
	}
}

// tenth rounds to a tenth of a nanosecond.
func tenth(ns float64) float64 { return math.Round(ns*10) / 10 }

// maxAnchors is how many anchors a rank has at most, about.
const maxAnchors = 2000

// An anchors puts a line through the times of edges by those of a model, of as few
// pieces as keep within a tolerance: the swinging door of E. H. Bristol, "Swinging Door
// Trending: Adaptive Trend Recording?", ISA National Conference, 1990.
type anchors struct {
	tolerance float64 // in ns
	most      int     // it is no use once there are more

	edges []int64
	times []int64

	model     float64 // of the last anchor
	low, high float64 // slopes from it that keep within the tolerance
	last      edge    // the one before
}

// An edge is the start or the end of a call: its number, its time by the model, and by
// the clock.
type edge struct {
	number int64
	model  float64
	time   int64
}

func (a *anchors) tooMany() bool { return len(a.edges) > a.most }

// pin makes an anchor of an edge.
func (a *anchors) pin(e edge) {
	a.edges, a.times = append(a.edges, e.number), append(a.times, e.time)
	a.model, a.last = e.model, e
	a.low, a.high = 0, maxSlope
}

const maxSlope = 1e300

// add adds an edge, the numbers of which ascend.
func (a *anchors) add(e edge) {
	if len(a.edges) == 0 {
		a.pin(e)
		return
	}
	if a.fits(e) {
		a.last = e
		return
	}
	if a.last.number != a.edges[len(a.edges)-1] {
		a.pin(a.last)
		if a.fits(e) {
			a.last = e
			return
		}
	}
	a.pin(e)
}

// fits reports whether a line from the last anchor to e keeps within the tolerance of
// all edges between, and narrows the slopes to those that keep within that of e.
func (a *anchors) fits(e edge) bool {
	width := e.model - a.model
	rise := float64(e.time - a.times[len(a.times)-1])
	if width <= 0 {
		return rise <= a.tolerance && rise >= -a.tolerance
	}
	if slope := rise / width; slope < a.low || slope > a.high {
		return false
	}
	a.low = max(a.low, (rise-a.tolerance)/width)
	a.high = min(a.high, (rise+a.tolerance)/width)
	return true
}

// finish makes an anchor of the last edge.
func (a *anchors) finish() {
	if len(a.edges) > 0 && a.last.number != a.edges[len(a.edges)-1] {
		a.pin(a.last)
	}
}
