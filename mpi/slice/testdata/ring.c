#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double results[64];
static int chunk = 4;

static double work(double *v, int n)
{
	double s = 0;
	for (int i = 0; i < n; i++)
		s += v[i] = v[i] * 0.5 + i;
	return s;
}

static int length(int rank, const int *sizes)
{
	if (rank < 0)
		exit(3);
	return sizes[rank % 2] * chunk;
}

int main(int argc, char **argv)
{
	int rank, size, sizes[2] = {1, 2}, total;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	double *v = malloc(64 * sizeof *v), s = 0;
	MPI_Allreduce(&rank, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	for (int step = 0; step < total; step++) {
		s += work(v, 64);
		MPI_Send(v, length(rank, sizes), MPI_DOUBLE, (rank + 1) % size, 1, MPI_COMM_WORLD);
		MPI_Recv(v, 64, MPI_DOUBLE, (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	results[rank] = s;
	printf("%f\n", results[rank]);
	free(v);
	MPI_Finalize();
	return 0;
}
