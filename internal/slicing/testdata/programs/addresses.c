/* Addresses that MPI takes as numbers and returns: each value that is stored by them is the count of a broadcast. */
#include <mpi.h>

static int rank, buffer[64];

static void show(int n) { MPI_Bcast(buffer, n & 63, MPI_INT, 0, MPI_COMM_SELF); }

int main(int argc, char **argv)
{
	int x[4] = {0}, y[4] = {0}, one = 1, numbers[2];
	MPI_Aint at, there[1];
	MPI_Datatype type, types[1];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Get_address(x, &at);
	*(int *)MPI_Aint_add(at, 2 * sizeof(int)) = rank + 5;
	show(x[2]);
	MPI_Get_address(y, &at);
	MPI_Type_create_hindexed(1, &one, &at, MPI_INT, &type);
	MPI_Type_get_contents(type, 2, 1, 1, numbers, there, types);
	*(int *)there[0] = rank + 23;
	show(y[0]);
	MPI_Type_free(&type);
	MPI_Finalize();
	return 0;
}
