// Package running is a table of call signatures in which arguments that advance take no signature for each of
// their values: an address, a count, a tag or an offset in a file that is, from call to call, some bytes or
// one more than before. Their values are a stream of runs (package progression) beside the calls, which then
// fold as loops while they are recorded.
//
// Streams are of groups: of the calls of a function from one place of the program with addresses in the same
// memory. A slot of a group, a number among its arguments, is watched where a call has a signature that is
// new: it scores if its value is beyond those before by a difference that was seen not long ago, and loses
// twice as much if not. A slot that has scored 12 is taken to advance for the rest of the recording, so that
// there are no more signatures of its values. From the first change on, the values of a slot are written as
// runs, until there are too many to be of use: if the slot advances by then, so it did from the first call
// on, and its first signatures become one, too, unless Apart was called.
//
// What is decided follows from the calls alone.
package running
