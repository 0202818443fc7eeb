package extrapolate_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/trace"
)

// TestFlow draws loops over distances that double, in which ranks make some of the calls of an iteration: what is made
// is what the program calls.
func TestFlow(t *testing.T) {
	if raceDetector {
		t.Skip("long with the race detector, and in one goroutine")
	}
	programs, made := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		type partner struct {
			up, always bool
			count      int
		}
		body := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) partner {
			return partner{rapid.Bool().Draw(t, "up"), rapid.IntRange(0, 3).Draw(t, "all") == 0,
				rapid.IntRange(1, 9).Draw(t, "count")}
		}), 1, 4).Draw(t, "body")
		outer := rapid.IntRange(1, 3).Draw(t, "outer")
		program := func(p *process) {
			defer p.at(0)
			for range outer {
				for by := 1; by < p.n; by *= 2 {
					for i, c := range body {
						p.at(int64(i + 1)).requests = int64(i)
						switch peer := p.rank + by; {
						case c.always:
							p.allreduce(c.count)
						case c.up && peer < p.n:
							p.isend(c.count, peer, i)
						case !c.up && p.rank >= by:
							p.irecv(c.count, p.rank-by, i)
						}
					}
				}
				p.at(9).allreduce(1)
			}
		}
		numbers := rapid.SampledFrom([][]int{{4, 8, 16, 32}, {6, 8, 10, 12}, {4, 6, 7, 10, 12, 16}}).Draw(t, "numbers")
		last := len(numbers) - 1
		var traces []*trace.Trace
		for _, n := range numbers[:last] {
			traces = append(traces, run(t, n, program))
		}
		got, r, err := extrapolated(t, traces, numbers[last])
		programs++
		if err != nil {
			t.Log(err)
			return
		}
		made++
		if diff := difference(t, got, run(t, numbers[last], program)); diff != "" {
			t.Fatal(diff, r.Fits)
		}
	})
	t.Logf("%d of %d are made", made, programs)
}
