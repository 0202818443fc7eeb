/* special.c: calls with the arguments that have a meaning of their own, or none. A proxy makes all of them. */
#include <mpi.h>
#include <stddef.h>

enum { RANKS = 4 };

static int rank;
static int in[64], out[64], zeros[RANKS], ones[RANKS], steps[RANKS];
static MPI_Datatype ints[RANKS];

/* requests completes none: no list, an empty one, and one of nulls; and as many as there are neighbours, of which some ranks have none. */
static void requests(void)
{
	MPI_Request list[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
	MPI_Status statuses[3];
	int flag, index, n, indices[3];
	for (int count = 0; count < 4; count++) {
		MPI_Request *some = count == 0 ? NULL : list;
		int k = count == 0 ? 0 : count - 1;
		MPI_Waitall(k, some, MPI_STATUSES_IGNORE);
		MPI_Testall(k, some, &flag, MPI_STATUSES_IGNORE);
		MPI_Waitany(k, some, &index, MPI_STATUS_IGNORE);
		MPI_Testany(k, some, &index, &flag, MPI_STATUS_IGNORE);
		MPI_Waitsome(k, some, &n, indices, MPI_STATUSES_IGNORE);
		MPI_Testsome(k, some, &n, indices, MPI_STATUSES_IGNORE);
		MPI_Waitall(k, some, statuses);
		MPI_Waitany(k, some, &index, statuses);
		MPI_Waitsome(k, some, &n, indices, statuses);
	}
	MPI_Startall(0, list);
	MPI_Wait(list, MPI_STATUS_IGNORE);
	MPI_Wait(list, statuses);
	MPI_Test(list, &flag, MPI_STATUS_IGNORE);
	MPI_Request_get_status(list[0], &flag, MPI_STATUS_IGNORE);
	n = 0;
	for (int other = 0; other < rank; other++) {
		MPI_Irecv(in + other, 1, MPI_INT, other, 1, MPI_COMM_WORLD, list + n);
		n++;
	}
	for (int other = rank + 1; other < RANKS; other++)
		MPI_Send(out, 1, MPI_INT, other, 1, MPI_COMM_WORLD);
	for (int i = 0; i < 4; i++)
		MPI_Waitall(n, n == 0 ? NULL : list, MPI_STATUSES_IGNORE);
}

/* nobody sends to and receives from no process. */
static void nobody(void)
{
	MPI_Request list[4];
	MPI_Status status;
	MPI_Message message;
	int flag, n;
	MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
	MPI_Recv(NULL, 0, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
	MPI_Get_count(&status, MPI_INT, &n);
	MPI_Get_elements(&status, MPI_INT, &n);
	MPI_Test_cancelled(&status, &flag);
	MPI_Send(out, 5, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
	MPI_Recv(in, 5, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(out, 1, MPI_INT, rank == 0 ? MPI_PROC_NULL : rank - 1, 1, in, 1, MPI_INT, rank == RANKS - 1 ? MPI_PROC_NULL : rank + 1, 1,
		MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv_replace(in, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
	MPI_Probe(MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Iprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
	MPI_Mrecv(NULL, 0, MPI_INT, &message, MPI_STATUS_IGNORE);
	MPI_Improbe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &flag, &message, &status);
	MPI_Imrecv(in, 1, MPI_INT, &message, &list[0]);
	MPI_Wait(&list[0], &status);
	MPI_Isend(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &list[0]);
	MPI_Irecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &list[1]);
	MPI_Send_init(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &list[2]);
	MPI_Recv_init(in, 3, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &list[3]);
	MPI_Startall(2, list + 2);
	MPI_Waitall(4, list, MPI_STATUSES_IGNORE);
	MPI_Request_free(&list[2]);
	MPI_Request_free(&list[3]);
}

/* nothing sends no data to somebody, from no address and from any. */
static void nothing(void)
{
	int next = (rank + 1) % RANKS;
	MPI_Request request;
	MPI_Status status;
	MPI_Isend(NULL, 0, MPI_INT, next, 2, MPI_COMM_WORLD, &request);
	MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Isend(MPI_BOTTOM, 0, MPI_INT, next, 2, MPI_COMM_WORLD, &request);
	MPI_Recv(in, 10, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Wait(&request, &status);
	MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Allreduce(NULL, in, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Allgather(NULL, 0, MPI_INT, in, 0, MPI_INT, MPI_COMM_WORLD);
	MPI_Alltoallv(NULL, zeros, zeros, MPI_INT, in, zeros, zeros, MPI_INT, MPI_COMM_WORLD);
	MPI_Reduce_local(out, in, 0, MPI_INT, MPI_SUM);
}

/* in_place leaves its own part where it is, and what only a root has is given by it alone. */
static void in_place(void)
{
	MPI_Comm comm = MPI_COMM_WORLD;
	MPI_Request request;
	int root = rank == 1;
	MPI_Allreduce(MPI_IN_PLACE, in, 4, MPI_INT, MPI_MAX, comm);
	MPI_Scan(MPI_IN_PLACE, in, 4, MPI_INT, MPI_MAX, comm);
	MPI_Exscan(MPI_IN_PLACE, in, 4, MPI_INT, MPI_MAX, comm);
	MPI_Reduce_scatter_block(MPI_IN_PLACE, in, 1, MPI_INT, MPI_SUM, comm);
	MPI_Reduce_scatter(MPI_IN_PLACE, in, ones, MPI_INT, MPI_SUM, comm);
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, MPI_INT, comm);
	MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, ones, steps, MPI_INT, comm);
	MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, MPI_INT, comm);
	MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, ones, steps, MPI_INT, comm);
	MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, in, ones, zeros, ints, comm);
	MPI_Iallreduce(MPI_IN_PLACE, in, 4, MPI_INT, MPI_MAX, comm, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	if (root) {
		MPI_Reduce(MPI_IN_PLACE, in, 4, MPI_INT, MPI_SUM, 1, comm);
		MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, MPI_INT, 1, comm);
		MPI_Gatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, ones, steps, MPI_INT, 1, comm);
		MPI_Scatter(in, 1, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 1, comm);
		MPI_Scatterv(in, ones, steps, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 1, comm);
		MPI_Igatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, ones, steps, MPI_INT, 1, comm, &request);
	} else {
		MPI_Reduce(out, NULL, 4, MPI_INT, MPI_SUM, 1, comm);
		MPI_Gather(out, 1, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, 1, comm);
		MPI_Gatherv(out, 1, MPI_INT, NULL, NULL, NULL, MPI_DATATYPE_NULL, 1, comm);
		MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, out, 1, MPI_INT, 1, comm);
		MPI_Scatterv(NULL, NULL, NULL, MPI_DATATYPE_NULL, out, 1, MPI_INT, 1, comm);
		MPI_Igatherv(out, 1, MPI_INT, NULL, NULL, NULL, MPI_DATATYPE_NULL, 1, comm, &request);
	}
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* between has the roots of intercommunicators. */
static void between(void)
{
	MPI_Comm half, inter, merged, none;
	MPI_Group group, empty;
	int low = rank < RANKS / 2, root = low ? rank == 0 ? MPI_ROOT : MPI_PROC_NULL : 0;
	MPI_Comm_split(MPI_COMM_WORLD, low, 0, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? RANKS / 2 : 0, 7, &inter);
	MPI_Bcast(rank == 1 ? NULL : in, rank == 1 ? 0 : 3, MPI_INT, root, inter);
	MPI_Reduce(out, root == MPI_ROOT ? in : NULL, 3, MPI_INT, MPI_SUM, root, inter);
	MPI_Gather(out, 1, MPI_INT, in, 1, MPI_INT, root, inter);
	MPI_Barrier(inter);
	MPI_Intercomm_merge(inter, !low, &merged);
	MPI_Comm_free(&merged);
	MPI_Comm_free(&inter);
	MPI_Comm_free(&half);
	MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, 0, &half);
	if (half != MPI_COMM_NULL)
		MPI_Comm_free(&half);
	MPI_Comm_split_type(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &half);
	if (half != MPI_COMM_NULL)
		MPI_Comm_free(&half);
	MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &none);
	MPI_Comm_group(MPI_COMM_WORLD, &group);
	MPI_Group_incl(group, 0, NULL, &empty);
	MPI_Group_excl(group, 0, NULL, &empty);
	MPI_Group_free(&empty);
	MPI_Group_range_incl(group, 0, NULL, &empty);
	MPI_Group_translate_ranks(group, 0, NULL, MPI_GROUP_EMPTY, NULL);
	MPI_Group_translate_ranks(group, 2, (int[]){MPI_PROC_NULL, 1}, MPI_GROUP_EMPTY, out);
	MPI_Group_free(&group);
	MPI_Comm_dup_with_info(MPI_COMM_SELF, MPI_INFO_NULL, &half);
	MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
	MPI_Comm_free(&half);
}

/* graphs have no weights, no neighbours, no dimensions or no nodes. */
static void graphs(void)
{
	MPI_Comm graph, none;
	int next = (rank + 1) % RANKS, before = (rank + RANKS - 1) % RANKS, source, dest, n = 1, weights[2];
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
	MPI_Dist_graph_neighbors(graph, 1, &source, MPI_UNWEIGHTED, 1, &dest, MPI_UNWEIGHTED);
	MPI_Comm_free(&graph);
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &graph);
	MPI_Neighbor_allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, graph);
	MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, graph);
	MPI_Dist_graph_neighbors(graph, 0, NULL, weights, 0, NULL, weights);
	MPI_Comm_free(&graph);
	MPI_Dist_graph_create(MPI_COMM_WORLD, rank == 0 ? 0 : 1, rank == 0 ? NULL : &rank, rank == 0 ? NULL : &n, rank == 0 ? NULL : &next,
		rank == 0 ? MPI_WEIGHTS_EMPTY : &n, MPI_INFO_NULL, 0, &graph);
	MPI_Comm_free(&graph);
	MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){RANKS}, (int[]){0}, 0, &graph);
	MPI_Cart_shift(graph, 0, 1, &source, &dest);
	MPI_Sendrecv(out, 1, MPI_INT, dest, 0, in, 1, MPI_INT, source, 0, graph, MPI_STATUS_IGNORE);
	MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, graph);
	MPI_Cart_sub(graph, (int[]){0}, &none);
	if (none != MPI_COMM_NULL)
		MPI_Comm_free(&none);
	MPI_Comm_free(&graph);
	MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){2}, (int[]){1}, 0, &graph);
	if (graph != MPI_COMM_NULL)
		MPI_Comm_free(&graph);
}

/* datatypes have no parts, and absolute addresses. */
static void datatypes(void)
{
	MPI_Datatype type, old = MPI_INT;
	MPI_Aint at;
	int length = 2, position = 0, size;
	MPI_Type_contiguous(0, MPI_INT, &type);
	MPI_Type_commit(&type);
	MPI_Bcast(in, 7, type, 0, MPI_COMM_WORLD);
	MPI_Type_free(&type);
	MPI_Type_vector(0, 0, 0, MPI_INT, &type);
	MPI_Type_free(&type);
	MPI_Type_indexed(0, NULL, NULL, MPI_INT, &type);
	MPI_Type_free(&type);
	MPI_Type_create_struct(0, NULL, NULL, NULL, &type);
	MPI_Type_commit(&type);
	MPI_Type_size(type, &size);
	MPI_Bcast(MPI_BOTTOM, 1, type, 0, MPI_COMM_WORLD);
	MPI_Type_free(&type);
	MPI_Get_address(in, &at);
	MPI_Type_create_struct(1, &length, &at, &old, &type);
	MPI_Type_commit(&type);
	MPI_Bcast(MPI_BOTTOM, 1, type, 0, MPI_COMM_WORLD);
	MPI_Allreduce(MPI_IN_PLACE, in, 1, MPI_2INT, MPI_MAXLOC, MPI_COMM_WORLD);
	
	MPI_Pack(NULL, 0, MPI_INT, out, 64, &position, MPI_COMM_WORLD);
	MPI_Type_free(&type);
}

/* windows have no memory, and operations no target. */
static void windows(void)
{
	MPI_Win win;
	MPI_Request request;
	void *memory;
	int value = 1, result;
	MPI_Win_create(rank == 0 ? in : NULL, rank == 0 ? sizeof in : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_fence(0, win);
	MPI_Put(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, 0, MPI_INT, win);
	MPI_Put(out, 0, MPI_INT, 0, 0, 0, MPI_INT, win);
	MPI_Get(out, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
	MPI_Accumulate(out, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE, win);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	MPI_Win_lock_all(0, win);
	MPI_Fetch_and_op(NULL, &result, MPI_INT, 0, 0, MPI_NO_OP, win);
	MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, &result, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP, win);
	MPI_Rput(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Win_allocate(0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	MPI_Win_free(&win);
}

/* files are read and written by nothing. */
static void files(void)
{
	MPI_File file;
	MPI_Status status;
	MPI_File_open(MPI_COMM_WORLD, "special.data", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
	MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
	MPI_File_write(file, NULL, 0, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_write_at(file, 0, out, 0, MPI_INT, &status);
	MPI_File_read_at_all(file, 0, NULL, 0, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_close(&file);
}

int main(void)
{
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < RANKS; i++) {
		ones[i] = 1;
		steps[i] = i;
		ints[i] = MPI_INT;
	}
	requests();
	nobody();
	nothing();
	in_place();
	between();
	graphs();
	datatypes();
	windows();
	files();
	MPI_Finalize();
	return 0;
}
