package compress

import (
	"testing"

	"github.com/reprise-trace/reprise/timing"
)

// TestRecommend checks which codec is recommended by the bytes that each takes.
func TestRecommend(t *testing.T) {
	for _, tt := range []struct {
		exponential, entropy, twice, zstd int
		want, why                         string
	}{
		{1000, 500, 520, 900, "entropy", "the smallest"},
		{1000, 500, 515, 900, "entropy-fast", "twice as fast, and 3.0 % larger than entropy, the smallest"},
		{1000, 500, 490, 900, "entropy-fast", "the smallest"},
		{560, 500, 510, 900, "exponential", "many times as fast, and 12.0 % larger than entropy, the smallest"},
		{565, 500, 520, 900, "entropy", "the smallest"},
		{505, 500, 510, 550, "zstd", "exact, and 10.0 % larger than entropy, the smallest"},
		{505, 500, 510, 499, "zstd", "the smallest, and exact"},
	} {
		c := codecsOfTimes{Codecs: []timing.Comparison{
			{Codec: "exponential", Bytes: tt.exponential, Errors: new(timing.Errors)},
			{Codec: "entropy", Bytes: tt.entropy, Errors: new(timing.Errors)},
			{Codec: "entropy-fast", Bytes: tt.twice, Errors: new(timing.Errors)},
			{Codec: "zstd", Bytes: tt.zstd, Errors: new(timing.Errors)},
			{Codec: "statistics", Bytes: 1},
		}}
		if c.recommend(); c.Recommended != tt.want || c.Why != tt.why {
			t.Errorf("%+v: %s: %s", tt, c.Recommended, c.Why)
		}
	}
}
