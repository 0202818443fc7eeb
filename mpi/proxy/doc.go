// Package proxy writes a program in C that makes the calls of a trace of MPI, for the
// same number of ranks: a proxy of the program that was recorded.
//
// Loops of the trace are loops of the program, and rules of its grammar that are used in
// several places are functions. An argument is a constant, an expression of rank and size, a table over the
// ranks, or, if it varies from call to call, a sum of multiples of the indices of the loops that it is in, or a
// table that is read from one call to the next. What MPI functions mean follows from the parameters and roles in package
// [github.com/reprise-trace/reprise/mpi/spec], but for two things that go by names: which functions ask
// whether something has happened and by which of their outputs (polls.go, vain.go), and in what a call of
// each must find the same as in the trace.
//
// What cannot be made again is left out, with a comment, and listed in
// [Program.LeftOut]: calls that failed, attributes, processes
// that were spawned. docs/proxy.md says more.
//
// The source is safe to compile whoever wrote the trace: its texts are escaped, and tables
// and the source are bounded.
package proxy
