/* What programs of several kernels share: each is run by its name. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static double out[1 << 16], in[1 << 16];
#define WORLD MPI_COMM_WORLD
#define NONE MPI_STATUS_IGNORE

/* block is the part of n things that one of several parts has: the first ones are larger. */
__attribute__((unused)) static int block(int n, int parts, int i) { return n / parts + (i < n % parts); }

struct kernel {
	const char *name;
	void (*run)(void);
};

static int runKernel(const struct kernel *kernels, int n, int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	for (int i = 0; i < n; i++)
		if (argc > 1 && strcmp(argv[1], kernels[i].name) == 0)
			kernels[i].run();
	MPI_Finalize();
	return 0;
}
