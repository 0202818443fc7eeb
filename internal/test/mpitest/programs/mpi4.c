/*
 * What came with MPI 4.0: persistent collectives, partitioned messages, sessions.
 */
#include "check.h"

#if MPI_VERSION >= 4
enum { MOST = 16 };

static void complete(const char *what, MPI_Request *request)
{
	for (int round = 0; round < 2; round++) {
		OK(MPI_Start(request));
		OK(MPI_Wait(request, MPI_STATUS_IGNORE));
	}
	OK(MPI_Request_free(request));
	say("%s", what);
}

static void persistent(void)
{
	int all[MOST], out[MOST], in[MOST], counts[MOST], displs[MOST], got = -1, sum = rank;
	MPI_Datatype types[MOST];
	MPI_Request request;
	MPI_Info info = MPI_INFO_NULL;
	MPI_Comm world = MPI_COMM_WORLD;
	for (int i = 0; i < size; i++) {
		out[i] = 10 * rank + i;
		counts[i] = 1;
		displs[i] = i;
		types[i] = MPI_INT;
	}
	OK(MPI_Barrier_init(world, info, &request));
	complete("barrier", &request);
	OK(MPI_Allgather_init(&rank, 1, MPI_INT, all, 1, MPI_INT, world, info, &request));
	complete("allgather", &request);
	CHECK(all[size - 1] == size - 1);
	OK(MPI_Allgatherv_init(&rank, 1, MPI_INT, all, counts, displs, MPI_INT, world, info, &request));
	complete("allgatherv", &request);
	OK(MPI_Alltoall_init(out, 1, MPI_INT, in, 1, MPI_INT, world, info, &request));
	complete("alltoall", &request);
	CHECK(in[size - 1] == 10 * (size - 1) + rank);
	OK(MPI_Alltoallv_init(out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, world, info, &request));
	complete("alltoallv", &request);
	for (int i = 0; i < size; i++)
		displs[i] = i * sizeof(int);
	OK(MPI_Alltoallw_init(out, counts, displs, types, in, counts, displs, types, world, info, &request));
	complete("alltoallw", &request);
	for (int i = 0; i < size; i++)
		displs[i] = i;
	OK(MPI_Gather_init(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, world, info, &request));
	complete("gather", &request);
	OK(MPI_Gatherv_init(&rank, 1, MPI_INT, all, counts, displs, MPI_INT, 0, world, info, &request));
	complete("gatherv", &request);
	OK(MPI_Scatter_init(all, 1, MPI_INT, &got, 1, MPI_INT, 0, world, info, &request));
	complete("scatter", &request);
	CHECK(got == rank);
	OK(MPI_Scatterv_init(all, counts, displs, MPI_INT, &got, 1, MPI_INT, 0, world, info, &request));
	complete("scatterv", &request);
	OK(MPI_Reduce_init(&rank, &got, 1, MPI_INT, MPI_SUM, 0, world, info, &request));
	complete("reduce", &request);
	CHECK(rank || got == size * (size - 1) / 2);
	OK(MPI_Reduce_scatter_init(out, &got, counts, MPI_INT, MPI_SUM, world, info, &request));
	complete("reduce_scatter", &request);
	OK(MPI_Reduce_scatter_block_init(out, &got, 1, MPI_INT, MPI_SUM, world, info, &request));
	complete("reduce_scatter_block", &request);
	CHECK(got == 10 * size * (size - 1) / 2 + rank * size);
	OK(MPI_Scan_init(&sum, &got, 1, MPI_INT, MPI_MAX, world, info, &request));
	complete("scan", &request);
	OK(MPI_Exscan_init(&sum, &got, 1, MPI_INT, MPI_MAX, world, info, &request));
	complete("exscan", &request);
}

static void neighbours(void)
{
	int dims[1] = {size}, periods[1] = {1}, in[2], out[2] = {rank, rank}, counts[2] = {1, 1}, displs[2] = {0, 1}, left, right;
	MPI_Aint bytes[2] = {0, sizeof(int)};
	MPI_Datatype types[2] = {MPI_INT, MPI_INT};
	MPI_Comm ring;
	MPI_Request request;
	MPI_Info info = MPI_INFO_NULL;
	OK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring));
	OK(MPI_Cart_shift(ring, 0, 1, &left, &right));
	OK(MPI_Neighbor_allgather_init(&rank, 1, MPI_INT, in, 1, MPI_INT, ring, info, &request));
	complete("neighbor_allgather", &request);
	CHECK(in[0] == left && in[1] == right);
	OK(MPI_Neighbor_allgatherv_init(&rank, 1, MPI_INT, in, counts, displs, MPI_INT, ring, info, &request));
	complete("neighbor_allgatherv", &request);
	OK(MPI_Neighbor_alltoall_init(out, 1, MPI_INT, in, 1, MPI_INT, ring, info, &request));
	complete("neighbor_alltoall", &request);
	OK(MPI_Neighbor_alltoallv_init(out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, ring, info, &request));
	complete("neighbor_alltoallv", &request);
	OK(MPI_Neighbor_alltoallw_init(out, counts, bytes, types, in, counts, bytes, types, ring, info, &request));
	complete("neighbor_alltoallw", &request);
	CHECK(in[0] == left && in[1] == right);
	OK(MPI_Comm_free(&ring));
}

static void both_ways(void)
{
	int next = (rank + 1) % size, previous = (rank + size - 1) % size, got = -1, value = rank;
	MPI_Request requests[2];
	MPI_Status statuses[2];
	OK(MPI_Isendrecv(&rank, 1, MPI_INT, next, 1, &got, 1, MPI_INT, previous, 1, MPI_COMM_WORLD, &requests[0]));
	OK(MPI_Isendrecv_replace(&value, 1, MPI_INT, next, 2, previous, 2, MPI_COMM_WORLD, &requests[1]));
	OK(MPI_Waitall(2, requests, statuses));
	CHECK(got == previous && value == previous);
	say("both ways");
}

static void partitioned(void)
{
	enum { PARTS = 4, EACH = 8 };
	int next = (rank + 1) % size, previous = (rank + size - 1) % size, arrived, list[1] = {3};
	int out[PARTS * EACH], in[PARTS * EACH];
	MPI_Request requests[2];
	OK(MPI_Precv_init(in, PARTS, EACH, MPI_INT, previous, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
	OK(MPI_Psend_init(out, PARTS, EACH, MPI_INT, next, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
	for (int round = 0; round < 3; round++) {
		OK(MPI_Startall(2, requests));
		for (int i = 0; i < PARTS * EACH; i++)
			out[i] = 1000 * round + 100 * rank + i;
		OK(MPI_Pready(1, requests[1]));
		OK(MPI_Pready_list(1, list, requests[1]));
		OK(MPI_Pready(0, requests[1]));
		OK(MPI_Pready_range(2, 2, requests[1]));
		do
			OK(MPI_Parrived(requests[0], 2, &arrived));
		while (!arrived);
		OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
		for (int i = 0; i < PARTS * EACH; i++)
			CHECK(in[i] == 1000 * round + 100 * previous + i);
	}
	OK(MPI_Request_free(&requests[0]));
	OK(MPI_Request_free(&requests[1]));
}

static void session(void)
{
	int n, length = 0, flag;
	char name[MPI_MAX_PSET_NAME_LEN], value[16];
	MPI_Session session;
	MPI_Errhandler handler;
	MPI_Info info;
	MPI_Group group;
	MPI_Comm comm;
	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
	OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n));
	CHECK(n >= 2);
	OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, NULL));
	OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name));
	say("%s", name);
	OK(MPI_Session_get_pset_info(session, "mpi://WORLD", &info));
	length = sizeof value;
	OK(MPI_Info_get_string(info, "mpi_size", &length, value, &flag));
	CHECK(flag && atoi(value) == size);
	OK(MPI_Info_free(&info));
	OK(MPI_Session_get_info(session, &info));
	OK(MPI_Info_free(&info));
	OK(MPI_Session_get_errhandler(session, &handler));
	CHECK(handler != MPI_ERRHANDLER_NULL);
	OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
	OK(MPI_Comm_create_from_group(group, "here", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
	OK(MPI_Comm_size(comm, &n));
	CHECK(n == size);
	if (size > 1) {
		MPI_Group mine, others;
		MPI_Comm between;
		int first = 0;
		OK(rank == 0 ? MPI_Group_incl(group, 1, &first, &mine) : MPI_Group_excl(group, 1, &first, &mine));
		OK(rank == 0 ? MPI_Group_excl(group, 1, &first, &others) : MPI_Group_incl(group, 1, &first, &others));
		OK(MPI_Intercomm_create_from_groups(mine, 0, others, 0, "between", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &between));
		OK(MPI_Comm_rank(between, &n));
		CHECK(n == (rank == 0 ? 0 : rank - 1));
		OK(MPI_Comm_size(between, &n));
		CHECK(n == (rank == 0 ? 1 : size - 1));
		OK(MPI_Comm_free(&between));
		OK(MPI_Group_free(&mine));
		OK(MPI_Group_free(&others));
	}
	OK(MPI_Group_free(&group));
	OK(MPI_Allreduce(&rank, &n, 1, MPI_INT, MPI_MAX, comm));
	CHECK(n == size - 1);
	OK(MPI_Comm_disconnect(&comm));
	OK(MPI_Session_finalize(&session));
}
#endif

int main(int argc, char **argv)
{
	begin(&argc, &argv);
#if MPI_VERSION >= 4
	CHECK(size <= MOST);
	persistent();
	neighbours();
	both_ways();
	partitioned();
	session();
#endif
	return end();
}
