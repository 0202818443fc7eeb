/*
 * Writes what it reads: the first rank tells the others how much of the standard input
 * it has read, and all say so in the end.
 * Argument: "wait" to go on until it is killed, or "busy" to make many calls more.
 */
#include "check.h"
#include <unistd.h>

/* The level, which is that of another tool. */
enum { MARK = 123456789 };

int main(int argc, char **argv)
{
	static char block[8192];
	long sum = 0, all;
	int n;
	OK(MPI_Init(&argc, &argv));
	OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
	OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
	OK(MPI_Pcontrol(MARK));
	do {
		n = rank == 0 ? (int)fread(block, 1, sizeof block, stdin) : -1;
		OK(MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD));
		if (rank == 0)
			fwrite(block, 1, n, stdout);
		sum += n;
	} while (n > 0);
	OK(MPI_Reduce(&sum, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD));
	fflush(stdout);
	if (argc > 1 && !strcmp(argv[1], "wait"))
		OK(MPI_Barrier(MPI_COMM_WORLD)); /* all have left MPI_Reduce */
	if (rank == 0)
		fprintf(stderr, "%d ranks know of %ld bytes\n", size, all);
	for (int i = 0; argc > 1 && !strcmp(argv[1], "wait") && i < 3000; i++) {
		OK(MPI_Barrier(MPI_COMM_WORLD));
		usleep(10000);
	}
	for (int i = 0; argc > 1 && !strcmp(argv[1], "busy") && i < 20000; i++)
		OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
	OK(MPI_Finalize());
	return 0;
}
