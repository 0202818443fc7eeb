/*
 * Makes calls of MPI on one rank in a pattern, and prints the processor time of one
 * call in ns, what of it is the kernel's, and that of two reads of the clock: of the time-stamp
 * counter, where there is one. Arguments: the pattern and the number of calls.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static double kernel(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return u.ru_stime.tv_sec * 1e9 + u.ru_stime.tv_usec * 1e3;
}

static double two_reads(void)
{
	enum { reads = 1000000 };
	volatile long last;
	double start = now();
	for (int i = 0; i < 2 * reads; i++) {
#ifdef __x86_64__
		last = (long)__builtin_ia32_rdtsc();
#else
		struct timespec t;
		clock_gettime(CLOCK_MONOTONIC, &t);
		last = t.tv_nsec;
#endif
	}
	(void)last;
	return (now() - start) / reads;
}

/* Returns a number that looks drawn at random. */
static unsigned drawn(void)
{
	static unsigned state = 12345;
	return (state = state * 1103515245u + 12345u) >> 16;
}

/* Sends itself a message of a tag in so many calls. */
static int exchange(int tag, int nonblocking)
{
	int in = 0, out = tag;
	MPI_Request receive, send;
	MPI_Irecv(&in, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, &receive);
	if (nonblocking)
		MPI_Isend(&out, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, &send);
	else
		MPI_Send(&out, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
	MPI_Wait(&receive, MPI_STATUS_IGNORE);
	if (nonblocking)
		MPI_Wait(&send, MPI_STATUS_IGNORE);
	return nonblocking ? 4 : 3;
}

int main(int argc, char **argv)
{
	const char *pattern = argv[1];
	int n = atoi(argv[2]), rank;
	MPI_Init(&argc, &argv);
	double reads = two_reads(), system = kernel(), start = now();
	for (int i = 0, round = 0; i < n; round++) {
		if (!strcmp(pattern, "rank")) {
			MPI_Comm_rank(MPI_COMM_WORLD, &rank);
			i++;
		} else if (!strcmp(pattern, "one")) {
			i += exchange(1, 1);
		} else if (!strcmp(pattern, "random")) {
			i += exchange(drawn() % 16, 0);
		} else if (!strcmp(pattern, "new")) {
			i += exchange(round, 0);
		} else {
			i += exchange(round % 1000, 0);
		}
	}
	double end = now();
	printf("%.3f %.3f %.3f\n", (end - start) / n, (kernel() - system) / n, reads);
	MPI_Finalize();
	return 0;
}
