/* Calls from two functions; says for each the address of the function and the calls. */
#include <mpi.h>
#include <stdio.h>

__attribute__((noinline)) static void ones(int n)
{
	for (int i = 0; i < n; i++)
		MPI_Barrier(MPI_COMM_SELF);
	__asm__ volatile("");
}

__attribute__((noinline)) static void others(int n)
{
	for (int i = 0; i < n; i++)
		MPI_Barrier(MPI_COMM_SELF);
	__asm__ volatile("" ::: "memory");
	printf("%d", n);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	ones(3);
	others(2);
	MPI_Finalize();
	return 0;
}
