/*
 * Hundreds of threads of each rank, each with messages of its own.
 */
#include "check.h"
#include <pthread.h>

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

int main(int argc, char **argv)
{
	static pthread_t threads[THREADS];
	static int numbers[THREADS];
	int provided;
	OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
	OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
	OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
	CHECK(provided == MPI_THREAD_MULTIPLE);
	for (int i = 0; i < THREADS; i++) {
		numbers[i] = i;
		CHECK(!pthread_create(&threads[i], NULL, exchange, &numbers[i]));
	}
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_join(threads[i], NULL));
	return end();
}
