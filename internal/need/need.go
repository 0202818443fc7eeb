// Package need says what a caller did wrong, in place of an error of the runtime that says nothing to them.
package need

import "fmt"

// That panics with a problem, which begins with the name of the package that was called and a colon, unless
// ok. It costs a comparison, also where the caller is inlined.
func That(ok bool, problem string) {
	if !ok {
		panic(problem)
	}
}

// Index panics unless i is one of n, which what names, beginning with the name of the package and a colon.
func Index(i, n int, what string) {
	if uint(i) >= uint(n) {
		outside(what, i, n)
	}
}

//go:noinline
func outside(what string, i, n int) { panic(fmt.Sprintf("%s %d of %d", what, i, n)) }
