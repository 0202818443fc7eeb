package merge

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/compress"
	"github.com/reprise-trace/reprise/internal/forest"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/mixing"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// Write writes a trace of a run to w. There may be one part for each rank at
// most, and an interleaving must have every rank as often as the rank has calls.
// If it has not, Write writes nothing. Equal runs and parts give equal bytes,
// in whatever order the parts stand.
//
// What Write accepts can be read. A trace that takes more memory than readers take by default is
// written all the same, and the error wraps a *format.MemoryError: who gives readers as much reads
// it. Any other error means that it cannot be read.
func Write(w io.Writer, run Run, parts []Part) error {
	var a Accumulator
	if err := a.Describe(run); err != nil {
		return err
	}
	for _, p := range parts {
		if p.Rank >= run.Ranks {
			return fmt.Errorf("merge: a part of rank %d in a run of %d", p.Rank, run.Ranks)
		}
		if err := a.Add(p); err != nil {
			return err
		}
	}
	return a.Write(w)
}

// Write writes the trace of all ranks in a to w. More can be added to a
// afterwards.
func (a *Accumulator) Write(w io.Writer) error { return a.WriteContext(context.Background(), w) }

// WriteContext is [Accumulator.Write], but returns the cause when ctx is done
// before anything is written.
func (a *Accumulator) WriteContext(ctx context.Context, w io.Writer) error {
	defer compress.Hold()()
	defer a.keepEncodings()()
	a.scratch = scratch{} // of many functions, as much as a tenth of all memory
	e, err := a.drafted(ctx)
	if err != nil {
		return err
	}
	a.complete(ctx, &e)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	size, longest, err := e.sections.write(w)
	if err != nil {
		return err
	}
	return e.readable(size, longest)
}

// drafted returns the trace of all ranks in a, but for times and names.
func (a *Accumulator) drafted(ctx context.Context) (draft, error) {
	a.renumber()
	order, err := a.interleaving()
	if err != nil {
		return draft{}, err
	}
	shapes := slices.Collect(maps.Values(a.shapes))
	sortShapes(shapes)
	var e draft
	err = checkRuns(shapes)
	if err == nil {
		err = checkClockRuns(a.Clocks())
	}
	if err == nil {
		s := a.newSearch(ctx, shapes, order)
		e, err = s.smallest(shapes)
		s.budget = 0
		s.at(atTimes)
	}
	if err != nil {
		return draft{}, fmt.Errorf("merge: the trace is too large to be read: %w", err)
	}
	return e, nil
}

// checkRuns returns an error if the sets of ranks of shapes have more runs of consecutive ranks than are
// read.
func checkRuns(shapes []*shape) error {
	runs := 0
	for _, s := range shapes {
		runs += len(s.ranks)
	}
	return checkRunsOf(runs, len(shapes), "shapes")
}

// checkClockRuns is checkRuns for the ranks of clocks.
func checkClockRuns(clocks []format.Clock) error {
	runs := 0
	for _, c := range clocks {
		runs += c.Ranks.Runs()
	}
	return checkRunsOf(runs, len(clocks), "clocks")
}

func checkRunsOf(runs, n int, what string) error {
	if runs > layout.MaxRuns {
		return fmt.Errorf("%w: %d runs of consecutive ranks in %d %s, more than %d", format.ErrLimit, runs, n,
			what, layout.MaxRuns)
	}
	return nil
}

// complete adds to the sections of e what they lack. It need not have done so if ctx is done.
func (a *Accumulator) complete(ctx context.Context, e *draft) {
	if ctx.Err() != nil {
		return
	}
	m, c := e.model, &e.sections
	c.table.slice(ctx)
	if s := m.summaries(a.placed); !s.IsZero() {
		c.summaries = s.AppendRounded(nil, len(m.signatures), func(n int) uint32 {
			return uint32(m.signatures[n].function)
		})
	}
	if r := a.rankTimes.Coarse(); r.Fits(len(m.functions)) {
		c.rankTimes = r.Append(nil, len(m.functions))
	}
	c.series = layout.AppendSeries(ctx, a.sharedSeries(ctx))
	c.names = layout.AppendNames(nil, a.names.list(), c.table.lists)
	if !layout.OriginIdentifies(&a.origin) || a.origin.World > 0 && a.rankCount() < a.size { // of ranks without calls, nothing was recorded
		c.origin = layout.AppendOrigin(nil, &a.origin, a.texts.list)
	}
	if len(a.worlds) > 0 {
		c.worlds = layout.AppendWorlds(nil, a.worlds)
	}
	if clocks := a.Clocks(); len(clocks) > 1 && c.series != nil {
		c.clocks, e.clocks = layout.AppendClocks(nil, clocks), len(clocks)
	}
	if b := a.bounded.what(); b != nil {
		c.bounded = layout.AppendBounded(nil, b)
	}
	c.kept = a.keptSections()
}

// A draft is a model of a trace and its sections, but for times and names. It is
// nothing to be written if a context was done meanwhile.
type draft struct {
	model    *model
	sections sections
	bytes    int // of the file, if it is known
	clocks   int // in its section, if it has one

	// Grouped is set if groups made the trace smaller while its grammars were a forest, of so many bytes
	// with them or without, whichever was larger.
	grouped  bool
	grammars int
}

// size returns the size of the file.
func (d *draft) size() int {
	if d.bytes == 0 {
		d.bytes = d.sections.size()
	}
	return d.bytes
}

// setOrder adds an interleaving, if there is one.
func (e *draft) setOrder(ctx context.Context, a *Accumulator, order *sequitur.Grammar) {
	if order != nil && ctx.Err() == nil {
		e.sections.order, _ = order.AppendBinary(nil)
		e.bytes = 0
		e.sections.run = e.model.appendRun(nil, a, layout.FlagInterleaved, e.sections.grammarBytes())
	}
}

// checkGrammars checks that no piece of the grammars has more symbols than are
// accepted in sections of these contents.
func (m *model) checkGrammars(contents [][]byte) error {
	total, symbols := 0, 0
	for _, c := range contents {
		total += len(c)
	}
	for i := range m.forest.Len() {
		symbols += m.forest.Grammar(i).Symbols() + 1 // one is for the end of the member
	}
	most := layout.MostSymbols(uint64(total))
	if uint64(symbols) <= most {
		return nil
	}
	d := wire.NewDecoder("sequitur", contents[0])
	shared := forest.Decode(&d, forest.Options{MaxSymbols: most})
	if d.Err() != nil {
		return d.Err()
	}
	for i := shared.Len(); i < m.forest.Len(); i++ {
		if n := m.forest.Grammar(i).Symbols(); uint64(n) > most {
			return fmt.Errorf("a grammar of %d symbols, more than %d", n, most)
		}
	}
	return nil
}

// Sections are the contents of those of a trace.
type sections struct {
	run, texts        []byte // texts is nil if there are none
	table             signatureSection
	streams, grammars [][]byte
	order             []byte // nil if there is no interleaving
	summaries         []byte // nil if there are none
	rankTimes         []byte // the same
	series            [][]byte
	names             []byte // nil if there are none
	origin            []byte // nil if it says nothing
	clocks            []byte // nil if there are not several
	worlds            []byte // nil if there is one
	bounded           []byte // nil if all is as it was recorded
	kept              [][]byte
}

// sections returns those of the trace of m, with the calls rank by rank. They are
// nothing to be written if ctx is done.
func (m *model) sections(ctx context.Context, a *Accumulator) sections {
	if ctx.Err() != nil {
		return sections{}
	}
	c := m.tables(ctx, a)
	c.grammars = m.appendGrammars()
	c.run = m.appendRun(nil, a, 0, c.grammarBytes())
	return c
}

// tables returns the sections of the texts and the signatures, and of the streams that stand there.
func (m *model) tables(ctx context.Context, a *Accumulator) sections {
	var c sections
	if len(a.texts.list) > 0 {
		c.texts = layout.AppendTexts(nil, a.texts.list)
	}
	c.table, c.streams = m.signatureSection(ctx, a)
	return c
}

// grammarBytes returns the length of the sections of the grammars.
func (c *sections) grammarBytes() uint64 {
	n := 0
	for _, g := range c.grammars {
		n += len(g)
	}
	return uint64(n)
}

// size returns the size of the file.
func (c sections) size() int {
	var n layout.Counter
	_, _, _ = c.write(&n) // a counter does not fail
	return int(n)
}

// A section is one with its number among those of its kind.
type section struct {
	kind    format.Kind
	number  uint64
	content []byte // nil if it is not there
}

// list returns the sections but the times of every call, in the order of the file.
func (c sections) list() []section {
	signatures, columns := c.table.contents()
	list := []section{
		{layout.KindRun, 0, c.run},
		{layout.KindTexts, 0, c.texts},
		{layout.KindNames, 0, c.names},
		{layout.KindOrigin, 0, c.origin},
		{layout.KindWorlds, 0, c.worlds},
		{layout.KindClocks, 0, c.clocks},
		{layout.KindBounded, 0, c.bounded},
		{layout.KindSignatures, 0, signatures},
	}
	add := func(kind format.Kind, contents [][]byte) {
		for i, content := range contents {
			if content == nil {
				content = []byte{} // it is there, and empty
			}
			list = append(list, section{kind, uint64(i), content})
		}
	}
	add(layout.KindColumns, columns)
	add(layout.KindStreams, c.streams)
	add(layout.KindGrammars, c.grammars)
	add(layout.KindKept, c.kept)
	return append(list,
		section{layout.KindInterleaving, 0, c.order},
		section{layout.KindSummaries, 0, c.summaries},
		section{layout.KindRankTimes, 0, c.rankTimes},
	)
}

// write writes a trace, and returns its size and the length of its longest section.
func (c sections) write(w io.Writer) (size, longest int64, err error) {
	out := format.NewWriter(w, format.Options{Encoding: format.Primed})
	for _, s := range c.list() {
		if s.content == nil {
			continue
		}
		if err := out.Add(s.kind, s.number, s.content); err != nil {
			return 0, 0, err
		}
	}
	if err := layout.AddSeries(out, c.series); err != nil {
		return 0, 0, err
	}
	err = out.Close()
	size, longest = out.Written()
	return size, longest, err
}

// A model is what a trace file holds of the ranks.
type model struct {
	size       int // of the run, in ranks
	functions  []cst.Function
	shapes     []*shape
	columns    *shapeColumns
	sets       []rankenc.Set
	signatures []*signature    // in the order in which the grammars first use them
	forest     *forest.Forest  // of grammars over the numbers of signatures
	streams    *streams        // nil if there are none
	usesGroups bool            // whether any expression is of the rank in a group; set with the sections
	encoded    int64           // values of columns that were encoded; set with the sections
	trials     []*mixing.Trial // of its blocks, if there were such
}

// work returns the work that the model and its sections took, once these are there.
func (m *model) work() int64 {
	return int64(symbolDrafted*m.symbols()+formDrafted*terminalsOf(m.shapes)) + valueDrafted*m.encoded
}

// newModel returns the model of shapes, nil if ctx is done.
func newModel(ctx context.Context, a *Accumulator, shapes []*shape, x *streams) *model {
	m := &model{size: a.size, functions: a.functions.Functions(), shapes: shapes,
		columns: newShapeColumns(shapes, a.size), streams: x}
	for _, s := range m.shapes {
		m.sets = append(m.sets, s.ranks.set())
	}
	m.signatures = unify(ctx, m.columns, m.functions, m.size)
	if ctx.Err() != nil {
		return nil
	}
	if len(shapes) == 1 {
		// The terminals are in the order of their first use, and no two are one signature.
		m.forest = forest.New([]*sequitur.Grammar{shapes[0].grammar})
		return m
	}
	of := make([][]sequitur.Symbol, len(m.shapes))
	for i, s := range m.shapes {
		of[i] = make([]sequitur.Symbol, len(s.forms))
	}
	for n, s := range m.signatures {
		for _, u := range s.uses {
			of[u.shape][u.terminal] = sequitur.Symbol(n)
		}
	}
	grammars := make([]*sequitur.Grammar, len(m.shapes))
	for i, s := range m.shapes {
		grammars[i] = s.grammar.Rewrite(func(t sequitur.Symbol) sequitur.Symbol { return of[i][t] })
	}
	m.renumber(forest.New(grammars))
	return m
}

// renumber numbers the signatures in the order in which the grammars of f, which
// are over the numbers that they have now, first use them.
func (m *model) renumber(f *forest.Forest) {
	number := make([]sequitur.Symbol, len(m.signatures))
	ordered := make([]*signature, 0, len(m.signatures))
	for _, s := range f.FirstUse() {
		number[s] = sequitur.Symbol(len(ordered))
		ordered = append(ordered, m.signatures[s])
	}
	m.signatures = ordered
	m.forest = f.Rewrite(func(s sequitur.Symbol) sequitur.Symbol { return number[s] })
}

// appendRun appends the section of the run, with flags. The sections of the grammars have so
// many bytes.
func (m *model) appendRun(dst []byte, a *Accumulator, flags byte, bytes uint64) []byte {
	dst = wire.AppendUvarint(dst, uint64(a.size))
	dst = wire.AppendString(dst, strings.Join(a.sources, ", "))
	at := len(dst)
	if a.bounded.any {
		flags |= layout.FlagBounded
	}
	if a.threadsUnordered {
		flags |= layout.FlagThreadsUnordered
	}
	dst, column := layout.AppendShapes(append(dst, flags), m.sets, a.size, bytes)
	if column {
		dst[at] |= layout.FlagShapes
	}
	dst, known := layout.AppendFunctions(dst, &a.functions)
	if known {
		dst[at] |= layout.FlagKnown
	}
	return dst
}

// signatureSection returns the section of the signatures with the columns, and the
// contents of the sections of streams.
func (m *model) signatureSection(ctx context.Context, a *Accumulator) (section signatureSection, streams [][]byte) {
	names := a.names.list()
	w := signatureWriter{
		size: m.size, functions: m.functions, columns: m.columns, sets: m.sets, streams: m.streams,
		domainNumbers: make(map[string]int), columnNumbers: make(map[string]int64), shared: make(sharedColumns),
		matrices: make(map[int][]int), arrays: make(map[*signature][]int), matrixKeys: make(map[int]digest),
		names: names, encodings: a.encodings,
	}
	section = w.section(ctx, m.signatures)
	m.encoded = w.encoded
	for _, g := range w.groups {
		m.usesGroups = m.usesGroups || g.written
	}
	return section, w.streamSections
}

// appendGrammars returns the contents of the sections of grammars: in the first,
// the shared piece and how long the others are; in those after it, the others.
func (m *model) appendGrammars() [][]byte {
	first := m.forest.AppendShared(nil)
	var pieces [][]byte
	for i := range m.forest.Len() {
		if piece := m.forest.AppendMember(nil, i); len(piece) > 0 {
			first = wire.AppendUvarint(first, uint64(len(piece)))
			pieces = append(pieces, piece)
		}
	}
	return append([][]byte{first}, layout.Pack(pieces)...)
}
