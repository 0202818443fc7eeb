package merge

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/internal/condense"
	"github.com/reprise-trace/reprise/internal/layout"
)

// A BoundError says that there is no trace of a run that fits a size.
type BoundError struct {
	Size  int64 // that was asked for
	Least int64 // of the smallest trace
}

func (e *BoundError) Error() string {
	return fmt.Sprintf(
		"merge: calls by function and rank, and messages and bytes by pair of ranks, take %d bytes, more than %d", e.Least, e.Size)
}

// WriteBounded is [Accumulator.WriteContext] for a trace of size bytes at most. If all that a holds
// is no more, it is written as it is. Otherwise, first the times of every call are left out (exact ones give
// way to those with an error before, see [Times]), and the order of calls of different ranks; then statistics of times are by function; then arguments
// that vary give way to distributions of their values, and then the order of calls where it has no
// pattern, as little as possible, but for what keep says. A [*BoundError] says that even all of
// that is not enough; nothing is written then. Calls by function and rank are always exact, and so
// are messages and bytes by function and pair of ranks. Equal runs and parts give equal bytes, in
// whatever order they came.
func (a *Accumulator) WriteBounded(ctx context.Context, w io.Writer, size int64, keep Keep) error {
	defer a.keepEncodings()()
	if w == nil {
		return errors.New("merge: writing to nothing")
	}
	file, err := a.bounds(ctx, size, keep)
	if err != nil {
		return err
	}
	if _, err = w.Write(file.data); err != nil {
		return err
	}
	return file.readable
}

// A boundedFile is a trace of all ranks, and how many bytes it has without the times of calls.
type boundedFile struct {
	data     []byte
	timeless int
	readable error // see Write
}

// fileOf returns the trace of all ranks in a.
func (a *Accumulator) fileOf(ctx context.Context) (f boundedFile, err error) {
	e, err := a.drafted(ctx)
	if err != nil {
		return f, err
	}
	a.complete(ctx, &e)
	if ctx.Err() != nil {
		return f, context.Cause(ctx)
	}
	var file bytes.Buffer
	size, longest, err := e.sections.write(&file)
	if err != nil {
		return f, err
	}
	timeless := e.sections
	timeless.summaries, timeless.series = nil, nil
	return boundedFile{file.Bytes(), timeless.size(), e.readable(size, longest)}, nil
}

// The numbers of values that distributions may have, and the index of the fewest that are taken before the
// next way of condensing is: a distribution of fewer says little.
var (
	distributions  = []int{2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 96, 128, 192, 256}
	fewestAccepted = 6
)

// bounds returns the trace of all ranks in a, of size bytes at most. It does not look at the one without
// times if that is too large: the calls are the same there, but for their order.
func (a *Accumulator) bounds(ctx context.Context, size int64, keep Keep) (boundedFile, error) {
	smallest := int64(math.MaxInt64) // of those that do not fit
	fits := func(file boundedFile) bool {
		n := int64(len(file.data))
		smallest = min(smallest, n)
		return n <= size
	}
	file, err := a.fileOf(ctx)
	if err != nil || fits(file) {
		return file, err
	}
	if a.progress != nil {
		a.progress("making it fit", -1)
	}
	if len(a.exact.instead) > 0 {
		a = a.withoutExact()
		if file, err = a.fileOf(ctx); err != nil || fits(file) {
			return file, err
		}
	}
	if len(a.orders) > 0 || len(a.series) > 0 && int64(file.timeless) <= size {
		if file, err = a.untimed().fileOf(ctx); err != nil || fits(file) {
			return file, err
		}
	}
	if a.hasTimes() && int64(file.timeless) <= size {
		if file, err = a.timedByFunction().fileOf(ctx); err != nil || fits(file) {
			return file, err
		}
	}
	a = a.withoutStreams()
	try := func(d condense.Degree, values int) (boundedFile, error) {
		d.Values = distributions[values]
		return a.condense(d, keep).fileOf(ctx)
	}
	for i, way := range condense.Ways {
		least := fewestAccepted
		if i == len(condense.Ways)-1 {
			least = 0
		}
		if file, err = try(way, least); err != nil {
			return file, err
		}
		if !fits(file) {
			continue
		}
		best := file
		for low, high := least+1, len(distributions); low < high; {
			middle := (low + high) / 2
			if file, err = try(way, middle); err != nil {
				return file, err
			}
			if fits(file) {
				best, low = file, middle+1
			} else {
				high = middle
			}
		}
		return best, nil
	}
	return file, &BoundError{Size: size, Least: smallest}
}

// untimed returns an accumulator with what a has, but for the times of every call and the order of
// calls of different ranks. It shares memory with a.
func (a *Accumulator) untimed() *Accumulator {
	b := &Accumulator{
		size: a.size, sources: a.sources, names: a.names, origin: a.origin,
		threadsUnordered: a.threadsUnordered, worlds: a.worlds, clocks: a.clocks,
		functions: a.functions, digests: a.digests, texts: a.texts, ranks: a.ranks, shapes: a.shapes,
		rankTimes: a.rankTimes, kind: a.kind, placed: a.placed, encodings: a.encodings,
		kept: maps.Clone(a.kept),
	}
	maps.DeleteFunc(b.kept, func(name string, _ []byte) bool { return strings.Contains(name, "/") })
	if old := a.bounded.what(); old != nil {
		b.bounded.add(old, identity(len(a.functions.Functions())))
	}
	b.bounded.any = true
	b.bounded.Untimed = b.bounded.Untimed || len(a.series) > 0
	b.bounded.Unordered = b.bounded.Unordered || len(a.orders) > 0
	return b
}

// hasTimes reports whether a has statistics of times.
func (a *Accumulator) hasTimes() bool {
	for _, s := range a.shapes {
		if !s.times.IsZero() {
			return true
		}
	}
	return len(a.placed) > 0
}

// timedByFunction returns untimed, with statistics of times by function.
func (a *Accumulator) timedByFunction() *Accumulator {
	b := a.untimed()
	if !a.hasTimes() {
		return b
	}
	b.shapes, b.kind, b.placed, b.bounded.ByFunction = make(map[digest]*shape), layout.NoHistograms, nil, true
	for key, s := range a.shapes {
		without := *s
		without.times = layout.Summaries{}
		b.shapes[key] = &without
	}
	b.placeTimes(a, a.lone())
	return b
}

// condense returns timedByFunction, with calls condensed to a degree.
func (a *Accumulator) condense(d condense.Degree, keep Keep) *Accumulator {
	b := a.timedByFunction()
	b.shapes, b.placed, b.condensed = nil, nil, true
	c := condense.New(d, a.functions.Functions(), condense.Keep(keep))
	ranks := a.lone()
	for i, r := range ranks {
		condensed, stretches := c.Condense(r.shape.lone(), a.bounded.Stretches[r.rank])
		s := condensedShape(condensed, r.shape.ranks)
		b.bounded.addStretches(r.rank, stretches)
		ranks[i].shape = &shape{grammar: s.grammar, forms: s.forms}
		key := b.keyOf(s)
		if t := b.shapes[key]; t != nil {
			s = t.merge(s)
		}
		b.put(key, s)
	}
	b.placeTimes(a, ranks)
	for f, params := range c.Params {
		if d.InOrder == 0 {
			addParams(&b.bounded.InOrder, f, params)
		} else {
			addParams(&b.bounded.InStretches, f, params)
		}
	}
	for key, n := range c.Transitions {
		b.bounded.pass(key[0], key[1], n)
	}
	b.dropTexts()
	if d.Sites {
		b.dropSites()
	}
	return b
}

// lone returns the only rank of s, to be condensed.
func (s *shape) lone() condense.Rank {
	r := condense.Rank{Grammar: s.grammar, Forms: make([]condense.Form, len(s.forms)), Values: s.values}
	for t, f := range s.forms {
		r.Forms[t] = condense.Form{Function: f.function, Lengths: f.lengths, Slots: f.slots,
			Grouped: f.grouped, Place: f.place}
	}
	return r
}

// condensedShape returns the shape of a rank that was condensed.
func condensedShape(r condense.Rank, ranks spans) *shape {
	s := &shape{grammar: r.Grammar, forms: make([]form, len(r.Forms)), ranks: ranks, values: r.Values}
	for t, f := range r.Forms {
		s.forms[t] = form{function: f.Function, lengths: f.Lengths, slots: f.Slots, grouped: f.Grouped, place: f.Place}
	}
	g, order := inOrderOfUse(s.grammar, len(s.forms))
	if g == s.grammar {
		return s
	}
	return s.view(g, order)
}

// identity returns the numbers below n.
func identity(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// A loneRank is a rank of a shape, as a shape of its own without times.
type loneRank struct {
	rank  int
	shape *shape
}

// lone returns the ranks of all shapes in ascending order.
func (a *Accumulator) lone() []loneRank {
	a.settle()
	var list []loneRank
	for _, s := range a.shapes {
		readers := make([]values, len(s.columns))
		for i, c := range s.columns {
			readers[i] = c.values()
		}
		s.ranks.each(func(position, rank int) {
			own := &shape{grammar: s.grammar, forms: s.forms,
				ranks: spans{{first: int32(rank), last: int32(rank)}}, values: s.values}
			if len(s.rows) > 0 {
				own.values = s.rows[position].append(nil, 0, s.slots())
			}
			if len(s.columns) > 0 {
				own.values = make([]int64, len(readers))
				for i := range readers {
					own.values[i] = readers[i].at(position, rank)
				}
			}
			list = append(list, loneRank{rank, own})
		})
	}
	slices.SortFunc(list, func(r, s loneRank) int { return cmp.Compare(r.rank, s.rank) })
	return list
}

// placeTimes adds the statistics that a has of each function, at the first of its signatures in the
// lowest rank that calls it. The ranks are those of a, with their functions.
func (b *Accumulator) placeTimes(a *Accumulator, ranks []loneRank) {
	var all layout.Summaries // over functions
	for _, s := range a.shapes {
		of := make([]uint32, len(s.forms))
		for t, f := range s.forms {
			of[t] = uint32(f.function)
		}
		all.Merge(statisticsOf(&s.times, of))
		for _, p := range a.placed {
			if s.ranks.contains(p.Rank) {
				times := p.times()
				all.Merge(statisticsOf(&times, p.signatures(s.grammar, of)))
			}
		}
	}
	for _, r := range ranks {
		p := PlacedTimes{Rank: r.rank}
		own := make(map[uint32]uint32)
		for at, t := range r.shape.grammar.FirstUses() {
			f := uint32(r.shape.forms[t].function)
			if r.shape.role(t, b.functions.Functions()) != layout.NoStream {
				break
			}
			if _, ok := own[f]; !ok {
				own[f] = uint32(len(p.Positions))
				p.Positions = append(p.Positions, at)
			}
		}
		taken := all.Take(own)
		if p.Durations, p.Gaps = taken[0], taken[1]; !taken.IsZero() {
			b.placed = append(b.placed, p)
		}
	}
}

// statisticsOf returns summaries over what to says of each terminal, without histograms.
func statisticsOf(s *layout.Summaries, to []uint32) *layout.Summaries {
	without := layout.Summaries{{Statistics: s[0].Statistics}, {Statistics: s[1].Statistics}}
	without = without.Rename(to)
	return &without
}

// keyOf returns the digest of what a shape has in common with others, as [Accumulator.Add] makes it.
func (a *Accumulator) keyOf(s *shape) digest {
	key, _ := s.grammar.AppendBinary(nil)
	for i := range s.forms {
		key = s.forms[i].appendKey(key, a.digests)
	}
	return sha256.Sum256(key)
}

// dropTexts leaves out texts that no call has.
func (a *Accumulator) dropTexts() {
	declared := a.functions.Functions()
	used := make([]bool, len(a.texts.list))
	for _, s := range a.shapes {
		k := 0
		for _, f := range s.forms {
			for _, kind := range f.layout(declared) {
				if kind&^layout.Element == layout.Text {
					s.eachValue(k, func(v int64) { used[v] = true })
				}
				k++
			}
		}
	}
	var left texts
	to := make([]int64, len(used))
	for i, text := range a.texts.list {
		if used[i] {
			to[i] = left.number(text)
		}
	}
	if len(left.list) == len(used) {
		return
	}
	for _, s := range a.shapes {
		s.renumberTexts(declared, to)
	}
	a.texts = left
}

// dropSites leaves out the names of places where no call is made.
func (a *Accumulator) dropSites() {
	declared := a.functions.Functions()
	used := make(map[int64]bool)
	for _, s := range a.shapes {
		k := 0
		for _, f := range s.forms {
			if site := layout.SiteSlot(&declared[f.function], f.lengths); site >= 0 {
				s.eachValue(k+site, func(v int64) { used[v] = true })
			}
			k += f.slots
		}
	}
	left := make(names, len(a.names))
	for v, name := range a.names {
		if !v.isSite() || used[v.value] {
			left[v] = name
		}
	}
	a.names = left
}

// eachValue calls f for the values of a slot.
func (s *shape) eachValue(slot int, f func(int64)) {
	var r columnReader
	v := r.column(s, slot).values()
	s.ranks.each(func(position, rank int) { f(v.at(position, rank)) })
}
