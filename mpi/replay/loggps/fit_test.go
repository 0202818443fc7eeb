package loggps

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/mpi/replay"
)

// fitSizes are those of messages that are measured.
var fitSizes = []int64{1, 8, 64, 256, 512, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10,
	128 << 10, 256 << 10, 512 << 10, 1 << 20, 2 << 20, 4 << 20, 8 << 20}

// TestFit checks that a link is found again from what its messages take: the squares of the relative errors
// are no larger than those of the link itself would be with what its lines cost.
func TestFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nanoseconds := func(most int, label string) replay.Time {
			return replay.Time(rapid.IntRange(0, most).Draw(t, label)) * replay.Nanosecond
		}
		bandwidth := rapid.Int64Range(1e8, 1e11)
		want := Link{Latency: nanoseconds(5000, "latency") + 1, Overhead: nanoseconds(500, "overhead"),
			Bandwidth: bandwidth.Draw(t, "bandwidth")}
		want.EagerLimit = rapid.SampledFrom([]int64{-1, 0, 256, 8 << 10, 1 << 20}).Draw(t, "eager limit")
		lines := 1
		if want.EagerLimit > 0 {
			lines++
		}
		if rapid.Bool().Draw(t, "larger") {
			want.Larger = []Larger{{64 << 10, nanoseconds(50_000, "latency"), bandwidth.Draw(t, "bandwidth")}}
			if lines++; want.EagerLimit != 0 && want.EagerLimit < 64<<10 {
				// The round trip of messages that wait is in the latency of larger ones: no link has these be
				// faster.
				want.Larger[0].Latency += 2 * (want.Latency + want.Overhead)
			}
		}
		want.Copied = rapid.Bool().Draw(t, "copied")
		m := Measured{Send: want.Overhead, Receive: want.Overhead, EagerLimit: want.EagerLimit,
			Bytes: 64 << 10, Alone: replay.Second}
		if m.Together = m.Alone + replay.Nanosecond; want.Copied {
			m.Together = m.Alone + 3*want.bytes(m.Bytes)
		}
		for _, size := range fitSizes {
			m.OneWay = append(m.OneWay, OneWay{size, want.OneWay(size)})
		}
		got := m.Fit()
		squares := 0.0
		for _, o := range m.OneWay {
			squares += math.Pow(float64(got.OneWay(o.Bytes))/float64(o.Time)-1, 2)
		}
		if limit := float64(lines+1)*lineCost + 1e-4; squares > limit {
			t.Errorf("%+v becomes %+v: squares of errors are %v, not at most %v", want, got, squares, limit)
		}
		if got.EagerLimit != want.EagerLimit || got.Copied != want.Copied {
			t.Errorf("%+v becomes %+v", want, got)
		}
	})
}

// TestFitAnything checks that whatever was measured makes a link.
func TestFitAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.Custom(func(t *rapid.T) replay.Time {
			return replay.Time(rapid.Int64Range(-1e6, 1e15).Draw(t, "time"))
		})
		m := Measured{
			Send: times.Draw(t, "send"), Receive: times.Draw(t, "receive"), Gap: times.Draw(t, "gap"),
			EagerLimit: rapid.SampledFrom([]int64{-1, 0, 1, 255, 256, 1 << 30}).Draw(t, "eager limit"),
		}
		for _, size := range fitSizes {
			if rapid.Bool().Draw(t, "measured") {
				m.OneWay = append(m.OneWay, OneWay{size, times.Draw(t, "one way")})
			}
		}
		link := m.Fit()
		if _, err := New(Parameters{Within: link}, 2, nil); err != nil {
			t.Errorf("%+v: %v", link, err)
		}
	})
}
