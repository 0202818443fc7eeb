// Package slice slices MPI programs: it keeps of a program what its calls of MPI depend on, so
// that the trace of a large run comes from a small machine.
//
// The program is text of LLVM 16, all of it in one module, with opaque pointers, in SSA form and
// with names for all values, as opt makes it by mem2reg and instnamer. Read reads it and keeps
// the text of each instruction. Cut finds what is needed, and Slice.AppendText writes the module
// with the rest left out.
//
//	module, err := slice.Read(text)
//	…
//	slice, err := slice.Cut(module)
//	…
//	text, err = slice.AppendText(nil)
//
// # What is kept
//
// Every call of MPI is kept, with all its arguments, addresses of buffers among them; every call
// that ends the program; and every call of a function that is neither in the module nor known.
// Of these, and of all that is kept, follows what else is: the values that an
// instruction uses, the branches that it is control dependent on, and for what is read from
// memory, whatever may have written there before. Memory is objects (variables, and
// what is allocated at one place) and ranges of bytes in them. Points-to sets are those of
// Andersen, the same for all calls of a function.
//
// # What is executed
//
// The sliced program calls MPI as the program does, but messages that nothing depends on need not be sent.
// Operations are of groups: messages between two processes are one, and each collective operation on data is
// one of its own. A group is executed if its result is needed: if what is kept reads data or a status that
// one of its calls writes, or if nobody but MPI knows what a call returns, as for receives from any source,
// tests and probes. Then all calls of the group are, so that each finds its partner, and if data is read,
// what all of them send is needed. The variable ExecutedSymbol of the sliced program names the groups; the
// others are for a library that the program is linked with, which stands in for MPI.
//
// # Limits
//
// Unknown functions are assumed to read and write all that they can reach, and to call all
// functions that they can reach. What cannot be analyzed is an error that says where: threads,
// signals, long jumps, exceptions (see ReadExceptions), atomic operations, inline assembly, one-sided
// communication, files of MPI, sessions and processes that are spawned. A program that reads or writes outside of an object, or
// that needs a loop without end, is no program for slicing: undefined behaviour stays undefined.
//
// # Source
//
// J. Zhai, T. Sheng, J. He, W. Chen and W. Zheng, "FACT: Fast Communication Trace Collection for
// Parallel Applications through Program Slicing", SC 2009. This package departs from it in
// working on LLVM's representation, for any language that is compiled to it; in keeping the
// addresses of buffers; in an analysis of pointers; in executing all operations that may match one that
// is executed; and in assuming that an exit is not taken only where Assume is told to, or where Errors says
// that it is an error which the calls of MPI do not need.
package slice
