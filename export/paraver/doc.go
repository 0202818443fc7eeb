// Package paraver writes traces for Paraver, of the Barcelona Supercomputing Center: the
// records by [Write], to a file NAME.prv, what their numbers mean by [WriteConfig], to
// NAME.pcf, and the names of rows by [WriteRows], to NAME.row.
//
// # Records
//
// There is one application. A rank is a task of it, in the order of those chosen, of
// which the rows have the numbers in the run; threads likewise. Nodes and processors are
// not known, and 0. Times are nanoseconds since the run began. Records are in the order of
// their times:
//
//	1:0:1:TASK:THREAD:BEGIN:END:STATE
//	2:0:1:TASK:THREAD:TIME:TYPE:VALUE
//	3:0:1:TASK:THREAD:SEND:SEND:0:1:TASK:THREAD:RECEIVE:RECEIVED:BYTES:TAG
//
// A thread is in one state at a time: that of the call that it is in or, between calls,
// Running. A call is an event of the value of its function where it begins, and of 0, or
// the value of the call around it, where it ends. Types and values of functions of MPI are
// those of Extrae: type 50000001 is point-to-point, 50000002 collective, 50000004
// one-sided, 50000005 for files, and 50000003 others. Functions of MPI that Extrae does not
// have numbers for, have values from 1000 on. Actions of SimGrid are what they are called
// after. Other functions are of type 60000019.
//
// # Communications
//
// A message is a record if both its calls are chosen and [query.Numbering] has a number for
// it: from the call that sends it, to the call that receives it, received when the call that
// completes that ends. Records wait for those of earlier messages that are not received yet,
// up to 32 MiB of them; then these messages are left out. [Write] returns how many messages
// there are, and how many records.
//
// # Cost
//
// All ranks that are chosen are read at a time, each as often as it has threads. Held are
// some 13 kB for each thread, the signatures and grammars of the ranks, up to 2¹⁸ messages
// that are under way, and the records that wait. If there are more messages, those that are
// under way then are left out.
//
// # Source
//
// The format is that of "Paraver: Parallel Program Visualization and Analysis tool,
// Tracefile Description", CEPBA, 2001; the numbers of MPI are those of Extrae.
package paraver
