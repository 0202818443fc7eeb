/*
 * Messages around a ring: all modes of sending, blocking, nonblocking and
 * persistent, and receives that leave the source or the tag open.
 */
#include "check.h"

static int next, previous;

static void blocking(void)
{
	int value = 10 * rank, got = -1, count;
	char buffer[1024 + MPI_BSEND_OVERHEAD], *detached;
	MPI_Status status = untouched();

	if (rank == 0) {
		OK(MPI_Send(&value, 1, MPI_INT, next, 1, MPI_COMM_WORLD));
		OK(MPI_Recv(&got, 1, MPI_INT, previous, 1, MPI_COMM_WORLD, &status));
	} else {
		OK(MPI_Recv(&got, 1, MPI_INT, previous, 1, MPI_COMM_WORLD, &status));
		OK(MPI_Ssend(&value, 1, MPI_INT, next, 1, MPI_COMM_WORLD));
	}
	CHECK(got == 10 * previous);
	say_status("recv", &status, MPI_INT);

	OK(MPI_Buffer_attach(buffer, sizeof buffer));
	OK(MPI_Bsend(&value, 1, MPI_INT, next, 2, MPI_COMM_WORLD));
	OK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	OK(MPI_Buffer_detach(&detached, &count));
	CHECK(got == 10 * previous && detached == buffer && count == sizeof buffer);

	/* A message that is shorter than what there is room for, and an empty one. */
	int many[8] = {0}, three[3] = {rank, rank + 1, rank + 2};
	OK(MPI_Send(three, 3, MPI_INT, next, 3, MPI_COMM_WORLD));
	OK(MPI_Recv(many, 8, MPI_INT, previous, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
	say_status("three", &status, MPI_INT);
	say_ints("values", many, 4);
	OK(MPI_Send(NULL, 0, MPI_INT, next, 4, MPI_COMM_WORLD));
	OK(MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &status));
	say_status("none", &status, MPI_INT);
}

static void nonblocking(void)
{
	enum { N = 4 };
	int out[N], in[N];
	char buffer[1024 + MPI_BSEND_OVERHEAD], *detached;
	int count;
	MPI_Request requests[2 * N];
	MPI_Status statuses[2 * N];
	for (int i = 0; i < N; i++) {
		out[i] = 100 * rank + i;
		in[i] = -1;
		OK(MPI_Irecv(&in[i], 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : previous, 10 + i, MPI_COMM_WORLD, &requests[i]));
	}
	for (int i = 0; i < 2 * N; i++)
		statuses[i] = untouched();
	OK(MPI_Barrier(MPI_COMM_WORLD)); /* the receives are posted: ready sends are right */
	OK(MPI_Buffer_attach(buffer, sizeof buffer));
	OK(MPI_Isend(&out[0], 1, MPI_INT, next, 10, MPI_COMM_WORLD, &requests[N]));
	OK(MPI_Ibsend(&out[1], 1, MPI_INT, next, 11, MPI_COMM_WORLD, &requests[N + 1]));
	OK(MPI_Issend(&out[2], 1, MPI_INT, next, 12, MPI_COMM_WORLD, &requests[N + 2]));
	OK(MPI_Irsend(&out[3], 1, MPI_INT, next, 13, MPI_COMM_WORLD, &requests[N + 3]));
	OK(MPI_Waitall(2 * N, requests, statuses));
	for (int i = 0; i < N; i++) {
		CHECK(in[i] == 100 * previous + i);
		CHECK(requests[i] == MPI_REQUEST_NULL && requests[N + i] == MPI_REQUEST_NULL);
		say_status("waitall", &statuses[i], MPI_INT);
	}
	OK(MPI_Buffer_detach(&detached, &count));

	OK(MPI_Irecv(&in[0], 1, MPI_INT, previous, 14, MPI_COMM_WORLD, &requests[0]));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Rsend(&out[1], 1, MPI_INT, next, 14, MPI_COMM_WORLD));
	OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
	CHECK(in[0] == 100 * previous + 1);
}

static void both_ways(void)
{
	int value = rank, got = -1;
	MPI_Status status = untouched();
	OK(MPI_Sendrecv(&value, 1, MPI_INT, next, 20, &got, 1, MPI_INT, previous, 20, MPI_COMM_WORLD, &status));
	CHECK(got == previous);
	say_status("sendrecv", &status, MPI_INT);
	OK(MPI_Sendrecv_replace(&value, 1, MPI_INT, next, 21, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
	CHECK(value == previous);
	say_status("replace", &status, MPI_INT);

	/* A chain instead of a ring: its ends have nobody. */
	int left = rank ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
	MPI_Request pair[2];
	MPI_Status two[2] = {untouched(), untouched()};
	got = -7;
	OK(MPI_Irecv(&got, 1, MPI_INT, left, 22, MPI_COMM_WORLD, &pair[0]));
	OK(MPI_Isend(&rank, 1, MPI_INT, right, 22, MPI_COMM_WORLD, &pair[1]));
	OK(MPI_Waitall(2, pair, two));
	CHECK(got == (rank ? left : -7));
	say_status("chain", &two[0], MPI_INT);
	OK(MPI_Recv(&got, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
	say_status("nobody", &status, MPI_INT);
	OK(MPI_Send(&got, 1, MPI_INT, MPI_PROC_NULL, 23, MPI_COMM_WORLD));
}

/* The receives leave the source open, and one the tag too: only the statuses of
   each round say who it was. */
static void persistent(void)
{
	enum { N = 3, ROUNDS = 5 };
	int out[N], in[N];
	MPI_Request requests[2 * N], one;
	MPI_Status statuses[2 * N], status = untouched();
	for (int i = 0; i < N; i++)
		OK(MPI_Recv_init(&in[i], 1, MPI_INT, i ? MPI_ANY_SOURCE : previous, i == 2 ? MPI_ANY_TAG : 30 + i, MPI_COMM_WORLD, &requests[i]));
	OK(MPI_Send_init(&out[0], 1, MPI_INT, next, 30, MPI_COMM_WORLD, &requests[N]));
	OK(MPI_Ssend_init(&out[1], 1, MPI_INT, next, 31, MPI_COMM_WORLD, &requests[N + 1]));
	OK(MPI_Send_init(&out[2], 1, MPI_INT, next, 32, MPI_COMM_WORLD, &requests[N + 2]));
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < N; i++)
			out[i] = 1000 * round + 10 * rank + i;
		for (int i = 0; i < 2 * N; i++)
			statuses[i] = untouched();
		/* Matched in the order of their starts. */
		OK(MPI_Startall(2 * N, requests));
		OK(MPI_Waitall(2 * N, requests, statuses));
		for (int i = 0; i < N; i++) {
			CHECK(in[i] == 1000 * round + 10 * previous + i);
			CHECK(requests[i] != MPI_REQUEST_NULL);
			say_status("round", &statuses[i], MPI_INT);
		}
	}
	/* One that is not active is complete and empty. */
	OK(MPI_Wait(&requests[0], &status));
	say_status("inactive", &status, MPI_INT);
	for (int i = 0; i < 2 * N; i++)
		OK(MPI_Request_free(&requests[i]));
	CHECK(requests[0] == MPI_REQUEST_NULL);

	char buffer[1024 + MPI_BSEND_OVERHEAD], *detached;
	int count;
	OK(MPI_Buffer_attach(buffer, sizeof buffer));
	OK(MPI_Bsend_init(&out[0], 1, MPI_INT, next, 33, MPI_COMM_WORLD, &one));
	OK(MPI_Start(&one));
	OK(MPI_Recv(&in[0], 1, MPI_INT, previous, 33, MPI_COMM_WORLD, &status));
	OK(MPI_Wait(&one, MPI_STATUS_IGNORE));
	OK(MPI_Request_free(&one));
	OK(MPI_Buffer_detach(&detached, &count));
	CHECK(in[0] == 1000 * (ROUNDS - 1) + 10 * previous);

	OK(MPI_Irecv(&in[0], 1, MPI_INT, previous, 34, MPI_COMM_WORLD, &requests[0]));
	OK(MPI_Rsend_init(&out[1], 1, MPI_INT, next, 34, MPI_COMM_WORLD, &one));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Start(&one));
	OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
	OK(MPI_Wait(&one, MPI_STATUS_IGNORE));
	OK(MPI_Request_free(&one));
	CHECK(in[0] == 1000 * (ROUNDS - 1) + 10 * previous + 1);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	next = (rank + 1) % size;
	previous = (rank + size - 1) % size;
	blocking();
	nonblocking();
	both_ways();
	persistent();
	return end();
}
