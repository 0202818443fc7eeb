// Package drawn draws calls with values and times, for properties of what encodes them.
package drawn

import (
	"math"
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"

	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn
)

// A Call is one of a terminal, with a value.
type Call struct {
	Terminal uint32
	Value    int64
}

// Values draws numbers of all magnitudes and signs, zero included.
func Values() *rapid.Generator[int64] {
	return rapid.Custom(func(t *rapid.T) int64 {
		u := rapid.Uint64().Draw(t, "u")
		return int64(u>>rapid.IntRange(0, 63).Draw(t, "shift")) * (1 - 2*rapid.Int64Range(0, 1).Draw(t, "sign"))
	})
}

// Calls draws calls in phrases, each repeated with values that are near each other, as those of a loop are,
// and some with any of values. Terminals are low, or any; some are about 1<<16, up to which codecs keep
// terminals in tables.
func Calls(values *rapid.Generator[int64]) *rapid.Generator[[]Call] {
	terminal := rapid.OneOf(rapid.Uint32Range(0, 7), rapid.Uint32Range(1<<16-1, 1<<16+1), rapid.Uint32())
	phrase := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Call {
		return Call{terminal.Draw(t, "terminal"), values.Draw(t, "value")}
	}), 1, 6)
	return rapid.Custom(func(t *rapid.T) []Call {
		var calls []Call
		for range rapid.IntRange(0, 5).Draw(t, "phrases") {
			body := phrase.Draw(t, "phrase")
			r := random(t)
			for range rapid.IntRange(1, 60).Draw(t, "repeats") {
				for _, c := range body {
					c.Value += int64(float64(c.Value) * r.Float64() / 8)
					calls = append(calls, c)
				}
			}
		}
		return calls
	})
}

// A TimedCall is a call with its times in nanoseconds.
type TimedCall struct {
	Terminal        uint32
	Start, Duration int64
}

// TimedCalls draws calls of terminals below 9 with times as they are, or any.
func TimedCalls() *rapid.Generator[[]TimedCall] {
	return rapid.Custom(func(t *rapid.T) []TimedCall {
		var all []TimedCall
		if rapid.Bool().Draw(t, "any") {
			for _, c := range Calls(Values()).Draw(t, "calls") {
				all = append(all, TimedCall{c.Terminal % 9, c.Value, Values().Draw(t, "duration")})
			}
			return all
		}
		r := random(t)
		now := rapid.Int64Range(-1<<50, 1<<50).Draw(t, "begin")
		heavy := rapid.Float64Range(1, 30).Draw(t, "heavy")
		for range rapid.IntRange(0, 500).Draw(t, "length") {
			now += int64(math.Exp(r.Float64()*heavy) - 2)
			d := int64(math.Exp(r.Float64() * 20))
			all = append(all, TimedCall{r.Uint32N(5), now, d})
			now += d
		}
		return all
	})
}

// Deltas returns the gaps of a block of calls after one that ended at last, or its intervals: from the start
// of the last call of the same terminal in the block, or from that of the block.
func Deltas(block []TimedCall, last int64, intervals bool) (deltas []int64) {
	starts := make(map[uint32]int64)
	for _, call := range block {
		before, ok := starts[call.Terminal]
		if !ok {
			before = block[0].Start
		}
		if !intervals {
			before = last
		}
		deltas = append(deltas, call.Start-before)
		last = call.Start + call.Duration
		starts[call.Terminal] = call.Start
	}
	return deltas
}

// random returns a source of numbers that are not to be made smaller one by one.
func random(t *rapid.T) *rand.Rand { return rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)) }

// NearMiss draws the body of an iteration that may be a near miss of one: cut, or with another symbol in it, in
// place of one, or without one.
func NearMiss[S any](t *rapid.T, body []S, symbol *rapid.Generator[S]) []S {
	if len(body) == 0 {
		return nil
	}
	at := rapid.SampledFrom([]int{0, len(body) / 2, len(body) - 1}).Draw(t, "at")
	switch rapid.IntRange(0, 9).Draw(t, "miss") {
	case 0:
		return body[:at]
	case 1:
		return slices.Insert(slices.Clone(body), at, symbol.Draw(t, "extra"))
	case 2:
		return slices.Replace(slices.Clone(body), at, at+1, symbol.Draw(t, "other"))
	case 3:
		return slices.Delete(slices.Clone(body), at, at+1)
	}
	return body
}
