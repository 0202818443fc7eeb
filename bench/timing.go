package bench

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

// rounds is how often everything is measured.
const rounds = 10

// A task is something to measure.
type task struct {
	name   string
	events int    // done by one call of run
	run    func() // must take long enough for the clock, a millisecond or more
}

// A result is what was measured of a task, per event.
type result struct {
	task
	median, least, most float64 // nanoseconds
	allocs              float64
}

// measure runs every task once a round and returns the results in order.
func measure(tasks []task) []result {
	times := make([][]float64, len(tasks))
	allocs := make([]float64, len(tasks))
	var before, after runtime.MemStats
	for range rounds {
		for i, t := range tasks {
			runtime.GC()
			runtime.ReadMemStats(&before)
			begin := time.Now()
			t.run()
			took := time.Since(begin)
			runtime.ReadMemStats(&after)
			times[i] = append(times[i], float64(took.Nanoseconds())/float64(t.events))
			allocs[i] = float64(after.Mallocs-before.Mallocs) / float64(t.events)
		}
	}
	var results []result
	for i, t := range tasks {
		slices.Sort(times[i])
		median := (times[i][rounds/2-1] + times[i][rounds/2]) / 2
		results = append(results, result{t, median, times[i][0], times[i][rounds-1], allocs[i]})
	}
	return results
}

// cells returns the time of a result as columns of a table: median and range.
func (r result) cells() string {
	return fmt.Sprintf("%s | %s–%s", nanoseconds(r.median), nanoseconds(r.least), nanoseconds(r.most))
}

func nanoseconds(t float64) string {
	if t < 100 {
		return fmt.Sprintf("%.1f", t)
	}
	return fmt.Sprintf("%.0f", t)
}
