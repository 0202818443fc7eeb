// Package tier says how much a run of the tests checks. There are three tiers, chosen by build tags:
//
//	go test work                        pure Go, small, no other programs: meant to take two minutes
//	go test -tags e2e work              also what runs other programs, see package e2e, most of it with one MPI
//	go test -tags e2e,nightly work      also what takes long, with each MPI, and a hundred times as many drawn cases
//
// A test package that draws with rapid imports tier, if for nothing else, so that its properties are
// checked as often as the tier says. The flag -rapid.checks takes precedence.
package tier

import (
	"flag"
	"strconv"
	"testing"

	_ "pgregory.net/rapid" // for its flag
)

// Checks is how many cases a property is checked on. The race detector makes tests some thirty times as
// slow; what depends on how goroutines take turns shows with few cases.
const Checks = (6-2*race)*(1-nightly) + 1000*nightly

// Nightly tells that tests may take long: see [Long].
const Nightly = nightly == 1

// Race tells that tests run under the race detector.
const Race = race == 1

func init() {
	if testing.Testing() {
		_ = flag.Set("rapid.checks", strconv.Itoa(Checks))
	}
}

// Long skips a test that takes too long for a change to wait for, unless the run is a nightly one.
func Long(t testing.TB, why string) {
	t.Helper()
	if !Nightly {
		t.Skip("nightly: " + why)
	}
}

// SlowRace skips a test in short runs with the race detector, which slows it down so much that a change
// should not wait for it, and whose goroutines other tests start as well.
func SlowRace(t testing.TB) {
	t.Helper()
	if Race && testing.Short() {
		t.Skip("not short with the race detector; its goroutines are those of other tests, too")
	}
}

// Number returns how many there are of what a test repeats: few, and many in a nightly run.
func Number(few, many int) int {
	if Nightly {
		return many
	}
	return few
}

// Some returns each nth of a list, from the first on, and the whole list in a nightly run.
func Some[T any](all []T, n int) []T {
	if Nightly {
		return all
	}
	var some []T
	for i := 0; i < len(all); i += n {
		some = append(some, all[i])
	}
	return some
}
