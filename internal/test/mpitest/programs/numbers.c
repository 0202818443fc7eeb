/*
 * A loop with something of everything that commands count: messages of several sizes
 * around a ring, with blocking receives that wait for a late sender, and nonblocking
 * ones back, collective operations of the whole and of its halves, and writes to a file.
 * Arguments: the number of rounds, and the directory of the file.
 */
#include "check.h"
#include <time.h>

enum { LATE = 1, MOST = 1 << 10 };

static char out[MOST], in[MOST];
static int next, previous;

/* From each to the next: rank LATE begins to send late. */
static void around(int round)
{
	int bytes = 1 << round % 4 * 3;
	struct timespec work = {0, rank == LATE ? 3000000 : 200000};
	nanosleep(&work, NULL);
	if (rank % 2 == 0)
		OK(MPI_Recv(in, MOST, MPI_CHAR, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	OK(MPI_Send(out, bytes, MPI_CHAR, next, 1, MPI_COMM_WORLD));
	if (rank % 2 == 1)
		OK(MPI_Recv(in, MOST, MPI_CHAR, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* Back to the previous one. */
static void back(void)
{
	double give[5] = {0}, got[5];
	MPI_Request pair[2];
	OK(MPI_Irecv(got, 5, MPI_DOUBLE, next, 2, MPI_COMM_WORLD, &pair[0]));
	OK(MPI_Isend(give, 5, MPI_DOUBLE, previous, 2, MPI_COMM_WORLD, &pair[1]));
	OK(MPI_Waitall(2, pair, MPI_STATUSES_IGNORE));
}

/* In a half, each gives itself and the others something, and each of them another amount. */
static void within(MPI_Comm half)
{
	enum { MEMBERS = 8, ROOM = 32 };
	int here, n, give[MEMBERS], get[MEMBERS], at[MEMBERS];
	static int ints[MEMBERS * ROOM], more[MEMBERS * ROOM];
	OK(MPI_Comm_rank(half, &here));
	OK(MPI_Comm_size(half, &n));
	CHECK(n <= MEMBERS);
	for (int peer = 0; peer < n; peer++) {
		give[peer] = 1 + 2 * here + peer;
		get[peer] = 1 + 2 * peer + here;
		at[peer] = ROOM * peer;
	}
	OK(MPI_Alltoallv(ints, give, at, MPI_INT, more, get, at, MPI_INT, half));
}

int main(int argc, char **argv)
{
	char path[4096];
	double sum[3], one[3] = {1, 1, 1};
	MPI_Comm half;
	MPI_File file;
	begin(&argc, &argv);
	CHECK(argc == 3);
	snprintf(path, sizeof path, "%s/numbers", argv[2]);
	next = (rank + 1) % size;
	previous = (rank + size - 1) % size;
	OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
	OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
	for (int round = 0; round < atoi(argv[1]); round++) {
		around(round);
		back();
		OK(MPI_Allreduce(one, sum, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
		within(half);
		if (round % 5 == 4) {
			OK(MPI_Bcast(out, 100, MPI_CHAR, size - 1, MPI_COMM_WORLD));
			OK(MPI_File_write_at(file, 10 * (size * round + rank), out, 10, MPI_CHAR, MPI_STATUS_IGNORE));
		}
	}
	OK(MPI_File_close(&file));
	OK(MPI_Comm_free(&half));
	return end();
}
