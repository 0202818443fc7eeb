/*
 * Processes that do the same, called from different places.
 */
#include "check.h"

__attribute__((noinline)) static void ring(void)
{
	int got = 0;
	OK(MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 1, &got, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	CHECK(got == (rank + size - 1) % size);
}

__attribute__((noinline)) static void even(void)
{
	for (int i = 0; i < 50; i++)
		ring();
}

__attribute__((noinline)) static void odd(void)
{
	for (int i = 0; i < 50; i++)
		ring();
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	if (rank % 2)
		odd();
	else
		even();
	return end();
}
