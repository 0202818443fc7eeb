package forest

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/allocated"
	"github.com/reprise-trace/reprise/internal/test/drawn"

	"pgregory.net/rapid"

	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// membersGen draws the grammars of programs that are made of the same blocks,
// with a call changed, added or left out here and there.
var membersGen = rapid.Custom(func(t *rapid.T) []*sequitur.Grammar {
	var blocks [][]sequitur.Symbol
	for range rapid.IntRange(1, 4).Draw(t, "blocks") {
		first := sequitur.Symbol(rapid.SampledFrom([]int{0, 3, 100, 3000, 1 << 30}).Draw(t, "first"))
		block := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 20), func(v int) sequitur.Symbol {
			return first + sequitur.Symbol(v)
		}), 1, 12).Draw(t, "block")
		if rapid.Bool().Draw(t, "ascending") {
			for i := range block {
				block[i] = first + sequitur.Symbol(i)
			}
		}
		blocks = append(blocks, block)
	}
	symbol := rapid.Map(rapid.IntRange(0, 40), func(v int) sequitur.Symbol { return sequitur.Symbol(v) })
	var members []*sequitur.Grammar
	for range rapid.IntRange(0, 6).Draw(t, "members") {
		var b sequitur.Builder
		for range rapid.IntRange(0, 4).Draw(t, "loops") {
			body := drawn.NearMiss(t, rapid.SampledFrom(blocks).Draw(t, "block"), symbol)
			body = append(slices.Clone(body), rapid.SampledFrom(blocks).Draw(t, "block")...)
			b.AppendLoop(runsOf(body), rapid.Uint64Range(1, 5).Draw(t, "rounds"))
		}
		members = append(members, b.Finish())
	}
	return members
})

// pieces returns the encoding of f.
func pieces(f *Forest) (shared []byte, members [][]byte) {
	for i := range f.Len() {
		members = append(members, f.AppendMember(nil, i))
	}
	return f.AppendShared(nil), members
}

// parseShared is Parse with a history of most tokens.
func parseShared(data []byte, most int) (*Shared, error) {
	d := wire.NewDecoder(pkg, data)
	s := decodeShared(&d, Options{}, most)
	d.End("token")
	return s, d.Err()
}

// checkForest encodes f, decodes it and checks that every member is what it was.
func checkForest(t rapid.TB, f *Forest) {
	t.Helper()
	shared, members := pieces(f)
	s, err := parseShared(shared, f.most)
	if err != nil {
		t.Fatal(err)
	}
	for i := range slices.Backward(members) { // in any order
		g, err := s.ParseMember(members[i], i)
		if err != nil {
			t.Fatalf("member %d of %d: %v", i, len(members), err)
		}
		if !g.Equal(f.Grammar(i)) {
			t.Fatalf("member %d is\n%swant\n%s", i, g, f.Grammar(i))
		}
		if (len(members[i]) == 0) != (i < s.Len()) {
			t.Fatalf("the piece of member %d has %d bytes, %d members are shared", i, len(members[i]), s.Len())
		}
	}
}

func testForest(t *rapid.T) {
	members := membersGen.Draw(t, "members")
	f := New(members)
	if f.Len() != len(members) {
		t.Fatalf("%d members, want %d", f.Len(), len(members))
	}
	checkForest(t, f)
	prefix := []byte("prefix")
	if got, want := f.AppendShared(prefix), append(prefix, f.AppendShared(nil)...); !bytes.Equal(got, want) {
		t.Fatalf("appended to a prefix: %x, want %x", got, want)
	}
	var order []sequitur.Symbol // by the definition
	to := make(map[sequitur.Symbol]sequitur.Symbol)
	for _, g := range members {
		for _, s := range g.All() {
			if _, ok := to[s]; !ok {
				to[s] = sequitur.Symbol(len(order))
				order = append(order, s)
			}
		}
	}
	if got := f.FirstUse(); !slices.Equal(got, order) {
		t.Fatalf("FirstUse = %v, want %v", got, order)
	}
	renumbered := f.Rewrite(func(s sequitur.Symbol) sequitur.Symbol { return to[s] })
	checkForest(t, renumbered)
	for i, g := range members {
		back := renumbered.Grammar(i).Rewrite(func(s sequitur.Symbol) sequitur.Symbol { return order[s] })
		if !back.Equal(g) {
			t.Fatalf("member %d, renumbered and back, is\n%swant\n%s", i, back, g)
		}
	}
}

func TestForest(t *testing.T) { rapid.Check(t, testForest) }

// TestForestPieces checks members that are not in the shared piece, because the
// history is full.
func TestForestPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members := membersGen.Draw(t, "members")
		checkForest(t, newForest(members, rapid.IntRange(0, 60).Draw(t, "most")))
	})
}

// TestForestConcurrent has pieces encoded and decoded at once, for the race
// detector.
func TestForestConcurrent(t *testing.T) {
	var members []*sequitur.Grammar
	for i := range sequitur.Symbol(8) {
		members = append(members, build(cycle(5, 0, 1, 2, i)))
	}
	f := newForest(members, 10)
	s, err := parseShared(f.AppendShared(nil), 10)
	if err != nil {
		t.Fatal(err)
	}
	f = newForest(members, 10) // nothing is encoded yet
	var all sync.WaitGroup
	for i := range members {
		all.Add(1)
		go func() {
			defer all.Done()
			if g, err := s.ParseMember(f.AppendMember(nil, i), i); err != nil || !g.Equal(members[i]) {
				t.Errorf("member %d: %v", i, err)
			}
		}()
	}
	all.Wait()
}

// TestForestSizes checks what a few forests take.
func TestForestSizes(t *testing.T) {
	ascending := func(n int) []sequitur.Symbol {
		in := make([]sequitur.Symbol, n)
		for i := range in {
			in[i] = sequitur.Symbol(i)
		}
		return in
	}
	member := func(leaf ...sequitur.Symbol) *sequitur.Grammar {
		return build(append(ascending(40), append(cycle(9, leaf...), 20, 21, 22)...))
	}
	tests := []struct {
		name    string
		members []*sequitur.Grammar
		most    int
	}{
		{"Nothing", nil, 1},
		{"Empty", []*sequitur.Grammar{{}, {}, {}}, 3},
		{"NewTerminals", []*sequitur.Grammar{build(ascending(16384))}, 8},
		{"NewTerminalsAgain", []*sequitur.Grammar{build(ascending(16384)), build(ascending(16385)),
			build(ascending(16384)[100:])}, 24},
		{"NewAfterOld", []*sequitur.Grammar{build(ascending(100)),
			build(append([]sequitur.Symbol{5, 6, 9}, ascending(20000)[100:]...))}, 20},
		{"Equal", slices.Repeat([]*sequitur.Grammar{member(7, 7, 9)}, 1000), 24},
		{"OneOther", []*sequitur.Grammar{member(1, 5, 2), member(1, 6, 2), member(1, 7, 2), member(1, 8, 2)}, 30},
		{"AddedAndLeftOut", []*sequitur.Grammar{member(1, 5, 2), member(1, 5, 9, 2), member(1, 2),
			member(1, 5, 2)}, 40},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := New(tt.members)
			checkForest(t, f)
			shared, members := pieces(f)
			if got := len(shared) + len(slices.Concat(members...)); got > tt.most {
				t.Errorf("%d bytes, want at most %d", got, tt.most)
			}
		})
	}
}

// TestLargeForest checks members of a million symbols, of great depth, and with
// counts that do not fit 32 bits.
func TestLargeForest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := make([]sequitur.Symbol, 400_000)
	for i := range random {
		random[i] = sequitur.Symbol(r.IntN(1 << 20))
	}
	var deep, long sequitur.Builder
	for n := range sequitur.Symbol(300) { // a rule for each prefix, twice
		for range 2 {
			for s := range n {
				deep.Append(s)
			}
			deep.Append(1000 + n)
		}
	}
	long.AppendLoop([]sequitur.Run{{Symbol: 1, Count: 1 << 40}, {Symbol: 2, Count: 1}}, 1<<20)
	f := New([]*sequitur.Grammar{deep.Finish(), long.Finish(), build(random), build(random[:1000]), build(nil)})
	checkForest(t, f)
	if n := len(f.known.tokens); n != maxHistory || f.shared != 3 {
		t.Errorf("%d tokens remembered, %d members shared, want %d and 3", n, f.shared, maxHistory)
	}
}

// TestForestOfParsed checks that rules come back in the order of the walk.
func TestForestOfParsed(t *testing.T) {
	enc := []byte{3, 2, 1 << 2, 2 << 2, 2, 3 << 2, 4 << 2, // 1 2, 3 4
		4, 2, 2 | 1<<2, 2, 9 << 2} // the second rule comes first
	g, err := sequitur.Parse(enc, sequitur.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse(New([]*sequitur.Grammar{g}).AppendShared(nil), Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, _ := s.ParseMember(nil, 0)
	if want := "S → R0 (1 2) R0 9\nR0 → 3 4\n"; got.String() != want {
		t.Errorf("grammar is\n%swant\n%s", got, want)
	}
	if !slices.Equal(expand(t, got), expand(t, g)) {
		t.Error("expansion differs")
	}
}

func TestForestErrors(t *testing.T) {
	const (
		one     = "\x36" // the terminal 0
		fresh   = "\x00"
		end     = "\x01"
		again   = "\x02" // one token that is predicted
		twice   = "\x12"
		pair    = "\x1a" // a rule of two
		last    = "\x26" // the rule made last
		maximum = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
	)
	tests := []struct {
		name string
		data string
		off  int64
		want error
	}{
		{"Nothing", "", 0, io.ErrUnexpectedEOF},
		{"NoMember", "\x01", 1, io.ErrUnexpectedEOF},
		{"ManyMembers", maximum, 10, io.ErrUnexpectedEOF},
		{"NoEnd", "\x01" + fresh, 2, io.ErrUnexpectedEOF},
		{"Trailing", "\x00" + end, 1, wire.ErrCorrupt},
		{"FreshInFull", "\x01" + one + end, 1, wire.ErrCorrupt},
		{"Predicted", "\x01" + fresh + fresh, 2, wire.ErrCorrupt},
		{"PredictedInTwo", "\x01" + fresh + again + again + end, 3, wire.ErrCorrupt},
		{"NothingPredicted", "\x01" + again, 1, wire.ErrCorrupt},
		{"PredictedAfterEnd", "\x02" + fresh + end + "\x04", 3, wire.ErrCorrupt},
		{"PredictedOverflows", "\x01" + fresh + "\x11" + maximum, 2, wire.ErrCorrupt},
		{"CutInNumber", "\x01" + fresh + "\x11\x80", 3, io.ErrUnexpectedEOF},
		{"LongNumber", "\x01" + fresh + "\x11\x80\x00", 3, wire.ErrCorrupt},
		{"CutInTerminal", "\x01\xf0", 2, io.ErrUnexpectedEOF},
		{"HugeTerminal", "\x01\xff\x80\x80\x80\x80\x08", 1, wire.ErrCorrupt},
		{"TerminalOverflows", "\x01\xff" + maximum, 1, wire.ErrCorrupt},
		{"RepeatsNothing", "\x01" + twice, 1, wire.ErrCorrupt},
		{"RepeatsTwice", "\x01" + fresh + twice + "\x13", 3, wire.ErrCorrupt},
		{"RepeatOverflows", "\x01" + fresh + "\x19" + maximum, 2, wire.ErrCorrupt},
		{"ReducesTooMany", "\x01" + fresh + pair, 2, wire.ErrCorrupt},
		{"NoRule", "\x01" + fresh + last, 2, wire.ErrCorrupt},
		{"RuleTooFar", "\x01" + fresh + again + pair + "\x27", 4, wire.ErrCorrupt},
		{"RepeatsSymbol", "\x01" + fresh + one + pair, 3, wire.ErrCorrupt},
		{"RepeatsSymbolInStart", "\x01" + fresh + one + end, 3, wire.ErrCorrupt},
		{"TooLong", "\x01" + fresh + twice + fresh + pair + "\x19" + "\xf7\xff\xff\xff\xff\xff\xff\xff\x7f" +
			end, 15, wire.ErrLimit},
		{"ManySymbols", "\x01" + fresh + "\x11" + "\xff\xff\xff\x7f" + end, 2, wire.ErrLimit},
		{"ManyEmptyMembers", "\xff\xff\xff\x7f" + end + "\x11" + "\xff\xff\xff\x7f", 10, wire.ErrCorrupt},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Parse([]byte(tt.data), Options{})
			var pe *wire.Error
			if !errors.As(err, &pe) || pe.Offset != tt.off || !errors.Is(err, tt.want) || s != nil {
				t.Fatalf("err = %v, want %v at offset %d", err, tt.want, tt.off)
			}
		})
	}
}

func TestForestOptions(t *testing.T) {
	shared := New([]*sequitur.Grammar{build([]sequitur.Symbol{1, 2, 2, 3})}).AppendShared(nil)
	for _, tt := range []struct {
		name string
		o    Options
		want error
	}{
		{"Enough", Options{MaxLen: 4, MaxSymbols: 4}, nil},
		{"Len", Options{MaxLen: 3}, wire.ErrLimit},
		{"Symbols", Options{MaxSymbols: 3}, wire.ErrLimit},
	} {
		s, err := Parse(shared, tt.o)
		if !errors.Is(err, tt.want) || (err == nil) != (s != nil) {
			t.Errorf("%s: err = %v, want %v", tt.name, err, tt.want)
		}
	}
	s, err := Parse(shared, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.ParseMember([]byte{0}, 0); !errors.Is(err, wire.ErrCorrupt) {
		t.Errorf("a byte for a shared member: %v", err)
	}
	if _, err := s.ParseMember([]byte{0, 1}, 1); !errors.Is(err, wire.ErrCorrupt) {
		t.Errorf("a member that should be in the shared piece: %v", err)
	}
}

// damaged calls check for every prefix and for every one-bit change of data.
func damaged(data []byte, check func(bad []byte, what string)) {
	for n := range data {
		check(data[:n], "prefix")
	}
	for bit := range len(data) * 8 {
		bad := bytes.Clone(data)
		bad[bit/8] ^= 1 << (bit % 8)
		check(bad, "change of a bit")
	}
}

// TestForestDamaged checks that what is accepted of a damaged piece encodes as it
// came.
func TestForestDamaged(t *testing.T) {
	in := append(cycle(20, 0, 1, 2, 3), 4, 600)
	other := append(cycle(21, 0, 1, 5, 3), 4, 5, 6, 7, 8)
	members := []*sequitur.Grammar{build(append(in, in...)), build(append(other, in...)), build(other)}
	damaged(New(members).AppendShared(nil), func(bad []byte, what string) {
		s, err := Parse(bad, Options{MaxSymbols: 1 << 10})
		if err != nil {
			return
		}
		if again := New(s.members).AppendShared(nil); what == "prefix" || !bytes.Equal(again, bad) {
			t.Errorf("%s: re-encoded %x as %x", what, bad, again)
		}
	})
	f := newForest(members, 10)
	s, err := parseShared(f.AppendShared(nil), 10)
	if err != nil || s.Len() != 1 {
		t.Fatal(s.Len(), err)
	}
	damaged(f.AppendMember(nil, 1), func(bad []byte, what string) {
		g, err := s.ParseMember(bad, 1)
		if err != nil {
			return
		}
		if again := newForest([]*sequitur.Grammar{members[0], g}, 10).AppendMember(nil,
			1); what == "prefix" || !bytes.Equal(again, bad) {
			t.Errorf("%s: re-encoded %x as %x", what, bad, again)
		}
	})
}

// TestForestMemory checks that what a few bytes can predict is limited.
func TestForestMemory(t *testing.T) {
	data := []byte("\x01\x00\x11\xff\xff\xff\xff\x07\x01")
	if got := allocated.By(1, func() { Parse(data, Options{MaxSymbols: 1000}) }); got > 1000*400 {
		t.Errorf("a limit of 1000 symbols allowed %d bytes", got)
	}
	if got := allocated.By(1, func() { Parse([]byte("\xff\xff\xff\xff\x0f\x01"), Options{}) }); got > 16<<10 {
		t.Errorf("a large number of members allocated %d bytes", got)
	}
}
