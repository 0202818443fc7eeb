package merge

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// An Accumulator holds the parts of ranks, folded into shapes. Accumulators form
// a commutative monoid: in whatever order and grouping parts are added and
// accumulators merged, the files that [Accumulator.Write] and
// [Accumulator.WritePart] write are the same to the byte. The zero Accumulator
// is empty and ready for use. An Accumulator must not be used by two goroutines
// at once.
type Accumulator struct {
	size    int      // of the run, in ranks
	sources []string // ascending, each once
	names   names
	origin  format.Origin

	threadsUnordered bool // see Run
	worlds           []format.World
	clocks           []format.Clock
	kept             map[string][]byte // by name; nil if there is nothing
	orders           []*sequitur.Grammar
	functions        cst.Table
	digests          []digest // of the functions
	texts            texts
	shapes           map[digest]*shape
	forms            formTable            // of the shapes
	ranks            spans                // with calls
	series           []layout.RankSeries  // in no order
	exact            exactTimes           // which of these are exact as long as they take little space
	placed           []PlacedTimes        // the same
	rankTimes        layout.RankTimes     // over functions
	kind             layout.HistogramKind // of those of all ranks
	bounded          bounded              // what gave way
	condensed        bool                 // arguments that vary gave way: none need streams in blocks
	late             *roaring.Bitmap      // further ones; nil if there are none
	scratch          scratch
	encodings        *encodings                            // while a trace is written
	effort           int                                   // of writing; see SetEffort
	progress         func(step string, left time.Duration) // see OnProgress
}

// A digest is a hash of what ranks of a shape have in common.
type digest [sha256.Size]byte

// Scratch is memory of Accumulator.Add, kept from call to call.
type scratch struct {
	key       []byte
	args      []cst.Value
	slots     []int64
	forms     []form // without the lengths of arrays
	lengths   []int
	declared  []cst.Function // of the part before
	functions []int          // the numbers of these
	sites     []int          // which of their parameters is the site, −1 if none is
}

// Texts numbers strings.
type texts struct {
	list    []string
	numbers map[string]int64
}

func (t *texts) number(s string) int64 {
	n, ok := t.numbers[s]
	if !ok {
		if t.numbers == nil {
			t.numbers = make(map[string]int64)
		}
		n = int64(len(t.list))
		t.list, t.numbers[s] = append(t.list, s), n
	}
	return n
}

// MaxEffort is the largest effort of writing a trace.
const MaxEffort = 9

// SetEffort says how much time [Accumulator.Write] may take to find what makes the trace smaller: with 1, as is
// the default, about 1 s and 1 µs for each call, and twice as much with each that is more, up to [MaxEffort]. To
// write the trace once may take longer, as where nearly every call has arguments of its own. It
// takes no longer than there is something to be tried. The trace depends on the effort, but not on the time.
// It panics if there is no such effort.
func (a *Accumulator) SetEffort(effort int) {
	need.That(effort >= 1 && effort <= MaxEffort, "merge: no such effort")
	a.effort = effort
}

// rankCount returns the number of ranks of which a has calls.
func (a *Accumulator) rankCount() int {
	a.settle()
	return a.ranks.len()
}

// Shapes returns the number of shapes of the ranks of a before factoring.
func (a *Accumulator) Shapes() int { return len(a.shapes) }

// Describe adds a description of the run. Of several, the largest number of
// ranks counts, and all sources; interleavings must be of different ranks, or
// writing the trace fails. All names count, and of those of one number the least, and all origins.
func (a *Accumulator) Describe(run Run) error {
	if run.Ranks < 0 || run.Ranks > layout.MaxRanks {
		return fmt.Errorf("merge: a run of %d ranks", run.Ranks)
	}
	if err := layout.CheckWorlds(run.Worlds, layout.MaxRanks); err != nil {
		return err
	}
	if err := layout.CheckClocks(run.Clocks, layout.MaxRanks); err != nil {
		return err
	}
	if err := a.addNames(run.Names); err != nil {
		return err
	}
	a.worlds = layout.MergeWorlds(a.worlds, run.Worlds)
	a.clocks = layout.MergeClocks(a.clocks, run.Clocks)
	a.size = max(a.size, run.Ranks)
	a.threadsUnordered = a.threadsUnordered || run.ThreadsUnordered
	layout.MergeOrigin(&a.origin, run.Origin)
	if run.Source != "" {
		a.addSource(run.Source)
	}
	for _, k := range run.Kept {
		a.keep(k.Name, k.Data)
	}
	if g := run.Interleaving; g != nil && !isRankByRank(g) {
		a.orders = append(a.orders, g)
	}
	return nil
}

// keep takes what a front end keeps.
func (a *Accumulator) keep(name string, data []byte) {
	if a.kept == nil {
		a.kept = make(map[string][]byte)
	}
	if old, ok := a.kept[name]; !ok || bytes.Compare(data, old) < 0 {
		a.kept[name] = data
	}
}

// keptSections returns the sections of what front ends keep, nil if there is nothing.
func (a *Accumulator) keptSections() [][]byte {
	if len(a.kept) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(a.kept))
	list := [][]byte{layout.AppendKept(nil, names)}
	for _, name := range names {
		list = append(list, a.kept[name])
	}
	return list
}

// Clocks returns the clocks of the machines that the ranks of a were recorded on, in the order of their first
// ranks.
func (a *Accumulator) Clocks() []format.Clock { return layout.ClocksOf(a.clocks, a.RankSet()) }

// Align replaces the alignments of clocks by those of others of the same machines, and takes away those of
// which there is no other.
func (a *Accumulator) Align(list []format.Clock) {
	for i := range a.clocks {
		c := a.clocks[i]
		a.clocks[i] = format.Clock{Machine: c.Machine, Ranks: c.Ranks, Readings: c.Readings, Error: -1}
	}
	a.clocks = layout.MergeClocks(a.clocks, list)
}

// addNames adds names, or returns an error if one of them cannot be one.
func (a *Accumulator) addNames(list []format.Name) error {
	err := layout.CheckNames(list)
	if err == nil {
		err = a.names.add(list)
	}
	if err != nil {
		return fmt.Errorf("merge: %w", err)
	}
	return nil
}

func (a *Accumulator) addSource(source string) {
	if i, found := slices.BinarySearch(a.sources, source); !found {
		a.sources = slices.Insert(a.sources, i, source)
	}
}

// Add adds the part of a rank, of which a must not have one with calls. It does
// not change p, but may keep p.Grammar and p.Times.Series. It takes time in proportion to the size
// of p if ranks ascend, and to the logarithm of the number of ranks besides if
// they come in another order.
func (a *Accumulator) Add(p Part) error {
	if err := p.check(); err != nil {
		return fmt.Errorf("merge: rank %d: %w", p.Rank, err)
	}
	a.size = max(a.size, p.Rank+1)
	if p.Grammar.Len() == 0 {
		return nil
	}
	g, order := inOrderOfUse(p.sequence(), p.Table.Len())
	if err := p.checkTimes(order); err != nil {
		return fmt.Errorf("merge: rank %d: %w", p.Rank, err)
	}
	if p.Times != nil {
		own := layout.Summaries{p.Times.Durations, p.Times.Gaps}
		if err := a.kind.Take(own.Kind()); err != nil {
			return fmt.Errorf("merge: rank %d: %w", p.Rank, err)
		}
	}
	if err := a.reserve(p.Rank); err != nil {
		return err
	}
	a.declare(p.Table)
	a.threadsUnordered = a.threadsUnordered || p.ThreadsUnordered
	if p.Bounded != nil {
		a.bounded.add(p.Bounded, a.scratch.functions)
	}
	key := a.scan(p, g, order)
	if err := a.checkStreams(p.Rank, g); err != nil {
		return fmt.Errorf("merge: rank %d: %w", p.Rank, err)
	}
	s := a.shapes[key]
	if s == nil || p.Rank < s.ranks.last() {
		alone := a.newShape(p.Rank, g)
		a.addTimes(alone, p, order)
		if s == nil {
			a.put(key, alone)
		} else {
			s.addLate(alone)
		}
		return nil
	}
	a.addTimes(s, p, order)
	if s.addRow(p.Rank, a.scratch.slots) {
		return nil
	}
	s.spread()
	n := s.ranks.len()
	for i, v := range a.scratch.slots {
		s.columns[i].push(n, p.Rank, v)
	}
	s.ranks = s.ranks.add(p.Rank, p.Rank)
	return nil
}

func (a *Accumulator) put(key digest, s *shape) {
	if a.shapes == nil {
		a.shapes = make(map[digest]*shape)
	}
	if a.shapes[key] == nil {
		s.forms = a.forms.of(s.forms)
	}
	a.shapes[key] = s
}

// A formTable has lists of forms, which are not changed, once: those of shapes are often equal.
type formTable struct {
	lists map[uint64][]form // by their hashes, one of each
}

// of returns forms that are equal to these.
func (t *formTable) of(forms []form) []form {
	if len(forms) == 0 {
		return forms
	}
	h := uint64(0)
	for i := range forms {
		f := &forms[i]
		h = mix(mix(h, uint64(f.function)), uint64(f.place))
		for _, n := range f.lengths {
			h = mix(h, uint64(n))
		}
	}
	known, ok := t.lists[h]
	switch {
	case !ok && t.lists == nil:
		t.lists = make(map[uint64][]form)
		fallthrough
	case !ok:
		t.lists[h] = forms
	case &known[0] == &forms[0] || slices.EqualFunc(known, forms, form.equal):
		return known
	}
	return forms
}

// declare adds the functions of t and sets scratch.functions.
func (a *Accumulator) declare(t *cst.Table) {
	declared := t.Functions()
	if slices.EqualFunc(declared, a.scratch.declared, cst.Function.Equal) {
		return // as those of the part before: most are
	}
	a.scratch.declared = declared
	a.scratch.functions, a.scratch.sites = a.scratch.functions[:0], a.scratch.sites[:0]
	for _, f := range declared {
		n := a.functions.Declare(f)
		if n == len(a.digests) {
			a.digests = append(a.digests, functionDigest(f))
		}
		a.scratch.functions = append(a.scratch.functions, n)
		a.scratch.sites = append(a.scratch.sites, layout.SiteOf(&f))
	}
}

// functionDigest returns what tells f from other functions.
func functionDigest(f cst.Function) digest {
	type known struct {
		function cst.Function
		digest   digest
	}
	if k, ok := functionDigests.Load(f.Name); ok && k.(known).function.Equal(f) {
		return k.(known).digest
	}
	var t cst.Table
	t.Declare(f)
	enc := t.AppendFunctions(nil)
	d := sha256.Sum256(enc)
	if len(enc) > maxFunctionKnown || len(f.Params) > maxParamsKnown || functionsKnown.Load() >= maxFunctionsKnown {
		return d
	}
	if _, there := functionDigests.LoadOrStore(f.Name, known{t.Functions()[0], d}); !there {
		functionsKnown.Add(1)
	}
	return d
}

// The digests of functions by their names, as those of part files are mostly the same.
var (
	functionDigests sync.Map
	functionsKnown  atomic.Int64
)

const (
	maxFunctionsKnown = 1 << 10
	maxFunctionKnown  = 1 << 12 // bytes, encoded
	maxParamsKnown    = 1 << 6
)

// scan sets scratch.slots to the slots of all signatures of p, in order, and
// scratch.forms to their forms. It returns a digest of what p must share with other
// parts of its shape: the grammar, and the form of each signature.
func (a *Accumulator) scan(p Part, g *sequitur.Grammar, order []uint32) digest {
	const keyPiece = 1 << 13
	s := &a.scratch
	hash := sha256.New()
	s.key, _ = g.AppendBinary(s.key[:0])
	s.slots, s.lengths, s.forms = s.slots[:0], s.lengths[:0], slices.Grow(s.forms[:0], len(order))
	declared := p.Table.Functions()
	for _, t := range order {
		fn, args := p.Table.AppendSignature(s.args[:0], t)
		s.args = args
		slots, lengths := len(s.slots), len(s.lengths)
		for _, v := range args {
			s.slots, s.lengths = layout.Flatten(s.slots, s.lengths, v, a.texts.number)
		}
		grouped := (p.Groups != nil || p.CallGroups != nil) && hasHandle(&declared[fn])
		if grouped {
			group := p.group(t, &declared[fn], args)
			s.slots = append(s.slots, int64(group.Rank), int64(group.Size))
		}
		f := form{function: s.functions[fn], slots: len(s.slots) - slots, grouped: grouped, streams: p.slots(t)}
		if i := s.sites[fn]; i >= 0 {
			f.place = layout.Place(args[i].Int())
		}
		f.lengths = s.lengths[lengths:]
		s.forms = append(s.forms, f)
		if s.key = f.appendKey(s.key, a.digests); len(s.key) >= keyPiece {
			hash.Write(s.key)
			s.key = s.key[:0]
		}
	}
	hash.Write(s.key)
	return digest(hash.Sum(nil))
}

// noGroup stands where nothing is known of a group.
var noGroup = Group{-1, -1}

// hasHandle reports whether a call of f may name a group.
func hasHandle(f *cst.Function) bool {
	return slices.ContainsFunc(f.Params, func(p cst.Param) bool { return p.Type.Kind == cst.KindHandle })
}

// group returns what the rank is in the group that a call, of a terminal, names
// first.
func (p Part) group(terminal uint32, f *cst.Function, args []cst.Value) Group {
	if g, ok := p.CallGroups[terminal]; ok {
		return g
	}
	for i, v := range args {
		if v.Kind() != cst.KindHandle {
			continue
		}
		if g, ok := p.Groups[GroupHandle{f.Params[i].Type.Class, v.Int()}]; ok {
			return g
		}
	}
	return noGroup
}

// newShape returns the shape of a rank alone, of which scan has set the slots and
// forms.
func (a *Accumulator) newShape(rank int, g *sequitur.Grammar) *shape {
	s := &shape{
		grammar: g,
		forms:   own(&a.scratch.forms),
		ranks:   spans{{first: int32(rank), last: int32(rank)}},
	}
	s.setValues(a.scratch.slots)
	for i := range s.forms {
		s.forms[i].lengths = slices.Clone(s.forms[i].lengths)
	}
	return s
}

// own returns what is in a buffer, or the buffer itself if it is large.
func own[T any](buffer *[]T) []T {
	const large = 1 << 12
	if len(*buffer) < large {
		return slices.Clone(*buffer)
	}
	b := *buffer
	*buffer = nil
	return b
}

// inOrderOfUse returns g over terminals that are numbered in the order of their
// first use, and which of the n terminals of g each of them is.
func inOrderOfUse(g *sequitur.Grammar, n int) (*sequitur.Grammar, []uint32) {
	order := g.FirstUse()
	terminals := make([]uint32, len(order))
	number := make([]sequitur.Symbol, n)
	sorted := true
	for i, s := range order {
		terminals[i], number[s] = s, sequitur.Symbol(i)
		sorted = sorted && int(s) == i
	}
	if sorted {
		return g, terminals
	}
	return g.Rewrite(func(s sequitur.Symbol) sequitur.Symbol { return number[s] }), terminals
}

// Merge adds what b holds to a. None of the ranks of b may be in a. Merge takes
// over the memory of b, which is empty afterwards; if it fails, neither is of
// further use. It panics if b is nil, or a itself.
func (a *Accumulator) Merge(b *Accumulator) error { return a.merge(context.Background(), b) }

// merge is Merge, but fails with the cause if ctx is done before all shapes are
// merged.
func (a *Accumulator) merge(ctx context.Context, b *Accumulator) error {
	if b == nil || a == b {
		panic("merge: an Accumulator is merged with none, or with itself")
	}
	a.settle()
	b.settle()
	ranks, ok := a.ranks.union(b.ranks)
	if !ok {
		_, twice := interleave(a.ranks, b.ranks)
		return fmt.Errorf("merge: two parts of rank %d", twice)
	}
	if err := a.kind.Take(b.kind); err != nil {
		return fmt.Errorf("merge: %w", err)
	}
	if err := a.names.add(b.names.list()); err != nil {
		return fmt.Errorf("merge: %w", err)
	}
	layout.MergeOrigin(&a.origin, b.origin)
	a.worlds = layout.MergeWorlds(a.worlds, b.worlds)
	a.clocks = layout.MergeClocks(a.clocks, b.clocks)
	a.ranks, a.size = ranks, max(a.size, b.size)
	a.threadsUnordered = a.threadsUnordered || b.threadsUnordered
	for _, s := range b.sources {
		a.addSource(s)
	}
	for name, data := range b.kept {
		a.keep(name, data)
	}
	a.orders = append(a.orders, b.orders...)
	a.series, a.placed = append(a.series, b.series...), append(a.placed, b.placed...)
	a.addExact(&b.exact)
	a.declare(&b.functions)
	functions := slices.Clone(a.scratch.functions)
	a.rankTimes.Merge(&b.rankTimes, functions, nil)
	if old := b.bounded.what(); old != nil {
		a.bounded.add(old, functions)
	}
	numbers := make([]int64, len(b.texts.list))
	for i, s := range b.texts.list {
		numbers[i] = a.texts.number(s)
	}
	for key, s := range b.shapes {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		s.renumber(b.functions.Functions(), functions, numbers)
		if t := a.shapes[key]; t != nil {
			s = t.merge(s)
		}
		a.put(key, s)
	}
	*b = Accumulator{}
	return nil
}

// renumber replaces the numbers of functions, which are those of the list
// declared, and of texts.
func (s *shape) renumber(declared []cst.Function, functions []int, texts []int64) {
	if isMoved(texts) {
		s.renumberTexts(declared, texts)
	}
	for i, n := range functions {
		if i != n {
			s.renumberFunctions(functions)
			return
		}
	}
}

func (s *shape) renumberFunctions(to []int) {
	s.forms = slices.Clone(s.forms)
	for i, f := range s.forms {
		s.forms[i].function = to[f.function]
	}
}

func (s *shape) renumberTexts(declared []cst.Function, to []int64) {
	var slots []int
	k := 0
	for _, f := range s.forms {
		for _, slot := range f.layout(declared) {
			if slot&^layout.Element == layout.Text {
				slots = append(slots, k)
			}
			k++
		}
	}
	for _, k := range slots {
		switch {
		case len(s.values) > 0:
			s.values[k] = to[s.values[k]]
		case len(s.columns) > 0:
			s.columns[k] = s.columns[k].replace(to, s.ranks)
		}
	}
	var values []int64
	for i := range s.rows {
		values = s.rows[i].append(values[:0], 0, k)
		for _, k := range slots {
			values[k] = to[values[k]]
		}
		s.rows[i] = packRow(values)
	}
}

func isMoved(numbers []int64) bool {
	for i, n := range numbers {
		if int64(i) != n {
			return true
		}
	}
	return false
}

// replace returns the column of the values to[v] for the values v of c.
func (c *column) replace(to []int64, ranks spans) column {
	var replaced column
	v := c.values()
	ranks.each(func(position, rank int) {
		replaced.push(position, rank, to[v.at(position, rank)])
	})
	return replaced
}

func (p Part) check() error {
	switch {
	case p.Rank < 0 || p.Rank >= layout.MaxRanks:
		return fmt.Errorf("a rank is at least 0 and below %d", layout.MaxRanks)
	case p.Table == nil || p.Grammar == nil:
		return errors.New("the part has no table or no grammar")
	}
	if err := checkGroups(p.Groups); err != nil {
		return err
	}
	if n := layout.Terminals(p.Grammar); n > uint64(p.Table.Len()) {
		return fmt.Errorf("the grammar has terminal %d of %d signatures", n-1, p.Table.Len())
	}
	return p.checkBounded()
}

// checkGroups checks what a process is in groups.
func checkGroups(groups map[GroupHandle]Group) error {
	var bad []GroupHandle
	for h, g := range groups {
		if g.Rank < 0 || g.Size < 0 || g.Rank > layout.MaxRanks || g.Size > layout.MaxRanks {
			bad = append(bad, h)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	h := slices.MinFunc(bad, func(g, h GroupHandle) int {
		return cmp.Or(cmp.Compare(g.Class, h.Class), cmp.Compare(g.Value, h.Value))
	})
	return fmt.Errorf("the part has rank %d in group %d, of class %q, of %d processes", groups[h].Rank,
		h.Value, h.Class, groups[h].Size)
}

// RankSet returns the ranks of which a has calls.
func (a *Accumulator) RankSet() rankenc.Set {
	a.settle()
	return a.ranks.set()
}
