package sequitur

import "github.com/reprise-trace/reprise/internal/wire"

// How tokens are encoded: the first byte of each kind, and how many bytes it
// has. The last of these bytes is followed by an integer.
const (
	headFresh     = 0 // the next new terminal
	headEnd       = 1
	headPredicted = 2 // a number of tokens that are what is predicted, 1 or more
	headRepeat    = 18
	headReduce    = 26
	headRule      = 38
	headTerminal  = 54
	headPair      = 240 // a terminal, with a second byte
	headLarge     = 255 // a terminal, with an integer

	singleTerminals = headPair - headTerminal
	pairTerminals   = (headLarge - headPair) << 8
)

// AppendShared appends the shared piece to dst and returns the extended slice.
func (f *Forest) AppendShared(dst []byte) []byte {
	f.encode.Do(f.encodeShared)
	return append(dst, f.piece...)
}

func (f *Forest) encodeShared() {
	e := tokenEncoder{
		predictor: newPredictor(f.most),
		out:       wire.AppendUvarint(nil, uint64(f.shared)),
	}
	for _, g := range f.members[:f.shared] {
		e.grammar(g)
	}
	e.flush()
	f.piece, f.known = e.out, e.predictor
}

// AppendMember appends the piece of member i to dst and returns the extended
// slice. There is nothing to append if the member is in the shared piece.
func (f *Forest) AppendMember(dst []byte, i int) []byte {
	if i < f.shared {
		return dst
	}
	f.encode.Do(f.encodeShared)
	e := tokenEncoder{predictor: f.known.beside(), out: dst}
	e.grammar(f.members[i])
	e.flush()
	return e.out
}

// A tokenEncoder appends tokens to out.
type tokenEncoder struct {
	predictor
	out       []byte
	predicted uint64 // tokens that were predicted since the last that was not
}

func (e *tokenEncoder) grammar(g *Grammar) {
	for t := range g.tokens() {
		want, ok := e.predict()
		hit := ok && t == want
		if hit {
			e.predicted++
		} else {
			e.flush()
			e.token(t)
		}
		e.update(t, hit)
	}
}

// flush appends the number of tokens that were predicted.
func (e *tokenEncoder) flush() {
	if e.predicted > 0 {
		e.number(headPredicted, headRepeat, e.predicted-1)
		e.predicted = 0
	}
}

func (e *tokenEncoder) token(t token) {
	switch t.kind {
	case tokenTerminal:
		e.terminal(t.value)
	case tokenRule:
		e.number(headRule, headTerminal, t.value)
	case tokenRepeat:
		e.number(headRepeat, headReduce, t.value-2)
	case tokenReduce:
		e.number(headReduce, headRule, t.value-2)
	case tokenEnd:
		e.out = append(e.out, headEnd)
	}
}

// number appends v as one of the bytes from head to end−2, or as end−1 and an
// integer.
func (e *tokenEncoder) number(head, end, v uint64) {
	if most := end - head - 1; v >= most {
		e.out = wire.AppendUvarint(append(e.out, byte(end-1)), v-most)
		return
	}
	e.out = append(e.out, byte(head+v))
}

func (e *tokenEncoder) terminal(v uint64) {
	switch large := v - singleTerminals; {
	case v == e.fresh:
		e.out = append(e.out, headFresh)
	case v < singleTerminals:
		e.out = append(e.out, byte(headTerminal+v))
	case large < pairTerminals:
		e.out = append(e.out, byte(headPair+large>>8), byte(large))
	default:
		e.out = wire.AppendUvarint(append(e.out, headLarge), large-pairTerminals)
	}
}
