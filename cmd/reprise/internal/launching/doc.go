// Package launching starts what other programs need beside the command: it finds the compiler of an MPI,
// hands built libraries and programs to other nodes, and says how a program did not start.
package launching
