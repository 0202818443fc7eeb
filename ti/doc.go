// Package ti reads and writes the time-independent traces of SimGrid: text that
// says what every rank called, without times.
//
// A [Reader] yields the lines of a trace as calls, a [Writer] or a [RankWriter]
// turns calls into lines again. Every action is a [cst.Function] with named
// parameters, listed by [Functions]; [Lookup] finds the function that a trace of
// another kind names.
//
// Writing what was read from one file gives back the bytes of its text, whatever
// it holds. Of several files a [Writer] gives their texts one after the other, with
// a line feed where one is missing between them. The list that names the files,
// and comments in it, are not part of what is read.
//
// # Format
//
//	line = rank SP action *( SP field ) LF
//
// The rank is decimal, without leading zeros, and counts from 0. A field is a
// number, except for the file name of a location, which may hold blanks. Where
// the receive type of a collective operation is empty, the line ends in a blank.
// Floating-point numbers are written as C's %g, with six digits. An action of one
// name may have several forms: gather has a receive count or has none. A reader
// tries the forms of an action in the order of [Functions] and takes the first
// that writes the line as it stands.
//
// A line that a form would write but for blanks and the spelling of numbers, such as
// 1e9 for 1e+09, or without the blank at its end, is a call of the same name with one
// more parameter, text: what follows the action and a blank, and is written again.
//
// The number of ranks in a vector of counts is not written. It follows from the
// number of fields, which all vectors of a line share in equal parts.
//
// One file holds the lines of all ranks, in any order, or every rank has its own
// file and a list names these, one a line, in the order of the ranks. A listed
// path is relative to the list or, if nothing is there, to the working directory.
// All of these may be compressed with gzip or zstd, which is told from the
// contents.
//
// # Lines kept as they are
//
// A line that no form writes as it stands becomes a call of the function opaque,
// whose text is what follows the rank and one blank. A line that does not begin
// with a rank and a blank, such as a comment or an empty line, becomes a call of
// the function line, whose text is all of it. It belongs to the rank of the line
// before it or, at the beginning of a file, to the rank of the first line that
// has one; if there is none soon enough, to the number of the file among the
// inputs. Both texts end with the line feed of the line. Only the last line of a
// file can lack it, and is then always kept in this way.
//
// [Reader.Stats] counts both, and [Reader.FirstForeign] shows the first that is
// no comment. [Reader.Incomplete] lists the ranks whose lines do not begin with
// init or do not end with finalize: part of the trace is lost. [Reader.Restarts]
// lists those that have init twice.
//
// # Limits
//
// A [Reader] holds one block of its input, the distinct lines it has seen lately
// up to a fixed size, and some bytes for every rank that occurs. It refuses lines
// longer than [Options].MaxLine, ranks from [Options].MaxRanks on, and zstd
// windows of more than 128 MiB; a window is allocated at once. The arguments of a
// line take at most 20 times the memory of its text. Lines with control bytes or
// invalid UTF-8 are refused.
//
// # Source
//
// The format is that of F. Desprez, G. S. Markomanolis, M. Quinson and F. Suter,
// "Assessing the Performance of MPI Applications through Time-Independent Trace
// Replay", ICPP Workshops 2011, pp. 467–476, as SimGrid 3.32 writes it.
package ti
