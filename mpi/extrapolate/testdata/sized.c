/* A stencil with one executable for each number of ranks, as the NAS benchmarks have: -DNP=. */
#include <mpi.h>
#include <stdlib.h>
#ifndef NP
#define NP 1
#endif
static double field[3600 / NP + 2][100], sums[NP + 10];
static double before[100 * NP];
static double ghost[2][100];
static const int parts = NP;

int main(int argc, char **argv)
{
	int rank, size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	before[0] = parts;
	int up = rank > 0 ? rank - 1 : MPI_PROC_NULL, down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
	for (int i = 0; i < 10; i++) {
		MPI_Sendrecv(field[1], 100, MPI_DOUBLE, up, 0, ghost[0], 100, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Sendrecv(field[3600 / NP], 100, MPI_DOUBLE, down, 1, ghost[1], 100, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Allreduce(sums, sums + NP, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
