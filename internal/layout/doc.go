// Package layout has one typed description of the signatures of a trace over its
// ranks, and the sections of a file that hold it: what package merge writes, package trace
// reads, prints and hands to generators of programs.
//
// A [Template] is a function and, for each of its arguments, how the values that
// ranks have there are written: an integer among them, a slot, as a [Value], which is
// a constant, an expression of the rank, or the number of a column; an array as the
// number of a matrix. A [Table] has those of a trace as they are in its file.
package layout
