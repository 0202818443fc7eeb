/* Calls a local function of MPI many times, from a function as deep on the stack as wanted, and
   prints the processor time of one call in ns. */
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

__attribute__((noinline)) static void call(int n, int depth)
{
	int rank;
	if (depth > 0) {
		call(n, depth - 1);
		__asm__ volatile("");
		return;
	}
	double start = now();
	for (int i = 0; i < n; i++)
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	printf("%.3f\n", (now() - start) / n);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	call(atoi(argv[1]), argc > 2 ? atoi(argv[2]) : 0);
	MPI_Finalize();
	return 0;
}
