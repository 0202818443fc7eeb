/*
 * Reads a file to its end and beyond, in all ways that block, and says how many bytes it was given: those
 * that a recording of it must have, whether the program asks for the status or not.
 */
#include <mpi.h>
#include <stdio.h>

static long long given;

static void add(MPI_Status *status, long long asked)
{
	int n;
	MPI_Get_count(status, MPI_BYTE, &n);
	given += n < asked ? n : asked;
}

int main(int argc, char **argv)
{
	int buffer[64] = {0};
	MPI_File f;
	MPI_Status status;
	MPI_Init(&argc, &argv);
	MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
	MPI_File_write(f, buffer, 200, MPI_BYTE, MPI_STATUS_IGNORE);
	for (int offset = 0; offset < 400; offset += 80) { /* 80, 80, 40, 0, 0 */
		MPI_File_read_at(f, offset, buffer, 20, MPI_INT, &status);
		add(&status, 80);
		MPI_File_read_at(f, offset, buffer, 20, MPI_INT, MPI_STATUS_IGNORE);
		add(&status, 80);
	}
	MPI_File_seek(f, 150, MPI_SEEK_SET);
	MPI_File_read(f, buffer, 25, MPI_SHORT, &status);
	add(&status, 50);
	MPI_File_read(f, buffer, 25, MPI_SHORT, &status);
	add(&status, 50);
	MPI_File_seek_shared(f, 190, MPI_SEEK_SET);
	MPI_File_read_shared(f, buffer, 30, MPI_BYTE, &status);
	add(&status, 30);
	MPI_File_close(&f);
	MPI_Finalize();
	printf("%lld\n", given);
	return 0;
}
