package sequitur

import (
	"math"

	"github.com/reprise-trace/reprise/internal/wire"
)

// Flags in the low bits of an encoded symbol.
const (
	flagCounted = 1 << 0
	flagRule    = 1 << 1
	flagBits    = 2
)

// AppendBinary appends the plain form of the encoding of g to dst and returns the extended slice. It takes a
// hundredth of the time of MarshalBinary. The error is always nil; it is there for
// [encoding.BinaryAppender].
func (g *Grammar) AppendBinary(dst []byte) ([]byte, error) {
	dst = wire.AppendUvarint(dst, uint64(len(g.ends)))
	for r := range g.ends {
		begin, end := g.span(uint32(r))
		dst = wire.AppendUvarint(dst, uint64(end-begin))
		for _, s := range g.symbols[begin:end] {
			v := uint64(s.ref) << flagBits
			if s.ref.isRule() {
				v = uint64(r-1-int(s.ref.rule()))<<flagBits | flagRule
			}
			if s.count > 1 {
				v |= flagCounted
			}
			if dst = wire.AppendUvarint(dst, v); s.count > 1 {
				dst = wire.AppendUvarint(dst, s.count-2)
			}
		}
	}
	return dst, nil
}

// MarshalBinary returns the coded form of the encoding of g, in which symbols are predicted from those before
// them, or the plain form, if that is not larger. The coded form takes about a microsecond for each symbol of
// g, to write and to read. The error is always nil.
func (g *Grammar) MarshalBinary() ([]byte, error) {
	plain, _ := g.AppendBinary(nil)
	if coded := g.coded(); coded != nil && len(coded) < len(plain) {
		return coded, nil
	}
	return plain, nil
}

// UnmarshalBinary makes g the grammar that fills data, as [Parse] does with the limits of the zero
// [Options]: g is the only Grammar that changes, so that it must be one that nothing else uses. After
// an error, which is a [*ParseError], g is as it was.
func (g *Grammar) UnmarshalBinary(data []byte) error {
	parsed, err := Parse(data, Options{})
	if err == nil {
		*g = *parsed
	}
	return err
}

// A ParseError reports where and why [Parse] rejected its input: Offset is that
// of the first byte of the offending field, Field its name in the package
// documentation, and Err wraps [ErrCorrupt], [ErrLimit] or
// [io.ErrUnexpectedEOF].
type ParseError = wire.Error

// Errors that a [ParseError] wraps, for use with [errors.Is].
var (
	ErrCorrupt = wire.ErrCorrupt
	ErrLimit   = wire.ErrLimit
)

// pkg is the package name in errors.
const pkg = "sequitur"

// Options configures [Parse]. The zero Options is the default configuration.
type Options struct {
	// MaxLen is the longest expansion of a grammar to accept, in symbols. Zero
	// means 2⁶³−1, the longest there is: reading a grammar expands only what is
	// asked for.
	MaxLen uint64

	// Terminals is the number of terminals there are: this one and larger ones
	// are rejected. Zero means 2³¹, as many as there can be.
	Terminals uint64

	// Plain is whether to take the plain form only, which is read in a hundredth of the time.
	Plain bool
}

// withDefaults returns o with the limits that hold where it sets none.
func (o Options) withDefaults() Options {
	limit := func(value *uint64, absent, most uint64) {
		if *value == 0 {
			*value = absent
		}
		*value = min(*value, most)
	}
	limit(&o.MaxLen, maxLen, maxLen)
	limit(&o.Terminals, uint64(MaxSymbol)+1, uint64(MaxSymbol)+1)
	return o
}

// Parse decodes a grammar that fills data, in the coded form or the plain one. It does not retain data. What it
// returns is safe to use whoever wrote data. An error from Parse is a
// [*ParseError].
func Parse(data []byte, o Options) (*Grammar, error) {
	p := parser{Decoder: wire.NewDecoder(pkg, data), limits: o.withDefaults()}
	if p.Rest() > 1 && p.Peek() == codedMark && !o.Plain {
		if p.coded(); p.Err() != nil {
			return nil, p.Err()
		}
		return &p.g, nil
	}
	n := p.Count("rules", 2)
	p.used = make([]bool, n)
	if symbols := p.survey(n); p.Err() == nil {
		p.g.symbols, p.g.ends = make([]symbol, 0, symbols), make([]uint32, 0, n)
	}
	for r := 0; r < n && p.Err() == nil; r++ {
		p.rule(r, r == n-1)
	}
	if p.Err() != nil {
		return nil, p.Err()
	}
	if n == 0 {
		return &Grammar{}, nil
	}
	return &p.g, nil
}

// A parser is the state of Parse.
type parser struct {
	wire.Decoder
	g      Grammar
	used   []bool // the rules that are referred to
	limits Options
}

// survey returns the number of symbols in the n rules that follow, after a look
// at each: so that the symbols, which take far more memory than the input, are
// allocated once, and not for rules that are not used.
func (p *parser) survey(n int) (symbols int) {
	begin := p.Decoder
	for r := 0; r < n && p.Err() == nil; r++ {
		m := p.length(r, r == n-1)
		for i := 0; i < m && p.Err() == nil; i++ {
			p.symbol(r)
		}
		symbols += m
	}
	p.End("symbol")
	for r := 0; r < n-1 && p.Err() == nil; r++ {
		if !p.used[r] {
			p.Corrupt(p.Offset(), "rules", "rule %d of %d is not used", r, n)
		}
	}
	if p.Err() != nil {
		return 0
	}
	p.Decoder = begin
	return symbols
}

// length reads the number of symbols of rule r.
func (p *parser) length(r int, start bool) int {
	at := p.Offset()
	n := p.Count("symbols", 1)
	switch {
	case p.Err() != nil:
		return 0
	case n == 0 || n == 1 && !start:
		p.Corrupt(at, "symbols", "%d in rule %d", n, r)
		return 0
	case uint64(len(p.g.symbols)+n) > math.MaxUint32:
		p.Limit(at, "symbols", "more than %d", uint32(math.MaxUint32))
		return 0
	}
	return n
}

// rule reads rule r, which may refer to the rules before it.
func (p *parser) rule(r int, start bool) {
	begin := len(p.g.symbols)
	for range p.length(r, start) {
		at := p.Offset()
		if s := p.symbol(r); p.Err() != nil || !p.append(at, begin, s) {
			return
		}
	}
	p.g.ends = append(p.g.ends, uint32(len(p.g.symbols)))
}

// append appends a symbol, which is at an offset, to the right-hand side that begins with symbol begin.
func (p *parser) append(at, begin int, s symbol) bool {
	before := uint64(0)
	if last := len(p.g.symbols) - 1; last >= begin {
		if p.g.symbols[last].ref == s.ref {
			p.Corrupt(at, "symbol", "repeats the one before it")
			return false
		}
		before = p.g.symbols[last].end
	}
	s.end = wire.AddSat(before, wire.MulSat(s.count, p.g.length(s.ref)))
	if s.end > p.limits.MaxLen {
		p.Limit(at, "symbol", "rule %d expands to more than %d symbols", len(p.g.ends), p.limits.MaxLen)
		return false
	}
	p.g.symbols = append(p.g.symbols, s)
	return true
}

// symbol reads a symbol of rule r, all but its end.
func (p *parser) symbol(r int) symbol {
	at := p.Offset()
	v := p.Uvarint("symbol")
	s := symbol{count: 1}
	switch value := v >> flagBits; {
	case v&flagRule == 0 && value >= p.limits.Terminals:
		p.Corrupt(at, "symbol", "terminal %d of %d", value, p.limits.Terminals)
	case v&flagRule == 0:
		s.ref = ref(value)
	case value >= uint64(r):
		p.Corrupt(at, "symbol", "rule %d refers back %d rules", r, wire.AddSat(value, 1))
	default:
		s.ref = ruleRef(uint32(r) - 1 - uint32(value))
		p.used[s.ref.rule()] = true
	}
	if v&flagCounted != 0 {
		at = p.Offset()
		if s.count = p.Uvarint("count"); s.count > math.MaxUint64-2 {
			p.Corrupt(at, "count", "overflows 64 bits")
			return s
		}
		s.count += 2
	}
	return s
}
