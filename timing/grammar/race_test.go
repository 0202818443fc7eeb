//go:build race

package grammar

// raceEnabled reports whether the race detector runs.
const raceEnabled = true
