/*
 * Work on the rows of a triangular matrix: row n has n cells. In every step, each process works on its rows,
 * exchanges a value with both neighbours, and all add up a residual. The processes have equally many rows but
 * not equal work, which -DMENDED changes. A program to record; see docs/slow.md. It sleeps instead of
 * computing, so that the times are alike on a machine with fewer processors.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
#if __GNUC__ > 10 && !__clang__ /* takes MPI_STATUSES_IGNORE of MPICH for an array without room */
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

enum { ROWS = 64, STEPS = 20, MICROSECONDS = 50 };

static void work(int row)
{
	usleep(MICROSECONDS * (row + 1));
}

int main(int argc, char **argv)
{
	int rank, size;
	double value = 1, from[2], residual = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int left = (rank + size - 1) % size, right = (rank + 1) % size;
	for (int step = 0; step < STEPS; step++) {
#ifdef MENDED
		for (int row = rank; row < ROWS; row += size)
#else
		for (int row = rank * ROWS / size; row < (rank + 1) * ROWS / size; row++)
#endif
			work(row);
		MPI_Request requests[4];
		MPI_Irecv(&from[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
		MPI_Irecv(&from[1], 1, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &requests[1]);
		MPI_Isend(&value, 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[2]);
		MPI_Isend(&value, 1, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &requests[3]);
		MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
		MPI_Allreduce(&value, &residual, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	if (rank == 0)
		printf("residual %.1f after %d steps\n", residual, STEPS);
	MPI_Finalize();
	return 0;
}
