package pprof

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn

	"github.com/reprise-trace/reprise/sequitur"
)

// drawGrammar draws a sequence of loops in loops, and returns its grammar.
func drawGrammar(t *rapid.T) *sequitur.Grammar {
	var b sequitur.Builder
	phrase := rapid.SliceOfN(rapid.Uint32Range(0, 4), 1, 4)
	for range rapid.IntRange(0, 4).Draw(t, "loops") {
		inner, outer := phrase.Draw(t, "inner"), phrase.Draw(t, "outer")
		n, m := rapid.IntRange(1, 5).Draw(t, "n"), rapid.IntRange(1, 5).Draw(t, "m")
		for range n {
			for _, s := range slices.Concat(outer, slices.Repeat(inner, m)) {
				b.Append(s)
			}
		}
	}
	return b.Finish()
}

func letter(s sequitur.Symbol) string { return string(rune('a' + s)) }

// expand calls f with the loops around each symbol of a rule, in order.
func expand(g *sequitur.Grammar, rule int, around string, f func(around string, s sequitur.Symbol)) {
	for s := range g.Body(rule) {
		in := around
		if s.Rule >= 0 && s.Count > 1 {
			in += "/" + strconv.FormatUint(s.Count, 10) + called(g, s.Rule)
		}
		for range s.Count {
			if s.Rule >= 0 {
				expand(g, s.Rule, in, f)
			} else {
				f(around, s.Symbol)
			}
		}
	}
}

// called returns the symbols of a rule in the order of their first use.
func called(g *sequitur.Grammar, rule int) string {
	var names []string
	expand(g, rule, "", func(_ string, s sequitur.Symbol) {
		if !slices.Contains(names, letter(s)) {
			names = append(names, letter(s))
		}
	})
	return strings.Join(names, "")
}

// around returns the loops of a node as expand has them.
func (t *tree) around(n int) string {
	text := ""
	for ; n > 0; n = t.nodes[n].parent {
		name := strings.TrimPrefix(strings.ReplaceAll(t.nodes[n].name, " × ", ""), "loop ")
		text = "/" + strings.ReplaceAll(name, " ", "") + text
	}
	return text
}

// TestCount compares counts with the expansion of the grammar, one symbol at a time.
func TestCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGrammar(t)
		first := rapid.Uint64Range(0, g.Len()).Draw(t, "first")
		end := rapid.Uint64Range(first, g.Len()).Draw(t, "end")
		want := make(map[string]int64)
		if at := uint64(0); g.Rules() > 0 {
			expand(g, g.Rules()-1, "", func(around string, s sequitur.Symbol) {
				if at >= first && at < end {
					want[around+" "+letter(s)]++
				}
				at++
			})
		}
		tr := tree{nodes: []node{{}}}
		got := make(map[string]int64)
		for _, c := range tr.count(g, first, end, letter) {
			if c.calls != 0 {
				got[tr.around(c.node)+" "+letter(c.terminal)] += c.calls
			}
		}
		if !maps.Equal(got, want) {
			t.Fatalf("of %d to %d: %v, want %v", first, end, got, want)
		}
	})
}

// TestManyNests counts a loop that stands in more loops than are followed.
func TestManyNests(t *testing.T) {
	var b sequitur.Builder
	const inner = 7
	loops := uint32(3 * maxNests)
	for k := range loops {
		for range 5 {
			b.Append(10 + k)
			for range inner {
				b.Append(0)
				b.Append(1)
			}
		}
	}
	g := b.Finish()
	tr := tree{nodes: []node{{}}}
	calls := make(map[uint32]int64)
	nodes := make(map[int]bool)
	for _, c := range tr.count(g, 0, g.Len(), func(s sequitur.Symbol) string { return fmt.Sprint(s) }) {
		calls[c.terminal] += c.calls
		if c.terminal == 0 {
			nodes[c.node] = true
		}
	}
	if want := int64(loops * 5 * inner); calls[0] != want || calls[1] != want || calls[10] != 5 {
		t.Errorf("%d and %d calls, want %d", calls[0], calls[1], want)
	}
	if len(nodes) > maxNests {
		t.Errorf("one call in %d nests of loops", len(nodes))
	}
}

func TestLabel(t *testing.T) {
	var b sequitur.Builder
	for range 3 {
		for s := range sequitur.Symbol(maxNames + 2) {
			b.Append(s)
		}
	}
	g := b.Finish()
	tr := tree{nodes: []node{{}}}
	tr.count(g, 0, g.Len(), letter)
	if len(tr.nodes) != 2 || tr.nodes[1].name != "loop 3 × a b c d e …" {
		t.Errorf("nodes %v", tr.nodes)
	}
}

// TestTake checks that all samples together have all of the time.
func TestTake(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.Int64Range(1, 1000), 1, 20).Draw(t, "parts")
		s := timeSum{in: float64(rapid.Int64Range(0, 1e12).Draw(t, "in")),
			out: float64(rapid.Int64Range(0, 1e6).Draw(t, "out"))}
		for _, n := range parts {
			s.calls += n
		}
		var in, out int64
		for _, n := range parts {
			a, b := s.take(n)
			if a < 0 || b < 0 {
				t.Fatal("negative time")
			}
			in, out = in+a, out+b
		}
		if in != int64(s.in) || out != int64(s.out) {
			t.Fatalf("%d and %d, want %v and %v", in, out, s.in, s.out)
		}
	})
}
