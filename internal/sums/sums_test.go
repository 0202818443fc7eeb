package sums

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn
	"github.com/reprise-trace/reprise/sequitur"
)

// TestMeasure compares sums of weights with adding up the sequence.
func TestMeasure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b sequitur.Builder
		for _, phrase := range rapid.SliceOfN(rapid.SliceOfN(rapid.Uint32Range(0, 4), 1, 5), 0, 6).Draw(t, "phrases") {
			for range rapid.IntRange(1, 6).Draw(t, "times") {
				for _, s := range phrase {
					b.AppendRun(s, uint64(1+s%2*3))
				}
			}
		}
		g := b.Finish()
		weights := rapid.SliceOfN(rapid.SampledFrom([]uint64{0, 0, 1, 1, 7, 1000}), 5, 5).Draw(t, "weights")
		m := Of(g).Measure(func(s sequitur.Symbol) uint64 { return weights[s] })

		sum := uint64(0)
		var at []uint64
		for position, s := range g.All() {
			if got := m.Before(position).Weight; got != sum {
				t.Fatalf("%d before %d, want %d", got, position, sum)
			}
			for inside := range min(weights[s], 3) {
				if p, _, before := m.Find(sum + inside); p != position || before.Weight != sum {
					t.Fatalf("%d is at %d after %d, want %d after %d", sum+inside, p, before, position, sum)
				}
			}
			if sum += weights[s]; weights[s] > 0 {
				at = append(at, position)
				if p, _, _ := m.Find(sum - 1); p != position {
					t.Fatalf("%d is at %d, want %d", sum-1, p, position)
				}
			}
		}
		if m.Total().Weight != sum || m.Before(g.Len()).Weight != sum {
			t.Fatalf("the sum of all is %d, and %d, want %d", m.Total(), m.Before(g.Len()), sum)
		}
		if p, _, before := m.Find(sum); p != g.Len() || before.Weight != sum {
			t.Fatalf("the end is %d after %d", p, before)
		}
		checkFrom(t, g, m, at)
	})
}

// checkFrom compares From with the positions of the symbols with a weight.
func checkFrom(t *rapid.T, g *sequitur.Grammar, m *Measure, want []uint64) {
	from := rapid.Uint64Range(0, g.Len()+1).Draw(t, "from")
	for len(want) > 0 && want[0] < from {
		want = want[1:]
	}
	for position, s := range m.From(from) {
		if len(want) == 0 || position != want[0] || s != g.At(position) {
			t.Fatalf("%d at %d, want one of %v", s, position, want)
		}
		want = want[1:]
	}
	if len(want) > 0 {
		t.Fatalf("%v were left out", want)
	}
}

func TestMeasureSaturates(t *testing.T) {
	var b sequitur.Builder
	b.AppendRun(0, 10)
	b.AppendRun(1, 1<<40)
	b.AppendRun(0, 10)
	m := Of(b.Finish()).Measure(func(s sequitur.Symbol) uint64 { return []uint64{5, math.MaxUint64 / 8}[s] })
	if m.Total().Weight != math.MaxUint64 || m.Before(12).Weight != 50+2*(math.MaxUint64/8) ||
		m.Before(1<<30).Weight != math.MaxUint64 {
		t.Errorf("sums are %d, %d and %d", m.Total(), m.Before(12), m.Before(1<<30))
	}
	if p, _, before := m.Find(math.MaxUint64 - 10); p != 17 || before.Weight != 50+7*(math.MaxUint64/8) {
		t.Errorf("found %d after %d", p, before)
	}
	if p, _, _ := m.Find(math.MaxUint64); p != 1<<40+20 {
		t.Errorf("the end is %d", p)
	}
	if p, _, before := Of(new(sequitur.Grammar)).Measure(nil).Find(0); p != 0 || before.Weight != 0 {
		t.Errorf("found %d after %d in nothing", p, before)
	}
}

// BenchmarkMeasureFind finds a place in loops of 10⁹ symbols.
func BenchmarkMeasureFind(b *testing.B) {
	var builder sequitur.Builder
	body := []sequitur.Run{{Symbol: 0, Count: 1}, {Symbol: 1, Count: 4}, {Symbol: 2, Count: 1},
		{Symbol: 3, Count: 9}, {Symbol: 2, Count: 1}, {Symbol: 4, Count: 1}}
	for round := range uint64(1000) {
		builder.AppendLoop(body, 50_000)
		builder.AppendRun(5, 1+round%7)
	}
	g := builder.Finish()
	m := Of(g).Measure(func(s sequitur.Symbol) uint64 { return 1000 + 100*uint64(s) })
	sum := uint64(0)
	for b.Loop() {
		m.Find(sum)
		sum = (sum + 0x9e3779b97f4a7c15) % m.Total().Weight
	}
	b.ReportMetric(float64(g.Len()), "symbols")
}

// A letters monoid has what a sequence looks like, and adds to weights where an even symbol
// comes before an odd one.
type letters struct{}

func (letters) Unit() string { return "" }

func (letters) Then(a, b string) (string, uint64) {
	if a != "" && b != "" && a[len(a)-1]%2 == 0 && b[0]%2 == 1 {
		return a + b, 100
	}
	return a + b, 0
}

func (letters) Times(a string, n uint64) string { return strings.Repeat(a, int(n)) }

// TestSum compares sums with values, and with weights that depend on neighbours, with those
// of the sequence.
func TestSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b sequitur.Builder
		for _, phrase := range rapid.SliceOfN(rapid.SliceOfN(rapid.Uint32Range(0, 4), 1, 5), 0, 6).Draw(t, "phrases") {
			for range rapid.IntRange(1, 6).Draw(t, "times") {
				for _, s := range phrase {
					b.AppendRun(s, uint64(1+s%2*3))
				}
			}
		}
		g := b.Finish()
		of := func(s sequitur.Symbol) Weighed[string] { return Weighed[string]{string(rune('a' + s)), uint64(s % 3)} }
		s := New(Of(g), letters{}, of)
		sum := Weighed[string]{}
		for position, x := range g.All() {
			if got := s.Before(position); got != sum {
				t.Fatalf("%+v before %d, want %+v", got, position, sum)
			}
			next := s.then(sum, of(x))
			for _, weight := range []uint64{sum.Weight, next.Weight - 1} {
				if weight < sum.Weight || weight >= next.Weight {
					continue
				}
				if p, at, before := s.Find(weight); p != position || at != x || before != sum {
					t.Fatalf("%d is at %d, symbol %d, after %+v, want %d, %d, %+v", weight, p, at, before,
						position, x, sum)
				}
			}
			sum = next
		}
		if s.Total() != sum || s.Before(g.Len()+1) != sum {
			t.Fatalf("all is %+v, want %+v", s.Total(), sum)
		}
	})
}

// TestSumAt compares sums of a few terminals with those of all, where others are nothing.
func TestSumAt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b sequitur.Builder
		for _, phrase := range rapid.SliceOfN(rapid.SliceOfN(rapid.Uint32Range(0, 9), 1, 5), 0, 6).Draw(t, "phrases") {
			var body []sequitur.Run
			for _, s := range phrase {
				body = append(body, sequitur.Run{Symbol: s, Count: 1})
			}
			b.AppendLoop(body, rapid.Uint64Range(1, 6).Draw(t, "times"))
		}
		g := b.Finish()
		of := make(map[sequitur.Symbol]Weighed[string])
		for _, s := range rapid.SliceOfN(rapid.Uint32Range(0, 11), 0, 3).Draw(t, "terminals") {
			of[s] = Weighed[string]{string(rune('a' + s)), rapid.Uint64Range(0, 3).Draw(t, "weight")}
		}
		some, all := NewAt(Of(g), plain{}, of), New(Of(g), plain{}, func(s sequitur.Symbol) Weighed[string] {
			return of[s]
		})
		for position := range g.Len() + 2 {
			if x, y := some.Before(position), all.Before(position); x != y {
				t.Fatalf("%+v before %d, want %+v", x, position, y)
			}
		}
		if some.Total() != all.Total() {
			t.Fatalf("all is %+v, want %+v", some.Total(), all.Total())
		}
		for weight := range all.Total().Weight + 1 {
			p, at, x := some.Find(weight)
			if q, there, y := all.Find(weight); p != q || at != there || x != y {
				t.Fatalf("%d is at %d after %+v, want %d after %+v", weight, p, x, q, y)
			}
		}
	})
}

// A plain monoid is letters without seams.
type plain struct{ letters }

func (plain) Then(a, b string) (string, uint64) { return a + b, 0 }

// TestMisuse calls the package as it must not be called.
func TestMisuse(t *testing.T) {
	var b sequitur.Builder
	b.AppendRun(3, 5)
	g := b.Finish()
	measure := Of(g).Measure(func(sequitur.Symbol) uint64 { return 1 })
	misuse.Panic(t, "sums", map[string]func(){
		"index of nothing":    func() { Of(nil) },
		"prefix of nil":       func() { CommonPrefix(g, nil, func(s sequitur.Symbol) sequitur.Symbol { return s }) },
		"measuring nothing":   func() { Of(g).Measure(nil) },
		"summing up nothing":  func() { New[int](Of(g), nil, nil) },
		"summing up no index": func() { NewAt[int](nil, nil, nil) },
	})
	misuse.Harmless(t, map[string]func(){
		"after the end": func() {
			measure.Before(6)
			measure.Find(6)
			for range measure.From(6) {
			}
		},
		"an empty grammar": func() {
			CommonPrefix(new(sequitur.Grammar), g, func(s sequitur.Symbol) sequitur.Symbol { return s })
		},
	})
}
