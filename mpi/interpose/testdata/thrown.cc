// Leaves calls of MPI by exceptions, and goes on in frames that lie deeper.
#include <mpi.h>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

static void fail(MPI_Comm *, int *, ...) { throw std::runtime_error("failed"); }

__attribute__((noinline)) static int deeper(int n)
{
	volatile char room[1000];
	int size;
	room[0] = 1;
	if (n > 0)
		return deeper(n - 1) + room[0];
	void *volatile memory = malloc(5555);
	free(memory);
	MPI_Comm_size(MPI_COMM_SELF, &size);
	return size;
}

int main(int argc, char **argv)
{
	MPI_Errhandler handler;
	int value = 0, caught = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_create_errhandler(fail, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
	for (int i = 0; i < 3; i++) {
		try {
			MPI_Send(&value, 1, MPI_INT, 9, 1, MPI_COMM_SELF);
		} catch (const std::runtime_error &) {
			caught++;
		}
		if (deeper(10) != 11)
			printf("wrong size\n");
	}
	if (caught != 3)
		printf("wrong: %d exceptions\n", caught);
	fflush(stdout);
	MPI_Finalize();
	return 0;
}
