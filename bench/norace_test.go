//go:build !race

package bench

// underRace is whether the race detector watches.
const underRace = false
