/*
 * Calls many functions of MPI and writes down what it called them with: one line
 * for each call with the name of the function and values of arguments, name<value
 * for one from before the call and name>value for one from after it.
 */
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE *out;
static int rank, size;

#define H(x) ((long long)(intptr_t)(x))

static void say(const char *format, ...)
{
	va_list list;
	va_start(list, format);
	vfprintf(out, format, list);
	va_end(list);
	fputc('\n', out);
}

/* Lists are written to one of some buffers in turn. */
static char *buffer(void)
{
	static char buffers[16][4096];
	static int next;
	return buffers[next++ % 16];
}

#define LIST(name, type, format, ...) \
	static const char *name(const type *v, int n) \
	{ \
		char *text = buffer(), *p = text; \
		*p++ = '['; \
		for (int i = 0; i < n; i++) \
			p += sprintf(p, i ? "," format : format, __VA_ARGS__); \
		strcpy(p, "]"); \
		return text; \
	}
LIST(ints, int, "%d", v[i])
LIST(aints, MPI_Aint, "%lld", (long long)v[i])
LIST(types, MPI_Datatype, "%lld", H(v[i]))
LIST(requests, MPI_Request, "%lld", H(v[i]))
LIST(statuses, MPI_Status, "{%d,%d,0}", v[i].MPI_SOURCE, v[i].MPI_TAG)

static const char *one(const MPI_Status *s)
{
	char *text = buffer();
	sprintf(text, "{%d,%d,0}", s->MPI_SOURCE, s->MPI_TAG);
	return text;
}

static void point_to_point(void)
{
	int next = (rank + 1) % size, previous = (rank + size - 1) % size, value = rank, got = -1, flag, index, count;
	MPI_Status status, list[2];
	MPI_Request pair[2];
	int indices[2];
	long long before;

	MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &pair[0]);
	say("MPI_Irecv buf<%lld count<1 datatype<%lld source<%d tag<7 comm<%lld request>%lld",
		H(&got), H(MPI_INT), MPI_ANY_SOURCE, H(MPI_COMM_WORLD), H(pair[0]));
	MPI_Send(&value, 1, MPI_INT, next, 7, MPI_COMM_WORLD);
	say("MPI_Send buf<%lld count<1 datatype<%lld dest<%d tag<7 comm<%lld result>0",
		H(&value), H(MPI_INT), next, H(MPI_COMM_WORLD));
	before = H(pair[0]);
	MPI_Wait(&pair[0], &status);
	say("MPI_Wait request<%lld request>%lld status>{%d,7,0}", before, H(MPI_REQUEST_NULL), previous);
	if (got != previous)
		say("wrong value %d", got);
	MPI_Get_count(&status, MPI_INT, &count);
	say("MPI_Get_count status<%s count>1", one(&status));

	MPI_Irecv(&got, 1, MPI_INT, previous, 8, MPI_COMM_WORLD, &pair[0]);
	say("MPI_Irecv request>%lld", H(pair[0]));
	MPI_Isend(&value, 1, MPI_INT, next, 8, MPI_COMM_WORLD, &pair[1]);
	say("MPI_Isend buf<%lld dest<%d request>%lld", H(&value), next, H(pair[1]));
	const char *was = requests(pair, 2);
	MPI_Waitall(2, pair, list);
	say("MPI_Waitall count<2 array_of_requests<%s array_of_requests>%s array_of_statuses>%s", was, requests(pair, 2), statuses(list, 2));

	MPI_Recv_init(&got, 1, MPI_INT, previous, 9, MPI_COMM_WORLD, &pair[0]);
	say("MPI_Recv_init source<%d request>%lld", previous, H(pair[0]));
	MPI_Send_init(&value, 1, MPI_INT, next, 9, MPI_COMM_WORLD, &pair[1]);
	say("MPI_Send_init dest<%d request>%lld", next, H(pair[1]));
	was = requests(pair, 2);
	MPI_Startall(2, pair);
	say("MPI_Startall array_of_requests<%s array_of_requests>%s", was, was);
	MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
	say("MPI_Waitall array_of_requests<%s array_of_requests>%s array_of_statuses>ignored", was, was);
	for (int i = 0; i < 2; i++) {
		before = H(pair[i]);
		MPI_Request_free(&pair[i]);
		say("MPI_Request_free request<%lld request>%lld", before, H(MPI_REQUEST_NULL));
	}
	MPI_Barrier(MPI_COMM_WORLD);
	say("MPI_Barrier comm<%lld", H(MPI_COMM_WORLD));

	MPI_Irecv(&got, 1, MPI_INT, previous, 10, MPI_COMM_WORLD, &pair[0]);
	say("MPI_Irecv request>%lld", H(pair[0]));
	pair[1] = MPI_REQUEST_NULL;
	MPI_Test(&pair[0], &flag, &status);
	say(flag ? "MPI_Test flag>1" : "MPI_Test flag>0 status>unused request>%lld", H(pair[0]));
	was = requests(pair, 2);
	MPI_Testall(2, pair, &flag, list);
	say("MPI_Testall array_of_requests<%s flag>0 array_of_statuses>unused", was);
	MPI_Testany(2, pair, &index, &flag, &status);
	say("MPI_Testany flag>0 index>%d status>unused", MPI_UNDEFINED);
	MPI_Testsome(2, pair, &count, indices, list);
	say("MPI_Testsome outcount>0 array_of_indices>[] array_of_statuses>[]");
	MPI_Barrier(MPI_COMM_WORLD);
	say("MPI_Barrier");
	MPI_Send(&value, 1, MPI_INT, next, 10, MPI_COMM_WORLD);
	say("MPI_Send tag<10");
	was = requests(pair, 2);
	MPI_Waitsome(2, pair, &count, indices, list);
	say("MPI_Waitsome incount<2 array_of_requests<%s outcount>1 array_of_indices>[0] array_of_statuses>[{%d,10,0}]", was, previous);
	MPI_Waitsome(2, pair, &count, indices, list);
	say("MPI_Waitsome outcount>%d array_of_indices>[] array_of_statuses>[]", MPI_UNDEFINED);
	MPI_Sendrecv(&value, 1, MPI_INT, next, 11, &got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	say("MPI_Sendrecv sendtag<11 source<%d recvtag<%d status>ignored", MPI_ANY_SOURCE, MPI_ANY_TAG);
}

static void collectives(void)
{
	int *counts = malloc(4 * size * sizeof(int)), *displs = counts + size, *data = counts + 2 * size, *into = data + size;
	MPI_Datatype *list = malloc(size * sizeof *list);
	MPI_Request request;
	for (int i = 0; i < size; i++) {
		counts[i] = 1;
		displs[i] = i;
		data[i] = 100 * rank + i;
		list[i] = MPI_INT;
	}
	MPI_Alltoallv(data, counts, displs, MPI_INT, into, counts, displs, MPI_INT, MPI_COMM_WORLD);
	say("MPI_Alltoallv sendbuf<%lld sendcounts<%s sdispls<%s recvbuf<%lld recvcounts<%s rdispls<%s",
		H(data), ints(counts, size), ints(displs, size), H(into), ints(counts, size), ints(displs, size));
	MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, into, counts, displs, MPI_INT, MPI_COMM_WORLD);
	say("MPI_Alltoallv sendbuf<%lld sendcounts<unused sdispls<unused recvcounts<%s", H(MPI_IN_PLACE), ints(counts, size));
	for (int i = 0; i < size; i++)
		displs[i] = 4 * i;
	MPI_Ialltoallw(data, counts, displs, list, into, counts, displs, list, MPI_COMM_WORLD, &request);
	say("MPI_Ialltoallw sendtypes<%s sdispls<%s request>%lld", types(list, size), ints(displs, size), H(request));
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	say("MPI_Wait status>ignored");
	for (int i = 0; i < size; i++)
		displs[i] = i;
	/* Only the root's counts may be looked at. */
	int *there = rank == 1 ? counts : (int *)8, *where = rank == 1 ? displs : (int *)8;
	MPI_Gatherv(data, 1, MPI_INT, into, there, where, MPI_INT, 1, MPI_COMM_WORLD);
	say("MPI_Gatherv recvcounts<%s displs<%s root<1", rank == 1 ? ints(counts, size) : "unused", rank == 1 ? ints(displs, size) : "unused");
	MPI_Scatterv(data, there, where, MPI_INT, into, 1, MPI_INT, 1, MPI_COMM_WORLD);
	say("MPI_Scatterv sendcounts<%s recvcount<1", rank == 1 ? ints(counts, size) : "unused");
	MPI_Allgatherv(&rank, 1, MPI_INT, into, counts, displs, MPI_INT, MPI_COMM_WORLD);
	say("MPI_Allgatherv recvcounts<%s displs<%s", ints(counts, size), ints(displs, size));
	MPI_Reduce_scatter(data, into, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	say("MPI_Reduce_scatter recvcounts<%s op<%lld", ints(counts, size), H(MPI_SUM));
	MPI_Allreduce(MPI_IN_PLACE, data, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	say("MPI_Allreduce sendbuf<%lld recvbuf<%lld", H(MPI_IN_PLACE), H(data));
	free(counts);
	free(list);
}

/* Communicators of which the arguments do not say who is where in them. */
static void created(MPI_Group all)
{
	MPI_Comm comm;
	MPI_Group some;
	int zero = 0, dims[1] = {size}, ranks[2] = {1, 0};
	MPI_Comm_split_type(MPI_COMM_WORLD, rank == size - 1 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &comm);
	if (rank == size - 1)
		say("MPI_Comm_split_type newcomm>%lld made>{-1,0} leader>unused newrank>unused", H(MPI_COMM_NULL));
	else
		say("MPI_Comm_split_type newcomm>%lld made>{%d,%d} leader>%d newrank>%d", H(comm), size - 2 - rank, size - 1, size - 2, size - 2 - rank);
	MPI_Group_incl(all, 2, ranks, &some);
	say("MPI_Group_incl ranks<[1,0]");
	MPI_Comm_create(MPI_COMM_WORLD, some, &comm);
	if (rank < 2)
		say("MPI_Comm_create group<%lld newcomm>%lld made>{%d,2} leader>1 newrank>%d", H(some), H(comm), 1 - rank, 1 - rank);
	else
		say("MPI_Comm_create newcomm>%lld made>{-1,0} leader>unused newrank>unused", H(comm));
	if (rank < 2) {
		MPI_Comm_create_group(MPI_COMM_WORLD, some, 51, &comm);
		say("MPI_Comm_create_group tag<51 newcomm>%lld made>{%d,2} members>[1,0]", H(comm), 1 - rank);
	}
	MPI_Cart_create(MPI_COMM_WORLD, 1, dims, &zero, 1, &comm);
	MPI_Comm_rank(comm, &ranks[0]);
	say("MPI_Cart_create reorder<1 made>{%d,%d} newrank>%d", ranks[0], size, ranks[0]);
	say("MPI_Comm_rank");
}

static void communicators(void)
{
	MPI_Comm half, copy, cart, row, graph, adjacent;
	MPI_Group all, some;
	MPI_Request request;
	int dims[2] = {0, 0}, periods[2] = {1, 0}, coords[2], n, ranks[3] = {0, 1, 0}, translated[3], flag, *bound;
	char name[MPI_MAX_OBJECT_NAME];
	long long before;

	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
	MPI_Comm_size(half, &n);
	say("MPI_Comm_split color<%d key<%d newcomm>%lld made>{%d,%d}", rank % 2, -rank, H(half), n - 1 - rank / 2, n);
	say("MPI_Comm_size comm<%lld size>%d", H(half), n);
	MPI_Comm_split(MPI_COMM_WORLD, rank ? MPI_UNDEFINED : 0, 0, &copy);
	say("MPI_Comm_split color<%d newcomm>%lld made>%s", rank ? MPI_UNDEFINED : 0, H(copy), rank ? "{-1,0}" : "{0,1}");
	MPI_Comm_set_name(half, "half of it");
	say("MPI_Comm_set_name comm<%lld comm_name<\"half of it\"", H(half));
	MPI_Comm_get_name(half, name, &n);
	say("MPI_Comm_get_name comm_name>\"half of it\" resultlen>10");
	MPI_Comm_idup(half, &copy, &request);
	say("MPI_Comm_idup comm<%lld newcomm>%lld request>%lld made>{0,0}", H(half), H(copy), H(request));
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	say("MPI_Wait");
	before = H(copy);
	MPI_Comm_free(&copy);
	say("MPI_Comm_free comm<%lld comm>%lld", before, H(MPI_COMM_NULL));
	MPI_Dims_create(size, 2, dims);
	say("MPI_Dims_create nnodes<%d dims<[0,0] dims>%s", size, ints(dims, 2));
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
	say("MPI_Cart_create ndims<2 dims<%s periods<[1,0] comm_cart>%lld made>{%d,%d} newrank>unused", ints(dims, 2), H(cart), rank, size);
	MPI_Cart_coords(cart, rank, 2, coords);
	say("MPI_Cart_coords rank<%d coords>%s", rank, ints(coords, 2));
	MPI_Cart_rank(cart, coords, &n);
	say("MPI_Cart_rank coords<%s rank>%d", ints(coords, 2), rank);
	int remain[2] = {0, 1};
	MPI_Cart_sub(cart, remain, &row);
	say("MPI_Cart_sub remain_dims<[0,1] newcomm>%lld made>{%d,%d}", H(row), coords[1], dims[1]);
	int next = (rank + 1) % size, previous = (rank + size - 1) % size, counts[2] = {1, 1}, zeros[2] = {0, 0}, data[2] = {0}, into[2];
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &previous, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &adjacent);
	say("MPI_Dist_graph_create_adjacent sources<[%d] sourceweights<ignored destinations<[%d] comm_dist_graph>%lld", previous, next, H(adjacent));
	MPI_Neighbor_alltoallv(data, counts, zeros, MPI_INT, into, counts, zeros, MPI_INT, adjacent);
	say("MPI_Neighbor_alltoallv sendcounts<[1] sdispls<[0] recvcounts<[1]");
	int *index = malloc(size * sizeof(int)), *edges = malloc(size * sizeof(int));
	for (int i = 0; i < size; i++) {
		index[i] = i + 1;
		edges[i] = size - 1 - i;
	}
	MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &graph);
	say("MPI_Graph_create index<%s edges<%s", ints(index, size), ints(edges, size));
	MPI_Graph_neighbors(graph, rank, 1, &n);
	say("MPI_Graph_neighbors maxneighbors<1 neighbors>[%d]", size - 1 - rank);
	free(index);
	free(edges);
	MPI_Comm_group(MPI_COMM_WORLD, &all);
	say("MPI_Comm_group group>%lld", H(all));
	int ranges[1][3] = {{size - 1, 0, -1}};
	MPI_Group_range_incl(all, 1, ranges, &some);
	say("MPI_Group_range_incl ranges<[%d,0,-1] newgroup>%lld", size - 1, H(some));
	MPI_Group_translate_ranks(all, 3, ranks, some, translated);
	say("MPI_Group_translate_ranks ranks1<[0,1,0] ranks2>%s", ints(translated, 3));
	created(all);
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &flag);
	say("MPI_Comm_get_attr comm_keyval<%d attribute_val>%lld flag>1", MPI_TAG_UB, H(bound));
	MPI_Comm_get_attr(half, MPI_APPNUM, &bound, &flag);
	say(flag ? "MPI_Comm_get_attr flag>1" : "MPI_Comm_get_attr flag>0 attribute_val>unused");
	MPI_Comm_free(&half);
	say("MPI_Comm_free");
}

static void datatypes(void)
{
	int lengths[2] = {2, 1}, integers[8], n[3], combiner;
	MPI_Aint offsets[2] = {0, 16}, addresses[8], address;
	MPI_Datatype parts[2] = {MPI_INT, MPI_DOUBLE}, type, got[8];
	MPI_Type_create_struct(2, lengths, offsets, parts, &type);
	say("MPI_Type_create_struct count<2 array_of_blocklengths<[2,1] array_of_displacements<%s array_of_types<%s newtype>%lld",
		aints(offsets, 2), types(parts, 2), H(type));
	MPI_Type_commit(&type);
	say("MPI_Type_commit datatype<%lld datatype>%lld", H(type), H(type));
	MPI_Type_get_envelope(type, &n[0], &n[1], &n[2], &combiner);
	say("MPI_Type_get_envelope num_integers>3 num_addresses>2 num_datatypes>2 combiner>%d", combiner);
	/* Open MPI 4.1 reads more datatypes than it has written if there is room. */
	MPI_Type_get_contents(type, 8, 8, 2, integers, addresses, got);
	say("MPI_Type_get_contents max_integers<8 array_of_integers>[2,2,1] array_of_addresses>[0,16] array_of_datatypes>%s", types(got, 2));
	MPI_Get_address(n, &address);
	say("MPI_Get_address location<%lld address>%lld", H(n), (long long)address);
	long long before = H(type);
	MPI_Type_free(&type);
	say("MPI_Type_free datatype<%lld datatype>%lld", before, H(MPI_DATATYPE_NULL));
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
	int bytes;
	MPI_Type_size(*type, &bytes);
	say("in MPI_Type_size datatype<%lld size>4", H(*type));
	for (int i = 0; i < *n; i++)
		((int *)inout)[i] += ((int *)in)[i];
}

static void handle(MPI_Comm *comm, int *code, ...)
{
	int class;
	MPI_Error_class(*code, &class);
	say("in MPI_Error_class errorcode<%d errorclass>%d", *code, class);
}

static void callbacks(void)
{
	MPI_Op op;
	MPI_Errhandler handler;
	int value = rank, into = 0;
	MPI_Op_create(add, 1, &op);
	say("MPI_Op_create user_fn<%lld commute<1 op>%lld", H(add), H(op));
	MPI_Reduce_local(&value, &into, 1, MPI_INT, op);
	say("MPI_Reduce_local inbuf<%lld inoutbuf<%lld op<%lld", H(&value), H(&into), H(op));
	MPI_Op_free(&op);
	say("MPI_Op_free op>%lld", H(MPI_OP_NULL));
	MPI_Comm_create_errhandler(handle, &handler);
	say("MPI_Comm_create_errhandler errhandler>%lld", H(handler));
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	say("MPI_Comm_set_errhandler errhandler<%lld", H(handler));
	int code = MPI_Send(&value, 1, MPI_INT, size + 5, 1, MPI_COMM_WORLD);
	say("MPI_Send dest<%d result>%d failed", size + 5, code);
	MPI_Request request;
	code = MPI_Irecv(&value, 1, MPI_INT, size + 5, 1, MPI_COMM_WORLD, &request);
	say("MPI_Irecv source<%d result>%d request>missing failed", size + 5, code);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	say("MPI_Comm_set_errhandler errhandler<%lld", H(MPI_ERRORS_ARE_FATAL));
}

/* Several operations of which one fails: the outputs are there all the same. */
static void failures(void)
{
	int next = (rank + 1) % size, previous = (rank + size - 1) % size, values[2] = {1, 2}, got[2], code;
	MPI_Request pair[2];
	MPI_Status list[2];
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	say("MPI_Comm_set_errhandler");
	MPI_Irecv(&got[0], 1, MPI_INT, previous, 21, MPI_COMM_WORLD, &pair[0]);
	say("MPI_Irecv");
	MPI_Irecv(&got[1], 1, MPI_INT, previous, 22, MPI_COMM_WORLD, &pair[1]);
	say("MPI_Irecv");
	MPI_Barrier(MPI_COMM_WORLD);
	say("MPI_Barrier");
	MPI_Send(values, 2, MPI_INT, next, 21, MPI_COMM_WORLD);
	say("MPI_Send");
	MPI_Send(values, 1, MPI_INT, next, 22, MPI_COMM_WORLD);
	say("MPI_Send");
	MPI_Barrier(MPI_COMM_WORLD);
	say("MPI_Barrier");
	code = MPI_Waitall(2, pair, list);
	/* The second may be pending: then its source and tag are whatever they were. */
	say("MPI_Waitall result>%d array_of_requests>%s array_of_statuses>[{%d,21,%d},{%d,%d,%d}]", code, requests(pair, 2),
		previous, list[0].MPI_ERROR, list[1].MPI_SOURCE, list[1].MPI_TAG, list[1].MPI_ERROR);
	if (code != MPI_ERR_IN_STATUS || list[0].MPI_ERROR == MPI_SUCCESS)
		say("wrong result %d", code);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	say("MPI_Comm_set_errhandler");
}

/* In an intercommunicator, lengths are those of the other side. */
static void intercommunicators(void)
{
	MPI_Comm side, both;
	int first = rank == 0, others = first ? size - 1 : 1, mine[8] = {0}, into[8], counts[8], displs[8];
	MPI_Comm_split(MPI_COMM_WORLD, first, 0, &side);
	say("MPI_Comm_split");
	MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, first ? 1 : 0, 31, &both);
	say("MPI_Intercomm_create local_leader<0 remote_leader<%d tag<31 newintercomm>%lld made>{%d,%d}",
		first ? 1 : 0, H(both), first ? 0 : rank - 1, others);
	for (int i = 0; i < 8; i++) {
		counts[i] = 1;
		displs[i] = i;
	}
	MPI_Allgatherv(mine, 1, MPI_INT, into, counts, displs, MPI_INT, both);
	say("MPI_Allgatherv recvcounts<%s displs<%s", ints(counts, others), ints(displs, others));
	int root = first ? MPI_ROOT : 0;
	MPI_Gatherv(mine, 1, MPI_INT, into, first ? counts : NULL, first ? displs : NULL, MPI_INT, root, both);
	say("MPI_Gatherv root<%d recvcounts<%s", root, first ? ints(counts, others) : "unused");
	MPI_Comm merged;
	MPI_Intercomm_merge(both, first, &merged);
	say("MPI_Intercomm_merge high<%d newintracomm>%lld made>{%d,%d} newrank>%d", first, H(merged),
		first ? size - 1 : rank - 1, size, first ? size - 1 : rank - 1);
	MPI_Comm_free(&both);
	say("MPI_Comm_free");
	MPI_Comm_free(&side);
	say("MPI_Comm_free");
}

#if MPI_VERSION >= 4
static void large_counts(void)
{
	int next = (rank + 1) % size, value = rank, got;
	MPI_Count counts[8], bytes;
	MPI_Aint displs[8];
	MPI_Request request;
	MPI_Irecv_c(&got, 1, MPI_INT, MPI_ANY_SOURCE, 41, MPI_COMM_WORLD, &request);
	say("MPI_Irecv_c count<1 source<%d tag<41 request>%lld", MPI_ANY_SOURCE, H(request));
	MPI_Send_c(&value, 1, MPI_INT, next, 41, MPI_COMM_WORLD);
	say("MPI_Send_c count<1 dest<%d", next);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	say("MPI_Wait");
	for (int i = 0; i < size; i++) {
		counts[i] = 1;
		displs[i] = i;
	}
	int into[8];
	MPI_Allgatherv_c(&value, 1, MPI_INT, into, counts, displs, MPI_INT, MPI_COMM_WORLD);
	say("MPI_Allgatherv_c sendcount<1 recvcounts<%s displs<%s", aints((MPI_Aint *)counts, size), aints(displs, size));
	MPI_Datatype type;
	MPI_Type_contiguous_c(5000000000, MPI_INT, &type);
	say("MPI_Type_contiguous_c count<5000000000 newtype>%lld", H(type));
	MPI_Type_size_c(type, &bytes);
	say("MPI_Type_size_c size>20000000000");
	MPI_Type_free(&type);
	say("MPI_Type_free");
	MPI_Session session;
	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
	say("MPI_Session_init session>%lld", H(session));
	char name[8];
	int length = 0;
	MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name);
	say("MPI_Session_get_nth_pset n<0 pset_len<0 pset_len>%d pset_name>unused", length);
	MPI_Session_finalize(&session);
	say("MPI_Session_finalize session>%lld", H(MPI_SESSION_NULL));
}
#else
static void large_counts(void) {}
#endif

/* The tools interface returns only what it is asked for. */
static void tools(void)
{
	int provided, n, length = 64, verbosity, bind, scope;
	char name[64] = "";
	MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
	say("MPI_T_init_thread required<%d provided>%d", MPI_THREAD_SINGLE, provided);
	MPI_T_cvar_get_num(&n);
	say("MPI_T_cvar_get_num num_cvar>%d", n);
	if (n > 0) {
		MPI_T_cvar_get_info(0, name, &length, &verbosity, NULL, NULL, NULL, NULL, &bind, &scope);
		say("MPI_T_cvar_get_info cvar_index<0 name>\"%s\" name_len<64 name_len>%d verbosity>%d desc>unused bind>%d",
			name, length, verbosity, bind);
	}
	MPI_T_finalize();
	say("MPI_T_finalize");
}

static void windows_and_files(const char *path)
{
	MPI_Win win;
	MPI_File file;
	MPI_Info info;
	MPI_Status status;
	int *base, value = rank, flag;
	char text[8];
	MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	say("MPI_Win_allocate size<16 disp_unit<4 baseptr>%lld win>%lld", H(base), H(win));
	MPI_Win_fence(0, win);
	say("MPI_Win_fence win<%lld", H(win));
	MPI_Put(&value, 1, MPI_INT, (rank + 1) % size, 2, 1, MPI_INT, win);
	say("MPI_Put target_rank<%d target_disp<2 target_count<1", (rank + 1) % size);
	MPI_Win_fence(0, win);
	say("MPI_Win_fence");
	MPI_Win_free(&win);
	say("MPI_Win_free win>%lld", H(MPI_WIN_NULL));
	MPI_Info_create(&info);
	say("MPI_Info_create info>%lld", H(info));
	MPI_Info_set(info, "a key", "a value");
	say("MPI_Info_set key<\"a key\" value<\"a value\"");
	MPI_Info_get(info, "a key", 7, text, &flag);
	say("MPI_Info_get valuelen<7 value>\"a value\" flag>1");
	MPI_Info_get(info, "no key", 7, text, &flag);
	say("MPI_Info_get value>unused flag>0");
	MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file);
	say("MPI_File_open filename<\"%s\" amode<%d fh>%lld", path, MPI_MODE_CREATE | MPI_MODE_RDWR, H(file));
	MPI_File_write_at(file, (MPI_Offset)rank * 5000000000, &value, 0, MPI_INT, &status);
	say("MPI_File_write_at offset<%lld count<0", (long long)rank * 5000000000);
	long long before = H(file);
	MPI_File_close(&file);
	say("MPI_File_close fh<%lld fh>%lld", before, H(MPI_FILE_NULL));
	MPI_Info_free(&info);
	say("MPI_Info_free");
}

static void switches(void)
{
	MPI_Comm copy;
	MPI_Info info;
	MPI_Pcontrol(0);
	say("MPI_Pcontrol level<0");
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	say("MPI_Comm_dup newcomm>%lld hidden", H(copy));
	MPI_Pcontrol(1);
	say("MPI_Pcontrol level<1 hidden");
	MPI_Info_create(&info);
	say("MPI_Info_create");
	MPI_Info_set(info, "reprise_record", "off");
	say("MPI_Info_set key<\"reprise_record\" value<\"off\"");
	MPI_Barrier(copy);
	MPI_Info_set(info, "reprise_record", "on");
	say("MPI_Info_set value<\"on\" hidden");
	MPI_Info_free(&info);
	say("MPI_Info_free");
}

int main(int argc, char **argv)
{
	char path[4096];
	int count = argc;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	snprintf(path, sizeof path, "%s/said.%d", argv[1], rank);
	out = fopen(path, "w");
	say("MPI_Init argc<%d argc>%d argv<[\"%s\",\"%s\"]", count, argc, argv[0], argv[1]);
	say("MPI_Comm_rank comm<%lld rank>%d", H(MPI_COMM_WORLD), rank);
	say("MPI_Comm_size comm<%lld size>%d", H(MPI_COMM_WORLD), size);
	point_to_point();
	collectives();
	communicators();
	datatypes();
	callbacks();
	failures();
	intercommunicators();
	large_counts();
	tools();
	snprintf(path, sizeof path, "%s/data", argv[1]);
	windows_and_files(path);
	switches();
	double time = MPI_Wtime();
	say("MPI_Wtime result>%.17g", time);
	MPI_Finalize();
	say("MPI_Finalize result>0");
	fclose(out);
	return 0;
}
