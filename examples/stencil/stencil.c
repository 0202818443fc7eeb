/*
 * Heat on a ring of cells that are spread over the processes: each exchanges the
 * cells at its rim with both neighbours in every step, and all add up the heat in
 * every tenth. A program to record; see README.md.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#if __GNUC__ > 10 && !__clang__ /* takes MPI_STATUSES_IGNORE of MPICH for an array without room */
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

enum { CELLS = 1000 };

int main(int argc, char **argv)
{
	int rank, size, steps = argc > 1 ? atoi(argv[1]) : 10000;
	double *cell = calloc(CELLS + 2, sizeof *cell), *next = calloc(CELLS + 2, sizeof *next), heat = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int left = (rank + size - 1) % size, right = (rank + 1) % size;
	cell[1] = rank + 1;
	for (int step = 1; step <= steps; step++) {
		MPI_Request requests[4];
		MPI_Irecv(&cell[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
		MPI_Irecv(&cell[CELLS + 1], 1, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &requests[1]);
		MPI_Isend(&cell[CELLS], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[2]);
		MPI_Isend(&cell[1], 1, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &requests[3]);
		MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
		for (int i = 1; i <= CELLS; i++)
			next[i] = cell[i] + 0.25 * (cell[i - 1] - 2 * cell[i] + cell[i + 1]);
		double *swap = cell;
		cell = next;
		next = swap;
		if (step % 10 == 0) {
			double sum = 0;
			for (int i = 1; i <= CELLS; i++)
				sum += cell[i];
			MPI_Allreduce(&sum, &heat, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		}
	}
	if (rank == 0)
		printf("heat %.3f after %d steps\n", heat, steps);
	MPI_Finalize();
	free(cell);
	free(next);
	return 0;
}
