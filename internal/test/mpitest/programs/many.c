/*
 * Hundreds of threads of each rank, each with messages of its own.
 */
#include "threads.h"

enum { ROUNDS = 20, THREADS = 256 };

static void *exchange(void *argument)
{
	int number = *(int *)argument;
	for (int round = 0; round < ROUNDS; round++) {
		int in = -1;
		MPI_Request requests[2];
		OK(MPI_Irecv(&in, 1, MPI_INT, 0, number, MPI_COMM_SELF, &requests[0]));
		OK(MPI_Isend(&round, 1, MPI_INT, 0, number, MPI_COMM_SELF, &requests[1]));
		OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
		CHECK(in == round);
	}
	return NULL;
}

int main(int argc, char **argv) { return run_threads(&argc, &argv, THREADS, exchange); }
