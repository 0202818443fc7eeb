/*
 * Receives from anyone in the background and sends, in two rounds, so that requests are made and completed: the second
 * round uses the buffers of the first, or, with -DOTHERS, others, as another compiler may place them.
 */
#include <mpi.h>
#include <stddef.h>

enum { N = 3 };
static double first[N], second[N];

static void round_of(double *into)
{
	MPI_Request requests[N];
	static double from;
	for (int i = 0; i < N; i++)
		MPI_Irecv(&into[i], 1, MPI_DOUBLE, MPI_ANY_SOURCE, i, MPI_COMM_SELF, &requests[i]);
	for (int i = 0; i < N; i++)
		MPI_Send(&from, 1, MPI_DOUBLE, 0, i, MPI_COMM_SELF);
	MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	round_of(first);
#ifdef OTHERS
	round_of(second);
#else
	round_of(first);
#endif
#ifdef OTHERS
	MPI_Bcast(second, 0, MPI_INT, 0, MPI_COMM_SELF);
#else
	MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_SELF);
#endif
	MPI_Finalize();
	return 0;
}
