/*
 * Nonblocking collectives, completed in another order than that in which they were
 * begun, and collectives among the neighbours of a topology.
 */
#include "check.h"

enum { MOST = 16, N = 10 };

static void one_after_another(void)
{
	int told = rank == 1 ? 77 : 0, sum = -1, all[MOST], out[MOST], in[MOST], counts[MOST], displs[MOST], least = -1, prefix = -1;
	int gathered[MOST] = {0}, mine = 3 * rank, scattered = -1, block = -1, exclusive = -3;
	MPI_Request requests[N];
	MPI_Status statuses[N];
	for (int i = 0; i < size; i++) {
		out[i] = 10 * rank + i;
		counts[i] = 1;
		displs[i] = size - 1 - i;
	}
	for (int i = 0; i < N; i++)
		statuses[i] = untouched();
	OK(MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]));
	OK(MPI_Ibcast(&told, 1, MPI_INT, 1, MPI_COMM_WORLD, &requests[1]));
	OK(MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[2]));
	OK(MPI_Iallgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &requests[3]));
	OK(MPI_Ialltoallv(out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, MPI_COMM_WORLD, &requests[4]));
	OK(MPI_Ireduce(&mine, &least, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD, &requests[5]));
	OK(MPI_Iscan(&rank, &prefix, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[6]));
	OK(MPI_Igatherv(&mine, 1, MPI_INT, gathered, counts, displs, MPI_INT, size - 1, MPI_COMM_WORLD, &requests[7]));
	OK(MPI_Ireduce_scatter_block(out, &block, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[8]));
	OK(MPI_Iexscan(&rank, &exclusive, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[9]));
	/* The last first, some together, the rest backwards. */
	OK(MPI_Wait(&requests[9], &statuses[9]));
	OK(MPI_Waitall(4, requests + 3, statuses + 3));
	for (int i = N - 1; i >= 0; i--)
		OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
	for (int i = 0; i < N; i++)
		CHECK(requests[i] == MPI_REQUEST_NULL);
	CHECK(told == 77 && sum == size * (size - 1) / 2 && prefix == rank * (rank + 1) / 2);
	CHECK(rank != 0 || least == 0);
	CHECK(exclusive == (rank ? rank * (rank - 1) / 2 : -3));
	CHECK(block == 10 * size * (size - 1) / 2 + size * rank);
	for (int i = 0; i < size; i++) {
		CHECK(all[i] == i && in[displs[i]] == 10 * i + displs[rank]);
		CHECK(rank < size - 1 || gathered[displs[i]] == 3 * i);
	}
	OK(MPI_Iscatter(rank == 0 ? all : NULL, 1, MPI_INT, &scattered, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[0]));
	OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
	CHECK(scattered == rank);
	say_ints("alltoallv", in, size);
}

/* Requests of collectives and of messages in one array, in an order of its own in
   each round. */
static void mixed(void)
{
	int next = (rank + 1) % size, previous = (rank + size - 1) % size;
	for (int round = 0; round < 4; round++) {
		int sum = 0, got = -1, told = rank == 0 ? round : -1;
		MPI_Request requests[5] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
		OK(MPI_Iallreduce(&round, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[round % 4]));
		OK(MPI_Irecv(&got, 1, MPI_INT, previous, round, MPI_COMM_WORLD, &requests[(round + 1) % 4]));
		OK(MPI_Ibcast(&told, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[(round + 2) % 4]));
		OK(MPI_Isend(&rank, 1, MPI_INT, next, round, MPI_COMM_WORLD, &requests[(round + 3) % 4]));
		OK(MPI_Waitall(5, requests, MPI_STATUSES_IGNORE));
		CHECK(sum == round * size && got == previous && told == round);
	}
}

static void neighbours(void)
{
	int dims[1] = {size}, periods[1] = {1}, from[2] = {-1, -1}, out[2] = {10 * rank, 10 * rank + 1}, in[2];
	int counts[2] = {1, 1}, displs[2] = {1, 0}, left, right;
	MPI_Aint bytes[2] = {0, sizeof(int)};
	MPI_Datatype types[2] = {MPI_INT, MPI_INT};
	MPI_Comm ring;
	MPI_Request request;
	OK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring));
	OK(MPI_Cart_shift(ring, 0, 1, &left, &right));
	OK(MPI_Neighbor_allgather(&rank, 1, MPI_INT, from, 1, MPI_INT, ring));
	CHECK(from[0] == left && from[1] == right);
	say_ints("neighbours", from, 2);
	OK(MPI_Neighbor_allgatherv(&rank, 1, MPI_INT, from, counts, displs, MPI_INT, ring));
	CHECK(from[1] == left && from[0] == right);
	/* With two ranks both neighbours are the same: which message is whose is left to
	   the implementation. */
	OK(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring));
	say_ints("alltoall", in, 2);
	OK(MPI_Neighbor_alltoallw(out, counts, bytes, types, in, counts, bytes, types, ring));
	say_ints("alltoallw", in, 2);
	CHECK(in[0] / 10 == left && in[1] / 10 == right);
	OK(MPI_Ineighbor_alltoallv(out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, ring, &request));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	CHECK(in[1] / 10 == left && in[0] / 10 == right);
	OK(MPI_Ineighbor_allgather(&rank, 1, MPI_INT, from, 1, MPI_INT, ring, &request));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	CHECK(from[0] == left && from[1] == right);
	OK(MPI_Comm_free(&ring));
}

#if MPI_VERSION >= 4
static void persistent(void)
{
	int sum, told = -1;
	MPI_Request requests[2];
	OK(MPI_Allreduce_init(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
	OK(MPI_Bcast_init(&told, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
	for (int round = 0; round < 3; round++) {
		sum = -1;
		told = rank == 0 ? round : -1;
		OK(MPI_Startall(2, requests));
		OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
		CHECK(sum == size * (size - 1) / 2 && told == round);
	}
	OK(MPI_Request_free(&requests[0]));
	OK(MPI_Request_free(&requests[1]));
}
#endif

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	CHECK(size <= MOST && size > 1);
	one_after_another();
	mixed();
	neighbours();
#if MPI_VERSION >= 4
	persistent();
#endif
	return end();
}
