/* Receives from any source, which a function that is called, or its caller, says. */
#include <mpi.h>

static int receive(int source, int tag)
{
	int n;
	MPI_Recv(&n, 1, MPI_INT, source, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return n;
}

static int either(int rank, int tag) { return receive(tag > 1 ? MPI_ANY_SOURCE : rank, tag); }

static int any(int tag) { return tag ? MPI_ANY_SOURCE : 0; }

int main(int argc, char **argv)
{
	int rank, size, n = 0, buffer[64];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 1; i < size; i++)
		if (rank == 0)
			n += either(i, i) + receive(any(i), i);
		else if (rank == i)
			for (int k = 0; k < 2; k++)
				MPI_Send(&rank, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
	MPI_Bcast(buffer, n & 63, MPI_INT, 0, MPI_COMM_SELF);
	MPI_Finalize();
	return 0;
}
