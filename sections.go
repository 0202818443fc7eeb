package reprise

import (
	"bytes"
	"maps"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

func openPart(file *format.Reader) (*Trace, error) {
	a, err := merge.ReadPart(file)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := a.Write(&b); err != nil {
		return nil, err
	}
	whole, err := format.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()), format.Options{})
	if err != nil {
		return nil, err
	}
	t, err := OpenContainer(whole)
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
	if err := layout.CheckWorlds(t.run.Worlds, t.run.Ranks); err != nil {
		return layout.Damaged(layout.KindWorlds, 0, err)
	}
	err = t.sections.Read(layout.KindSignatures, 0, func(data []byte) (err error) {
		t.signatures, err = layout.ParseTable(data, t.Functions(), t.all, t.run.Ranks, lists)
		return err
	})
	if err == nil && t.sections.Has(layout.KindInterleaving) {
		err = t.sections.Read(layout.KindInterleaving, 0, t.parseInterleaving)
	}
	return err
}

// checkSections checks the keys of sections of which there is one.
func (t *Trace) checkSections() error {
	for _, s := range t.file.All() {
		switch s.Kind {
		case layout.KindRun, layout.KindTexts, layout.KindNames, layout.KindOrigin, layout.KindWorlds, layout.KindSignatures, layout.KindInterleaving, layout.KindSummaries, layout.KindRankTimes:
			if s.Key != 0 {
				return &merge.SectionError{Kind: s.Kind, Key: s.Key, Offset: s.Offset, Err: layout.Corrupt("the key is %d", s.Key)}
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
	if flags&^layout.FlagInterleaved != 0 {
		d.Corrupt(at, "flags", "%#x", flags)
	}
	t.interleaved = flags&layout.FlagInterleaved != 0
	n := d.Count("shapes", 2)
	ranks, first := 0, -1
	for i := 0; i < n && d.Err() == nil; i++ {
		at := d.Offset()
		s := rankenc.DecodeSet(&d)
		if d.Err() != nil {
			break
		}
		if ranks += s.Len(); s.Len() == 0 || ranks > t.run.Ranks || int(s.At(s.Len()-1)) >= t.run.Ranks {
			d.Corrupt(at, "shape", "ranks %v in a run of %d", s, t.run.Ranks)
			break
		}
		if int(s.At(0)) <= first {
			d.Corrupt(at, "shape", "rank %d follows rank %d", s.At(0), first)
			break
		}
		first = int(s.At(0))
		t.all = append(t.all, s)
	}
	if d.Err() != nil {
		return d.Err()
	}
	t.sets, t.index = t.all, newRankIndex(t.all)
	var err error
	if t.functions, err = cst.ParseFunctions(data[d.Offset():]); err != nil {
		return layout.AtOffset(err, d.Offset())
	}
	return nil
}

func (t *Trace) parseInterleaving(data []byte) error {
	if !t.interleaved {
		return layout.Corrupt("the run has none")
	}
	g, err := sequitur.Parse(data, sequitur.Options{})
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

// Grammars are the shared piece of the grammars of shapes, and where the others
// are.
type grammars struct {
	shared *sequitur.Shared
	places []place // of the pieces of the shapes that are not in the shared one
}

type place struct{ section, offset, size int }

func (t *Trace) readGrammars() (*grammars, error) {
	var g grammars
	err := t.sections.Read(layout.KindGrammars, 0, func(data []byte) error {
		d := wire.NewDecoder("sequitur", data)
		g.shared = sequitur.DecodeShared(&d, sequitur.Options{MaxSymbols: layout.MostSymbols(t.grammarBytes())})
		if d.Err() != nil {
			return d.Err()
		}
		if g.shared.Len() > len(t.all) {
			return layout.Corrupt("%d grammars of %d shapes", g.shared.Len(), len(t.all))
		}
		var p layout.Packer
		for range len(t.all) - g.shared.Len() {
			n := int(d.UvarintMax("size", layout.MaxColumn))
			if d.Err() != nil {
				return d.Err()
			}
			section, offset := p.Place(n)
			g.places = append(g.places, place{section + 1, offset, n})
		}
		d.End("size")
		return d.Err()
	})
	return &g, err
}

// grammarBytes returns the length of the sections of the grammars.
func (t *Trace) grammarBytes() uint64 {
	n := uint64(0)
	for _, s := range t.file.All() {
		if s.Kind == layout.KindGrammars {
			n = wire.AddSat(n, uint64(s.Len))
		}
	}
	return n
}

// readGrammar reads the grammar of a shape.
func (t *Trace) readGrammar(number int) (g *sequitur.Grammar, err error) {
	all, err := t.grammars()
	if err != nil {
		return nil, err
	}
	k := number - all.shared.Len()
	if k < 0 {
		g, err = all.shared.ParseMember(nil, number)
		if err == nil {
			err = t.checkGrammar(g)
		}
		if err != nil {
			err = layout.Damaged(layout.KindGrammars, 0, err)
		}
		return g, err
	}
	p := all.places[k]
	err = t.sections.ReadShared(layout.KindGrammars, uint64(p.section), func(data []byte) error {
		piece, err := layout.ItemOf(data, p.offset, p.size)
		if err != nil {
			return err
		}
		if g, err = all.shared.ParseMember(piece, number); err != nil {
			return layout.AtOffset(err, p.offset)
		}
		return t.checkGrammar(g)
	})
	return g, err
}

// checkGrammar checks the grammar of a shape.
func (t *Trace) checkGrammar(g *sequitur.Grammar) error {
	if n := layout.Terminals(g); n > uint64(len(t.signatures.Functions)) {
		return layout.Corrupt("terminal %d of %d signatures", n-1, len(t.signatures.Functions))
	}
	if g.Len() == 0 {
		return layout.Corrupt("no calls of ranks that made calls")
	}
	return nil
}
