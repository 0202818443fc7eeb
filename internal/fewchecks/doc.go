// Package fewchecks makes property tests shorter under the race detector, which is some
// thirty times as slow: tests import it for that alone. What depends on how goroutines take turns shows
// with few structures; all of them are checked without the detector. The flag -rapid.checks
// has its way.
package fewchecks
