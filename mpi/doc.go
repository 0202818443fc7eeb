// Package mpi records MPI programs.
package mpi
