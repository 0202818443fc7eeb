package forest

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

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
	checkMember(i, len(f.members))
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
	bodies    bodies
	out       []byte
	predicted uint64 // tokens that were predicted since the last that was not
}

func (e *tokenEncoder) grammar(g *sequitur.Grammar) {
	for t := range e.bodies.tokens(g) {
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

// A Shared is the decoded shared piece of a [Forest]. It is immutable, and its
// methods may be called from several goroutines at once.
type Shared struct {
	members []*sequitur.Grammar
	known   predictor // as it is at the end of the piece
	options Options
}

// pkg is the package name in errors: docs/format.md has the fields below it.
const pkg = "sequitur"

// Options configures [Parse]. The zero Options is the default configuration.
type Options struct {
	// MaxLen is the longest expansion of a grammar to accept, in symbols. Zero
	// means 2⁶³−1, the longest there is.
	MaxLen uint64

	// MaxSymbols is how many symbols on the right-hand sides of a piece to accept,
	// and as many as 100 bytes of memory each: a few bytes of a piece can stand for
	// many symbols. Zero means 1<<22; no more than 1<<31 are accepted.
	MaxSymbols uint64
}

// maxLen is the length of the longest sequence that a grammar can have.
const maxLen = math.MaxInt64

// withDefaults returns o with the limits that hold where it sets none.
func (o Options) withDefaults() Options {
	return Options{min(cmp.Or(o.MaxLen, maxLen), maxLen), min(cmp.Or(o.MaxSymbols, 1<<22), 1<<31)}
}

// Parse decodes a shared piece that fills data. It does not retain data.
// What it returns is safe to use whoever wrote data. o holds for the members of
// the other pieces too. An error is a [*wire.Error].
func Parse(data []byte, o Options) (*Shared, error) {
	d := wire.NewDecoder(pkg, data)
	s := Decode(&d, o)
	d.End("token")
	if d.Err() != nil {
		return nil, d.Err()
	}
	return s, nil
}

// Decode reads a shared piece. If it fails, d has an error and the result is nil.
func Decode(d *wire.Decoder, o Options) *Shared { return decodeShared(d, o, maxHistory) }

func decodeShared(d *wire.Decoder, o Options, most int) *Shared {
	s := &Shared{options: o}
	t := tokenDecoder{Decoder: d, predictor: newPredictor(most), limits: o.withDefaults()}
	for n := d.Uvarint("members"); n > 0 && d.Err() == nil; n-- {
		if t.full() {
			d.Corrupt(d.Offset(), "members", "%d more than a shared piece has", n)
			break
		}
		s.members = append(s.members, t.member())
	}
	t.end()
	if d.Err() != nil {
		return nil
	}
	s.known = t.predictor
	return s
}

// Len reports the number of members in the piece: members 0 to Len()−1 of the
// forest.
func (s *Shared) Len() int { return len(s.members) }

// ParseMember decodes the piece of member i, which fills data: nothing if the
// member is in the shared piece. It does not retain data. The terminals and rules
// are those of the member that was encoded, the rules in the order in which a
// walk through the sequence leaves them, which is the order that a Builder gives
// them. An error is a [*wire.Error].
func (s *Shared) ParseMember(data []byte, i int) (*sequitur.Grammar, error) {
	if i < 0 {
		panic(fmt.Sprintf("forest: member %d", i))
	}
	d := wire.NewDecoder(pkg, data)
	g := s.decodeMember(&d, i)
	d.End("token")
	if d.Err() != nil {
		return nil, d.Err()
	}
	return g, nil
}

// decodeMember reads the piece of member i. If it fails, d has an error and the
// result is nil.
func (s *Shared) decodeMember(d *wire.Decoder, i int) *sequitur.Grammar {
	if i < len(s.members) {
		return s.members[i]
	}
	if !s.known.full() {
		d.Corrupt(d.Offset(), "member", "%d, but all %d are in the shared piece", i, len(s.members))
		return nil
	}
	t := tokenDecoder{Decoder: d, predictor: s.known.beside(), limits: s.options.withDefaults()}
	g := t.member()
	t.end()
	if d.Err() != nil {
		return nil
	}
	return g
}

// A tokenDecoder reads tokens and carries them out.
type tokenDecoder struct {
	*wire.Decoder
	predictor
	limits Options

	at        int    // offset of the token
	predicted uint64 // tokens still to come that are what is predicted
	closed    bool   // the next token is not what is predicted: they were counted

	symbols uint64 // symbols and members so far, for the limit
	terms   []sequitur.Term
	begins  []int    // of each rule of the member in terms
	lengths []uint64 // of what each generates
	stack   []sequitur.Term
}

// member reads the tokens of a member.
func (t *tokenDecoder) member() *sequitur.Grammar {
	at := t.Offset()
	for t.Err() == nil {
		next := t.token()
		if t.Err() == nil {
			t.carryOut(next)
		}
		if next.kind == tokenEnd {
			break
		}
	}
	if t.Err() != nil {
		return nil
	}
	rules := make([][]sequitur.Term, len(t.begins))
	end := len(t.terms)
	for r, begin := range slices.Backward(t.begins) {
		rules[r] = t.terms[begin:end]
		end = begin
	}
	g, err := sequitur.FromRules(rules)
	if err != nil {
		t.Corrupt(at, "member", "%v", err)
	}
	t.terms, t.begins, t.lengths = t.terms[:0], t.begins[:0], t.lengths[:0]
	return g
}

// end requires that no token is left to come.
func (t *tokenDecoder) end() {
	if t.predicted > 0 {
		t.Corrupt(t.at, "token", "%d after the last member", t.predicted)
	}
}

// token reads the next token.
func (t *tokenDecoder) token() token {
	want, ok := t.predict()
	if t.predicted == 0 {
		t.at = t.Offset()
		head := t.Byte("token")
		if head < headPredicted || head >= headRepeat {
			next := t.decode(head)
			if ok && next == want {
				t.Corrupt(t.at, "token", "is what is predicted")
			}
			t.closed = false
			t.update(next, false)
			return next
		}
		if t.closed {
			t.Corrupt(t.at, "token", "continues the one before it")
		}
		t.predicted = t.number(head, headPredicted, headRepeat) + 1
		t.closed = true
	}
	if t.predicted--; !ok {
		t.Corrupt(t.at, "token", "nothing is predicted")
	}
	t.update(want, true)
	return want
}

// decode returns the token that begins with byte head.
func (t *tokenDecoder) decode(head byte) token {
	switch {
	case head == headFresh:
		return token{tokenTerminal, t.fresh}
	case head == headEnd:
		return token{kind: tokenEnd}
	case head < headReduce:
		return token{tokenRepeat, t.number(head, headRepeat, headReduce) + 2}
	case head < headRule:
		return token{tokenReduce, t.number(head, headReduce, headRule) + 2}
	case head < headTerminal:
		return token{tokenRule, t.number(head, headRule, headTerminal)}
	}
	v := t.terminal(head)
	if v == t.fresh {
		t.Corrupt(t.at, "token", "terminal %d is the next new one", v)
	}
	return token{tokenTerminal, v}
}

// number returns the number that begins with byte head, one of those from first
// to end−1. It is less than 2⁶³.
func (t *tokenDecoder) number(head byte, first, end uint64) uint64 {
	v := uint64(head) - first
	if uint64(head) < end-1 {
		return v
	}
	if v = wire.AddSat(v, t.Uvarint("token")); v > maxLen {
		t.Corrupt(t.at, "token", "overflows 63 bits")
		return 0
	}
	return v
}

func (t *tokenDecoder) terminal(head byte) uint64 {
	switch {
	case head < headPair:
		return uint64(head) - headTerminal
	case head < headLarge:
		return singleTerminals + uint64(head-headPair)<<8 + uint64(t.Byte("token"))
	}
	return wire.AddSat(singleTerminals+pairTerminals, t.Uvarint("token"))
}

// carryOut does what a token says.
func (t *tokenDecoder) carryOut(next token) {
	if next.kind != tokenRepeat {
		if t.symbols++; t.symbols > t.limits.MaxSymbols {
			t.Limit(t.at, "token", "more than %d symbols", t.limits.MaxSymbols)
			return
		}
	}
	top := len(t.stack) - 1
	switch next.kind {
	case tokenTerminal:
		if next.value > uint64(sequitur.MaxSymbol) {
			t.Corrupt(t.at, "token", "terminal %d of %d", next.value, uint64(sequitur.MaxSymbol)+1)
			return
		}
		t.stack = append(t.stack, sequitur.Term{Symbol: sequitur.Symbol(next.value), Rule: -1, Count: 1})
	case tokenRule:
		n := uint64(len(t.begins))
		if next.value >= n {
			t.Corrupt(t.at, "token", "%d rules before the last of %d", next.value, n)
			return
		}
		t.stack = append(t.stack, sequitur.Term{Rule: int(n - 1 - next.value), Count: 1})
	case tokenRepeat:
		if top < 0 || t.stack[top].Count > 1 {
			t.Corrupt(t.at, "token", "no symbol to repeat")
			return
		}
		t.stack[top].Count = next.value
	case tokenReduce:
		if next.value > uint64(len(t.stack)) {
			t.Corrupt(t.at, "token", "%d of %d symbols", next.value, len(t.stack))
			return
		}
		t.reduce(len(t.stack) - int(next.value))
		t.stack = append(t.stack, sequitur.Term{Rule: len(t.begins) - 1, Count: 1})
	case tokenEnd:
		if len(t.stack) > 0 {
			t.reduce(0)
		}
	}
}

// reduce makes a rule of the symbols on the stack from begin on and takes them
// off.
func (t *tokenDecoder) reduce(begin int) {
	var length uint64
	body := t.stack[begin:]
	for i, x := range body {
		if i > 0 && body[i-1].Rule == x.Rule && body[i-1].Symbol == x.Symbol {
			t.Corrupt(t.at, "token", "symbol %d of a rule repeats the one before it", i)
			return
		}
		once := uint64(1)
		if x.Rule >= 0 {
			once = t.lengths[x.Rule]
		}
		length = wire.AddSat(length, wire.MulSat(x.Count, once))
		if length > t.limits.MaxLen {
			t.Limit(t.at, "token", "a rule expands to more than %d symbols", t.limits.MaxLen)
			return
		}
	}
	t.begins, t.lengths = append(t.begins, len(t.terms)), append(t.lengths, length)
	t.terms = append(t.terms, body...)
	t.stack = t.stack[:begin]
}
