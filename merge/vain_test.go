package merge

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/layout"
)

// TestTakeStreams compares the arguments that are taken, and how many are tried, with what they save: at the end,
// mostVain in a row are in vain.
func TestTakeStreams(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		saves := rapid.SliceOfN(rapid.SampledFrom([]int{-10, 0, 1, 100, 1000}), 0, 12).Draw(t, "saves")
		var candidates []candidate
		for i := range saves {
			candidates = append(candidates, candidate{function: i, slots: [2]int{0, -1}})
		}
		const size = 100_000
		tried := 0
		taken, best := takeStreams(candidates, inBlocksTrial{size: size},
			func(with []layout.StreamArgument, best *inBlocksTrial) inBlocksTrial {
				tried++
				return inBlocksTrial{size: best.size - saves[with[len(with)-1].Function]}
			})
		var want []layout.StreamArgument
		left, vain, n := size, 0, 0
		for i, saved := range saves {
			if vain == mostVain {
				break
			}
			n++
			if vain++; saved > left/little {
				want, left, vain = append(want, layout.StreamArgument{Function: i}), left-saved, 0
			}
		}
		if !slices.Equal(taken, want) || best.size != left || tried != n {
			t.Fatalf("%v are taken of %d that are tried, %d bytes, want %v of %d, %d", taken, tried, best.size, want, n,
				left)
		}
	})
}
