package mixing

import (
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/sequitur"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/wire"
)

// drawAlphabet draws what is known of n symbols: classes of several, whose variants differ.
func drawAlphabet(t *rapid.T, n int) Alphabet {
	a := Alphabet{Class: make([]uint32, n), Variant: make([]uint32, n)}
	classes := rapid.IntRange(1, n).Draw(t, "classes")
	next := make([]uint32, classes)
	for s := range n {
		c := s
		if s >= classes {
			c = rapid.IntRange(0, classes-1).Draw(t, "class")
		}
		a.Class[s], a.Variant[s] = uint32(c), next[c]
		next[c]++
	}
	for range classes {
		a.Group = append(a.Group, uint32(rapid.IntRange(0, 2).Draw(t, "group")))
	}
	return a
}

// drawTaken draws what streams there are, and which classes take values of them.
func drawTaken(t *rapid.T, a *Alphabet) {
	for range rapid.IntRange(1, 3).Draw(t, "streams") {
		values := rapid.SliceOfNDistinct(rapid.Int64Range(-50, 50), 1, 20, rapid.ID).Draw(t, "values")
		slices.Sort(values)
		a.Values = append(a.Values, values)
	}
	a.Streams = make([][]int, len(a.Group))
	for c := range a.Streams {
		for stream := range a.Values {
			if rapid.Bool().Draw(t, "takes") {
				a.Streams[c] = append(a.Streams[c], stream)
			}
		}
	}
}

// drawStreams draws the values that the symbols of g take.
func drawStreams(t *rapid.T, g *sequitur.Grammar, a Alphabet) [][]uint32 {
	streams := make([][]uint32, len(a.Values))
	number := make([]*rapid.Generator[uint32], len(a.Values))
	for i, values := range a.Values {
		number[i] = rapid.Uint32Range(0, uint32(len(values)-1))
	}
	for s, n := range g.Occurrences() {
		for _, stream := range a.Streams[a.Class[s]] {
			for range n {
				streams[stream] = append(streams[stream], number[stream].Draw(t, "value"))
			}
		}
	}
	return streams
}

// membersOf returns grammars as members without streams.
func membersOf(grammars ...*sequitur.Grammar) []Member {
	var members []Member
	for _, g := range grammars {
		members = append(members, Member{Grammar: g})
	}
	return members
}

// one returns the one block there is.
func one(blocks [][]byte, ok bool) ([]byte, bool) {
	if len(blocks) != 1 {
		return nil, false
	}
	return blocks[0], ok
}

// parseMixed reads members of one block.
func parseMixed(data []byte, a Alphabet) ([]Member, error) {
	p := NewParser(a)
	if err := p.Parse(data); err != nil {
		return nil, err
	}
	return p.Members()
}

// equalMembers reports whether members have equal grammars and equal streams.
func equalMembers(x, y Member) bool {
	return x.Grammar.Equal(y.Grammar) && slices.EqualFunc(x.Streams, y.Streams, slices.Equal[[]uint32])
}

// drawMembers draws sequences that have something in common, and their alphabet.
func drawMembers(t *rapid.T) ([]Member, Alphabet) {
	const symbols = 5
	a := drawAlphabet(t, symbols)
	var members []Member
	common := drawItems(t, 3)
	for range rapid.IntRange(0, 4).Draw(t, "members") {
		var b sequitur.Builder
		if rapid.Bool().Draw(t, "common") {
			appendAll(&b, common)
		}
		appendAll(&b, drawItems(t, 2))
		members = append(members, Member{Grammar: b.Finish()})
	}
	tooLong := func(x Member) bool { return x.Grammar.Len() > 1<<10 }
	if rapid.Bool().Draw(t, "varying") && !slices.ContainsFunc(members, tooLong) {
		drawTaken(t, &a)
		for i := range members {
			members[i].Streams = drawStreams(t, members[i].Grammar, a)
		}
	}
	return members, a
}

// TestMixed checks that what is written is read, whatever the sequences are.
func TestMixed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members, a := drawMembers(t)
		blocks, ok := Append(context.Background(), [][]byte{[]byte("before")}, members, a, math.MaxInt, nil)
		if !ok || len(blocks) != 2 || string(blocks[0]) != "before" {
			t.Fatal("not written")
		}
		read, err := parseMixed(blocks[1], a)
		if err != nil || len(read) != len(members) {
			t.Fatalf("%d members, not %d: %v", len(read), len(members), err)
		}
		for i, x := range read {
			if !equalMembers(x, members[i]) {
				t.Fatalf("%v, not %v", x, members[i])
			}
		}
		if trial, ok := Try(context.Background(), members, a, Rival{}, nil); !ok || trial.Len() < len(read) {
			t.Fatalf("a trial: %v", ok)
		}
	})
}

// TestMixedSmaller checks that trip counts that grow with the member, a call that two iterations
// in three leave out, and counts at random take about the information in them.
func TestMixedSmaller(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	tests := []struct {
		name   string
		member func(i int) *sequitur.Grammar
		bits   float64 // of information, of a member
		most   float64 // times the information
	}{
		{"trip counts", func(i int) *sequitur.Grammar {
			var b sequitur.Builder
			b.Append(0)
			b.AppendLoop([]sequitur.Run{{Symbol: 1, Count: 1}, {Symbol: 2, Count: 1}, {Symbol: 3, Count: 1}},
				uint64(50+i))
			b.Append(4)
			return b.Finish()
		}, 0, 1},
		{"optional", func(int) *sequitur.Grammar {
			var b sequitur.Builder
			for range 50 {
				b.Append(1)
				if random.IntN(3) == 0 {
					b.Append(2)
				}
				b.Append(3)
			}
			return b.Finish()
		}, 50 * 0.918, 1.4}, // where few are left out, what is left is taken for a loop
		{"counts", func(int) *sequitur.Grammar {
			var b sequitur.Builder
			for range 20 {
				b.Append(1)
				b.AppendLoop([]sequitur.Run{{Symbol: 2, Count: 1}, {Symbol: 3, Count: 1}}, uint64(1+random.IntN(16)))
			}
			return b.Finish()
		}, 20 * 4, 1.15},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			const members = 256
			var list []*sequitur.Grammar
			for i := range members {
				list = append(list, tt.member(i))
			}
			block, ok := one(Append(context.Background(), nil, membersOf(list...), Plain(5), math.MaxInt, nil))
			if most := tt.most*tt.bits*members/8 + 100; !ok || float64(len(block)) > most {
				t.Errorf("%d bytes, more than %.0f", len(block), most)
			}
		})
	}
}

// TestRefuseMixed checks blocks that ask for more than they may.
func TestRefuseMixed(t *testing.T) {
	var b sequitur.Builder
	b.AppendLoop([]sequitur.Run{{Symbol: 0, Count: 1}, {Symbol: 1, Count: 1}}, 1<<40)
	good, ok := one(Append(context.Background(), nil, membersOf(b.Finish()), Plain(2), math.MaxInt, nil))
	if !ok {
		t.Fatal("not written")
	}
	tests := []struct {
		name  string
		block []byte
		err   error
		text  string
	}{
		{"Empty", nil, io.ErrUnexpectedEOF, "table at offset 0"},
		{"TableTooLarge", append([]byte{2 * maxTable}, good[1:]...), wire.ErrLimit, "table at offset 0"},
		{"TableTooSmall", append([]byte{2}, good[1:]...), wire.ErrLimit, "table at offset 0"},
		{"AnotherForm", wire.AppendUvarint(nil, uint64(levelPolls+1)<<headLevel|2*minTable), wire.ErrCorrupt,
			"a block of form 3, of which this version knows those up to 2"},
		{"MembersTooMany", wire.AppendUvarint([]byte{2 * minTable}, 1<<40), wire.ErrLimit, "members at offset 1"},
		{"NoEnd", []byte{2 * minTable, 1}, wire.ErrCorrupt, "member"},
		{"ByteMore", append(slices.Clone(good), 1), wire.ErrCorrupt, "another end than expected"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parseMixed(tt.block, Plain(2))
			if !errors.Is(err, tt.err) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("%v, not %v: %s", err, tt.err, tt.text)
			}
		})
	}
}

// TestManyMembers checks that a block of many members that take next to nothing is read again, if
// it is written.
func TestManyMembers(t *testing.T) {
	var list []*sequitur.Grammar
	sizes := tier.Some([]int{1 << 14, 1 << 16}, 2)
	for range slices.Max(sizes) {
		var b sequitur.Builder
		b.Append(0)
		list = append(list, b.Finish())
	}
	for _, n := range sizes {
		block, ok := one(Append(context.Background(), nil, membersOf(list[:n]...), Plain(1), math.MaxInt, nil))
		if !ok {
			continue
		}
		if read, err := parseMixed(block, Plain(1)); err != nil || len(read) != n {
			t.Errorf("%d members, not %d: %v", len(read), n, err)
		}
	}
}

// TestMostItems checks that a block has no more items than are written, however long it is.
func TestMostItems(t *testing.T) {
	m := newSequenceModel(Plain(2), minTable, 0, levelFirst)
	m.Write([]byte{2 * minTable, 1})
	for i := range maxItems + 2 {
		m.mark(firstClass + uint32(i&1))
		m.member(uint32(i&1), sequitur.Symbol(i&1))
		m.count(1)
	}
	m.mark(markEnd)
	block := append(m.Finish(), make([]byte, 1<<20)...)
	if _, err := parseMixed(block, Plain(2)); !errors.Is(err, wire.ErrLimit) {
		t.Errorf("%v, not %v", err, wire.ErrLimit)
	}
}

// TestMostBits checks that counts of many bits, which are predicted well enough to take a few bytes, are
// neither read nor written where they take too long.
func TestMostBits(t *testing.T) {
	tier.Long(t, "millions of bits")
	const items, count = 100_000, uint64(1) << 44 // 87 bits each
	m := newSequenceModel(Plain(2), minTable, 0, levelFirst)
	m.Write([]byte{2 * minTable, 1})
	var b sequitur.Builder
	for i := range items {
		s, n := sequitur.Symbol(i&1), count+uint64(i)
		b.AppendRun(s, n)
		m.mark(firstClass + s)
		m.member(s, s)
		m.count(n)
	}
	m.mark(markEnd)
	if m.coded <= maxBits {
		t.Fatalf("%d bits", m.coded)
	}
	block := append(m.Finish(), make([]byte, 1<<10)...)
	if _, err := parseMixed(block, Plain(2)); !errors.Is(err, wire.ErrLimit) ||
		!strings.Contains(err.Error(), "bits in its block") {
		t.Errorf("%v, not %v", err, wire.ErrLimit)
	}
	w := mixedWriter{ctx: context.Background(), left: (*Work)(nil).orAll(), members: membersOf(b.Finish()),
		alphabet: Plain(2), most: math.MaxInt}
	if !w.prepare(1) {
		t.Fatal("not prepared")
	}
	if c := w.code(&w.parts(maxItems)[0], minTable); !c.tooMany {
		t.Error("written")
	}
}

// TestManyTwins checks that there are no twins of more classes than are looked at for them.
func TestManyTwins(t *testing.T) {
	m := newSequenceModel(Plain(maxTwinClasses+1), minTable, 0, levelFirst)
	m.Write([]byte{2*minTable | headTwins, 0})
	m.codeTwins(make([]uint32, maxTwinClasses+1))
	block := m.Finish()
	if _, err := parseMixed(block, Plain(maxTwinClasses+1)); !errors.Is(err, wire.ErrLimit) ||
		!strings.Contains(err.Error(), "table at offset 0") {
		t.Errorf("%v, not %v", err, wire.ErrLimit)
	}
}

// TestLongRules checks that rules of a sequence that is too long are not written out.
func TestLongRules(t *testing.T) {
	const parts, size, orders = 8, 1 << 12, 24
	random := rand.New(rand.NewPCG(1, 1))
	var b sequitur.Builder
	for n := range 2 * orders {
		order := rand.New(rand.NewPCG(2, uint64(n%orders))).Perm(parts)
		for _, p := range order {
			for i := range size {
				b.Append(sequitur.Symbol(p*size + i))
			}
		}
		b.Append(sequitur.Symbol(parts*size + random.IntN(1<<20)))
	}
	g := b.Finish()
	if n := testing.AllocsPerRun(1, func() {
		if _, ok := itemsOf(g, maxItems, folding{unrolled: fewTimes}); ok {
			t.Error("written out")
		}
	}); n > 100 {
		t.Errorf("%v allocations", n)
	}
}

// asked is a context that is done when it was asked so often.
type asked struct {
	context.Context
	left atomic.Int64
}

func (a *asked) Err() error {
	if a.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestMixedCanceled cancels the writing of a block at each moment.
func TestMixedCanceled(t *testing.T) {
	var list []*sequitur.Grammar
	for i := range 20 {
		var b sequitur.Builder
		b.AppendLoop([]sequitur.Run{{Symbol: 0, Count: 1}, {Symbol: 1, Count: 1}}, uint64(10+i))
		list = append(list, b.Finish())
	}
	moments := 0
	for ; ; moments++ {
		ctx := &asked{Context: context.Background()}
		ctx.left.Store(int64(moments))
		blocks, ok := Append(ctx, [][]byte{[]byte("before")},
			membersOf(list...), Plain(2), math.MaxInt, nil)
		if ok {
			break
		}
		if len(blocks) != 1 || string(blocks[0]) != "before" {
			t.Fatalf("moment %d: %d blocks", moments, len(blocks))
		}
	}
	if moments < 2*len(list) {
		t.Errorf("the context was asked %d times for %d members", moments, len(list))
	}
}
