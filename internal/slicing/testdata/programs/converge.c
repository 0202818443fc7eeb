/* A stencil in two dimensions, in rows of processes, until it changes little. */
#include <mpi.h>
#include <math.h>
#include <stdio.h>

enum { ROWS = 12, COLUMNS = 16 };

static double a[ROWS + 2][COLUMNS], b[ROWS + 2][COLUMNS];

int main(int argc, char **argv)
{
	int rank, size, step = 0;
	double all = 1;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int up = rank > 0 ? rank - 1 : MPI_PROC_NULL, down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
	if (rank == 0)
		for (int j = 0; j < COLUMNS; j++)
			a[0][j] = b[0][j] = 1;
	while (all > 2e-3) {
		MPI_Request r[4];
		MPI_Irecv(a[0], COLUMNS, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &r[0]);
		MPI_Irecv(a[ROWS + 1], COLUMNS, MPI_DOUBLE, down, 2, MPI_COMM_WORLD, &r[1]);
		MPI_Isend(a[1], COLUMNS, MPI_DOUBLE, up, 2, MPI_COMM_WORLD, &r[2]);
		MPI_Isend(a[ROWS], COLUMNS, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &r[3]);
		MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
		double change = 0;
		for (int i = 1; i <= ROWS; i++)
			for (int j = 1; j < COLUMNS - 1; j++) {
				b[i][j] = (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]) / 4;
				change = fmax(change, fabs(b[i][j] - a[i][j]));
			}
		for (int i = 1; i <= ROWS; i++)
			for (int j = 1; j < COLUMNS - 1; j++)
				a[i][j] = b[i][j];
		MPI_Allreduce(&change, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
		step++;
	}
	if (rank == 0)
		printf("%d steps\n", step);
	MPI_Finalize();
	return 0;
}
