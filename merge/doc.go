// Package merge turns the parts that the ranks of a run hand in into a trace
// file, and reads it.
//
// A [Part] is what one rank recorded: a table of its call signatures and a
// grammar over their terminals. [Write] puts parts into a file, [Open] reads
// one, rank by rank. Every rank's table and grammar is a section of its own, and
// equal ones are stored once.
//
// # Sections
//
// A trace is a container of package format with these sections. Those of kind
// signatures and grammar have a rank as their key, the others the key 0. A
// reader skips kinds it does not know.
//
//	kind  content
//	1     run: what is known of the run as a whole
//	2     functions, as package cst encodes them
//	3     signatures of a rank, as package cst encodes them, without counts:
//	      the grammar has these
//	4     grammar of a rank, as package sequitur encodes it, over the terminals
//	      of the rank's signatures; not empty
//	5     interleaving: a grammar over ranks, the order in which the calls of
//	      all ranks stood in the source, with every rank as often as it has
//	      calls; absent if they stood rank by rank
//
// The run is encoded as
//
//	ranks   uvarint  number of ranks, at most 2³¹−1
//	source  string   uvarint length and bytes: where the calls come from
//	silent  uvarint  number of ranges of ranks without calls, which have no
//	                 sections; then for each, in ascending order:
//	gap     uvarint  ranks with calls before it and after the range before it;
//	                 0 only before the first
//	length  uvarint  ranks in it, 1 or more
//
// Every integer takes its shortest form.
//
// # Limits
//
// Opening a trace costs what its container, run, functions and interleaving
// cost; a rank is read when it is asked for, and costs memory in proportion to
// its sections. Nothing is allocated by the number of ranks. Sections are
// checked against each other: no terminal is without a signature, and the
// interleaving agrees with what every [Part] holds. A file that was salvaged may
// lack the sections of ranks, at most 2²⁰ of them, so that the ranks that a
// trace says made calls are few if the file is small. The options of the
// [format.Reader] bound what a section may expand to.
package merge
