/*
 * Receives from any process whose statuses the program does not ask for. What a message is
 * tagged with tells who sends it.
 */
#include "check.h"

enum { MANY = 100, ROUNDS = 5, ORDERED = 1000 };

static int sender_of(int tag) { return 1 + tag % (size - 1); }

static void send_all(int tags)
{
	for (int tag = 0; tag < tags; tag++)
		if (sender_of(tag) == rank)
			OK(MPI_Send(&tag, 1, MPI_INT, 0, tag, MPI_COMM_WORLD));
	for (int tag = ORDERED; tag < ORDERED + 3; tag++)
		OK(MPI_Send(&tag, 1, MPI_INT, 0, tag, MPI_COMM_WORLD));
}

static MPI_Request from_any(int *in, int tag)
{
	MPI_Request request;
	OK(MPI_Irecv(in, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &request));
	return request;
}

/* One message by each of the functions that wait. Returns the tag after the last. */
static int receive_singly(int tag)
{
	int in, flag, index, n, indices[2];
	MPI_Request request, pair[2];
	MPI_Message message;
	OK(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	CHECK(in == tag++);
	request = from_any(&in, tag);
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	CHECK(in == tag++);
	request = from_any(&in, tag);
	do
		OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
	while (!flag);
	CHECK(in == tag++);
	pair[0] = MPI_REQUEST_NULL, pair[1] = from_any(&in, tag);
	OK(MPI_Waitany(2, pair, &index, MPI_STATUS_IGNORE));
	CHECK(index == 1 && in == tag++);
	pair[0] = from_any(&in, tag), pair[1] = MPI_REQUEST_NULL;
	OK(MPI_Waitsome(2, pair, &n, indices, MPI_STATUSES_IGNORE));
	CHECK(n == 1 && in == tag++);
	OK(MPI_Probe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	OK(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	CHECK(in == tag++);
	OK(MPI_Mprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
	OK(MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
	CHECK(in == tag++);
	OK(MPI_Sendrecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, &in, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	CHECK(in == tag++);
	OK(MPI_Recv_init(&in, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &request));
	OK(MPI_Start(&request));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	OK(MPI_Request_free(&request));
	CHECK(in == tag++);
	return tag;
}

/* Many at once, more than have room on the stack. */
static int receive_many(int tag)
{
	int in[MANY];
	MPI_Request requests[MANY];
	for (int i = 0; i < MANY; i++)
		requests[i] = from_any(&in[i], tag + i);
	OK(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
	for (int i = 0; i < MANY; i++)
		CHECK(in[i] == tag + i);
	return tag + MANY;
}

int main(int argc, char **argv)
{
	int tag = 0, in;
	begin(&argc, &argv);
	if (rank == 0) {
		for (int round = 0; round < ROUNDS; round++)
			tag = receive_many(receive_singly(tag));
		OK(MPI_Bcast(&tag, 1, MPI_INT, 0, MPI_COMM_WORLD));
		for (int from = 1; from < size; from++)
			for (int next = ORDERED; next < ORDERED + 3; next++) {
				OK(MPI_Recv(&in, 1, MPI_INT, from, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
				CHECK(in == next);
			}
	} else {
		send_all(ROUNDS * (MANY + 9));
		OK(MPI_Bcast(&tag, 1, MPI_INT, 0, MPI_COMM_WORLD));
	}
	return end();
}
