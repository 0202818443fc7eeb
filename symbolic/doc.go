// Package symbolic gives small numbers that repeat to what a program names by
// addresses and handles, which do not.
package symbolic
