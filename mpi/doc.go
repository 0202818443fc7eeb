// Package mpi records the calls of MPI programs: a library to load into a program that
// writes down its calls, and a reader of what it wrote. Package
// [github.com/reprise-trace/reprise/mpi/spec] has the table of functions and constants.
//
// [BuildInterposer] builds the library, the interposer, from the table with the
// compiler command of an MPI. A process records itself if it is loaded with
// LD_PRELOAD and the environment variable REPRISE_SPOOL names a directory that
// exists, the spool. In a process without MPI, such as mpirun, it does nothing.
// A [Decoder] decodes what one thread has recorded, as far as it has got: each
// call when it has returned, and one that takes requests or frees an object also when
// it begins.
// [ListSpool] finds the files, and a [ThreadReader] reads those of a thread that
// has ended.
//
// # What is recorded
//
// Of each call: the function, the time before and after, the result, and every
// argument as C has it, inputs before the call and outputs after it. Handles and
// addresses are raw values; [spec.Constants] are recorded once, so that those with
// names can be told. Of a buffer it is the address. An output of a call that
// returned an error is not looked at, unless the error is MPI_ERR_IN_STATUS. The
// error code of a status is that of MPI only in this case: MPI leaves it as it
// was in all others.
//
// Of a function that makes a communicator, also its [Group]; and where the
// arguments do not say who is where in it, what does: see [spec.Param.Asked].
//
// Of memory: what malloc, calloc, realloc, free, posix_memalign, aligned_alloc,
// memalign, valloc and pvalloc return and free, outside of calls of MPI, and inside of
// them where the executable of the program itself calls these functions, in a callback:
// a callback in a library of the program cannot be told from MPI. Once MPI
// is initialized, also where the static data of each object is and the stack of
// the first thread; and of each further thread its stack, before all else that the
// thread records: see [Stack].
//
// The program does not notice. Arguments, results, statuses and error handlers
// pass through as they are. The interposer sends no message, makes no
// communicator and waits for no other process; the length of an argument that
// depends on a communicator or a datatype, and what else is asked of MPI, is asked
// for after the call that accepted it, with functions that are local. If a segment
// cannot be had, it says so once on the standard error, and tries again after every
// 1,024 records that are lost. A child that the program forks is recorded only if it initializes MPI
// itself. The interposer of another MPI passes all calls on and records nothing; it
// says so once in each process that has MPI.
//
// A program in Fortran is recorded as the calls of C that its MPI makes of those of
// Fortran, be it with mpif.h, the module mpi or mpi_f08. What MPICH and Open MPI do
// without such a call is not recorded: getting and setting attributes, and in Open
// MPI making keyvals and error handlers. Open MPI asks C for statuses that the
// program ignores. A program that is linked statically is not recorded, nor is
// memory from functions that are part of the program itself.
//
// # Switching
//
// MPI_Pcontrol(0) switches recording off for the process, MPI_Pcontrol(1) and (2)
// on. So does MPI_Info_set, on any info object, with the key "reprise_record" and
// the value "off" or "on". The environment variable REPRISE_RECORD=off has it off
// at the start. While it is off, memory is recorded all the same, and so are the
// calls that make or free an object other than a request, marked as hidden:
// otherwise the objects would be unknown when it is on again.
//
// # Spool
//
// A spool is a directory of segments, files of at least 256 KiB. Each thread
// appends to its own, in a mapping shared with the kernel, so that what a killed
// process has written stays. The file names are
//
//	<pid>-<loaded>.<thread>.<sequence>.spool
//
// where loaded is the time in the header, in hexadecimal. Threads are numbered
// from zero in the order of their first records; one that ends leaves its number
// and its segment to the next that begins. All numbers are little-endian.
//
//	header      128 bytes
//	records     until a word that is zero, or the end of the file
//
//	header      magic      8 bytes  "reprisp\x01", the last byte being the version;
//	                                written when the rest of the header is there
//	            table      uint64   fingerprint of the table of functions
//	            loaded     uint64   when the process loaded the interposer: ns since 1970
//	            pid        uint32
//	            thread     uint32
//	            sequence   uint32   number of the segment among those of the thread
//	            invariant  uint32   0 if ticks are ns on the monotonic clock
//	            ticks      2 uint64 at loaded and when the segment was begun
//	            monotonic  2 uint64 the monotonic clock at the same times, ns
//	            rank       int32    in MPI_COMM_WORLD, −1 until it is known
//	            state      uint32   0 open, 1 there is a next segment, 2 there could not be one yet
//	            lost       uint64   records of the thread that could not be written, up to now;
//	                                a call of which the begin is lost counts once
//	            cost       uint64   of recording a call, ps
//	            job        uint64   that the process belongs to, zero if it is unknown
//	            threads    uint32   of the process that have segments, or are to have one; zero
//	                                if the segment does not say
//	            reserved   20 bytes
//
//	record      size       uint32   bytes of the record, a multiple of 8
//	            number     uint16   of the function or the constant
//	            type       uint8
//	            flags      uint8    1 the call failed, 2 recording is off, 4 outermost call
//	            words      the rest, of 8 bytes each
//
// The first word of a record is stored last, with release semantics: whoever
// finds it that is not zero finds the record whole. Rank, state, lost and threads change
// while the process runs. A thread counts before the time of its first record: if threads
// is 1 after records were read, what others do is later.
//
//	type            words
//	1 begin         ticks, the values from before the call
//	2 end           ticks, result, the values from after the call
//	3 allocate      ticks after, address, size
//	4 release       ticks before, address
//	5 resize        ticks after, new address, size, ticks before, old address
//	6 clock         ticks, monotonic clock at the same time
//	7 constant      value
//	8 region        address, size, number
//
// An end belongs to the latest begin of its function that has none; begins after
// that one belong to calls that were never left. The flag 4 says that the thread
// was in no call of MPI before this one, at its begin and at its end. Where records
// are lost, there may be an end without its begin, or a begin without its end.
// Values stand in the order of the
// parameters, those from before the call for which [spec.Param.Before] holds, those
// from after it for which [spec.Param.After] holds; if the call failed, only those of
// direction inout. In front of these are two words, the rank and the size of the
// [Group], if the function has one and did not fail. A single value is a word. A value for which [spec.Param.Counted]
// holds begins with its length: −1 for a null pointer, −2 for a constant that
// stands for no array, −3 for an argument that does not count in this call and −4
// for MPI_WEIGHTS_EMPTY, and otherwise as many elements: words, or three words
// for a status (source, tag, error), or bytes of text, padded to words, or texts,
// each with its own length, −1 for a null pointer. An error code, as a result and
// in a status, has its class in the upper half of the word.
//
// A rank is that in MPI_COMM_WORLD, of which there is one for each job: each command
// of a launcher, and each call of MPI_Comm_spawn. Processes that one spool holds are of
// one MPI_COMM_WORLD if they have the same job and no two of them have the same rank;
// those with the same rank, and all whose job is unknown, are told apart by when they
// began.
//
// # Limits
//
// A spool may be cut off or damaged, or made by anyone. A [Decoder] checks the
// length of everything against the bytes that are there, and takes memory in
// proportion to those of the records of calls that have begun and not ended, at
// most 256. A segment of a table other than that of the package is refused.
//
// # Source
//
// Recording all functions of MPI with all arguments, in wrappers that are
// generated from a description of the interface, is C. Wang, Y. Guo, P. Balaji and
// M. Snir, "Near-Lossless MPI Tracing and Proxy Application Autogeneration", IEEE
// TPDS 34(1), 2023, §2.3.1. This package departs from it in taking mpi.h and the
// manual for the description, and in doing nothing but recording inside the
// program: symbolic names and compression need only the raw values in order.
package mpi
