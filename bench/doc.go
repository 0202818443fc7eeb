// Package bench measures the packages of this module and writes what it finds
// as Markdown. The command in bench/cmd/report prints all of it; its output is
// kept in RESULTS.md.
//
// Times come from ten rounds in which the measured things take turns, so that a
// slow moment of the machine does not fall on one of them. A report gives the
// median and the range. Sizes and counts are exact and the same everywhere.
package bench
