package report_test

import (
	"math/rand/v2"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/report"
)

// uniformJS are uniform pairs as matrix.js reads them: ranges of ranks by first and last.
type uniformJS struct {
	From   []int `json:"from"`
	To     []int `json:"to"`
	Higher bool  `json:"higher"`
	Bytes  int   `json:"bytes"`
	Blocks int   `json:"blocks"`
}

// TestMatrixPairs compares numbers of uniform pairs, of random ranges, with the pairs, one by one.
func TestMatrixPairs(t *testing.T) {
	b := open(t, file(t, program(t, programs.Stencil2D(2, 2, 3)), report.Options{}), desktop)
	b.show("matrix")
	random := rand.New(rand.NewPCG(5, 5))
	const ranks = 60
	ranges := func() (list []int) {
		for rank := random.IntN(12); rank < ranks; rank += 2 + random.IntN(12) {
			last := min(rank+random.IntN(9), ranks-1)
			list = append(list, rank, last)
			rank = last
		}
		return list[:2*random.IntN(len(list)/2+1)]
	}
	in := func(list []int, rank int) bool {
		for i := 0; i < len(list); i += 2 {
			if list[i] <= rank && rank <= list[i+1] {
				return true
			}
		}
		return false
	}
	type within struct {
		U          uniformJS
		First, End int
	}
	var cases []within
	var want []int
	for round := range 500 {
		c := within{U: uniformJS{From: ranges(), To: ranges(), Higher: round%2 == 1}, End: ranks}
		if round%3 == 0 {
			c.U.To = c.U.From
		}
		if round > 50 {
			c.First = random.IntN(ranks)
			c.End = c.First + random.IntN(ranks-c.First+1)
		}
		pairs := 0
		for i := c.First; i < c.End; i++ {
			for j := c.First; j < c.End; j++ {
				if i != j && (j > i || !c.U.Higher) && in(c.U.From, i) && in(c.U.To, j) {
					pairs++
				}
			}
		}
		// No ranges at all are an empty list, not null.
		c.U.From, c.U.To = append([]int{}, c.U.From...), append([]int{}, c.U.To...)
		cases, want = append(cases, c), append(want, pairs)
	}
	got := eval[[]int](b, "%s.map((c) => report.figures.get('matrix').pairsWithin(c.U, c.First, c.End))", js(cases))
	for i, c := range cases {
		if got[i] != want[i] {
			t.Errorf("%+v has %d pairs, not %d", c, got[i], want[i])
		}
	}
}

// TestMatrixManyRanks draws what goes between a million ranks in a thousand ranges, which must
// not take as long as there are ranks.
func TestMatrixManyRanks(t *testing.T) {
	b := open(t, file(t, program(t, programs.Stencil2D(2, 2, 3)), report.Options{}), desktop)
	b.show("matrix")
	const ranks, ranges = 1_000_000, 1_000
	var groups []int
	for first := 0; first < ranks; first += ranks / ranges {
		groups = append(groups, first, first+ranks/ranges/2-1)
	}
	for _, higher := range []bool{false, true} {
		want := float64(ranks/2) * (ranks/2 - 1)
		if higher {
			want /= 2
		}
		got := eval[struct{ Blocks, Bytes, Milliseconds float64 }](b, `((uniform) => {
			const m = report.figures.get('matrix'), data = { ranks: %d, bins: %[1]d, bytes: true, exchanged: true, cells: [], uniform };
			Object.assign(m, new Matrix(m.figure, { matrix: data }, m.page));
			const out = { Blocks: 0, Bytes: 0, Milliseconds: Infinity };
			for (let i = 0; i < 3; i++) {
				const began = performance.now();
				m.draw();
				out.Milliseconds = Math.min(out.Milliseconds, performance.now() - began);
			}
			for (const sum of m.seen.sums.values()) {
				out.Blocks += sum.blocks;
				out.Bytes += sum.exchanged;
			}
			return out;
		})(%[2]s)`, ranks, js([]uniformJS{{groups, groups, higher, 8, 1}}))
		if got.Blocks != want || got.Bytes != 8*want {
			t.Errorf("higher %v: %v blocks of %v bytes, not %v of %v", higher, got.Blocks, got.Bytes, want, 8*want)
		}
		t.Logf("higher %v: a draw takes %.0f ms", higher, got.Milliseconds)
		if got.Milliseconds > 1000 {
			t.Errorf("higher %v: a draw takes %.0f ms", higher, got.Milliseconds)
		}
	}
}
