// Package header reads the declarations of MPI functions from an mpi.h that
// went through the C preprocessor.
//
// It is no C parser: it knows the declarations that an mpi.h is made of, names
// and types and arrays, and fails on a parameter it cannot take apart.
package header
