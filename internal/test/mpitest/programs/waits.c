/*
 * Four threads of each rank, each in a loop of Irecv, Isend, Wait, Wait: sends that are
 * complete when they have begun have one handle, whatever thread they are of.
 */
#include "threads.h"

enum { ROUNDS = 250, THREADS = 4 };

static void *exchange(void *argument)
{
	int number = *(int *)argument;
	int next = (rank + 1) % size, previous = (rank + size - 1) % size;
	for (int round = 0; round < ROUNDS; round++) {
		int in = -1, out = 1000 * rank + round;
		MPI_Request receive, send;
		OK(MPI_Irecv(&in, 1, MPI_INT, previous, number, MPI_COMM_WORLD, &receive));
		OK(MPI_Isend(&out, 1, MPI_INT, next, number, MPI_COMM_WORLD, &send));
		OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
		OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
		CHECK(in == 1000 * previous + round);
	}
	return NULL;
}

int main(int argc, char **argv) { return run_threads(&argc, &argv, THREADS, exchange); }
