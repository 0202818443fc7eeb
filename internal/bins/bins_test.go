package bins

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn
)

var epsilons = []float64{MinEpsilon, 0.001, 0.0123, 0.05, 0.1, 0.2, 0.25, 0.3, 0.499, MaxEpsilon}

func newBins(t rapid.TB, epsilon float64) *Bins {
	t.Helper()
	b, err := New(epsilon)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// within reports, in exact arithmetic, whether |d̂−d| ≤ ε·|d|.
func within(got, d int64, epsilon float64) bool {
	const prec = 200 // bits of an int64 times ε, and more
	number := func(v int64) *big.Float { return new(big.Float).SetPrec(prec).SetInt64(v) }
	x, y := number(got), number(d)
	e := new(big.Float).SetPrec(prec).Sub(x, y)
	y.Mul(y.Abs(y), new(big.Float).SetPrec(prec).SetFloat64(epsilon))
	return e.Abs(e).Cmp(y) <= 0
}

// checkBin checks the guarantee for v.
func checkBin(t rapid.TB, b *Bins, v int64, epsilon float64) {
	t.Helper()
	s := b.Symbol(v)
	if s < -b.Max() || s > b.Max() {
		t.Fatalf("ε = %v: symbol of %v is %d, and the largest %d", epsilon, v, s, b.Max())
	}
	got := b.Value(s)
	if !within(got, v, epsilon) {
		t.Fatalf("ε = %v: %v became %v (symbol %d)", epsilon, v, got, s)
	}
	if b.Symbol(got) != s {
		t.Fatalf("ε = %v: representative %v of symbol %d has symbol %d", epsilon, got, s, b.Symbol(got))
	}
	if b.Symbol(-v) != -s && v != 0 && v != -v {
		t.Fatalf("ε = %v: symbols of ±%v are %d and %d", epsilon, v, s, b.Symbol(-v))
	}
}

// TestIntBins checks every bin at its ends and in between, the guarantee at
// which is that of the bin, and that there are as few bins as can be: that the
// integer after a bin cannot be in it whatever the representative.
func TestIntBins(t *testing.T) {
	for _, epsilon := range epsilons {
		b := newBins(t, epsilon)
		exact := math.Ldexp(float64(b.epsilon), -32)
		for s := int32(1); s <= b.Max(); s++ {
			lo, hi := b.hi[s-1]+1, b.hi[s]
			for _, v := range []uint64{lo, lo + (hi-lo)/2, hi} {
				checkBin(t, b, int64(v), epsilon)
				checkBin(t, b, -int64(v), epsilon)
				if got := b.symbol(v); got != s {
					t.Fatalf("ε = %v: symbol of %d is %d, want %d", epsilon, v, got, s)
				}
			}
			if hi < 1<<63-1 && epsilon > MinEpsilon {
				rep := big.NewInt(int64(b.rep[s]))
				limit := new(big.Float).SetPrec(200).Mul(big.NewFloat(1+exact).SetPrec(200),
					new(big.Float).SetUint64(lo))
				if limit.Cmp(new(big.Float).SetInt(rep.Add(rep, big.NewInt(1)))) >= 0 {
					t.Fatalf("ε = %v: bin %d from %d can have a larger representative than %d", epsilon, s,
						lo, b.rep[s])
				}
				if within(int64(b.rep[s]), int64(hi+1), exact) {
					t.Fatalf("ε = %v: bin %d ends with %d and could hold one more", epsilon, s, hi)
				}
			}
		}
	}
}

// TestPhases checks every bin of each phase, and that bins of two phases begin elsewhere.
func TestPhases(t *testing.T) {
	for _, epsilon := range epsilons[2:] {
		begins := make(map[uint64]int)
		for phase := range Phases {
			b, err := NewAt(epsilon, phase)
			if err != nil {
				t.Fatal(err)
			}
			if least := newBins(t, epsilon).Max(); b.Max() < least || b.Max() > least+1 {
				t.Errorf("ε = %v, phase %d: %d bins, %d in phase 0", epsilon, phase, b.Max(), least)
			}
			for s := int32(1); s <= b.Max(); s++ {
				lo, hi := b.hi[s-1]+1, b.hi[s]
				for _, v := range []uint64{lo, lo + (hi-lo)/2, hi} {
					checkBin(t, b, int64(v), epsilon)
					checkBin(t, b, -int64(v), epsilon)
				}
			}
			begins[b.hi[b.Symbol(1e9)]]++
		}
		if len(begins) != Phases {
			t.Errorf("ε = %v: bins of %d phases end in %d places", epsilon, Phases, len(begins))
		}
	}
}

func TestBinsSpecial(t *testing.T) {
	for _, epsilon := range epsilons {
		b := newBins(t, epsilon)
		for _, v := range []int64{0, 1, math.MaxInt64, math.MinInt64, math.MinInt64 + 1, 1e9} {
			checkBin(t, b, v, epsilon)
		}
		if b.Symbol(0) != 0 || b.Value(0) != 0 {
			t.Error("zero is not symbol 0")
		}
	}
	if got := newBins(t, 0.1).Max(); got != 216 {
		t.Errorf("%d bins at ε = 0.1, want 216", got)
	}
}

func TestNewErrors(t *testing.T) {
	for _, epsilon := range []float64{0, -0.1, MinEpsilon / 2, 0.51, math.NaN(), math.Inf(1)} {
		if b, err := New(epsilon); err == nil || b != nil {
			t.Errorf("accepted epsilon %v", epsilon)
		}
	}
}

// valueGen draws numbers of all magnitudes and signs, zero included.
func valueGen() *rapid.Generator[int64] {
	return rapid.Custom(func(t *rapid.T) int64 {
		u := rapid.Uint64().Draw(t, "u")
		return int64(u>>rapid.IntRange(0, 63).Draw(t, "shift")) * (1 - 2*rapid.Int64Range(0, 1).Draw(t, "sign"))
	})
}

func TestBinsAny(t *testing.T) { rapid.Check(t, testBinsAny) }

func testBinsAny(t *rapid.T) {
	epsilon := rapid.Float64Range(0.001, MaxEpsilon).Draw(t, "epsilon")
	b, err := NewAt(epsilon, rapid.IntRange(0, Phases-1).Draw(t, "phase"))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range rapid.SliceOfN(valueGen(), 1, 50).Draw(t, "values") {
		checkBin(t, b, v, epsilon)
	}
}

func BenchmarkBins(b *testing.B) {
	for _, epsilon := range []float64{0.001, 0.1} {
		benchmarkBins(b, epsilon)
	}
}

func benchmarkBins(b *testing.B, epsilon float64) {
	bins, _ := New(epsilon)
	r := rand.New(rand.NewPCG(1, 2))
	values := make([]int64, 1<<12)
	for i := range values {
		values[i] = int64(math.Exp(r.Float64()*12 + 3))
	}
	symbols := make([]int32, len(values))
	report := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(values)), "ns/value")
		b.ReportMetric(0, "ns/op")
	}
	name := fmt.Sprintf("epsilon=%v", epsilon)
	b.Run(name+"/symbol", func(b *testing.B) {
		for b.Loop() {
			for i, v := range values {
				symbols[i] = bins.Symbol(v)
			}
		}
		report(b)
	})
	b.Run(name+"/value", func(b *testing.B) {
		for b.Loop() {
			for i, s := range symbols {
				values[i] = bins.Value(s)
			}
		}
		report(b)
	})
}
