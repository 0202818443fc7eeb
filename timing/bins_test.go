package timing

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

var epsilons = []float64{MinEpsilon, 0.001, 0.0123, 0.05, 0.1, 0.2, 0.25, 0.3, 0.499, MaxEpsilon}

func newBins[V Value](t rapid.TB, epsilon float64) *Bins[V] {
	t.Helper()
	b, err := NewBins[V](epsilon)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// within reports, in exact arithmetic, whether |d̂−d| ≤ ε·|d|.
func within[V Value](got, d V, epsilon float64) bool {
	const prec = 2200 // bits from the largest float64 to the smallest times ε
	number := func(v V) *big.Float {
		if isFloat[V]() {
			return new(big.Float).SetPrec(prec).SetFloat64(float64(v))
		}
		return new(big.Float).SetPrec(prec).SetInt64(int64(v))
	}
	x, y := number(got), number(d)
	e := new(big.Float).SetPrec(prec).Sub(x, y)
	y.Mul(y.Abs(y), new(big.Float).SetPrec(prec).SetFloat64(epsilon))
	return e.Abs(e).Cmp(y) <= 0
}

// checkBin checks the guarantee for v.
func checkBin[V Value](t rapid.TB, b *Bins[V], v V, epsilon float64) {
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
		b := newBins[int64](t, epsilon)
		exact := math.Ldexp(float64(b.epsilon), -32)
		for s := int32(1); s <= b.Max(); s++ {
			lo, hi := b.ints.hi[s-1]+1, b.ints.hi[s]
			for _, v := range []uint64{lo, lo + (hi-lo)/2, hi} {
				checkBin(t, b, int64(v), epsilon)
				checkBin(t, b, -int64(v), epsilon)
				if got := b.ints.symbol(v); got != s {
					t.Fatalf("ε = %v: symbol of %d is %d, want %d", epsilon, v, got, s)
				}
			}
			if hi < 1<<63-1 && epsilon > MinEpsilon {
				rep := big.NewInt(int64(b.ints.rep[s]))
				limit := new(big.Float).SetPrec(200).Mul(big.NewFloat(1+exact).SetPrec(200), new(big.Float).SetUint64(lo))
				if limit.Cmp(new(big.Float).SetInt(rep.Add(rep, big.NewInt(1)))) >= 0 {
					t.Fatalf("ε = %v: bin %d from %d can have a larger representative than %d", epsilon, s, lo, b.ints.rep[s])
				}
				if within(int64(b.ints.rep[s]), int64(hi+1), exact) {
					t.Fatalf("ε = %v: bin %d ends with %d and could hold one more", epsilon, s, hi)
				}
			}
		}
	}
}

func TestFloatBins(t *testing.T) {
	for _, epsilon := range epsilons {
		b := newBins[float64](t, epsilon)
		if epsilon < 0.001 && testing.Short() {
			continue
		}
		step := max(b.Max()/100_000, 1)
		for s := int32(1); s <= b.Max(); s += step {
			v := b.Value(s)
			if got := b.Symbol(v); got != s {
				t.Fatalf("ε = %v: symbol of %v is %d, want %d", epsilon, v, got, s)
			}
			// The ends of the bin, by bisection.
			for _, d := range []int64{1, -1} {
				u, out := int64(math.Float64bits(v)), int64(0)
				if d > 0 {
					out = int64(math.Float64bits(math.Inf(1)))
				}
				for in := u; ; {
					if out == in+d {
						v = math.Float64frombits(uint64(in))
						break
					}
					mid := in + (out-in)/2
					if b.Symbol(math.Float64frombits(uint64(mid))) == s {
						in = mid
					} else {
						out = mid
					}
				}
				checkBin(t, b, v, epsilon)
			}
		}
	}
}

func TestBinsSpecial(t *testing.T) {
	for _, epsilon := range epsilons {
		b := newBins[float64](t, epsilon)
		for _, v := range []float64{0, math.MaxFloat64, math.SmallestNonzeroFloat64, 0x1p-1022, 0x1p-1022 - 0x1p-1074, 1, 1e-9, 0x1p-30, 1e-6} {
			checkBin(t, b, v, epsilon)
			if v != 0 {
				checkBin(t, b, -v, epsilon)
			}
			for range 100 {
				v = math.Nextafter(v, 1)
				checkBin(t, b, v, epsilon)
			}
		}
		for _, u := range []uint64{0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000001, 0x7ff0000000000123, 0xffffffffffffffff, 1 << 63} {
			if s := b.Symbol(math.Float64frombits(u)); s != Escape {
				t.Errorf("symbol of bits %x is %d, want Escape", u, s)
			}
		}
		i := newBins[int64](t, epsilon)
		for _, v := range []int64{0, 1, math.MaxInt64, math.MinInt64, math.MinInt64 + 1, 1e9} {
			checkBin(t, i, v, epsilon)
		}
		if i.Symbol(0) != 0 || i.Value(0) != 0 || b.Value(0) != 0 {
			t.Error("zero is not symbol 0")
		}
	}
}

// TestBinsNumber checks how many bins there are against the least that the
// error allows in the limit, ln(max/min) / ln((1+ε)/(1−ε)).
func TestBinsNumber(t *testing.T) {
	for _, epsilon := range epsilons {
		ratio := math.Log((1 + epsilon) / (1 - epsilon))
		b := newBins[float64](t, epsilon)
		if n, least := float64(b.floats.below), 2046*math.Ln2/ratio; n > least*1.03+4 {
			t.Errorf("ε = %v: %v bins of normal numbers, where %.1f would do", epsilon, n, least)
		}
		i := newBins[int64](t, epsilon)
		t.Logf("ε = %v: %d bins of int64, %d of float64, period %d octaves", epsilon, i.Max(), b.Max(), b.floats.period)
	}
	if got := newBins[int64](t, 0.1).Max(); got != 216 {
		t.Errorf("%d bins at ε = 0.1, want 216", got)
	}
}

func TestNewBinsErrors(t *testing.T) {
	for _, epsilon := range []float64{0, -0.1, MinEpsilon / 2, 0.51, math.NaN(), math.Inf(1)} {
		if b, err := NewBins[int64](epsilon); err == nil || b != nil {
			t.Errorf("accepted epsilon %v", epsilon)
		}
	}
}

// valueGen draws numbers of all magnitudes and signs, zero included.
func valueGen[V Value]() *rapid.Generator[V] {
	return rapid.Custom(func(t *rapid.T) V {
		u := rapid.Uint64().Draw(t, "u")
		if isFloat[V]() {
			return fromBits[V](u)
		}
		return fromBits[V]((u >> rapid.IntRange(0, 63).Draw(t, "shift")) * uint64(1-2*rapid.Int64Range(0, 1).Draw(t, "sign")))
	})
}

func TestBinsAny(t *testing.T) {
	t.Run("int64", rapid.MakeCheck(testBinsAny[int64]))
	t.Run("float64", rapid.MakeCheck(testBinsAny[float64]))
}

func testBinsAny[V Value](t *rapid.T) {
	epsilon := rapid.Float64Range(0.001, MaxEpsilon).Draw(t, "epsilon")
	b := newBins[V](t, epsilon)
	for _, v := range rapid.SliceOfN(valueGen[V](), 1, 50).Draw(t, "values") {
		if b.Symbol(v) == Escape {
			if f := float64(v); !math.IsNaN(f) && !math.IsInf(f, 0) && math.Float64bits(f) != 1<<63 {
				t.Fatalf("%v escapes", v)
			}
			continue
		}
		checkBin(t, b, v, epsilon)
	}
}

func BenchmarkBins(b *testing.B) {
	for _, epsilon := range []float64{0.001, 0.1} {
		benchmarkBins[int64](b, epsilon, 1)
		benchmarkBins[float64](b, epsilon, 1e-9)
	}
}

func benchmarkBins[V Value](b *testing.B, epsilon float64, unit float64) {
	bins, _ := NewBins[V](epsilon)
	r := newRandom(1)
	values := make([]V, 1<<12)
	for i := range values {
		values[i] = V(math.Exp(r.float()*12+3) * unit)
	}
	symbols := make([]int32, len(values))
	report := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(values)), "ns/value")
		b.ReportMetric(0, "ns/op")
	}
	name := fmt.Sprintf("%T/epsilon=%v", values[0], epsilon)
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

// A random is a generator of pseudo-random numbers, SplitMix64.
type random struct{ state uint64 }

func newRandom(seed uint64) *random { return &random{seed} }

func (r *random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// float returns a number from 0 to 1.
func (r *random) float() float64 { return float64(r.next()>>11) / (1 << 53) }
