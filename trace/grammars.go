package trace

import (
	"sync"

	"github.com/reprise-trace/reprise/internal/forest"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/mixing"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// symbolMemory is how many bytes are counted for each symbol of a grammar in a block, and for each value of a
// stream there: a question may hold all grammars, and some bytes of such a block make 2¹⁸ symbols. Package
// merge writes 2¹⁹ in all at most.
const symbolMemory = 256

// Grammars say where the grammars of shapes are: in blocks, or in the pieces of a forest.
type grammars struct {
	blocks *layout.Blocks // nil if they are in a forest
	shared *forest.Shared // the first shapes of a forest
	places []place        // of the pieces of the others

	mu      sync.Mutex          // while a block is read: whoever else needs it waits for it
	read    []cached[readBlock] // the runs of blocks, as they take long to read
	counted []bool              // those whose symbols are counted, which were read before
	symbols uint64              // in these
}

type place struct{ section, offset, size int }

// A readBlock is a block that was read, or a run of blocks that are read together.
type readBlock struct {
	members []mixing.Member
	err     error
}

// inSections returns the sections with the grammar of a shape, from first to before end.
func (g *grammars) inSections(shape int) (first, end int) {
	switch {
	case g.blocks != nil:
		run, _ := g.blocks.Of(shape)
		first, end, _ = g.blocks.Run(run)
		return first, end
	case shape < g.shared.Len():
		return 0, 1
	}
	first = g.places[shape-g.shared.Len()].section
	return first, first + 1
}

func (t *Trace) readGrammars() (*grammars, error) {
	var g grammars
	err := t.sections.Read(layout.KindGrammars, 0, func(data []byte) error {
		if t.blocked {
			blocks, err := layout.ParseBlocks(data, len(t.all))
			if err == nil {
				g.blocks, g.read, g.counted = &blocks, make([]cached[readBlock], blocks.Len()),
					make([]bool, blocks.Len())
			}
			return err
		}
		d := wire.NewDecoder("sequitur", data)
		g.shared = forest.Decode(&d, forest.Options{MaxSymbols: layout.MostSymbols(t.grammarBytes())})
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

// readGrammar reads the grammar of a shape, and its streams if they are in blocks.
func (t *Trace) readGrammar(number int) (mixing.Member, error) {
	all, err := t.grammars()
	if err != nil {
		return mixing.Member{}, err
	}
	var g *sequitur.Grammar
	switch {
	case all.blocks != nil:
		return t.readOfBlock(all, number)
	case number < all.shared.Len():
		g, err = all.shared.ParseMember(nil, number)
		if err == nil {
			err = t.checkGrammar(g)
		}
		if err != nil {
			err = layout.Damaged(layout.KindGrammars, 0, err)
		}
		return mixing.Member{Grammar: g}, err
	}
	p := all.places[number-all.shared.Len()]
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
	return mixing.Member{Grammar: g}, err
}

// readOfBlock reads the block with the grammar of a shape, unless it was read before.
func (t *Trace) readOfBlock(all *grammars, number int) (mixing.Member, error) {
	run, place := all.blocks.Of(number)
	all.mu.Lock()
	defer all.mu.Unlock()
	b := all.read[run].get()
	if b == nil {
		b = new(readBlock)
		b.members, b.err = t.readBlocks(all, run)
		b = keep(t.caches.grammars, &all.read[run], b, b.size())
	}
	if b.err != nil {
		return mixing.Member{}, b.err
	}
	return b.members[place], nil
}

// size returns how many bytes b takes.
func (b *readBlock) size() int {
	n := symbolSize
	for _, x := range b.members {
		n += symbolSize * x.Grammar.Symbols()
		for _, values := range x.Streams {
			n += 4 * len(values)
		}
	}
	return n
}

// readBlocks reads a run of blocks of grammars.
func (t *Trace) readBlocks(all *grammars, run int) (list []mixing.Member, err error) {
	first, end, _ := all.blocks.Run(run)
	p := mixing.NewParser(t.alphabet())
	for number := first; number < end && err == nil; number++ {
		err = t.sections.Read(layout.KindGrammars, uint64(number), func(data []byte) (err error) {
			data, offset := all.blocks.Block(data, number)
			if err := p.Parse(data); err != nil || number < end-1 {
				return layout.AtOffset(err, offset)
			}
			list, err = p.Members()
			if err != nil {
				return err
			}
			return t.checkMembers(all, list, run)
		})
	}
	if err != nil {
		return nil, err
	}
	return list, nil
}

// checkMembers checks the grammars of a run of blocks.
func (t *Trace) checkMembers(all *grammars, list []mixing.Member, run int) error {
	if _, _, shapes := all.blocks.Run(run); len(list) != shapes {
		return layout.Corrupt("%d grammars in a block of %d", len(list), shapes)
	}
	symbols := all.symbols
	for _, x := range list {
		if err := t.checkGrammar(x.Grammar); err != nil {
			return err
		}
		symbols += uint64(x.Grammar.Symbols())
		for _, values := range x.Streams {
			symbols += uint64(len(values))
		}
	}
	if all.counted[run] {
		return nil
	}
	if err := layout.CheckMemory("symbols of grammars in blocks", symbols, symbolMemory, t.Memory()); err != nil {
		return err
	}
	all.symbols, all.counted[run] = symbols, true
	return nil
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
