package timing_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/timing"
	_ "github.com/reprise-trace/reprise/timing/grammar" // makes its codec known
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
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range timing.Codecs() {
		codec, err := kind.New(0.01)
		if err != nil {
			t.Fatal(err)
		}
		var want [3]float64
		_, rest, _ := strings.Cut(strings.ToLower(string(doc)), "\n//	"+kind.Word+" ")
		if n, _ := fmt.Sscan(rest, &want[0], &want[1], &want[2]); n < len(want) {
			t.Errorf("the table of codecs has no row of %s", kind.Word)
		}
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
