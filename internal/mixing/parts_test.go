package mixing

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// blocksOf returns the blocks of members, of about as many items each, or nil if they cannot be written.
func blocksOf(t rapid.TB, members []Member, a Alphabet, items int) [][]byte {
	t.Helper()
	w := mixedWriter{ctx: context.Background(), left: (*Work)(nil).orAll(), members: members, alphabet: a,
		most: math.MaxInt}
	if !w.prepare(MaxParts) {
		t.Fatal("cannot be written")
	}
	w.choose()
	w.mostParts = math.MaxInt
	blocks, ok := w.blocks(w.parts(items))
	if !ok {
		return nil
	}
	return blocks
}

// TestParts checks that members are read that are written in many blocks, wherever one ends.
func TestParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawAlphabet(t, 5)
		var members []Member
		for range rapid.IntRange(1, 4).Draw(t, "members") {
			var b sequitur.Builder
			appendAll(&b, drawItems(t, 1))
			appendAll(&b, drawItems(t, 1))
			members = append(members, Member{Grammar: b.Finish()})
		}
		if rapid.Bool().Draw(t, "varying") {
			drawTaken(t, &a)
			for i := range members {
				members[i].Streams = drawStreams(t, members[i].Grammar, a)
			}
		}
		items := rapid.IntRange(1, 50).Draw(t, "items of a block")
		blocks := blocksOf(t, members, a, items)
		if blocks == nil {
			t.Skip("a part of them takes too many runs")
		}
		p := NewParser(a)
		for i, block := range blocks {
			if err := p.Parse(block); err != nil {
				t.Fatalf("block %d of %d: %v", i, len(blocks), err)
			}
			if _, err := p.Members(); i < len(blocks)-1 && !errors.Is(err, wire.ErrCorrupt) {
				t.Fatalf("complete after block %d of %d: %v", i, len(blocks), err)
			}
		}
		read, err := p.Members()
		if err != nil || !slices.EqualFunc(read, members, equalMembers) {
			t.Fatalf("other members are read of %d blocks: %v", len(blocks), err)
		}
	})
}

// TestLongMember checks that a sequence with more items than a block may have is written in some, that are
// about as large as what is in them.
func TestLongMember(t *testing.T) {
	tier.Long(t, "a grammar of more than a block")
	const n = maxItems * 3 / 2
	random := rand.New(rand.NewPCG(5, 5))
	var b sequitur.Builder
	for range n {
		b.Append(random.Uint32N(4))
	}
	g := b.Finish()
	items, _ := itemsOf(g, MaxParts*maxItems, folding{unrolled: fewTimes})
	blocks, ok := Append(context.Background(), nil, membersOf(g), Plain(4), math.MaxInt, nil)
	if !ok || len(blocks) != 2 || countItems(items) <= maxItems {
		t.Fatalf("%d blocks for %d items", len(blocks), countItems(items))
	}
	size := len(blocks[0]) + len(blocks[1])
	if size > n/4+n/400 || len(blocks[0]) > len(blocks[1])*11/10 || len(blocks[1]) > len(blocks[0])*11/10 {
		t.Errorf("%d bytes for %d symbols of 2 bits, %d of them in the first block", size, n, len(blocks[0]))
	}
	p := NewParser(Plain(4))
	for _, block := range blocks {
		if err := p.Parse(block); err != nil {
			t.Fatal(err)
		}
	}
	if read, err := p.Members(); err != nil || len(read) != 1 || !read[0].Grammar.Equal(g) {
		t.Errorf("another sequence is read: %v", err)
	}
	if _, ok := Try(context.Background(), membersOf(g), Plain(4), Rival{}, nil); ok {
		t.Error("Len measures what takes several blocks")
	}
}

// TestRoundsOfParts checks a sequence that is random first and has loops in loops then, which take more runs
// than may be appended for the items of the last block, though not more than for all: it is read again, or
// not written.
func TestRoundsOfParts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var loops func(depth int) []item
	loops = func(depth int) (list []item) {
		symbols := func() {
			for range 1 + random.IntN(2) {
				list = append(list, item{symbol: random.Uint32N(200), count: 1})
			}
		}
		symbols()
		if depth > 0 {
			body := loops(depth - 1)
			list = append(list, item{body: body, length: lengthOf(body), count: 20 + random.Uint64N(30)})
		}
		symbols()
		return list
	}
	b := nestBuilder{left: math.MaxInt}
	for range 150_000 {
		b.Append(random.Uint32N(8))
	}
	for n := 0; n < 90_000; {
		depth := 2
		if random.IntN(100) < 22 {
			depth = 3
		}
		list := loops(depth)
		n += countItems(list)
		b.append(list)
	}
	members := membersOf(b.Finish())
	blocks, ok := Append(context.Background(), nil, members, Plain(200), math.MaxInt, nil)
	p := NewParser(Plain(200))
	for i, block := range blocks {
		if err := p.Parse(block); err != nil {
			t.Fatalf("block %d of %d: %v", i, len(blocks), err)
		}
	}
	if read, err := p.Members(); ok && (err != nil || !slices.EqualFunc(read, members, equalMembers)) {
		t.Errorf("other members are read of %d blocks: %v", len(blocks), err)
	}
}

// TestRefuseParts checks blocks that do not follow each other.
func TestRefuseParts(t *testing.T) {
	var b sequitur.Builder
	for i := range 100 {
		b.Append(sequitur.Symbol(i * i % 7))
		b.Append(sequitur.Symbol(i * i % 11))
	}
	long := membersOf(b.Finish())
	parts := blocksOf(t, long, Plain(11), 100)
	if len(parts) < 2 {
		t.Fatalf("%d blocks", len(parts))
	}
	m := newSequenceModel(Plain(2), minTable, 0, levelFirst)
	m.Write([]byte{2 * minTable, 2})
	m.mark(markNext)
	m.mark(markEnd)
	inTheMiddle := m.Finish()
	for _, tt := range []struct {
		name   string
		blocks [][]byte
		text   string
	}{
		{"LastIsMissing", parts[:1], "the last one goes on, but there are no more blocks"},
		{"GoesOnInTheMiddle", [][]byte{inTheMiddle}, "goes on where another one begins"},
		{"NoHead", [][]byte{parts[0], {0xff, 0x7f}}, "a block of form"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := NewParser(Plain(11))
			var err error
			for _, block := range tt.blocks {
				if err == nil {
					err = p.Parse(block)
				}
			}
			if err == nil {
				_, err = p.Members()
			}
			var parse *wire.Error
			if !errors.Is(err, wire.ErrCorrupt) || !errors.As(err, &parse) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("%v, not %s", err, tt.text)
			}
		})
	}
	t.Run("FirstIsMissing", func(t *testing.T) { // what is left is another sequence, or none
		p := NewParser(Plain(11))
		if err := p.Parse(parts[len(parts)-1]); err != nil {
			return
		}
		if read, err := p.Members(); err == nil && read[0].Grammar.Len() >= long[0].Grammar.Len() {
			t.Errorf("%d symbols", read[0].Grammar.Len())
		}
	})
}
