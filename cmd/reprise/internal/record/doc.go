// Package record has the commands that record MPI programs: record, and collect, which makes a trace of raw
// records while they are written.
package record
