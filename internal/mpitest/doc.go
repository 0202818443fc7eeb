// Package mpitest compiles MPI programs and runs them, for tests.
//
// [ForEach] runs a test with each installed implementation of MPI, an [MPI].
// [Programs] lists programs that use all parts of MPI; each checks what it
// computes and prints it. [MPI.RunProgram] runs one and returns what each of its
// ranks printed.
package mpitest
