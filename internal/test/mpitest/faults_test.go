package mpitest_test

// What has gone wrong in tracers of MPI programs, and which tests see that it does not
// here. Programs are those of this directory; TestPrograms of package collect runs all of
// them with and without a recorder, compares what they print, counts their calls, and
// compares traces with the raw records, argument by argument. It also checks that this
// comparison sees a change of any argument. Package interpose checks the raw records.
//
//	One handle for several requests that are complete: requests.c; collect
//	    TestSharedHandles; symbolic TestRequestsSharedHandle.
//	Programs compute something else (ierr, MPI_IN_PLACE, strides of statuses in
//	    Fortran, return codes): mpif.f, usempi.f90, usempif08.f90, errors.c, all programs
//	    with what they print; mpi TestFortran, TestCalls.
//	A handle that another thread gets before the call returns that gave it up; one
//	    sequence of all threads: threads.c; collect TestHandlesUsedAgain,
//	    TestLiveThreads; mpi TestThreads.
//	Colours and keys of splits: comms.c, ring.c. Offsets in files: io.c, ring.c. The order
//	    of requests in arrays: p2p.c, ring.c. Requests of Startall, statuses of
//	    persistent receives with wildcards and of Testall: p2p.c, requests.c, ring.c;
//	    collect TestStatuses. Displacements in buffers: memory.c, ring.c; symbolic
//	    TestMemoryModel. The values themselves: reprise TestRecordRings.
//	Requests of non-blocking collectives: icollectives.c, ring.c.
//	Ranks in communicators of some of the ranks, of targets of RMA, of roots: comms.c,
//	    rma.c, ring.c; reprise TestRecordRings; merge TestGroups; groups TestPrograms.
//	mpi_f08, functions with large counts, those that nobody wraps: usempif08.f90,
//	    large.c, mpi4.c; mpi TestTableCoversHeaders, TestTableAgainstForum. MPI_Init,
//	    MPI_Finalize and MPI_Wtime: the counts of all programs.
//	Reading beyond arrays, lengths that are fixed: topologies.c, collectives.c; mpi
//	    TestCalls.
//	Nothing is left of a program that dies: kill.c; reprise TestRecordDying,
//	    TestRecordSignals. Output that is overwritten or cannot be written: reprise
//	    TestRecordFailures.
//	Communication that the tracer adds: it calls PMPI alone, for questions to which the
//	    process knows the answer; see package interpose.
