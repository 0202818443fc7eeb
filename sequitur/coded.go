package sequitur

import (
	"math"

	"github.com/reprise-trace/reprise/internal/wire"
)

// The coded form begins with a byte 0, behind which the plain form has nothing. It has its length: without its last
// bytes, a code may be that of another grammar. It may have as many symbols as this for each of its bytes, and so many
// more, so that a reader takes memory and time in proportion to bytes.
const (
	codedMark      = 0
	symbolsPerByte = 16
	fewSymbols     = 1 << 16
)

// mayCode reports whether so many bytes may code so many symbols.
func mayCode(bytes int, symbols uint64) bool {
	return symbols <= min(uint64(bytes)*symbolsPerByte+fewSymbols, math.MaxInt32)
}

// An openBody is a right-hand side that is being coded.
type openBody struct{ rule, at, begin, end uint32 }

// open returns the right-hand side of rule r, at its beginning.
func (g *Grammar) open(r uint32) openBody {
	begin, end := g.span(r)
	return openBody{r, begin, begin, end}
}

// coded returns the coded form of g, or nothing if there is none: the rules of g have to be in the order in
// which their first uses end, as those of a Builder are.
func (g *Grammar) coded() []byte {
	if len(g.ends) == 0 {
		return nil
	}
	terminals := make(map[ref]bool)
	for _, s := range g.symbols {
		if !s.ref.isRule() {
			terminals[s.ref] = true
		}
	}
	m := newModel(uint64(len(g.symbols)), uint64(len(terminals)))
	out := wire.AppendUvarint([]byte{codedMark}, uint64(len(g.symbols)))
	out = wire.AppendUvarint(out, uint64(len(terminals)))
	m.Write(nil)
	for path := []openBody{g.open(uint32(len(g.ends) - 1))}; ; {
		b := &path[len(path)-1]
		n, depth := int(b.at-b.begin), len(path)-1
		switch made := uint32(len(m.rules)); {
		case m.ends(n, depth, b.at == b.end) && b.rule != made || m.bad:
			return nil
		case b.at == b.end && depth == 0:
			coded := m.Finish()
			out = append(wire.AppendUvarint(out, uint64(len(coded))), coded...)
			if !mayCode(len(out), uint64(len(g.symbols))) {
				return nil
			}
			return out
		case b.at == b.end:
			m.closes(g.symbols[b.begin].ref)
			path = path[:depth]
			b = &path[depth-1]
			m.count(g.symbols[b.at].count)
			b.at++
		default:
			s := g.symbols[b.at]
			if m.opens(n, depth, s.ref.isRule() && s.ref.rule() >= made) {
				path = append(path, g.open(s.ref.rule()))
				continue
			}
			m.symbol(s.ref)
			m.count(s.count)
			b.at++
		}
	}
}

// coded reads the coded form.
func (p *parser) coded() {
	p.Byte("mark")
	at := p.Offset()
	symbols := p.Uvarint("symbols")
	if p.Err() == nil && symbols == 0 {
		p.Corrupt(at, "symbols", "none")
	}
	terminals := p.UvarintMax("terminals", min(symbols, uint64(MaxSymbol)+1))
	if p.Err() == nil && terminals == 0 {
		p.Corrupt(at, "terminals", "none")
	}
	length := p.Uvarint("bytes")
	all, rest := len(p.Since(0))+p.Rest(), p.Rest()
	if p.Err() == nil && !mayCode(all, symbols) {
		p.Limit(at, "symbols", "%d in %d bytes", symbols, all)
	}
	switch data := p.Bytes("coded", int(min(length, math.MaxInt))); {
	case p.Err() != nil:
	case len(data) < rest:
		p.Corrupt(at, "bytes", "%d of %d", length, rest)
	default:
		m := newModel(symbols, terminals)
		m.Read(data)
		p.bodies(at, m, int(symbols))
		p.canonical(at, m, int(symbols))
	}
}

// canonical checks that what was read is what would be written.
func (p *parser) canonical(at int, m *model, symbols int) {
	switch {
	case p.Err() != nil:
	case m.bad || !m.Finished() || len(m.terminals) != m.most || len(p.g.symbols) != symbols:
		p.Corrupt(at, "coded", "not what a grammar is coded as")
	default:
		if plain, _ := p.g.AppendBinary(nil); len(plain) <= p.Offset() {
			p.Corrupt(at, "coded", "%d bytes for %d", p.Offset(), len(plain))
		}
	}
}

// bodies reads right-hand sides of so many symbols in all, which are at an offset.
func (p *parser) bodies(at int, m *model, symbols int) {
	var (
		stack  []symbol   // of the right-hand sides that are open
		begins = []int{0} // where each begins
		total  int        // symbols that were read
	)
	add := func(s ref) {
		total++
		stack = append(stack, symbol{ref: s, count: m.count(0)})
	}
	for !m.bad && !m.Ended() && p.Err() == nil {
		depth := len(begins) - 1
		begin := begins[depth]
		switch n := len(stack) - begin; {
		case m.ends(n, depth, false):
			p.body(at, stack[begin:])
			if stack = stack[:begin]; depth == 0 || p.Err() != nil {
				return
			}
			m.closes(p.g.symbols[len(p.g.symbols)-n].ref)
			begins = begins[:depth]
			add(m.top)
		case total+depth >= symbols:
			m.bad = true
		case m.opens(n, depth, false):
			begins = append(begins, len(stack))
		default:
			if s := m.symbol(0); !m.bad {
				add(s)
			}
		}
	}
	m.bad = true
}

// body makes symbols the right-hand side of the next rule.
func (p *parser) body(at int, symbols []symbol) {
	begin := len(p.g.symbols)
	for _, s := range symbols {
		if !s.ref.isRule() && uint64(s.ref) >= p.limits.Terminals {
			p.Corrupt(at, "symbol", "terminal %d of %d", s.ref, p.limits.Terminals)
			return
		}
		if !p.append(at, begin, s) {
			return
		}
	}
	p.g.ends = append(p.g.ends, uint32(len(p.g.symbols)))
}
