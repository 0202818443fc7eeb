/* implicit.c: functions that are called and not declared, and results without a type, as programs of C89 have them. */
#include <mpi.h>

static data[8];

main(argc, argv)
	int argc;
	char **argv;
{
	MPI_Init(&argc, &argv);
	MPI_Bcast(data, size_of_data(2), MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}

size_of_data(n)
	int n;
{
	return 3 * n;
}
