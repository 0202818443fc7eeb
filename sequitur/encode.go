package sequitur

import "github.com/reprise-trace/reprise/internal/wire"

// Flags in the low bits of an encoded symbol.
const (
	flagCounted = 1 << 0
	flagRule    = 1 << 1
	flagBits    = 2
)

// AppendBinary appends the encoding of g to dst and returns the extended slice.
// The error is always nil; it is there for [encoding.BinaryAppender].
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

// MarshalBinary returns the encoding of g.
func (g *Grammar) MarshalBinary() ([]byte, error) { return g.AppendBinary(nil) }
