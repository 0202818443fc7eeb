/*
 * What programs with threads have in common.
 */
#include "check.h"
#include <pthread.h>

enum { MOST = 256 };

/* Initialises MPI, runs a function in so many threads, with a pointer to the number of each, and
   ends MPI. */
static inline int run_threads(int *argc, char ***argv, int count, void *(*run)(void *))
{
	static pthread_t threads[MOST];
	static int numbers[MOST];
	int provided;
	OK(MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided));
	OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
	OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
	CHECK(provided == MPI_THREAD_MULTIPLE && count <= MOST);
	for (int i = 0; i < count; i++) {
		numbers[i] = i;
		CHECK(!pthread_create(&threads[i], NULL, run, &numbers[i]));
	}
	for (int i = 0; i < count; i++)
		CHECK(!pthread_join(threads[i], NULL));
	return end();
}
