package merge

import (
	"bytes"
	"context"
	"crypto/sha256"
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

// noGroup stands where nothing is known of a group.
var noGroup = Group{-1, -1}

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

// RankSet returns the ranks of which a has calls.
func (a *Accumulator) RankSet() rankenc.Set {
	a.settle()
	return a.ranks.set()
}
