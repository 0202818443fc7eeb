package timing

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// TestShare cuts statistics into shares: they add up to the whole, and have its extremes.
func TestShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Statistics
		for _, v := range rapid.SliceOfN(rapid.Int64Range(-1e12, 1e12), 0, 50).Draw(t, "values") {
			s.Add(3, v)
		}
		s.SetSumError(rapid.Uint64Range(0, 100).Draw(t, "error"))
		var all Statistics
		sum, at, parts := new(big.Int), uint64(0), rapid.Uint64Range(1, 100).Draw(t, "parts")
		for at < parts {
			end := rapid.Uint64Range(at+1, parts).Draw(t, "end")
			share := s.Share(at, end, parts)
			if share.Count > 0 && (share.Min != s.Min || share.Max != s.Max || share.MinRank != 3 ||
				share.Variance() < -1) {
				t.Fatalf("a share has %+v of %+v", share, s)
			}
			sum.Add(sum, share.Integer())
			all.Merge(&share)
			at = end
		}
		if all.Count != s.Count || sum.Cmp(s.Integer()) != 0 || all.SumError() < s.SumError() && s.Count > 0 {
			t.Fatalf("shares are %+v together, not %+v", all, s)
		}
	})
}
