/* Calls from two functions, all of them through functions that wrap MPI: with LIBRARY these, with PROGRAM the
   others, and else both. With ALONE there is one such function. */
#include <mpi.h>

int stub_MPI_Barrier(MPI_Comm comm);
int stub_MPI_Init(int *argc, char ***argv);
int stub_MPI_Finalize(void);

#ifndef PROGRAM
int stub_MPI_Barrier(MPI_Comm comm)
{
	return MPI_Barrier(comm);
}

#ifdef ALONE
#define stub_MPI_Init MPI_Init
#define stub_MPI_Finalize MPI_Finalize
#else
int stub_MPI_Init(int *argc, char ***argv)
{
	return MPI_Init(argc, argv);
}

int stub_MPI_Finalize(void)
{
	return MPI_Finalize();
}
#endif
#endif

#ifndef LIBRARY
__attribute__((noinline)) static void ones(int n)
{
	for (int i = 0; i < n; i++)
		stub_MPI_Barrier(MPI_COMM_SELF);
	__asm__ volatile("");
}

__attribute__((noinline)) static void others(int n)
{
	for (int i = 0; i < n; i++)
		stub_MPI_Barrier(MPI_COMM_SELF);
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	stub_MPI_Init(&argc, &argv);
	ones(3);
	others(2);
	stub_MPI_Finalize();
	return 0;
}
#endif
