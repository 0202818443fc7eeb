/* Prints of each rank how many nanoseconds are between the return from MPI_Init and that from the next call. */
#include "check.h"
#include <stdint.h>
#include <time.h>

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(int argc, char **argv)
{
	OK(MPI_Init(&argc, &argv));
	int64_t initialized = now();
	OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
	printf("rank %d %lld\n", rank, (long long)(now() - initialized));
	OK(MPI_Finalize());
	return 0;
}
