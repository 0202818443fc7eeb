/*
 * A stencil on a ring of ranks: each round it exchanges the ends of its part with
 * both neighbours and takes means, and every tenth it reduces.
 */
#include "check.h"

enum { CELLS = 32 };

static double stencil_round(double *cells, double *next, int round, MPI_Comm comm)
{
	int left = (rank + size - 1) % size, right = (rank + 1) % size;
	MPI_Request requests[4];
	double sum = 0, total = 0;
	OK(MPI_Irecv(&cells[0], 1, MPI_DOUBLE, left, 1, comm, &requests[0]));
	OK(MPI_Irecv(&cells[CELLS + 1], 1, MPI_DOUBLE, right, 2, comm, &requests[1]));
	OK(MPI_Isend(&cells[CELLS], 1, MPI_DOUBLE, right, 1, comm, &requests[2]));
	OK(MPI_Isend(&cells[1], 1, MPI_DOUBLE, left, 2, comm, &requests[3]));
	OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
	for (int i = 1; i <= CELLS; i++)
		next[i] = (cells[i - 1] + 2 * cells[i] + cells[i + 1]) / 4;
	for (int i = 1; i <= CELLS; i++) {
		cells[i] = next[i];
		sum += cells[i];
	}
	if (round % 10 == 9)
		OK(MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, comm));
	return total;
}
