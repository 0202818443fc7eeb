package replay

// SetRound sets how many calls there are in a round, on average, and returns what sets it back.
func SetRound(calls uint64) func() {
	before := minRound
	minRound = calls
	return func() { minRound = before }
}
