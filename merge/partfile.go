package merge

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// partRankMemory is how many bytes of memory are counted for a rank of which a part file has calls: a few
// bytes of hostile input can have many.
const partRankMemory = 1 << 5

// IsPart reports whether a container is a part file: one that
// [Accumulator.WritePart] wrote.
func IsPart(file *format.Reader) bool {
	mustFile(file)
	_, ok := file.Lookup(layout.KindPart, 0)
	return ok
}

// WritePart writes a to w, as a file that [ReadPart] reads to be merged with others. More can be added to a
// afterwards. What it accepts can be read, as with [Write]: a part whose ranks all make the same calls, of
// one rank above all, can be opened as a trace, too, and one of more can if its trace can.
func (a *Accumulator) WritePart(w io.Writer) error {
	a.renumber()
	shapes := slices.Collect(maps.Values(a.shapes))
	sortShapes(shapes)
	for i := range shapes {
		if err := checkRuns(shapes[i : i+1]); err != nil {
			return fmt.Errorf("merge: the part is too large to be read: %w", err)
		}
	}
	clocks := a.Clocks()
	if err := checkClockRuns(clocks); err != nil {
		return fmt.Errorf("merge: the part is too large to be read: %w", err)
	}
	slices.SortFunc(a.orders, compareOrders)
	head := wire.AppendUvarint(nil, uint64(a.size))
	head = layout.AppendTexts(head, a.sources)
	head = wire.AppendUvarint(head, uint64(len(shapes)))
	head = wire.AppendUvarint(head, uint64(len(a.orders)))
	out := format.NewWriter(w, format.Options{})
	out.Add(layout.KindPart, 0, a.functions.AppendFunctions(head))
	if len(a.texts.list) > 0 {
		out.Add(layout.KindTexts, 0, layout.AppendTexts(nil, a.texts.list))
	}
	if names := layout.AppendNames(nil, a.names.list(), nil); names != nil {
		out.Add(layout.KindNames, 0, names)
	}
	if !layout.NoOrigin(&a.origin) {
		out.Add(layout.KindOrigin, 0, layout.AppendOrigin(nil, &a.origin, a.texts.list))
	}
	if len(a.worlds) > 0 {
		out.Add(layout.KindWorlds, 0, layout.AppendWorlds(nil, a.worlds))
	}
	if len(clocks) > 0 {
		out.Add(layout.KindClocks, 0, layout.AppendClocks(nil, clocks))
	}
	for i, data := range a.keptSections() {
		if err := out.Add(layout.KindKept, uint64(i), data); err != nil {
			return err
		}
	}
	if a.threadsUnordered {
		out.Add(layout.KindThreadsUnordered, 0, nil)
	}
	if b := a.bounded.what(); b != nil {
		out.Add(layout.KindBounded, 0, layout.AppendBounded(nil, b))
	}
	var buf []byte
	for i, s := range shapes {
		buf = s.append(buf[:0], len(a.functions.Functions()))
		if err := out.Add(layout.KindShape, uint64(i), buf); err != nil {
			return err
		}
	}
	for i, g := range a.orders {
		buf, _ = g.AppendBinary(buf[:0])
		out.Add(layout.KindInterleaving, uint64(i), buf)
	}
	for i, s := range shapes {
		if !s.times.IsZero() {
			out.Add(layout.KindSummaries, uint64(i), s.times.Append(nil, len(s.forms)))
		}
	}
	slices.SortFunc(a.placed, func(p, q PlacedTimes) int { return p.Rank - q.Rank })
	for i, p := range a.placed {
		out.Add(layout.KindSummaries, uint64(len(shapes)+i), p.append(nil))
	}
	if n := len(a.functions.Functions()); a.rankTimes.Fits(n) {
		out.Add(layout.KindRankTimes, 0, a.rankTimes.Append(nil, n))
	}
	series := layout.AppendSeries(context.Background(), layout.PlainSeries(a.series))
	if err := layout.AddSeries(out, series); err != nil {
		return err
	}
	if a.exact.over || len(a.exact.instead) > 0 {
		slices.SortFunc(a.exact.instead, func(x, y layout.RankSeries) int { return x.Rank - y.Rank })
		out.Add(layout.KindExactTimes, 0, a.exact.append(nil))
	}
	if err := out.Close(); err != nil { // errors of Add stick
		return err
	}
	size, longest := out.Written()
	return a.partReadable(size, longest)
}

// compareOrders orders interleavings by their lowest ranks.
func compareOrders(g, h *sequitur.Grammar) int { return cmp.Compare(lowest(g), lowest(h)) }

// lowest returns the lowest terminal of g.
func lowest(g *sequitur.Grammar) sequitur.Symbol {
	for s := range g.Occurrences() {
		return s
	}
	return 0
}

// ReadPart reads a part file. An error about the file is a [*format.SectionError].
func ReadPart(file *format.Reader) (*Accumulator, error) {
	a, without, err := SalvagePart(file)
	if err == nil && without.Len() > 0 {
		err = layout.Damaged(layout.KindSeries, 0, layout.Corrupt(
			"the series of ranks %s are not all in the file", without.Abbreviated(layout.MaxNamed)))
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}

// SalvagePart is [ReadPart] for what [format.Salvage] found of a file, in which sections of
// times may be missing. It returns the ranks whose series are not there: all, if the section
// that says where series are is missing.
func SalvagePart(file *format.Reader) (a *Accumulator, without rankenc.Set, err error) {
	mustFile(file)
	p := partReader{file: file}
	for _, step := range []func() error{
		p.readHead, p.readTexts, p.readNames, p.readOrigin, p.readWorlds, p.readClocks, p.readKept,
		p.readShapes, p.readBounded, p.readOrders, p.readPlaced, p.readRankTimes, p.readSeries, p.readExact} {
		if err := step(); err != nil {
			return nil, without, err
		}
	}
	return &p.a, p.without, nil
}

// A partReader is the state of ReadPart.
type partReader struct {
	file           *format.Reader
	without        rankenc.Set // ranks whose series are not there
	a              Accumulator
	shapes, orders int
}

func (p *partReader) readHead() error {
	if _, ok := p.file.Lookup(layout.KindRun, 0); ok && !IsPart(p.file) {
		return errors.New(
			"merge: the file is a trace, not a part file; its parts can be read one by one with Open and Trace.Part")
	}
	return layout.ReadSection(p.file, layout.KindPart, 0, func(data []byte) error {
		d := wire.NewDecoder("merge", data)
		_, p.a.threadsUnordered = p.file.Lookup(layout.KindThreadsUnordered, 0)
		p.a.size = int(d.UvarintMax("ranks", layout.MaxRanks))
		sources := d.Count("sources", 1)
		for i := 0; i < sources && d.Err() == nil; i++ {
			p.a.addSource(string(d.String("source")))
		}
		p.shapes = int(d.UvarintMax("shapes", layout.MaxRanks))
		p.orders = int(d.UvarintMax("interleavings", layout.MaxRanks))
		if d.Err() != nil {
			return d.Err()
		}
		t, err := cst.ParseFunctions(data[d.Offset():])
		if err != nil {
			return layout.AtOffset(err, d.Offset())
		}
		p.a.declare(t)
		return nil
	})
}

func (p *partReader) readTexts() error {
	if _, ok := p.file.Lookup(layout.KindTexts, 0); !ok {
		return nil
	}
	return layout.ReadSection(p.file, layout.KindTexts, 0, func(data []byte) error {
		list, err := layout.ParseTexts(data)
		for _, s := range list {
			p.a.texts.number(s)
		}
		if err == nil && len(p.a.texts.list) != len(list) {
			return layout.Corrupt("a text occurs twice")
		}
		return err
	})
}

func (p *partReader) readNames() error {
	list, lists, err := layout.ReadNames(p.file)
	if err == nil && len(lists) > 0 {
		err = layout.Damaged(layout.KindNames, 0, layout.Corrupt("a part file has no places of handles"))
	}
	if err != nil {
		return err
	}
	return p.a.names.add(list)
}

func (p *partReader) readOrigin() (err error) {
	p.a.origin, err = layout.ReadOrigin(p.file)
	return err
}

func (p *partReader) readClocks() error {
	list, err := layout.ReadClocks(p.file, layout.MaxRanks)
	p.a.clocks = layout.MergeClocks(nil, list)
	return err
}

func (p *partReader) readKept() error {
	names, err := layout.ReadKept(p.file)
	for i, name := range names {
		if err == nil {
			err = layout.ReadSection(p.file, layout.KindKept, uint64(i+1), func(data []byte) error {
				p.a.keep(name, bytes.Clone(data))
				return nil
			})
		}
	}
	return err
}

func (p *partReader) readWorlds() (err error) {
	p.a.worlds, err = layout.ReadWorlds(p.file)
	return err
}

// readBounded reads what is not as it was recorded, if there is anything.
func (p *partReader) readBounded() error {
	n := len(p.a.functions.Functions())
	b, err := layout.ReadBounded(p.file, n, p.a.RankSet)
	if err != nil || b == nil {
		return err
	}
	counts := p.a.callCounts()
	for _, rank := range slices.Sorted(maps.Keys(b.Stretches)) {
		if err := layout.CheckStretches(b.Stretches[rank], counts.of(rank)); err != nil {
			return layout.Damaged(layout.KindBounded, 0, err)
		}
	}
	p.a.bounded.add(b, identity(n))
	return nil
}

func (p *partReader) readShapes() error {
	var ranks []spans
	n := 0 // ranks so far
	for i := range p.shapes {
		var read *shape
		err := layout.ReadSection(p.file, layout.KindShape, uint64(i), func(data []byte) error {
			d := shapeParser{Decoder: wire.NewDecoder("merge", data), a: &p.a, before: n, memory: p.file.Memory()}
			s, key, err := d.shape()
			if err != nil {
				return err
			}
			if _, ok := p.a.shapes[key]; ok {
				return layout.Corrupt("the shape occurs twice")
			}
			ranks = append(ranks, s.ranks)
			n += s.ranks.len()
			p.a.put(key, s)
			read = s
			return nil
		})
		if err == nil {
			err = p.readSummaries(read, uint64(i))
		}
		if err != nil {
			return err
		}
	}
	var twice int
	if p.a.ranks, twice = unionOf(ranks); twice >= 0 {
		return layout.Damaged(layout.KindPart, 0, layout.Corrupt("rank %d is of two shapes", twice))
	}
	return nil
}

// readSummaries reads those of a shape, if there are any.
func (p *partReader) readSummaries(s *shape, number uint64) error {
	if _, ok := p.file.Lookup(layout.KindSummaries, number); !ok {
		return nil
	}
	return layout.ReadSection(p.file, layout.KindSummaries, number, func(data []byte) (err error) {
		if s.times, err = layout.ParseSummaries(data, len(s.forms)); err != nil {
			return err
		}
		if err = s.checkTimes(); err == nil {
			err = p.takeKind(&s.times)
		}
		return err
	})
}

// takeKind checks that summaries have histograms of one kind, that of the others.
func (p *partReader) takeKind(s *layout.Summaries) error {
	err := p.a.kind.Take(s.Kind())
	if s.Mixed() || err != nil {
		return layout.Corrupt("histograms by call and by pair of calls")
	}
	return nil
}

// readPlaced reads the summaries that are not of one of the shapes.
func (p *partReader) readPlaced() error {
	var calls callCounts
	for _, of := range p.file.All() {
		if of.Kind != layout.KindSummaries || of.Key < uint64(p.shapes) {
			continue
		}
		if calls == nil {
			calls = p.a.callCounts()
		}
		err := layout.ReadSection(p.file, layout.KindSummaries, of.Key, func(data []byte) error {
			placed, err := parsePlaced(data, calls)
			if err == nil {
				times := placed.times()
				err = p.takeKind(&times)
			}
			if err == nil {
				p.a.placed = append(p.a.placed, placed)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// readRankTimes reads the times of each rank, if there are any.
func (p *partReader) readRankTimes() error {
	n := len(p.a.functions.Functions())
	r, err := layout.ReadRankTimes(p.file, n, p.a.RankSet())
	if err != nil || r == nil {
		return err
	}
	p.a.rankTimes = *r
	return nil
}

// readSeries reads the series of all ranks that have one.
func (p *partReader) readSeries() error {
	sections := layout.NewSections(p.file)
	if sections.OrphanSeries() {
		p.without = p.a.RankSet() // nothing tells which of them had times
		return nil
	}
	table, err := sections.SeriesTable(p.a.size)
	if p.without = sections.LostSeries(p.a.size); p.without.Len() > 0 {
		return nil
	}
	if err != nil || table == nil {
		return err
	}
	if table.Sharing.Trainers > 0 {
		return layout.Damaged(layout.KindSeries, 0, layout.Corrupt("series of a part learn from others"))
	}
	p.without = sections.WithoutSeries(table)
	return sections.EachSeries(table, p.a.callCounts().of, func(s layout.RankSeries, err error) error {
		switch {
		case p.without.Contains(s.Rank):
			return nil
		case err != nil:
			return err
		}
		p.a.series = append(p.a.series, s)
		return nil
	})
}

// readExact reads which series are exact as long as they take little space. Where some are lost, those that are
// there stay as they are.
func (p *partReader) readExact() error {
	if _, ok := p.file.Lookup(layout.KindExactTimes, 0); !ok || p.without.Len() > 0 {
		return nil
	}
	return layout.ReadSection(p.file, layout.KindExactTimes, 0, func(data []byte) (err error) {
		p.a.exact, err = parseExact(data, p.a.callCounts(), p.a.series)
		return err
	})
}

func (p *partReader) readOrders() error {
	if p.orders == 0 {
		return nil
	}
	counts, ordered := p.a.callCounts(), make(map[int]bool)
	for i := range p.orders {
		err := layout.ReadSection(p.file, layout.KindInterleaving, uint64(i), func(data []byte) error {
			g, err := sequitur.Parse(data, sequitur.Options{Plain: true})
			if err == nil && isRankByRank(g) {
				err = layout.Corrupt("the order is rank by rank")
			}
			if err == nil {
				if e := counts.check(g, ordered); e != nil {
					err = layout.Corrupt("%v", e)
				}
			}
			p.a.orders = append(p.a.orders, g)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// mustFile panics if there is no file.
func mustFile(file *format.Reader) {
	if file == nil {
		panic("merge: no file to read")
	}
}
