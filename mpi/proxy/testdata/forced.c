/* forced.c: calls whose outcome depends on what comes first, or on what was asked before. A proxy makes all of them with the same arguments. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { RANKS = 3 };

static int rank;
static int in[64], out[64];

/* tests asks about no request, alone and between two others. */
static void tests(void)
{
	MPI_Request request = MPI_REQUEST_NULL;
	MPI_Status status;
	int flag;
	for (int i = 0; i < 3; i++)
		MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
	if (rank == 0)
		MPI_Irecv(in, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
	if (rank == 1)
		MPI_Send(out, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
	MPI_Testall(1, &request, &flag, &status);
}

/* persistent completes one of some requests where others are not started. */
static void persistent(void)
{
	MPI_Request list[3];
	int index, flag, n, indices[3];
	MPI_Status statuses[3];
	for (int i = 0; i < 3; i++)
		MPI_Recv_init(&in[i], 1, MPI_INT, (rank + 1) % RANKS, i, MPI_COMM_WORLD, &list[i]);
	for (int i = 2; i >= 0; i--) {
		MPI_Start(&list[i]);
		MPI_Send(out, 1, MPI_INT, (rank + RANKS - 1) % RANKS, i, MPI_COMM_WORLD);
		MPI_Waitany(3, list, &index, statuses);
	}
	MPI_Start(&list[2]);
	MPI_Send(out, 1, MPI_INT, (rank + RANKS - 1) % RANKS, 2, MPI_COMM_WORLD);
	MPI_Waitsome(3, list, &n, indices, statuses);
	MPI_Testany(3, list, &index, &flag, statuses);
	MPI_Testsome(3, list, &n, indices, statuses);
	for (int i = 0; i < 3; i++)
		MPI_Request_free(&list[i]);
}

/* probed receives messages of other sizes from any source, the later ones of the last ranks first. */
static void probed(int known)
{
	MPI_Status status;
	int n;
	if (rank > 0) {
		if (rank == 1)
			MPI_Recv(in, 0, MPI_INT, 2, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Ssend(out, 10 * rank, MPI_INT, 0, 7, MPI_COMM_WORLD);
		if (rank == 2)
			MPI_Send(in, 0, MPI_INT, 1, 6, MPI_COMM_WORLD);
		return;
	}
	for (int i = 1; i < RANKS; i++) {
		MPI_Probe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &status);
		MPI_Get_count(&status, MPI_INT, &n);
		MPI_Recv(in, n, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, known ? &status : MPI_STATUS_IGNORE);
	}
}

/* counts asks two statuses for what they say, the earlier last. */
static void counts(void)
{
	MPI_Status first, second;
	MPI_Datatype two;
	int n;
	MPI_Type_contiguous(2, MPI_INT, &two);
	MPI_Type_commit(&two);
	MPI_Sendrecv(out, 7, MPI_INT, rank, 1, in, 8, MPI_INT, rank, 1, MPI_COMM_WORLD, &first);
	MPI_Sendrecv(out, 3, two, rank, 2, in, 8, MPI_INT, rank, 2, MPI_COMM_WORLD, &second);
	MPI_Get_count(&first, MPI_INT, &n);
	MPI_Get_count(&second, two, &n);
	MPI_Get_count(&first, two, &n);
	MPI_Get_elements(&first, two, &n);
	MPI_Get_elements(&second, two, &n);
	MPI_Get_count(&first, MPI_BYTE, &n);
	MPI_Type_free(&two);
}

/* differ has files and datatypes of which each rank has others. */
static void differ(void)
{
	MPI_Datatype type = rank == 0 ? MPI_INT : rank == 1 ? MPI_DOUBLE : MPI_BYTE;
	int one = 1, none = 0;
	char name[64];
	MPI_File file;
	MPI_Alltoallw(out, &one, &none, &type, in, &one, &none, &type, MPI_COMM_SELF);
	snprintf(name, sizeof name, "forced.%d", rank);
	MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
	MPI_File_write(file, out, 4, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_close(&file);
	snprintf(name, sizeof name, "comm of rank %d", rank);
	MPI_Comm_set_name(MPI_COMM_SELF, name);
}

/* blocks sends from memory of its own each time. */
static void blocks(void)
{
	enum { n = 40 };
	int *block[n];
	for (int i = 0; i < n; i++) {
		block[i] = calloc(50, sizeof *block[i]);
		MPI_Sendrecv(block[i], 25, MPI_INT, rank, 1, block[i] + 25, 25, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	for (int i = 0; i < n; i++)
		free(block[i]);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	tests();
	persistent();
	probed(1);
	probed(0);
	counts();
	differ();
	blocks();
	MPI_Finalize();
	return 0;
}
