package report

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"math"
	"runtime"
	"slices"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/parallel"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// Limits of a timeline, which keep a page small and quick.
const (
	shownRanks   = 16      // if nobody chooses
	maxRanks     = 256     // if somebody does
	maxSymbols   = 150_000 // of all grammars
	maxTexts     = 768_000 // bytes of the words of calls
	maxTerminals = 100_000 // of all ranks
	maxRows      = 512

	// classes is how many classes of functions are told apart where calls are not drawn one
	// by one: those of most time, and all others.
	classes = 16

	maxBins  = 2048   // of a row
	allBins  = 65_536 // of all rows, about
	maxCalls = 8 << 20
)

// A timelineMaker puts together the timeline.
type timelineMaker struct {
	trace   *trace.Trace
	times   *query.Times
	printer *trace.Printer
	page    *page
	data    *timelineData
	begin   int64 // of the first call of all ranks
	end     int64 // of the last call of those that are shown

	grammars  map[[32]byte]int
	texts     map[string]int
	bytes     int // of texts
	symbols   int // of grammars
	terminals int // of ranks

	worst     query.Source // of all ranks that are shown
	shown     []rankTrack
	leftOut   int         // ranks whose grammars are too large
	coarse    rankenc.Set // ranks of which bins are shown, though the trace has all times
	guarantee timing.Guarantee
	lost      bool              // there is no room for arrows
	shortest  query.Nanoseconds // of the waits that there is room for, 0 if that are all
}

// A rankTrack is a rank that is shown, and by what its times are known.
type rankTrack struct {
	*trace.Rank
	clock  *query.Clock
	number int // in timelineData.Ranks
}

// openTimeline returns a timeline of some ranks, without the times of their calls.
func (p *page) openTimeline(ctx context.Context, tr *trace.Trace, ranks []int) (*timelineMaker, error) {
	m := &timelineMaker{
		page: p, trace: tr, times: p.times, printer: tr.Printer(trace.PrintOptions{Absolute: true}),
		worst: query.Series,
		data: &timelineData{Texts: []string{}, Grammars: [][][]int64{}, Programs: []programData{},
			Ranks: []rankData{}},
		grammars: make(map[[32]byte]int), texts: make(map[string]int),
	}
	if worlds := tr.Run().Worlds; len(worlds) > 1 {
		for _, w := range worlds {
			m.data.Worlds = append(m.data.Worlds, w.First)
		}
	}
	tracks := make([]rankTrack, 0, len(ranks))
	for _, rank := range ranks {
		r, err := tr.Folded(rank, nil)
		if err != nil {
			return nil, err
		}
		clock, err := p.times.Clock(r)
		if err != nil {
			return nil, err
		}
		if r.Len() > 0 {
			tracks = append(tracks, rankTrack{Rank: r, clock: clock})
			m.worst = min(m.worst, clock.Source())
		}
	}
	m.data.Timed = len(tracks) > 0 && m.worst != query.None
	if err := m.span(tracks); err != nil {
		return nil, err
	}
	if err := m.addView(tracks, p.region); err != nil {
		return nil, err
	}
	for _, t := range tracks {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		if err := m.add(t); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// span finds out when the first call of the run began, whichever ranks are shown, and
// when the last of those that are shown ended: a browser, which has 53 bits for times,
// counts from there.
func (m *timelineMaker) span(tracks []rankTrack) error {
	if !m.data.Timed {
		return nil
	}
	var err error
	if m.begin, err = m.times.Begin(); err != nil {
		return err
	}
	m.end = math.MinInt64
	for _, t := range tracks {
		begin, end, err := t.clock.Span()
		if err != nil {
			return err
		}
		m.begin, m.end = min(m.begin, begin), max(m.end, end)
	}
	return nil
}

// addRun adds when the run begins and ends, and reports whether that is not all of the timeline.
func (m *timelineMaker) addRun() bool {
	r := m.page.run
	if r == nil || !m.data.Timed || r.Startup+r.Shutdown <= 0 {
		return false
	}
	begin, end := max(r.Begin, m.begin), min(wire.AddTimes(r.Begin, int64(r.Run)), m.end)
	if begin < end {
		m.data.Run = []int64{begin - m.begin, end - m.begin}
	}
	return begin < end
}

// addView adds where the region begins and ends that is shown at first, of the ranks that are shown: in calls if there
// are no times.
func (m *timelineMaker) addView(tracks []rankTrack, g *query.Region) error {
	if g == nil {
		return nil
	}
	low, high := g.Between()
	if g.Kind == query.TimesRegion {
		low, high = max(low, m.begin), min(high, m.end)
	} else {
		low, high = math.MaxInt64, math.MinInt64
		for _, t := range tracks {
			begin, end, ok, err := m.within(t, g)
			if err != nil {
				return err
			}
			if ok {
				low, high = min(low, begin), max(high, end)
			}
		}
	}
	if low < high {
		m.data.View, m.data.Region = []int64{low - m.begin, high - m.begin}, printable(g.String())
	}
	return nil
}

// within returns when a rank comes to a region and leaves it, or between which calls.
func (m *timelineMaker) within(t rankTrack, g *query.Region) (begin, end int64, ok bool, err error) {
	spans := g.Spans(t.Number())
	if len(spans) == 0 {
		return 0, 0, false, nil
	}
	first, last := spans[0].First, spans[len(spans)-1].End
	if !m.data.Timed {
		return int64(first), int64(last), true, nil
	}
	if begin, err = t.clock.Start(first); err != nil {
		return 0, 0, false, err
	}
	start, took, err := t.clock.Time(last - 1)
	return begin, wire.AddTimes(start, took), true, err
}

// length returns how long the timeline is, in nanoseconds; 0 if it has no times.
func (m *timelineMaker) length() float64 { return float64(m.end) - float64(m.begin) }

// series reports whether the times of every call of a rank are known.
func (t rankTrack) series() bool { return t.clock.Source() == query.Series }

// add adds a rank without the times of every call. If its grammar is too large, only
// bins can be shown of it.
func (m *timelineMaker) add(t rankTrack) error {
	series := m.data.Timed && t.series()
	switch {
	case m.data.Timed && !near(m.begin, m.end):
		m.leftOut++
		return nil
	case series && m.page.served:
		m.data.Ranks = append(m.data.Ranks, rankData{Rank: t.Number(), Program: -1})
	default:
		r, err := t.Expand(maxTerminals - m.terminals)
		if err != nil && !errors.Is(err, format.ErrLimit) {
			return err
		}
		if err != nil || !m.fits(r) {
			if !series {
				m.leftOut++
				return nil
			}
			m.data.Ranks = append(m.data.Ranks, rankData{Rank: t.Number(), Program: -1})
			break
		}
		t.Rank = r
		data := rankData{Rank: r.Number(), Texts: make([]int, r.Terminals())}
		m.terminals += r.Terminals()
		for terminal := range data.Texts {
			data.Texts[terminal] = m.text(r.Call(uint32(terminal)))
		}
		p := m.programOf(r, m.grammar(r.Grammar()))
		if m.data.Timed && !t.series() {
			if err := m.estimate(t, &p, &data); err != nil {
				return err
			}
		}
		data.Program = m.program(p)
		m.data.Ranks = append(m.data.Ranks, data)
	}
	t.number = len(m.data.Ranks) - 1
	m.data.Ranks[t.number].Shape, _ = m.trace.ShapeOf(t.Number())
	m.shown = append(m.shown, t)
	return nil
}

// fits reports whether there is room for the grammar of a rank, and for its calls in words.
func (m *timelineMaker) fits(r *trace.Rank) bool {
	g := r.Grammar()
	_, known := m.grammars[digestOf(g)]
	return (known || m.symbols+g.Symbols() <= maxSymbols) && m.terminals+r.Terminals() <= maxTerminals
}

// programOf returns what the calls of a rank are, by the number of its grammar.
func (m *timelineMaker) programOf(r *trace.Rank, grammar int) programData {
	p := programData{Grammar: grammar, Functions: make([]int, r.Terminals()), Signatures: make([]int, r.Terminals())}
	threads := make([]int, r.Terminals())
	for terminal := range p.Functions {
		call := r.Call(uint32(terminal))
		p.Signatures[terminal] = r.Signature(uint32(terminal))
		p.Functions[terminal] = m.page.functionNumber(call.Function.Name)
		threads[terminal] = call.Thread()
	}
	if m.data.Timed && slices.Max(threads) > 0 {
		p.Threads = threads
	}
	return p
}

// estimate adds the times of a rank that are estimates: those of its calls are the means
// of their like. Where they depend on the call before, which these means do not know, the
// clock is put right at some calls.
func (m *timelineMaker) estimate(t rankTrack, p *programData, data *rankData) error {
	r := t.Rank
	p.Threads = nil
	begin, end, err := t.clock.Span()
	if err != nil {
		return err
	}
	if err := m.means(t, p, float64(end)-float64(begin)); err != nil {
		return err
	}
	inner := uint64(0)
	if t.clock.Source() == query.Histograms {
		inner = min(r.Len(), maxAnchors)
	}
	var times []int64
	for i := range inner {
		position := i * (r.Len() / inner)
		start, err := t.clock.Start(position)
		if err != nil {
			return err
		}
		data.Edges, times = append(data.Edges, int64(position)*2), append(times, start-m.begin)
	}
	if inner == 0 {
		data.Edges, times = []int64{0}, []int64{begin - m.begin}
	}
	data.Edges, data.Times = steps(append(data.Edges, int64(r.Len()-1)*2+1)), steps(append(times, end-m.begin))
	return nil
}

// means sets how long the calls of a rank take on average by its clock, by terminal, and the
// gaps before them, which are those of all ranks but for a factor that makes the rank take as
// long as it does.
func (m *timelineMaker) means(t rankTrack, p *programData, span float64) error {
	all, err := t.clock.Between(math.MinInt64, math.MaxInt64)
	if err != nil {
		return err
	}
	bySignature := make(map[int]float64, len(all.Usage))
	for _, u := range all.Usage {
		bySignature[u.Signature] = float64(u.Time) / float64(u.Calls)
	}
	r, n := t.Rank, t.Terminals()
	p.Durations, p.Gaps, p.Of = make([]float64, n), make([]float64, n), make([]uint64, n)
	inCalls, outside := 0.0, 0.0
	for terminal, calls := range r.Occurrences() {
		of := r.Signature(terminal)
		duration, gap := m.times.Mean(of)
		if own, ok := bySignature[of]; ok {
			duration = own
		}
		ends := max(0, duration+gap)
		p.Durations[terminal] = min(max(0, duration), ends)
		p.Gaps[terminal], p.Of[terminal] = ends-p.Durations[terminal], m.page.callsOf(of)
		inCalls, outside = inCalls+float64(calls)*p.Durations[terminal], outside+float64(calls)*p.Gaps[terminal]
	}
	factor := 1.0
	if outside > 0 && span > inCalls {
		factor = (span - inCalls) / outside
	}
	for terminal := range p.Gaps {
		p.Durations[terminal], p.Gaps[terminal] = tenth(p.Durations[terminal]), tenth(factor*p.Gaps[terminal])
	}
	return nil
}

// maxAnchors is at how many calls the clock of a rank is put right at most.
const maxAnchors = 500

// tenth rounds to a tenth of a nanosecond.
func tenth(ns float64) float64 { return math.Round(ns*10) / 10 }

// addTimes adds the times of every call, of as many ranks as there is room for in so many
// bytes of the page, and bins of the others.
func (m *timelineMaker) addTimes(ctx context.Context, room int) error {
	m.data.Span = m.end - m.begin
	if m.page.served {
		for _, t := range m.shown {
			if !m.data.Timed || !t.series() {
				continue
			}
			m.data.Served, m.data.Of = true, m.trace.Ranks()
			m.guarantee = max(m.guarantee, t.clock.Guarantee())
		}
		m.data.Error = float64(m.guarantee)
		m.addKinds()
		return nil
	}
	left := 0 // ranks to come
	for _, t := range m.shown {
		if m.data.Timed && t.series() {
			left++
		}
	}
	if left == 0 {
		return nil
	}
	m.data.Bins = min(maxBins, max(256, allBins/left))
	timed := slices.DeleteFunc(slices.Clone(m.shown), func(t rankTrack) bool { return !t.series() })
	for some := range slices.Chunk(timed, runtime.GOMAXPROCS(0)) {
		packed := make([]packedTimes, len(some))
		err := parallel.Each(ctx, 0, len(some), func(i int) (err error) {
			packed[i], err = m.pack(ctx, some[i], room)
			return err
		})
		if err != nil {
			return err
		}
		for i, t := range some {
			m.guarantee = max(m.guarantee, t.clock.Guarantee())
			left--
			used, err := m.addPacked(ctx, t, packed[i], room-left*m.data.Bins*binBytes)
			if err != nil {
				return err
			}
			room -= used
		}
	}
	if err := m.addArrows(ctx, room-m.addWaits(room)); err != nil {
		return err
	}
	m.data.Error = float64(m.guarantee)
	return nil
}

// addArrows adds the messages between ranks whose calls are in the page, if they take at
// most so many bytes.
func (m *timelineMaker) addArrows(ctx context.Context, room int) error {
	arrows, err := m.arrowsOf(ctx, m.page.model)
	if err != nil || len(arrows) == 0 {
		return err
	}
	packed := packArrows(arrows)
	if m.lost = base64.StdEncoding.EncodedLen(len(packed)) > room; !m.lost {
		m.data.Arrows = packed
	}
	return nil
}

// binBytes is how many bytes of a page a bin takes, about.
const binBytes = 16

// digestOf returns what a grammar is known by.
func digestOf(g *sequitur.Grammar) [sha256.Size]byte {
	rules, _ := g.AppendBinary(nil) // never fails
	return sha256.Sum256(rules)
}

// grammar returns the number of a grammar.
func (m *timelineMaker) grammar(g *sequitur.Grammar) int {
	digest := digestOf(g)
	number, known := m.grammars[digest]
	if !known {
		number = len(m.data.Grammars)
		m.grammars[digest] = number
		m.symbols += g.Symbols()
		m.data.Grammars = append(m.data.Grammars, rules(g))
	}
	return number
}

// functionNumber returns the number of a function in pageData.Functions, or the number
// of these if it is not one of them.
func (p *page) functionNumber(name string) int {
	if i, ok := p.functions[name]; ok {
		return i
	}
	return len(p.data.Functions)
}

// classOf returns the class of a function.
func (p *page) classOf(name string) int { return min(p.functionNumber(name), classes-1) }

// program returns the number of a program.
func (m *timelineMaker) program(p programData) int {
	same := func(q programData) bool {
		return p.Grammar == q.Grammar && slices.Equal(p.Functions, q.Functions) &&
			slices.Equal(p.Signatures, q.Signatures) && slices.Equal(p.Durations, q.Durations) &&
			slices.Equal(p.Gaps, q.Gaps) && slices.Equal(p.Threads, q.Threads)
	}
	if i := slices.IndexFunc(m.data.Programs, same); i >= 0 {
		return i
	}
	m.data.Programs = append(m.data.Programs, p)
	return len(m.data.Programs) - 1
}

// text returns the number of a call in words, −1 if there is no more room.
func (m *timelineMaker) text(call trace.Call) int {
	text := printable(string(m.printer.AppendCall(nil, call)))
	if i, ok := m.texts[text]; ok {
		return i
	}
	if m.bytes += len(text) + 3; m.bytes > maxTexts {
		return -1
	}
	m.texts[text] = len(m.data.Texts)
	m.data.Texts = append(m.data.Texts, text)
	return len(m.data.Texts) - 1
}

// rules returns the rules of a grammar as grammar.js reads them.
func rules(g *sequitur.Grammar) [][]int64 {
	all := make([][]int64, g.Rules())
	for i := range all {
		for t := range g.Body(i) {
			symbol := int64(t.Symbol) * 2
			if t.Rule >= 0 {
				symbol = int64(t.Rule)*2 + 1
			}
			if all[i] = append(all[i], symbol); t.Count > 1 {
				all[i] = append(all[i], -int64(t.Count))
			}
		}
	}
	return all
}

// steps returns the differences between numbers, the first to 0.
func steps(list []int64) []int64 {
	var out []int64
	last := int64(0)
	for _, v := range list {
		out = append(out, v-last)
		last = v
	}
	return out
}

// chooseRanks returns the ranks of a timeline, in ascending order: those that are asked
// for and made calls, as many as there is room for, and how many there are. If none are
// asked for, they are some of each of the shapes of most ranks, and others evenly.
func chooseRanks(tr *trace.Trace, asked *rankenc.Set) (ranks []int, of int) {
	active := tr.RankSet()
	if asked != nil {
		for _, rank := range asked.All() {
			if active.Contains(int(rank)) {
				if of++; len(ranks) < maxRanks {
					ranks = append(ranks, int(rank))
				}
			}
		}
		return ranks, of
	}
	of = active.Len()
	chosen := make(map[int]bool)
	if of > shownRanks {
		for _, rank := range firstOfShapes(tr, shownRanks/2) {
			chosen[rank] = true
		}
	}
	for i, n := 0, min(of, shownRanks); len(chosen) < n; i++ {
		at := 0
		if n > 1 {
			at = i % n * (of - 1) / (n - 1)
		}
		chosen[int(active.At((at+i/n)%of))] = true
	}
	for rank := range chosen {
		ranks = append(ranks, rank)
	}
	slices.Sort(ranks)
	return ranks, of
}

// firstOfShapes returns the first rank of each of the shapes of most ranks.
func firstOfShapes(tr *trace.Trace, most int) []int {
	order := shapesByRanks(tr)
	var ranks []int
	for _, shape := range order[:min(len(order), most)] {
		ranks = append(ranks, tr.ShapeRanks(shape).At(0))
	}
	return ranks
}
