package report

import (
	"context"
	"slices"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// Limits of a timeline, which keep a page below 5 MB.
const (
	shownRanks   = 16      // if nobody chooses
	maxRanks     = 256     // if somebody does
	maxSymbols   = 150_000 // of all grammars
	maxTexts     = 768_000 // bytes of the words of calls
	maxTerminals = 100_000 // of all ranks
	maxRows      = 512

	// maxWork is how many numbers a browser keeps of all programs, about.
	maxWork = 4_000_000
	classes = 10 // of functions with a colour, about
)

// A timelineMaker puts together the timeline.
type timelineMaker struct {
	trace   *reprise.Trace
	clocks  *clocks
	printer *reprise.Printer
	page    *page
	data    *timelineData

	grammars  map[[32]byte]int
	texts     map[string]int
	bytes     int   // of texts
	symbols   int   // of grammars
	terminals int   // of ranks
	sizes     []int // of the programs of each grammar
	work      int   // of programs

	ranks   int     // that are shown
	leftOut int     // ranks whose grammars are too large
	nested  bool    // calls are in others
	threads bool    // rows are of threads
	bound   float64 // of the error of clocks between anchors, in ns
	length  float64 // from the first call of all ranks to the end of the last, in ns
}

// timeline returns the timeline of some ranks, and what is told of it.
func (p *page) timeline(ctx context.Context, trace *reprise.Trace, ranks []int) (*timelineData, *timelineMaker, error) {
	read := make(map[int]*reprise.Rank)
	for _, rank := range ranks {
		r, err := trace.Rank(rank)
		if err != nil {
			return nil, nil, err
		}
		read[rank] = r
	}
	c, err := openClocks(trace, p.times, read)
	if err != nil {
		return nil, nil, err
	}
	m := &timelineMaker{
		page: p, trace: trace, clocks: c, printer: trace.Printer(reprise.PrintOptions{Absolute: true}),
		data:     &timelineData{Timed: c.timed(), Texts: []string{}, Grammars: [][][]int64{}, Programs: []programData{}, Ranks: []rankData{}},
		grammars: make(map[[32]byte]int), texts: make(map[string]int),
	}
	for _, rank := range ranks {
		if err := context.Cause(ctx); err != nil {
			return nil, nil, err
		}
		if err := m.add(rank, read[rank]); err != nil {
			return nil, nil, err
		}
	}
	return m.data, m, m.rebase()
}

// rebase has times count from the first call of the run, whichever ranks are shown: a
// browser has 53 bits for them.
func (m *timelineMaker) rebase() error {
	first, err := m.clocks.times.Begin()
	if err != nil {
		return err
	}
	for _, r := range m.data.Ranks {
		if len(r.Times) > 0 {
			first = min(first, r.Times[0])
		}
	}
	for i := range m.data.Ranks {
		if times := m.data.Ranks[i].Times; len(times) > 0 {
			times[0] -= first // those after it are differences
			end := int64(0)
			for _, step := range times {
				end += step
			}
			m.length = max(m.length, float64(end))
		}
	}
	return nil
}

// add adds a rank, unless it is too large.
func (m *timelineMaker) add(rank int, r *reprise.Rank) error {
	if r.Len() == 0 {
		return nil
	}
	g := r.Grammar()
	if _, known := m.grammars[g.Hash()]; !known && m.symbols+g.Symbols() > maxSymbols {
		m.leftOut++ // before its times are read
		return nil
	}
	models, err := m.clocks.models(r)
	if err != nil {
		return err
	}
	if simple := len(models) == 1 && models[0].kinds == nil; !simple && !m.fits(r, models) {
		if models, err = flatModel(r); err != nil {
			return err
		}
	}
	if !m.fits(r, models) {
		m.leftOut++
		return nil
	}
	m.ranks++
	for _, model := range models {
		m.addRow(rank, r, model)
	}
	return nil
}

// fits reports whether there is room for the rows of a rank.
func (m *timelineMaker) fits(r *reprise.Rank, rows []*model) bool {
	symbols, terminals, work := m.symbols, m.terminals, m.work
	for _, row := range rows {
		number, known := m.grammars[row.grammar.Hash()]
		if !known {
			symbols += row.grammar.Symbols()
		}
		terminals += row.symbols(r)
		if !known || m.find(m.programOf(r, row, number)) < 0 {
			work += workOf(row.grammar)
		}
	}
	return symbols <= maxSymbols && terminals <= maxTerminals && work <= maxWork && (len(rows) == 1 || len(m.data.Ranks)+len(rows) <= maxRows)
}

// workOf returns how many numbers a browser keeps of each program of a grammar, about.
func workOf(g *sequitur.Grammar) int { return g.Symbols() + classes*g.Rules() }

// symbols returns how many different symbols the grammar has.
func (w *row) symbols(r *reprise.Rank) int {
	if w.terminals != nil {
		return len(w.terminals)
	}
	return r.Terminals()
}

// call returns the call of a symbol, or of a part of which it is.
func (w *row) call(r *reprise.Rank, symbol int) reprise.Call {
	if w.terminals != nil {
		symbol = w.terminals[symbol]
	}
	return r.Call(uint32(symbol))
}

// programOf returns the program of a row of a rank, given the number of its grammar.
func (m *timelineMaker) programOf(r *reprise.Rank, model *model, grammar int) programData {
	p := programData{Grammar: grammar, Functions: make([]int, model.symbols(r)), Durations: model.durations, Gaps: model.gaps}
	for symbol := range p.Functions {
		p.Functions[symbol] = m.page.functionNumber(model.call(r, symbol).Function.Name)
	}
	for _, kind := range model.kinds {
		p.Kinds = append(p.Kinds, int(kind))
	}
	return p
}

// addRow adds a row of a rank.
func (m *timelineMaker) addRow(rank int, r *reprise.Rank, model *model) {
	m.bound = max(m.bound, model.bound)
	m.nested = m.nested || model.kinds != nil
	p := m.programOf(r, model, m.grammar(model.grammar))
	n := len(p.Functions)
	m.terminals += n
	data := rankData{Rank: rank, Program: m.program(p), Texts: make([]int, n), Edges: steps(model.edges), Times: steps(model.times)}
	for symbol := range n {
		data.Texts[symbol] = m.text(model.call(r, symbol))
	}
	if model.thread >= 0 {
		data.Thread, m.threads = &model.thread, true
	}
	m.data.Ranks = append(m.data.Ranks, data)
}

// grammar returns the number of a grammar.
func (m *timelineMaker) grammar(g *sequitur.Grammar) int {
	number, known := m.grammars[g.Hash()]
	if !known {
		number = len(m.data.Grammars)
		m.grammars[g.Hash()] = number
		m.symbols += g.Symbols()
		m.data.Grammars = append(m.data.Grammars, rules(g))
		m.sizes = append(m.sizes, workOf(g))
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

// program returns the number of a program.
func (m *timelineMaker) program(p programData) int {
	if i := m.find(p); i >= 0 {
		return i
	}
	m.work += m.sizes[p.Grammar]
	m.data.Programs = append(m.data.Programs, p)
	return len(m.data.Programs) - 1
}

// find returns the number of a program, −1 if it is new.
func (m *timelineMaker) find(p programData) int {
	return slices.IndexFunc(m.data.Programs, func(q programData) bool {
		return p.Grammar == q.Grammar && slices.Equal(p.Functions, q.Functions) && slices.Equal(p.Durations, q.Durations) &&
			slices.Equal(p.Gaps, q.Gaps) && slices.Equal(p.Kinds, q.Kinds)
	})
}

// text returns the number of a call in words, −1 if there is no more room.
func (m *timelineMaker) text(call reprise.Call) int {
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
func chooseRanks(trace *reprise.Trace, asked *rankenc.Set) (ranks []int, of int) {
	active := trace.RankSet()
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
		for _, rank := range firstOfShapes(trace, shownRanks/2) {
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
func firstOfShapes(trace *reprise.Trace, most int) []int {
	order := shapesByRanks(trace)
	var ranks []int
	for _, shape := range order[:min(len(order), most)] {
		ranks = append(ranks, trace.ShapeRanks(shape).At(0))
	}
	return ranks
}
