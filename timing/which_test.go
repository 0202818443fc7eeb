package timing_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/timing/grammar"
)

// TestWhichCodec holds the bytes a value in the table of the package's documentation.
func TestWhichCodec(t *testing.T) {
	const n = 1 << 18
	random := rand.New(rand.NewPCG(1, 2))
	scattered, loop, whole := make([]int64, n), make([]int64, n), make([]int64, n)
	for i := range n {
		scattered[i] = int64(20000 * math.Exp(random.NormFloat64()))
		loop[i] = []int64{20000, 21000, 350000, 1200}[i%4]
	}
	for i := range n {
		whole[i] = 1000 * int64(20*math.Exp(random.NormFloat64()/4))
	}
	codecs, err := timing.Codecs(0.01)
	if err != nil {
		t.Fatal(err)
	}
	folding, err := grammar.New(0.01)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][3]float64{ // as Codecs lists them, and grammar
		{1.087, 0.850, 1.148}, {2.579, 0.864, 0.376}, {0.966, 0.550, 0.063}, {2.126, 0.559, 0.001}, {2.301, 1.000, 0.009}, {2.100, 1.101, 0},
	} {
		codec := append(codecs, folding)[i]
		for k, values := range [][]int64{scattered, whole, loop} {
			bytes := 0
			for _, block := range (timing.Column[int64]{Values: values}).Encode(codec) {
				bytes += len(block)
			}
			if got := float64(bytes) / n; math.Abs(got-want[k]) > 0.01*want[k]+0.0006 {
				t.Errorf("%s takes %.3f bytes a value of column %d, not %.3f", codec.Name(), got, k, want[k])
			}
		}
	}
}
