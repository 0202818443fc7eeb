// Package programs makes parallel programs for tests and benchmarks: what each
// rank of a run would have recorded, made on the fly, the same each time, and in
// time that does not grow with the number of ranks or of the rounds of a loop.
//
// A [Program] has as many processes as is asked for, which call functions of MPI
// with all of their arguments. Handles are symbolic: communicator 0 is the
// world, requests have the least number that is free, memory segments have one
// for each buffer. Statuses are ignored, as MPI_STATUSES_IGNORE does. Each
// message that a process receives is one that another sends, and each program
// runs to its end.
//
// The regular programs are [Stencil2D], [Stencil3D], [Gather] and
// [Multipartition]. The others draw something at random, from a seed, and
// [Program.Entropy] says how much: a trace cannot be smaller.
package programs
