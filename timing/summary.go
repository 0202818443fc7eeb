package timing

// A Summary is what is kept of values that calls have, such as durations in nanoseconds, by terminal of their
// signature. The zero Summary is empty.
type Summary struct {
	// Statistics are by terminal: those of terminals without values have a Count of 0, and beyond the end of
	// the slice there are none.
	Statistics []Statistics

	Histograms *Histograms // nil means that none were kept
}
