/*
 * What depends on the rank does so in the same way everywhere: rings of messages and
 * of accesses to memory in communicators of some of the ranks, in another order.
 * And values that are easily lost: large offsets in files, colours and keys, the order
 * of requests, statuses of wildcards.
 * Argument: the name of a file.
 */
#include "check.h"

enum { N = 4, COLOUR = 77, OFFSET = 2000000011 };

static void rings(void)
{
	MPI_Comm part;
	MPI_Win win;
	static int memory[8];
	int here, n, got = -1, all[16];
	OK(MPI_Comm_split(MPI_COMM_WORLD, COLOUR + (rank % 3 == 1), -5 * rank % 7, &part));
	OK(MPI_Comm_rank(part, &here));
	OK(MPI_Comm_size(part, &n));
	OK(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, part, &win));
	OK(MPI_Win_fence(0, win));
	for (int far = 1; far < 8; far++) {
		int to = (here + far) % n, from = (here + n - far % n) % n;
		OK(MPI_Sendrecv(&rank, 1, MPI_INT, to, far, &got, 1, MPI_INT, from, far, part, MPI_STATUS_IGNORE));
		OK(MPI_Put(&rank, 1, MPI_INT, to, far, 1, MPI_INT, win));
		OK(MPI_Win_fence(0, win));
		CHECK(memory[far] == got);
	}
	OK(MPI_Win_free(&win));
	OK(MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, part));
	/* Each is a root, with itself. */
	OK(MPI_Bcast(&got, 1, MPI_INT, 0, MPI_COMM_SELF));
	OK(MPI_Comm_free(&part));
	say("%d of %d: got %d", here, n, got);
}

/* Requests in no order, persistent ones, and of collectives. */
static void requests(void)
{
	int in[N], out[N], flag = 0, sum = -1, next = (rank + 1) % size, previous = (rank + size - 1) % size;
	MPI_Request list[N], send, collective[2];
	MPI_Status statuses[N];
	static const int order[N] = {2, 0, 3, 1};
	for (int i = 0; i < N; i++)
		OK(MPI_Irecv(&in[i], 1, MPI_INT, previous, 10 + i, MPI_COMM_WORLD, &list[order[i]]));
	for (int i = 0; i < N; i++) {
		out[i] = 100 * rank + i;
		OK(MPI_Send(&out[i], 1, MPI_INT, next, 10 + i, MPI_COMM_WORLD));
	}
	OK(MPI_Waitall(N, list, statuses));
	for (int i = 0; i < 2; i++)
		OK(MPI_Recv_init(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &list[i]));
	for (int round = 0; round < 2; round++) {
		OK(MPI_Start(&list[0]));
		OK(MPI_Send_init(&out[round], 1, MPI_INT, next, 20 + round, MPI_COMM_WORLD, &send));
		OK(MPI_Start(&send));
		OK(MPI_Wait(&list[0], &statuses[0]));
		CHECK(statuses[0].MPI_TAG == 20 + round && statuses[0].MPI_SOURCE == previous);
		OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
		OK(MPI_Request_free(&send));
		OK(MPI_Barrier(MPI_COMM_WORLD));
	}
	/* What a process sends to itself is there at once. */
	OK(MPI_Startall(2, list));
	OK(MPI_Send(&out[2], 1, MPI_INT, rank, 30, MPI_COMM_WORLD));
	OK(MPI_Send(&out[3], 1, MPI_INT, rank, 31, MPI_COMM_WORLD));
	while (!flag)
		OK(MPI_Testall(2, list, &flag, statuses));
	CHECK(statuses[0].MPI_TAG == 30 && statuses[1].MPI_TAG == 31);
	OK(MPI_Request_free(&list[0]));
	OK(MPI_Request_free(&list[1]));
	OK(MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &collective[1]));
	OK(MPI_Ibarrier(MPI_COMM_WORLD, &collective[0]));
	OK(MPI_Waitall(2, collective, MPI_STATUSES_IGNORE));
	say("sum %d", sum);
}

/* Buffers within allocated memory, and a file that is not written in full. */
static void places(const char *name)
{
	double *cells = malloc(100 * sizeof *cells);
	MPI_File file;
	cells[0] = cells[60] = rank;
	OK(MPI_Bcast(cells + 60, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD));
	OK(MPI_File_open(MPI_COMM_WORLD, (char *)name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
	OK(MPI_File_write_at(file, OFFSET + 8 * (MPI_Offset)rank, cells, 1, MPI_DOUBLE, MPI_STATUS_IGNORE));
	OK(MPI_File_close(&file));
	free(cells);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	rings();
	requests();
	places(argc > 1 ? argv[1] : "ring.tmp");
	return end();
}
