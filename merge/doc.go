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
//	      of the rank's signatures
//	5     interleaving: a grammar over ranks, the order in which the calls of
//	      all ranks stood in the source; absent if they stood rank by rank
//
// The run is encoded as
//
//	ranks   uvarint  number of ranks
//	source  string   uvarint length and bytes: where the calls come from
//	silent  uvarint  number of ranges of ranks without calls, which have no
//	                 sections; then for each, in ascending order:
//	gap     uvarint  ranks with calls before it
//	length  uvarint  ranks in it, 1 or more
//
// Every integer takes its shortest form.
//
// # Limits
//
// Opening a trace costs what its container, run and functions cost; a rank is
// read when it is asked for, and costs memory in proportion to its sections.
// The number of ranks may be any: nothing is allocated by it.
package merge
