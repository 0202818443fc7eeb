/*
 * Receives from any source, of which no status tells, and other messages to the same
 * process. Recorded as wildcard.exact.rpz by
 *
 *	mpicc.openmpi -o wildcard wildcard.c
 *	reprise record --times exact -o wildcard.exact.rpz -- mpirun.openmpi -n 3 ./wildcard
 */
#include <mpi.h>

int main(int argc, char **argv)
{
	int rank, size, i, from, a = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (i = 0; i < 10; i++) {
		if (rank == 0) {
			for (from = 1; from < size; from++)
				MPI_Recv(&a, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			for (from = 1; from < size; from++)
				MPI_Recv(&a, 1, MPI_INT, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else {
			MPI_Send(&a, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
			MPI_Send(&a, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
		}
	}
	MPI_Finalize();
	return 0;
}
