package mixing

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/sequitur"
	"pgregory.net/rapid"
)

// noisyMembers returns sequences that repeat but for a few symbols, with streams, some of which take
// their values at random.
func noisyMembers() ([]Member, Alphabet) {
	a := Alphabet{
		Class: []uint32{0, 1, 2, 3, 3, 4}, Variant: []uint32{0, 1, 2, 3, 4, 5}, Group: []uint32{0, 0, 1, 1, 2},
		Streams: [][]int{nil, nil, {0}, nil, {0, 1}}, Values: [][]int64{{-3, 0, 8, 16}, {7, 9}},
	}
	random := rand.New(rand.NewPCG(3, 4))
	body := make([]sequitur.Symbol, 40)
	for i := range body {
		body[i] = random.Uint32N(6)
	}
	var members []Member
	for range 5 {
		x := Member{Streams: make([][]uint32, len(a.Values))}
		var sequence []sequitur.Symbol
		for range 6 {
			for _, s := range body {
				if random.Uint32N(30) == 0 {
					s = random.Uint32N(6)
				}
				sequence = append(sequence, s)
				for _, stream := range a.Streams[a.Class[s]] {
					x.Streams[stream] = append(x.Streams[stream], random.Uint32N(2))
				}
			}
		}
		x.Grammar = build(sequence)
		members = append(members, x)
	}
	return members, a
}

// TestStoredForms reads blocks of all levels that were written before, and writes them again.
func TestStoredForms(t *testing.T) {
	members, a := noisyMembers()
	for name, l := range map[string]level{"first": levelFirst, "long": levelLong, "polls": levelPolls} {
		old, err := os.ReadFile("testdata/" + name + ".block")
		if err != nil {
			t.Fatal(err)
		}
		read, err := parseMixed(old, a)
		if err != nil || !slices.EqualFunc(read, members, equalMembers) {
			t.Errorf("%s: other members are read: %v", name, err)
		}
		w := mixedWriter{ctx: context.Background(), left: (*Work)(nil).orAll(), members: members, alphabet: a,
			most: math.MaxInt}
		if !w.prepare(1) {
			t.Fatal("not written")
		}
		w.level = l
		if block, ok := one(w.blocks(w.parts(maxItems))); !ok || !bytes.Equal(block, old) {
			t.Errorf("%s: %d bytes, others than the %d before", name, len(block), len(old))
		}
	}
}

// somePolls returns the bodies of all loops that may be such as poll, however seldom they are, and the first
// items.
func somePolls(lists [][]item, a *Alphabet) polls {
	found := make(polls)
	for _, list := range lists {
		for i, x := range list {
			if b, ok := a.bodyOf(x.body); ok {
				found[b] = true
			}
			if b, ok := a.bodyOf(list[:min(i+1, len(list))]); ok && i < 2 {
				found[b] = true
			}
		}
	}
	return found
}

// TestPolls checks that a sequence is smaller if loops that poll are forgotten: that it takes little more than
// the numbers of its iterations, and that it is read.
func TestPolls(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	a := Alphabet{Class: []uint32{0, 1, 2, 3, 4, 5, 6, 7}, Variant: []uint32{0, 0, 0, 0, 0, 0, 0, 0},
		Group: []uint32{0, 0, 1, 1, 2, 2, 3, 3}}
	const steps, tripBits = 2000, 4
	var sequence []sequitur.Symbol
	for i := range steps {
		for range random.Uint32N(1 << tripBits) {
			sequence = append(sequence, 0, 1)
		}
		sequence = append(sequence, 0, 2+uint32(i*i%6))
	}
	members := []Member{{Grammar: build(sequence)}}
	w := mixedWriter{ctx: context.Background(), left: (*Work)(nil).orAll(), members: members, alphabet: a,
		most: math.MaxInt}
	if !w.prepare(MaxParts) {
		t.Fatal("not written")
	}
	none, first := Work(0), w.form
	for _, left := range []*Work{&none, (*Work)(nil).orAll()} { // also where none is left to try it
		w.form, w.left = first, left
		if w.choose(); w.level != levelPolls {
			t.Errorf("level %d with %d bits left", w.level, *left)
		}
	}
	block, ok := one(w.blocks(w.parts(maxItems)))
	if most := steps * tripBits / 8 * 11 / 10; !ok || len(block) > most {
		t.Errorf("%d bytes, want at most %d", len(block), most)
	}
	read, err := parseMixed(block, a)
	if err != nil || !slices.EqualFunc(read, members, equalMembers) {
		t.Errorf("other members are read: %v", err)
	}
}

// eachForm calls do with all forms of a block of members.
func eachForm(t rapid.TB, members []Member, a Alphabet, do func(block []byte)) {
	t.Helper()
	w := mixedWriter{ctx: context.Background(), left: (*Work)(nil).orAll(), members: members, alphabet: a,
		most: math.MaxInt}
	w.mostParts = 1
	for i, how := range []folding{{unrolled: fewTimes}, {unrolled: manyTimes}, {fewTimes, true}, {unrolled: fewTimes}} {
		lists, items, ok := w.itemsOf(how)
		for k, list := range lists {
			if i == 3 {
				lists[k] = somePolls(lists, &a).fold(list, &a)
				a.markTakes(lists[k])
				items += countItems(lists[k]) - countItems(list)
			}
		}
		if !ok || !w.rebuild(lists) {
			t.Fatal("cannot be written")
		}
		for _, twins := range [][]uint32{nil, findTwins(lists, &a)} {
			for _, l := range []level{levelFirst, levelLong, levelPolls} {
				w.form = form{lists, items, twins, l}
				block, ok := one(w.blocks(w.parts(maxItems)))
				if !ok {
					t.Fatal("not written")
				}
				do(block)
			}
		}
	}
}

// TestForms checks that what is written in any form is read, of members that are noisy enough for matches
// that miss.
func TestForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawAlphabet(t, 12)
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		body := make([]sequitur.Symbol, rapid.IntRange(1, 60).Draw(t, "body"))
		for i := range body {
			body[i] = random.Uint32N(12)
		}
		noise := rapid.Uint32Range(2, 200).Draw(t, "noise")
		var members []Member
		for range rapid.IntRange(1, 4).Draw(t, "members") {
			var sequence []sequitur.Symbol
			for range rapid.IntRange(1, 20).Draw(t, "rounds") {
				for _, s := range body {
					switch random.Uint32N(noise) {
					case 0:
						sequence = append(sequence, random.Uint32N(12))
					case 1: // left out
					default:
						sequence = append(sequence, s)
					}
				}
			}
			members = append(members, Member{Grammar: build(sequence)})
		}
		eachForm(t, members, a, func(block []byte) {
			if read, err := parseMixed(block, a); err != nil || !slices.EqualFunc(read, members, equalMembers) {
				t.Fatalf("other members are read: %v", err)
			}
		})
	})
}

// TestIrregularSizes checks that sequences that repeat but for something at random take about the information
// in that: a body with other symbols here and there, and loops of a few iterations.
func TestIrregularSizes(t *testing.T) {
	const symbols = 500
	random := rand.New(rand.NewPCG(9, 9))
	body := make([]sequitur.Symbol, 1000)
	for i := range body {
		body[i] = random.Uint32N(symbols)
	}
	var noisy, trips sequitur.Builder
	for range 50 {
		for _, s := range body {
			if random.Uint32N(100) == 0 {
				s = random.Uint32N(symbols)
			}
			noisy.Append(s)
		}
	}
	for range 5000 {
		trips.Append(1)
		for range 1 + random.IntN(3) {
			trips.Append(2)
			trips.Append(3)
		}
		trips.Append(4)
	}
	const noise = 0.0808 + 0.01*8.97 // bits: whether there is one, and which
	for _, tt := range []struct {
		name string
		g    *sequitur.Grammar
		bits float64 // of information
		most float64 // times that
	}{
		{"body", noisy.Finish(), 1000*8.97 + 49_000*noise, 1.2},
		{"trips", trips.Finish(), 5000 * 1.585, 1.2},
	} {
		block, ok := one(Append(context.Background(), nil, membersOf(tt.g), Plain(symbols), math.MaxInt, nil))
		if most := tt.most * tt.bits / 8; !ok || float64(len(block)) > most {
			t.Errorf("%s: %d bytes, more than %.0f", tt.name, len(block), most)
		}
	}
}
