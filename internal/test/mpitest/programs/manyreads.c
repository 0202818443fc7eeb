/*
 * Reads bytes of a file in the background, so many at a time as the second argument says, and completes all of them in one call. Says
 * how many bytes it was given.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int n = atoi(argv[2]);
	char *data = calloc(n, 1);
	MPI_Request *all = malloc(n * sizeof *all);
	MPI_File f;
	MPI_Init(&argc, &argv);
	MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
	MPI_File_write(f, data, 2, MPI_BYTE, MPI_STATUS_IGNORE);
	for (int i = 0; i < n; i++)
		MPI_File_iread_at(f, i % 3, &data[i], 1, MPI_BYTE, &all[i]); /* the third is beyond the end */
	MPI_Waitall(n, all, MPI_STATUSES_IGNORE);
	printf("%d\n", n - n / 3);
	MPI_File_close(&f);
	MPI_Finalize();
	return 0;
}
