package merge

import (
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// Grammars are the shared piece of the grammars of shapes, and where the others
// are.
type grammars struct {
	shared *sequitur.Shared
	places []place // of the pieces of the shapes that are not in the shared one
}

type place struct{ section, offset, size int }

func (t *Trace) readGrammars() (*grammars, error) {
	var g grammars
	err := t.read(KindGrammars, 0, func(data []byte) error {
		d := wire.NewDecoder("sequitur", data)
		g.shared = sequitur.DecodeShared(&d, sequitur.Options{MaxSymbols: mostSymbols(t.grammarBytes())})
		if d.Err() != nil {
			return d.Err()
		}
		if g.shared.Len() > len(t.sets) {
			return corrupt("%d grammars of %d shapes", g.shared.Len(), len(t.sets))
		}
		var p packer
		for range len(t.sets) - g.shared.Len() {
			n := int(d.UvarintMax("size", maxColumn))
			if d.Err() != nil {
				return d.Err()
			}
			section, offset := p.place(n)
			g.places = append(g.places, place{section + 1, offset, n})
		}
		d.End("size")
		return d.Err()
	})
	return &g, err
}

// maxPieceSymbols is how many symbols a piece of the grammars may have if it is
// small.
const maxPieceSymbols = 1 << 22

// mostSymbols returns how many symbols a piece may have if the sections of the
// grammars have so many bytes: as many, if that is more than maxPieceSymbols.
func mostSymbols(bytes uint64) uint64 { return max(bytes, maxPieceSymbols) }

// grammarBytes returns the length of the sections of the grammars.
func (t *Trace) grammarBytes() uint64 {
	n := uint64(0)
	for _, s := range t.file.All() {
		if s.Kind == KindGrammars {
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
			err = &SectionError{KindGrammars, 0, -1, err}
		}
		return g, err
	}
	p := all.places[k]
	err = t.readShared(KindGrammars, uint64(p.section), func(data []byte) error {
		piece, err := itemOf(data, p.offset, p.size)
		if err != nil {
			return err
		}
		if g, err = all.shared.ParseMember(piece, number); err != nil {
			return atOffset(err, p.offset)
		}
		return t.checkGrammar(g)
	})
	return g, err
}

// checkGrammar checks the grammar of a shape.
func (t *Trace) checkGrammar(g *sequitur.Grammar) error {
	if n := terminals(g); n > uint64(len(t.signatures.functions)) {
		return corrupt("terminal %d of %d signatures", n-1, len(t.signatures.functions))
	}
	if g.Len() == 0 {
		return corrupt("no calls of ranks that made calls")
	}
	return nil
}
