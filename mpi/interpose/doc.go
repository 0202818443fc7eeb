// Package interpose records the calls of MPI programs: a library to load into a program that
// writes down its calls. Package
// [github.com/reprise-trace/reprise/mpi/spec] has the table of functions and constants.
//
// [Build] builds the library, the interposer, from the table with the
// compiler command of an MPI. A process records itself if it is loaded with
// LD_PRELOAD and the environment variable REPRISE_SPOOL names a directory that
// exists, the spool. In a process without MPI, such as mpirun, it does nothing.
// Package [github.com/reprise-trace/reprise/mpi/collect] makes parts of a trace of what it wrote.
//
// # What is recorded
//
// Of each call: the function, the time before and after, the result, and every
// argument as C has it, inputs before the call and outputs after it. Handles and
// addresses are raw values; [spec.Constants] are recorded once, so that those with
// names can be told. Of a buffer it is the address. An output of a call that
// returned an error is not looked at, unless the error is MPI_ERR_IN_STATUS, or MPI_ERR_TRUNCATE of
// a receive or of what completes one: its status says where the message came from. The
// error code of a status is that of MPI only with MPI_ERR_IN_STATUS: MPI leaves it as it
// was in all other cases.
//
// Of a function that makes a communicator, also the rank of the process in it and its size; and where the
// arguments do not say who is where in it, what does: see [spec.Param.Asked].
//
// Of memory: what malloc, calloc, realloc, free, posix_memalign, aligned_alloc,
// memalign, valloc and pvalloc return and free, outside of calls of MPI, and inside of
// them where the executable of the program itself calls these functions, in a callback:
// a callback in a library of the program cannot be told from MPI. Once MPI
// is initialized, also where the static data of each object is and the stack of
// the first thread; and of each further thread its stack, before all else that the
// thread records.
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
// calls that later ones depend on, marked as hidden: see [spec.Function.RecordedOff]. Calls that
// complete requests are, too, from the first on that makes a communicator of which a request says when
// it is there: see [spec.Function.Pends].
//
// # Regions
//
// With a name, MPI_Pcontrol begins and ends regions, as IPM has it: MPI_Pcontrol(1, "name") begins one, and -1 or 0 with
// that name ends it, and does not switch recording. In Fortran, the name may end with char(0), and it takes mpif.h: the
// modules declare the level alone. As the argument is not there in many programs, it is a name only if it points to 1
// to 255 printable characters and, at -1 and 0, if a region of that name has begun. The annotations of Caliper
// (cali_begin_region, cali_end_region) and NVTX (nvtxRangePushA, nvtxRangePushEx, nvtxRangePop) are recorded as such
// calls, and handed on to the library that has them: those of the headers of NVTX 3 if NVTX_INJECTION64_PATH is the
// interposer.
//
// # Source
//
// Recording all functions of MPI with all arguments, in wrappers that are
// generated from a description of the interface, is C. Wang, Y. Guo, P. Balaji and
// M. Snir, "Near-Lossless MPI Tracing and Proxy Application Autogeneration", IEEE
// TPDS 34(1), 2023, §2.3.1. This package departs from it in taking mpi.h and the
// manual for the description, and in doing nothing but recording inside the
// program: symbolic names and compression need only the raw values in order.
package interpose
