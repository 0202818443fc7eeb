// Package programs has the commands that make programs, or traces of runs that were not: proxy, replay, slice
// and extrapolate.
package programs
