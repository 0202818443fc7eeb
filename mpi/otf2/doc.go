// Package otf2 reads and writes archives of OTF2, the format of Score-P, EZTrace and TAU, which Vampir, Scalasca
// and Cube's tools read: record by record ([Open], [NewWriter]), or whole. [Import] makes a trace of an archive,
// [Export] the archive of such a trace, [Compare] compares both, and [SemanticsOf] says what the calls of the trace
// mean to other ranks. docs/otf2.md has what becomes of what.
//
// OTF2's library is in C. A small program, the bridge, is compiled with it by the compiler of the machine when it
// is first needed, and kept: records go through a pipe between it and a [Reader] or a [Writer]. So nothing here
// is linked with C, and a damaged archive stops the bridge alone. Without the library or a compiler, errors wrap
// [ErrNoLibrary] and say how to get them.
//
// A [Record] has the fields of OTF2's functions, whose documentation says what they mean. Its [Kind] has their
// names and types. The tables of kinds and constants are those of OTF2 3.0.
//
// # Bridge
//
// On the pipe, numbers are varints. First is 0 for the end, 1 and a location for the events that follow, or twice
// the position of a kind in records.txt, counted from 2, plus one if the record is an event with attributes. Then
// come, of an event, the time since the event before at the same location (zig-zag; before the first, zero) and
// the attributes: their number, and ID, type and value of each. Then come the fields that are numbers, the texts
// (length and bytes), and the list: its number of rows, and the rows.
//
// What a trace keeps for Export is in docs/format.md.
//
// # Not kept
//
// Thumbnails and snapshots, which are made of events, are not read. References are those of the whole archive, and
// times are corrected by clock offsets, where archives have local ones. The number that tells archives apart
// is new in each that is written.
package otf2
