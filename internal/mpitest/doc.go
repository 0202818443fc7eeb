// Package mpitest compiles MPI programs and runs them, for tests.
//
// [ForEach] runs a test with each installed implementation of MPI, an [MPI].
// [Programs] lists programs that use all parts of MPI; each checks what it
// computes and prints it. [MPI.RunProgram] runs one and returns what each of its
// ranks printed. [MPI.Counter] builds a library that counts the calls of a process:
// what a recording holds can be compared with what [ReadCounts] returns.
package mpitest
