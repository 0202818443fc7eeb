/* Calls a local function of MPI many times and prints the processor time of one call in ns. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(int argc, char **argv)
{
	int n = atoi(argv[1]), rank;
	MPI_Init(&argc, &argv);
	double start = now();
	for (int i = 0; i < n; i++)
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	printf("%.3f\n", (now() - start) / n);
	MPI_Finalize();
	return 0;
}
