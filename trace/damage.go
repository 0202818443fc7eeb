package trace

import (
	"errors"
	"io"
	"slices"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// A Damage is a section of a trace that is not as its checksum says, or the sections
// of a kind that are not in the file.
type Damage struct {
	What string               // it holds, such as "the times of every call"
	Err  *format.SectionError // which section it is, where it is in the file, and how it is damaged

	// Ranks are those whose calls cannot be read or, if Times is set, those whose calls
	// can be, but without the times that the section holds. The empty set is no rank.
	Ranks rankenc.Set
	Times bool
}

// What sections hold.
const (
	whatSeries    = "the times of every call"
	whatSummaries = "the statistics and histograms of times"
	whatRankTimes = "the times of each rank"
)

// whatOf says what a section holds.
func whatOf(kind format.Kind, key uint64) string {
	switch kind {
	case layout.KindColumns:
		return "arguments of calls"
	case layout.KindStreams:
		return "varying arguments of calls"
	case layout.KindGrammars:
		if key == 0 {
			return "the order of calls, of all ranks"
		}
		return "the order of calls"
	case layout.KindSeries:
		return whatSeries
	case layout.KindSummaries:
		return whatSummaries
	case layout.KindRankTimes:
		return whatRankTimes
	}
	return "the " + layout.KindName(kind)
}

func newDamage(kind format.Kind, key uint64, offset int64, err error) *Damage {
	return &Damage{What: whatOf(kind, key), Err: layout.DamagedAt(kind, key, offset, err)}
}

// A damageReport is what is damaged in a file.
type damageReport struct {
	list        []Damage
	unreadable  rankenc.Set // ranks
	untimed     rankenc.Set // ranks whose times of every call cannot be read
	noSummaries bool        // they cannot be read
	noRankTimes bool        // the same
	noSeries    bool        // nothing can be read of the times of every call
}

// Damage reads the file once and returns the sections that are not as their checksums
// say, in their order, and those that are missing. Damage to what concerns the run as a
// whole, such as its signatures, is not among them: it makes [Open] fail. Nor is a
// section whose checksum is good, but whose content is none of a trace: what needs it
// fails.
//
// A Trace reads as much as it can of a damaged file, and fails where it cannot, unless
// [Options.LeaveOutDamage] is set. The result must not be changed.
func (t *Trace) Damage() []Damage { return t.damage().list }

// leaveOutDamage leaves what is damaged out of t, before anything else is asked of it.
func (t *Trace) leaveOutDamage() {
	report := t.damage()
	t.leftOut = map[format.Kind]bool{layout.KindSummaries: report.noSummaries, layout.KindRankTimes: report.noRankTimes}
	if report.noSummaries {
		t.summaries = func() (layout.Summaries, error) { return layout.Summaries{}, nil }
	}
	if report.noRankTimes {
		t.rankTimes = func() (*layout.RankTimes, error) { return nil, nil }
	}
	if report.noSeries {
		t.series = func() (*layout.SeriesTable, error) { return nil, nil }
	}
	t.untimed = report.untimed.Union(report.unreadable)
	t.foreign = t.foreignRanks()
	if report.unreadable.Len() == 0 {
		return
	}
	sets := slices.Clone(t.all)
	for i := range sets {
		sets[i] = sets[i].Difference(report.unreadable)
	}
	t.setRanks(sets)
	t.caches.shapes.clear() // they have the sets of before
	t.run.Interleaving = without(t.run.Interleaving, report.unreadable)
}

// without returns an order of calls without those of some ranks, at the cost of reading its grammar.
func without(order *sequitur.Grammar, gone rankenc.Set) *sequitur.Grammar {
	if order == nil {
		return nil
	}
	var rules [][]sequitur.Term
	stand := make([]sequitur.Term, order.Rules()) // what is left of each rule, none of it if the count is 0
	for r := range stand {
		var body []sequitur.Term
		for t := range order.Body(r) {
			switch {
			case t.Rule >= 0:
				s := stand[t.Rule]
				t = sequitur.Term{Symbol: s.Symbol, Rule: s.Rule, Count: s.Count * t.Count}
			case gone.Contains(int(t.Symbol)):
				continue
			}
			if last := len(body) - 1; last >= 0 && body[last].Rule == t.Rule && body[last].Symbol == t.Symbol {
				body[last].Count += t.Count
			} else if t.Count > 0 {
				body = append(body, t)
			}
		}
		switch {
		case len(body) > 1 || len(body) == 1 && r == len(stand)-1:
			stand[r] = sequitur.Term{Rule: len(rules), Count: 1}
			rules = append(rules, body)
		case len(body) == 1:
			stand[r] = body[0]
		}
	}
	g, err := sequitur.FromRules(rules)
	need.That(err == nil, "trace: an order without some ranks is no grammar")
	return g
}

// A damageFinder finds out what is damaged.
type damageFinder struct {
	*Trace
	list    []*Damage
	bad     map[format.Kind]map[uint64]*Damage
	missing map[format.Kind]*Damage

	noSeries bool
}

func (t *Trace) findDamage() *damageReport {
	f := damageFinder{Trace: t, bad: make(map[format.Kind]map[uint64]*Damage), missing: make(map[format.Kind]*Damage)}
	f.check()
	f.findGrammars()
	f.findColumns()
	var r damageReport
	r.unreadable = f.unreadable()
	f.findStreams(r.unreadable)
	r.unreadable = f.unreadable()
	f.findSeries(r.unreadable)
	r.unreadable = f.unreadable()
	for _, d := range f.list {
		switch d.Err.Kind {
		case layout.KindSummaries:
			d.Ranks, d.Times, r.noSummaries = t.RankSet(), true, true
		case layout.KindRankTimes:
			d.Ranks, d.Times, r.noRankTimes = t.RankSet(), true, true
		case layout.KindSeries:
			r.untimed = r.untimed.Union(d.Ranks)
		}
		r.list = append(r.list, *d)
	}
	r.noSeries = f.noSeries
	return &r
}

// unreadable returns the ranks whose calls cannot be read.
func (f *damageFinder) unreadable() rankenc.Set {
	var sets []rankenc.Set
	for _, d := range f.list {
		if !d.Times {
			sets = append(sets, d.Ranks)
		}
	}
	return rankenc.Set{}.Union(sets...)
}

// check checks the sections of the file.
func (f *damageFinder) check() {
	for _, s := range f.file.All() {
		err := f.file.Check(s)
		if err == nil || !isDamage(err) {
			continue
		}
		d := newDamage(s.Kind, s.Key, s.Offset, err)
		d.Times = s.Kind == layout.KindSeries
		if f.bad[s.Kind] == nil {
			f.bad[s.Kind] = make(map[uint64]*Damage)
		}
		f.bad[s.Kind][s.Key] = d
		f.list = append(f.list, d)
	}
}

// isDamage reports whether an error of checking a section is that the file is not what
// was written, or cannot be read, and not that it exceeds a limit or is of a later version.
func isDamage(err error) bool {
	var parse *format.ParseError
	return !errors.As(err, &parse) || errors.Is(err, format.ErrCorrupt) || errors.Is(err, io.ErrUnexpectedEOF)
}

// damaged returns what is wrong with a section, nil if nothing is.
func (f *damageFinder) damaged(kind format.Kind, key uint64) *Damage {
	if d := f.bad[kind][key]; d != nil {
		return d
	}
	if _, ok := f.file.Lookup(kind, key); ok {
		return nil
	}
	d := f.missing[kind]
	if d == nil {
		d = newDamage(kind, key, -1, layout.Corrupt("the file has no such section"))
		d.Times = kind == layout.KindSeries
		f.missing[kind] = d
		f.list = append(f.list, d)
	}
	return d
}

// findGrammars finds the ranks whose grammars are damaged.
func (f *damageFinder) findGrammars() {
	if d := f.damaged(layout.KindGrammars, 0); d != nil && len(f.all) > 0 {
		d.Ranks = f.RankSet()
		return
	}
	g, err := f.grammars()
	if err != nil {
		return // the file is malformed
	}
	for number, ranks := range f.all {
		for section, end := g.inSections(number); section < end; section++ {
			if d := f.damaged(layout.KindGrammars, uint64(section)); d != nil {
				d.Ranks = d.Ranks.Union(ranks)
			}
		}
	}
}

// findColumns finds the ranks whose values are in damaged columns.
func (f *damageFinder) findColumns() {
	table := f.signatures
	if table.Inline != nil {
		return
	}
	type positions struct{ domain, begin, end int }
	found := make(map[*Damage]map[positions]bool)
	for _, c := range table.Columns {
		for _, s := range table.Slices[c.First:c.End] {
			d := f.damaged(layout.KindColumns, uint64(s.Section))
			if d == nil {
				continue
			}
			at := positions{c.Domain, s.Begin, s.End}
			if found[d] == nil {
				found[d] = make(map[positions]bool)
			}
			if !found[d][at] {
				found[d][at] = true
				d.Ranks = d.Ranks.Union(f.ranksAt(at.domain, at.begin, at.end))
			}
		}
	}
}

// ranksAt returns the ranks at some positions of a domain.
func (f *damageFinder) ranksAt(domain, begin, end int) rankenc.Set {
	d := f.signatures.Domains[domain]
	var ranks rankenc.SetBuilder
	switch {
	case d.IsWorld():
		ranks.AddRange(begin, end-1)
		return ranks.Finish()
	case begin == 0 && end == d.Len():
		var sets []rankenc.Set
		for _, shape := range f.signatures.Shapes[domain].All() {
			sets = append(sets, f.all[shape])
		}
		return rankenc.Set{}.Union(sets...)
	}
	list := make([]int, 0, end-begin)
	for i := begin; i < end; i++ {
		list = append(list, d.At(i))
	}
	return rankenc.SetOf(list...)
}

// findStreams finds the ranks that need damaged streams, among those that can be read but
// for these.
func (f *damageFinder) findStreams(unreadable rankenc.Set) {
	table := f.signatures.Streams
	if table == nil {
		return
	}
	bad := make(map[int64]*Damage) // by number
	for i, p := range table.Streams {
		if d := f.damaged(layout.KindStreams, uint64(p.Section)); d != nil {
			bad[int64(i)] = d
		}
	}
	if len(bad) == 0 {
		return
	}
	ranks := make(map[*Damage][]int)
	for number, set := range f.all {
		set = set.Difference(unreadable)
		if set.Len() == 0 {
			continue
		}
		s, err := f.shape(number)
		if err != nil || !s.template().varying {
			continue // an error is that of a malformed file
		}
		for _, rank := range set.All() {
			stored, err := s.readStored(rank)
			if err != nil {
				continue
			}
			s.eachStream(rank, stored, func(_ int, _ layout.StreamArgument, number int64) error {
				if d := bad[number]; d != nil {
					ranks[d] = append(ranks[d], rank)
				}
				return nil
			})
		}
	}
	for d, list := range ranks {
		d.Ranks = d.Ranks.Union(rankenc.SetOf(list...))
	}
}

// findSeries finds the ranks whose times of every call are damaged, of some whose calls cannot be read.
func (f *damageFinder) findSeries(unreadable rankenc.Set) {
	some := false
	for _, s := range f.file.All() {
		some = some || s.Kind == layout.KindSeries
	}
	if !some {
		return
	}
	if d := f.damaged(layout.KindSeries, 0); d != nil {
		d.Ranks, f.noSeries = f.RankSet(), true // nothing tells which of them had times
		return
	}
	table, err := f.series()
	if err != nil {
		f.findSeriesTable(err)
		return
	}
	for key, d := range f.bad[layout.KindSeries] {
		d.Ranks = table.RanksOf(key)
	}
	if ranks := f.sections.WithoutSeries(table); ranks.Len() > 0 {
		key := uint64(0)
		for ok := true; ok; _, ok = f.file.Lookup(layout.KindSeries, key) {
			key++
		}
		f.damaged(layout.KindSeries, key).Ranks = ranks
	}
	f.findTaught(table, unreadable)
}

// findSeriesTable takes note of the times if the section that says where they are is
// good, but they cannot be there. Otherwise the file is malformed.
func (f *damageFinder) findSeriesTable(err error) {
	if ranks := f.sections.LostSeries(f.run.Ranks); ranks.Len() > 0 {
		f.noSeries = true
		d := f.bad[layout.KindSeries][1]
		if d == nil {
			d = newDamage(layout.KindSeries, 1, -1, err)
			d.Times = true
			f.list = append(f.list, d)
		}
		d.Ranks = ranks.Intersection(f.RankSet())
	}
}
