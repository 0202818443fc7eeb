package sequitur

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestReading checks every way of reading a grammar against its expansion.
func TestReading(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := programGen.Draw(t, "in")
		g := build(in)
		found := make(map[Symbol]uint64)
		for i, s := range in {
			found[s]++
			if got := g.At(uint64(i)); got != s {
				t.Fatalf("At(%d) = %d, want %d", i, got, s)
			}
		}
		if got := maps.Collect(g.Occurrences()); !maps.Equal(got, found) {
			t.Fatalf("Occurrences = %v, want %v", got, found)
		}
		prefix := in[:len(in)/3]
		if got := g.AppendSymbols(slices.Clone(prefix)); !slices.Equal(got, slices.Concat(prefix, in)) {
			t.Fatalf("AppendSymbols = %v, want %v", got, slices.Concat(prefix, in))
		}
		from := rapid.IntRange(0, len(in)+1).Draw(t, "from")
		rest := in[min(from, len(in)):]
		at := from
		for i, s := range g.From(uint64(from)) {
			if i != uint64(at) || s != in[at] {
				t.Fatalf("From(%d) yielded %d at %d, want %d at %d", from, s, i, in[at], at)
			}
			at++
		}
		if at-from != len(rest) {
			t.Fatalf("From(%d) yielded %d symbols, want %d", from, at-from, len(rest))
		}
		var runs []Run
		position := uint64(from)
		for i, r := range g.runsFrom(uint64(from)) {
			if i != position {
				t.Fatalf("runsFrom(%d): a run at %d, want %d", from, i, position)
			}
			position += r.Count
			runs = append(runs, r)
		}
		if !slices.Equal(runs, runsOf(rest)) {
			t.Fatalf("runsFrom(%d) = %v, want %v", from, runs, runsOf(rest))
		}
		runs = runs[:0]
		w := WalkSymbols(rest)
		for r := w.Next(); r.Count > 0; r = w.Next() {
			runs = append(runs, r)
		}
		if !slices.Equal(runs, runsOf(rest)) || len(w.AppendLoops(nil)) > 0 {
			t.Fatalf("WalkSymbols(%v) walked %v", rest, runs)
		}
	})
}

// TestOccurrencesBefore checks the counts before every position against a walk.
func TestOccurrencesBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := programGen.Draw(t, "in")
		g := build(in)
		want := make(map[Symbol]uint64)
		for position := range len(in) + 2 {
			if got := maps.Collect(g.OccurrencesBefore(uint64(position))); !maps.Equal(got, want) {
				t.Fatalf("before %d of %v: %v, want %v", position, g, got, want)
			}
			if position < len(in) {
				want[in[position]]++
			}
		}
	})
}

// TestRewrite checks one-to-one mappings, which keep the invariants, and others.
func TestRewrite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := programGen.Draw(t, "in")
		kinds := Symbol(rapid.IntRange(1, 8).Draw(t, "kinds"))
		to := func(s Symbol) Symbol { return MaxSymbol - s%kinds }
		want := make([]Symbol, len(in))
		for i, s := range in {
			want[i] = to(s)
		}
		g := build(in).Rewrite(to)
		if got := expand(t, g); !slices.Equal(got, want) {
			t.Fatalf("expansion = %v, want %v", got, want)
		}
		if kinds > 5 { // more than any alphabet drawn
			checkInvariants(t, g)
		}
		enc, _ := g.MarshalBinary()
		if _, err := Parse(enc, Options{}); err != nil {
			t.Fatal(err)
		}
	})
	mustPanic(t, "a symbol above MaxSymbol", func() {
		build([]Symbol{1}).Rewrite(func(Symbol) Symbol {
			return MaxSymbol + 1
		})
	})
}

// TestRewriteToOne checks that a grammar whose terminals become one is one run,
// and not a tree of rules to walk for each symbol.
func TestRewriteToOne(t *testing.T) {
	var b Builder
	for range 1000 {
		b.AppendRun(1, 1e12)
		b.Append(2)
	}
	g := b.Finish().Rewrite(func(Symbol) Symbol { return 9 })
	if got, want := g.String(), "S → 9^1000000000001000\n"; got != want {
		t.Errorf("grammar is %swant %s", got, want)
	}
}

func TestEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := programGen.Draw(t, "a"), programGen.Draw(t, "b")
		g, h := build(a), build(b)
		if got, want := g.Equal(h), slices.Equal(a, b); got != want {
			t.Fatalf("Equal = %v, want %v", got, want)
		}
		x, _ := g.MarshalBinary()
		y, _ := h.MarshalBinary()
		if got, want := slices.Equal(x, y), slices.Equal(a, b); got != want {
			t.Fatalf("equal encodings: %v, want %v", got, want)
		}
	})
	var zero Grammar
	if !zero.Equal(build(nil)) {
		t.Error("the zero Grammar differs from the grammar of no symbols")
	}
}

// TestEmpty checks that the zero Grammar can be read.
func TestEmpty(t *testing.T) {
	var g Grammar
	for range g.All() {
		t.Error("All yielded a symbol")
	}
	for range g.Occurrences() {
		t.Error("Occurrences yielded a symbol")
	}
	if g.Len() != 0 || g.Rules() != 0 || g.Symbols() != 0 || len(expand(t, g.Rewrite(nil))) != 0 {
		t.Error("the zero Grammar is not empty")
	}
	mustPanic(t, "At", func() { g.At(0) })
}

func TestStops(t *testing.T) {
	g := build(cycle(100, 1, 2, 3))
	n := 0
	for range g.All() {
		if n++; n == 5 {
			break
		}
	}
	for range g.Runs() {
		if n++; n == 10 {
			break
		}
	}
	for range g.Occurrences() {
		n++
		break
	}
	for range g.Body(g.Rules() - 2) {
		n++
		break
	}
	if n != 12 {
		t.Errorf("yielded %d times, want 12", n)
	}
}

func TestText(t *testing.T) {
	var b Builder
	for range 3 {
		for range 10 {
			for _, s := range []Symbol{0, 1, 2, 2} {
				b.Append(s)
			}
		}
		b.Append(3)
	}
	for _, s := range []Symbol{0, 1, 4} {
		b.Append(s)
	}
	g := b.Finish()
	var text strings.Builder
	name := func(s Symbol) string { return string(rune('a' + s)) }
	if err := g.WriteText(&text, name); err != nil {
		t.Fatal(err)
	}
	if want := "S → ((R0 c^2)^10 d)^3 R0 e\nR0 → a b\n"; text.String() != want {
		t.Errorf("text is\n%swant\n%s", &text, want)
	}
}
