// Package misuse checks that what a caller does wrong ends with a panic that says so.
package misuse

import (
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Panic checks that each of the calls panics with a text that begins with the name of the package that
// was called, and a colon: not with an error of the runtime, and not at all is no better.
func Panic(t *testing.T, name string, calls map[string]func()) {
	t.Helper()
	for _, what := range slices.Sorted(maps.Keys(calls)) {
		t.Run(what, func(t *testing.T) {
			switch problem := panicOf(calls[what]).(type) {
			case nil:
				t.Error("no panic")
			case string:
				if !strings.HasPrefix(problem, name+": ") {
					t.Errorf("panic %q; want one that begins with %q", problem, name+": ")
				}
			case runtime.Error:
				t.Errorf("an error of the runtime: %v", problem)
			default:
				t.Errorf("panic with a %T: %v", problem, problem)
			}
		})
	}
}

// Harmless checks that each of the calls returns.
func Harmless(t *testing.T, calls map[string]func()) {
	t.Helper()
	for _, what := range slices.Sorted(maps.Keys(calls)) {
		t.Run(what, func(t *testing.T) {
			if problem := panicOf(calls[what]); problem != nil {
				t.Errorf("panic: %v", problem)
			}
		})
	}
}

func panicOf(call func()) (problem any) {
	defer func() { problem = recover() }()
	call()
	return nil
}

// Refused checks that each of the calls returns an error that begins with the name of the package and a
// colon.
func Refused(t *testing.T, name string, calls map[string]func() error) {
	t.Helper()
	for _, what := range slices.Sorted(maps.Keys(calls)) {
		t.Run(what, func(t *testing.T) {
			var err error
			if problem := panicOf(func() { err = calls[what]() }); problem != nil {
				t.Errorf("panic: %v", problem)
			} else if err == nil || !strings.HasPrefix(err.Error(), name+": ") {
				t.Errorf("error %v; want one that begins with %q", err, name+": ")
			}
		})
	}
}
