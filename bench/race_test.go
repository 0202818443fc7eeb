//go:build race

package bench

// underRace is whether the race detector watches, with which the tests of many
// ranks would take minutes.
const underRace = true
