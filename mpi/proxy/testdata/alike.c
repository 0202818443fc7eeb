/* Ranks with equal control flow that use other strings, and one that asks for messages until they come. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static int rank, buffer[4];

/* names has a file, a key and a name of each rank. */
static void names(void)
{
	char name[64];
	MPI_File file;
	MPI_Info info;
	snprintf(name, sizeof name, "alike.%d", rank);
	MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
	MPI_File_close(&file);
	snprintf(name, sizeof name, "\"%d\" ?\?/", rank);
	MPI_Comm_set_name(MPI_COMM_SELF, name);
	MPI_Info_create(&info);
	MPI_Info_set(info, name, name);
	MPI_Info_free(&info);
}

/* matched sends messages that the other rank asks for, often just before they come. */
static void matched(void)
{
	for (int i = 0; i < 500; i++) {
		MPI_Message message;
		int there = 0;
		if (rank == 0) {
			usleep(i % 7 * 20);
			MPI_Send(buffer, 4, MPI_INT, 1, 1, MPI_COMM_WORLD);
			continue;
		}
		while (!there)
			MPI_Improbe(0, 1, MPI_COMM_WORLD, &there, &message, MPI_STATUS_IGNORE);
		MPI_Mrecv(buffer, 4, MPI_INT, &message, MPI_STATUS_IGNORE);
	}
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (argc > 1)
		matched();
	else
		names();
	MPI_Finalize();
	return 0;
}
