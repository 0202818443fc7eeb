// Package extrapolate makes the trace of a run on another number of ranks: from traces of one
// program, with one input, on several numbers of ranks, that on M ranks.
//
//	result, err := extrapolate.Make(ctx, []*trace.Trace{on16, on64}, extrapolate.Options{Ranks: 1024, Check: query.Faults})
//	…
//	err = result.Write(file)
//
// What it makes is a trace as any other. Trip counts of loops and arguments of calls are the shortest
// expressions that hold for all ranks of all traces. What has none, or has others that are not much longer and
// differ on M ranks, is an [Error] that names the calls.
//
// # How it works
//
// Ranks have places in a grid of one, two or three dimensions, whose extents are those of
// MPI_Dims_create, or powers of two as the NAS benchmarks have them, with ranks in rows or in columns.
// Grids are tried from one dimension on. All ranks are of one class at first. If that fails, a class
// is split: rank 0 and the others; first, last and between in each dimension; these and
// even and odd; second and last but one, too.
//
// The loops of a rank are those of equal calls, or else of calls that differ in ranks, or in anything.
// All ranks of a class make the same calls but for trip counts. Each number among the arguments,
// and each trip count, is fitted by expressions in the number of ranks, the rank, its coordinates and their
// extents, and in the iteration of loops and the index in an array: sums, products, quotients, neighbours,
// where there are any, butterflies, and blocks of what is divided with a remainder. Numbers of several classes that
// are of one call site are fitted together.
//
// Expressions have a length in bits, about: of constants, operations, roundings, and how usual a number is. An
// extent of the grid that ranks are in is usual, one of another grid is not, and neither is the square root of
// what is no square. So is a program, by its calls, and the shortest in any grid is taken.
//
// Where no grid has a program, one has the calls of all ranks, each under a condition: those that the ranks make one
// after the other, or loops of the call sites that follow each other in a circle.
//
// Arguments that advance from call to call are runs of values. What is fitted is the beginning, the steps and
// the lengths of runs, as arguments of calls after the last one: in time that does not depend on the
// iterations of loops. Where no such program holds, each value is fitted.
//
// The more terms an expression has, the more points must confirm it. What is not much longer than the shortest
// must be equal on M ranks, also rivals that are not found otherwise, as n·n/2 or the power of two below n. Of
// what depends on the number of ranks alone, two traces show the number of ranks itself, neighbours, and sizes of
// groups that are extents; of more traces, an expression must be shorter than the values that it has. What few
// ranks show, as those at a corner or between, is taken from calls of other ranks at the same place of the program,
// if it holds. Programs in other grids that are not much longer must make the same, in full. No extent of the grid
// may be the same in all traces and another on M ranks, no logarithm that loops may count, and what the power of
// two below the number of ranks leaves. At last the messages are matched, and the run is replayed.
//
// # Limits
//
// That expressions hold on all ranks of the traces does not prove that they hold on others: a program may do
// something else from 100 ranks on. With [Options.Force], what is not determined follows the shortest rule that fits
// the most traces, or is taken from the nearest rank of the largest trace, and [Result.Forced] says so.
//
// Not found are trip counts that differ from iteration to iteration without an expression in the loops
// around, and extents that are arguments of the program unless one is the same on any number of ranks. Times
// are left out.
//
// # Source
//
// Extrapolating traces of communication is due to X. Wu and F. Mueller, "ScalaExtrap: Trace-Based
// Communication Extrapolation for SPMD Programs", PPoPP 2011. This package departs from it in refusing what
// is not determined.
package extrapolate
