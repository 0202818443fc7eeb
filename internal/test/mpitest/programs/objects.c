/*
 * Groups, what belongs to windows and communicators, further nonblocking
 * collectives, and functions that MPI 3 and 4 deprecate.
 */
#include "check.h"

enum { MOST = 16 };

static void groups(void)
{
	int n, here, first = 0, ranges[1][3] = {{0, 0, 1}}, same;
	MPI_Group world, one, rest, none;
	OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
	OK(MPI_Group_size(world, &n));
	OK(MPI_Group_rank(world, &here));
	CHECK(n == size && here == rank);
	OK(MPI_Group_incl(world, 1, &first, &one));
	OK(MPI_Group_difference(world, one, &rest));
	OK(MPI_Group_rank(rest, &here));
	CHECK(here == (rank ? rank - 1 : MPI_UNDEFINED));
	OK(MPI_Group_intersection(one, rest, &none));
	CHECK(none == MPI_GROUP_EMPTY);
	OK(MPI_Group_free(&none));
	OK(MPI_Group_range_excl(world, 1, ranges, &none));
	OK(MPI_Group_compare(none, rest, &same));
	CHECK(same == MPI_IDENT);
	OK(MPI_Group_free(&none));
	OK(MPI_Group_free(&rest));
	OK(MPI_Group_free(&one));
	OK(MPI_Group_free(&world));
}

static void windows(void)
{
	int memory = 0, key, value = 3, *got, flag, length, n;
	char name[MPI_MAX_OBJECT_NAME];
	MPI_Win win;
	MPI_Group group;
	MPI_Info info;
	MPI_Errhandler handler;
	OK(MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	OK(MPI_Win_set_name(win, "here"));
	OK(MPI_Win_get_name(win, name, &length));
	CHECK(!strcmp(name, "here") && length == 4);
	OK(MPI_Win_get_group(win, &group));
	OK(MPI_Group_size(group, &n));
	CHECK(n == size);
	OK(MPI_Group_free(&group));
	OK(MPI_Win_get_info(win, &info));
	OK(MPI_Win_set_info(win, info));
	OK(MPI_Info_free(&info));
	OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
	OK(MPI_Win_get_errhandler(win, &handler));
	CHECK(handler == MPI_ERRORS_RETURN);
	OK(MPI_Win_call_errhandler(win, MPI_ERR_OTHER));
	OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL));
	OK(MPI_Win_set_attr(win, key, &value));
	OK(MPI_Win_get_attr(win, key, &got, &flag));
	CHECK(flag && *got == 3);
	OK(MPI_Win_delete_attr(win, key));
	OK(MPI_Win_free_keyval(&key));
	OK(MPI_Win_free(&win));
}

static void communicators(void)
{
	int n, key, value = 4, *got, flag;
	MPI_Comm half, inter, comm, parent;
	MPI_Group remote;
	MPI_Info info;
	OK(MPI_Comm_get_info(MPI_COMM_WORLD, &info));
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
	OK(MPI_Comm_set_info(comm, info));
	OK(MPI_Info_free(&info));
	OK(MPI_Comm_disconnect(&comm));
	CHECK(comm == MPI_COMM_NULL);
	OK(MPI_Comm_get_parent(&parent));
	CHECK(parent == MPI_COMM_NULL);
	OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
	OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 9, &inter));
	OK(MPI_Comm_remote_group(inter, &remote));
	OK(MPI_Group_size(remote, &n));
	CHECK(n == (rank % 2 ? (size + 1) / 2 : size / 2));
	OK(MPI_Group_free(&remote));
	OK(MPI_Comm_free(&inter));
	OK(MPI_Comm_free(&half));
	/* What MPI 1 had. */
	OK(MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &key, NULL));
	OK(MPI_Attr_put(MPI_COMM_WORLD, key, &value));
	OK(MPI_Attr_get(MPI_COMM_WORLD, key, &got, &flag));
	CHECK(flag && *got == 4);
	OK(MPI_Attr_delete(MPI_COMM_WORLD, key));
	OK(MPI_Keyval_free(&key));
}

static void collectives(void)
{
	int all[MOST], out[MOST], in[MOST], counts[MOST], displs[MOST], bytes[MOST], block = -1, one = -1;
	MPI_Datatype types[MOST];
	MPI_Request requests[6];
	for (int i = 0; i < size; i++) {
		out[i] = 10 * rank + i;
		counts[i] = 1;
		displs[i] = i;
		bytes[i] = i * sizeof(int);
		types[i] = MPI_INT;
		all[i] = -1;
	}
	OK(MPI_Iallgatherv(&rank, 1, MPI_INT, all, counts, displs, MPI_INT, MPI_COMM_WORLD, &requests[0]));
	OK(MPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, &requests[1]));
	OK(MPI_Ireduce_scatter(out, &block, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[2]));
	OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
	CHECK(all[size - 1] == size - 1 && in[0] == rank && block == 10 * size * (size - 1) / 2 + rank * size);
	OK(MPI_Igather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[0]));
	OK(MPI_Iscatterv(out, counts, displs, MPI_INT, &one, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[1]));
	OK(MPI_Ialltoallw(out, counts, bytes, types, in, counts, bytes, types, MPI_COMM_WORLD, &requests[2]));
	OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
	CHECK(one == rank && in[size - 1] == 10 * (size - 1) + rank);
	say_ints("alltoallw", in, size);
}

static void neighbours(void)
{
	int dims[1] = {size}, periods[1] = {1}, in[2] = {-1, -1}, out[2] = {rank, rank}, counts[2] = {1, 1}, displs[2] = {0, 1}, left, right;
	MPI_Aint bytes[2] = {0, sizeof(int)};
	MPI_Datatype types[2] = {MPI_INT, MPI_INT};
	MPI_Comm ring;
	MPI_Request request;
	OK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring));
	OK(MPI_Cart_shift(ring, 0, 1, &left, &right));
	OK(MPI_Ineighbor_allgatherv(&rank, 1, MPI_INT, in, counts, displs, MPI_INT, ring, &request));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	CHECK(in[0] == left && in[1] == right);
	OK(MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring, &request));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	OK(MPI_Ineighbor_alltoallw(out, counts, bytes, types, in, counts, bytes, types, ring, &request));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	CHECK(in[0] == left && in[1] == right);
	OK(MPI_Neighbor_alltoallv(out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, ring));
	CHECK(in[0] == left && in[1] == right);
	OK(MPI_Comm_free(&ring));
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	CHECK(size > 1 && size <= MOST);
	groups();
	windows();
	communicators();
	collectives();
	neighbours();
	return end();
}
