package trace

import (
	"bytes"
	"maps"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/sequitur"
)

func openPart(file *format.Reader) (*Trace, error) {
	a, err := merge.ReadPart(file)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if _, err := layout.Unread(a.Write(&b)); err != nil { // it is read with what the file may take
		return nil, err
	}
	whole, err := format.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()),
		format.Options{Memory: int64(min(file.Memory(), math.MaxInt64))})
	if err != nil {
		return nil, err
	}
	t, err := openContainer(whole)
	if err == nil {
		t.listed = file
	}
	return t, err
}

// readHead reads what concerns the run as a whole.
func (t *Trace) readHead() error {
	if err := t.checkSections(); err != nil {
		return err
	}
	if err := t.sections.Read(layout.KindRun, 0, t.parseRun); err != nil {
		return err
	}
	if t.sections.Has(layout.KindTexts) {
		err := t.sections.Read(layout.KindTexts, 0, func(data []byte) (err error) {
			t.texts, err = layout.ParseTexts(data)
			return err
		})
		if err != nil {
			return err
		}
	}
	names, lists, err := layout.ReadNames(t.file)
	if t.run.Names = names; err != nil {
		return err
	}
	if t.run.Origin, err = layout.ReadOrigin(t.file); err != nil {
		return err
	}
	if t.run.Worlds, err = layout.ReadWorlds(t.file); err != nil {
		return err
	}
	if t.run.Clocks, err = layout.ReadClocks(t.file, t.run.Ranks); err != nil {
		return err
	}
	if err := layout.CheckWorlds(t.run.Worlds, t.run.Ranks); err != nil {
		return layout.Damaged(layout.KindWorlds, 0, err)
	}
	if err := t.readBounded(); err != nil {
		return err
	}
	err = t.sections.Read(layout.KindSignatures, 0, func(data []byte) (err error) {
		t.signatures, err = layout.ParseTable(data, t.Functions(), t.all, t.run.Ranks, lists, t.file.Memory())
		return err
	})
	if err == nil {
		err = t.checkTexts()
	}
	if err == nil && t.sections.Has(layout.KindInterleaving) {
		err = t.sections.Read(layout.KindInterleaving, 0, t.parseInterleaving)
	}
	return err
}

// checkTexts returns an error if there are no texts, though calls have some: the section is lost.
func (t *Trace) checkTexts() error {
	if t.sections.Has(layout.KindTexts) {
		return nil
	}
	takes := make([]bool, len(t.Functions()))
	for i, f := range t.Functions() {
		takes[i] = slices.ContainsFunc(f.Params, func(p cst.Param) bool { return mayHaveText(p.Type) })
	}
	if !slices.Contains(takes, true) {
		return nil
	}
	var s layout.Template
	for n, f := range t.signatures.Functions {
		if !takes[f] {
			continue
		}
		t.signatures.Template(&s, n)
		lengths := s.Lengths
		for _, p := range t.Functions()[f].Params {
			if hasText(p.Type, &lengths) {
				return layout.Damaged(layout.KindTexts, 0, layout.Corrupt("there are none, though calls have some"))
			}
		}
	}
	return nil
}

// mayHaveText reports whether there can be a text in a value of a type.
func mayHaveText(t cst.Type) bool {
	for t.Kind == cst.KindArray {
		t = *t.Elem
	}
	return t.Kind == cst.KindString || t.Kind == cst.KindBytes
}

// hasText reports whether there is a text in a value of a type, whose arrays have the lengths that it
// takes from lengths.
func hasText(t cst.Type, lengths *[]int) bool {
	if t.Kind != cst.KindArray {
		return t.Kind == cst.KindString || t.Kind == cst.KindBytes
	}
	n := (*lengths)[0]
	*lengths = (*lengths)[1:]
	if t.Elem.Kind != cst.KindArray {
		return n > 0 && hasText(*t.Elem, lengths)
	}
	has := false
	for range n {
		has = hasText(*t.Elem, lengths) || has
	}
	return has
}

// checkSections checks the keys of sections of which there is one.
func (t *Trace) checkSections() error {
	for _, s := range t.file.All() {
		switch s.Kind {
		case layout.KindRun, layout.KindTexts, layout.KindNames, layout.KindOrigin, layout.KindWorlds,
			layout.KindClocks, layout.KindSignatures, layout.KindInterleaving, layout.KindSummaries,
			layout.KindRankTimes, layout.KindBounded:
			if s.Key != 0 {
				return layout.DamagedAt(s.Kind, s.Key, s.Offset, layout.Corrupt("the key is %d", s.Key))
			}
		}
	}
	return nil
}

func (t *Trace) parseRun(data []byte) error {
	d := wire.NewDecoder("merge", data)
	t.run.Ranks = int(d.UvarintMax("ranks", layout.MaxRanks))
	t.run.Source = string(d.String("source"))
	at := d.Offset()
	flags := d.Byte("flags")
	if flags&^layout.Flags != 0 {
		d.Corrupt(at, "flags", "%#x", flags)
	}
	t.bounded = flags&layout.FlagBounded != 0
	t.run.ThreadsUnordered = flags&layout.FlagThreadsUnordered != 0
	t.interleaved, t.blocked = flags&layout.FlagInterleaved != 0, flags&layout.FlagBlocks != 0
	t.all = layout.DecodeShapes(&d, t.run.Ranks, flags&layout.FlagShapes != 0, t.grammarBytes())
	if d.Err() != nil {
		return d.Err()
	}
	t.setRanks(t.all)
	t.recorded = t.active
	parse, err := cst.ParseFunctions, error(nil)
	if flags&layout.FlagKnown != 0 {
		parse = layout.ParseFunctions
	}
	if t.functions, err = parse(data[d.Offset():]); err != nil {
		return layout.AtOffset(err, d.Offset())
	}
	return nil
}

func (t *Trace) parseInterleaving(data []byte) error {
	if !t.interleaved {
		return layout.Corrupt("the run has none")
	}
	g, err := sequitur.Parse(data, sequitur.Options{Plain: true})
	if err != nil {
		return err
	}
	t.run.Interleaving, t.calls = g, maps.Collect(g.Occurrences())
	for rank := range t.calls {
		if _, ok := t.index.find(int(rank)); !ok {
			return layout.Corrupt("the run has no calls of rank %d", rank)
		}
	}
	ranks := 0
	for _, s := range t.all {
		ranks += s.Len()
	}
	if len(t.calls) != ranks {
		return layout.Corrupt("%d ranks of %d that made calls", len(t.calls), ranks)
	}
	return nil
}
