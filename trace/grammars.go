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
	begun   []bool              // those of which something was read before
	counted []int               // of how many members of each the symbols are counted
	symbols uint64              // in these
}

type place struct{ section, offset, size int }

// A readBlock is what was read of a block, or of a run of blocks that are read together: members one after
// the other, as they are asked for.
type readBlock struct {
	members []mixing.Member
	err     error          // of those that come after
	parser  *mixing.Parser // of those, nil if there is nothing more to read
	section int            // the block that is read
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
				n := blocks.Len()
				g.blocks, g.read = &blocks, make([]cached[readBlock], n)
				g.begun, g.counted = make([]bool, n), make([]int, n)
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

// readOfBlock reads the block with the grammar of a shape up to it, unless it was read before: each member is
// predicted by those before it. What is needed to go on is kept. Going on reads at least as many members as
// there are, so that few times are enough for all.
func (t *Trace) readOfBlock(all *grammars, number int) (mixing.Member, error) {
	run, place := all.blocks.Of(number)
	all.mu.Lock()
	defer all.mu.Unlock()
	first, _, shapes := all.blocks.Run(run)
	b := all.read[run].get()
	again := b == nil && all.begun[run] // it had to go
	if b == nil {
		b = &readBlock{parser: mixing.NewParser(t.alphabet()), section: first}
		all.begun[run] = true
	}
	if place >= len(b.members) && b.parser != nil {
		upTo := max(place, min(2*len(b.members), shapes-1))
		if again {
			upTo = shapes - 1
		}
		for upTo >= len(b.members) && b.parser != nil {
			t.readBlock(all, run, b, upTo)
		}
		put(t.caches.grammars, &all.read[run], b, b.size())
	}
	if place >= len(b.members) {
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
	if b.parser != nil {
		n += b.parser.Held()
	}
	return n
}

// readBlock reads on in a run of blocks, up to a member or to the end of a block. The last member is there if
// the run ends as it should.
func (t *Trace) readBlock(all *grammars, run int, b *readBlock, upTo int) {
	_, end, shapes := all.blocks.Run(run)
	p := b.parser
	b.err = t.sections.Read(layout.KindGrammars, uint64(b.section), func(data []byte) (err error) {
		block, offset := all.blocks.Block(data, b.section)
		if !p.Reading() {
			err = p.Begin(block)
		}
		for more := true; more && err == nil && p.Reading(); more = upTo >= len(p.Complete()) {
			err = p.Next()
		}
		list := p.Complete()
		if !p.Reading() {
			b.section++
		}
		if end := b.section == end && err == nil; end {
			b.parser = nil
			_, err = p.Members()
		}
		if b.parser != nil || err != nil || len(list) != shapes {
			list = list[:min(len(list), shapes-1)]
		}
		if e := t.checkMembers(all, run, b, list); e != nil {
			return e
		}
		if err == nil && b.parser == nil && len(p.Complete()) != shapes {
			err = layout.Corrupt("%d grammars in a block of %d", len(p.Complete()), shapes)
		}
		return layout.AtOffset(err, offset)
	})
	if b.err != nil {
		b.parser = nil
	}
}

// checkMembers adds those of a list that are not there yet to b, after a look at each.
func (t *Trace) checkMembers(all *grammars, run int, b *readBlock, list []mixing.Member) error {
	for i := len(b.members); i < len(list); i++ {
		x := list[i]
		if err := t.checkGrammar(x.Grammar); err != nil {
			return err
		}
		if i >= all.counted[run] {
			symbols := all.symbols + uint64(x.Grammar.Symbols())
			for _, values := range x.Streams {
				symbols += uint64(len(values))
			}
			err := layout.CheckMemory("symbols of grammars in blocks", symbols, symbolMemory, t.Memory())
			if err != nil {
				return err
			}
			all.symbols, all.counted[run] = symbols, i+1
		}
		b.members = append(b.members, x)
	}
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
