package query

// Mean returns how long the calls of a signature of the trace take on average, and the
// gaps before them, in nanoseconds, whatever the call before is and on all ranks that
// make the call: by statistics or histograms, and 0 where there are none.
func (t *Times) Mean(signature int) (duration, gap float64) {
	return t.meanOf(durations, signature), t.meanOf(gaps, signature)
}
