package timing_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/reprise-trace/reprise/timing"
)

func ExampleHistograms() {
	// Two ranks send (1) and receive (2), and rank 1 waits longer for what it
	// receives first.
	merged := new(timing.Histograms)
	for rank := range uint32(2) {
		b, err := timing.NewHistogramsBuilder(timing.HistogramOptions{PathSensitive: true})
		if err != nil {
			fmt.Println(err)
			return
		}
		b.Append(2, 900+500*int64(rank))
		for i := range int64(100) {
			b.Append(1, 40+i%3)
			b.Append(2, 200+i)
		}
		merged.Merge(b.Finish(rank))
	}
	for path, h := range merged.All() {
		s := h.Statistics()
		fmt.Printf("%d after %d: %d calls, from %d to %d in rank %d, half of them up to %d\n",
			path.Terminal, path.Previous, s.Count, s.Min, s.Max, s.MaxRank, h.Quantile(0.5))
	}
	h := merged.Reduce(8).Find(timing.Path{Previous: 1, Terminal: 2})
	source := rand.NewPCG(1, 2)
	fmt.Println("for replay:", h.Sample(source), h.Sample(source), h.Sample(source))
	// Output:
	// 1 after 2: 200 calls, from 40 to 42 in rank 0, half of them up to 41
	// 2 after -1: 2 calls, from 900 to 1400 in rank 1, half of them up to 1392
	// 2 after 1: 200 calls, from 200 to 299 in rank 0, half of them up to 250
	// for replay: 278 261 279
}
