package extrapolate

// Balanced returns the factors of a number of ranks.
var Balanced = balanced

// Numbered takes a string apart, and returns what its numbers make again.
func Numbered(s string) (string, bool) {
	t, ok := numbersIn(s)
	if !ok {
		return "", false
	}
	return t.String(), true
}
