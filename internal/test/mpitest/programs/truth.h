/*
 * What the phases of truth.c have in common: numbers that they draw, communicators and datatypes, and the file in which each rank writes
 * down by hand what its calls move. What the program has to ask MPI for that, it asks with PMPI, so that a recorder does not see it.
 */
#include "check.h"

#define MOST 8 /* ranks */
#define ROOM 65536

static FILE *truth;
static const char *directory;
static int phases; /* so far */

/* Each message that is sent and received, each block of a collective operation, and bytes of collective operations and files. */
static void message(int from, int to, int tag, long long bytes) { fprintf(truth, "message %d %d %d %lld\n", from, to, tag, bytes); }
static void block(int from, int to, long long bytes)
{
	if (from != to && bytes > 0)
		fprintf(truth, "block %d %d 0 %lld\n", from, to, bytes);
}
static void gives(long long bytes) { fprintf(truth, "gives %d 0 0 %lld\n", rank, bytes); }
static void gets(long long bytes) { fprintf(truth, "gets %d 0 0 %lld\n", rank, bytes); }
static void writes(long long bytes) { fprintf(truth, "writes %d 0 0 %lld\n", rank, bytes); }
static void reads(long long bytes) { fprintf(truth, "reads %d 0 0 %lld\n", rank, bytes); }

/* All members of a communicator draw the same in a phase. */
static unsigned long long state;

static unsigned mix(unsigned long long x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return (unsigned)((x ^ (x >> 31)) >> 16);
}

static unsigned draw(unsigned n) { return mix(state += 0x9e3779b97f4a7c15ULL) % n; }

/* What each pair of ranks has drawn, without drawing. */
static int between(int from, int to, unsigned n) { return (int)(mix(state ^ (from * 977ULL + to * 7919ULL + 1)) % n); }

/* A communicator: the members of its group, or of its two groups, as ranks in the run. */
typedef struct {
	MPI_Comm comm;
	int inter, has_neighbours; /* known to ranks that are not in it as well */
	int topology;
	int group, self; /* of this rank */
	int n[2], members[2][MOST];
	int ins, outs, in[2 * MOST * MOST], out[2 * MOST * MOST]; /* neighbours, as ranks in the run or MPI_PROC_NULL */
} team;

static void list(MPI_Group group, int *n, int *members)
{
	MPI_Group world;
	int all[MOST] = {0, 1, 2, 3, 4, 5, 6, 7};
	OK(PMPI_Group_size(group, n));
	OK(PMPI_Comm_group(MPI_COMM_WORLD, &world));
	OK(PMPI_Group_translate_ranks(group, *n, all, world, members));
	OK(PMPI_Group_free(&world));
	OK(PMPI_Group_free(&group));
}

static int lowest(const team *t, int group)
{
	int least = MOST;
	for (int i = 0; i < t->n[group]; i++)
		least = t->members[group][i] < least ? t->members[group][i] : least;
	return least;
}

/* Whom a rank in the communicator is in the run. */
static int who(const team *t, int peer) { return peer < 0 ? peer : t->members[0][peer]; }

static void neighbours(team *t)
{
	int dims, from, to, weighted, at[3], sizes[3], periods[3], w[2 * MOST * MOST];
	switch (t->topology) {
	case MPI_CART:
		OK(PMPI_Cartdim_get(t->comm, &dims));
		OK(PMPI_Cart_get(t->comm, dims, sizes, periods, at));
		t->ins = t->outs = 2 * dims;
		for (int i = 0; i < dims; i++) {
			OK(PMPI_Cart_shift(t->comm, i, 1, &from, &to));
			t->in[2 * i] = t->out[2 * i] = who(t, from);
			t->in[2 * i + 1] = t->out[2 * i + 1] = who(t, to);
		}
		return;
	case MPI_GRAPH:
		OK(PMPI_Graph_neighbors_count(t->comm, t->self, &t->ins));
		OK(PMPI_Graph_neighbors(t->comm, t->self, t->ins, t->in));
		for (int i = 0; i < t->ins; i++)
			t->in[i] = t->out[i] = who(t, t->in[i]);
		t->outs = t->ins;
		return;
	case MPI_DIST_GRAPH:
		OK(PMPI_Dist_graph_neighbors_count(t->comm, &t->ins, &t->outs, &weighted));
		OK(PMPI_Dist_graph_neighbors(t->comm, t->ins, t->in, w, t->outs, t->out, w));
		for (int i = 0; i < t->ins; i++)
			t->in[i] = who(t, t->in[i]);
		for (int i = 0; i < t->outs; i++)
			t->out[i] = who(t, t->out[i]);
	}
}

/* Asks MPI who is where in a communicator. */
static team described(MPI_Comm comm)
{
	MPI_Group group;
	team t = {.comm = comm, .topology = MPI_UNDEFINED};
	if (comm == MPI_COMM_NULL)
		return t;
	OK(PMPI_Comm_rank(comm, &t.self));
	OK(PMPI_Comm_test_inter(comm, &t.inter));
	OK(PMPI_Comm_group(comm, &group));
	list(group, &t.n[0], t.members[0]);
	if (!t.inter) {
		OK(PMPI_Topo_test(comm, &t.topology));
		neighbours(&t);
		return t;
	}
	OK(PMPI_Comm_remote_group(comm, &group));
	list(group, &t.n[1], t.members[1]);
	if (lowest(&t, 1) < lowest(&t, 0)) {
		team u = t;
		t.group = 1;
		for (int g = 0; g < 2; g++) {
			t.n[g] = u.n[1 - g];
			memcpy(t.members[g], u.members[1 - g], sizeof t.members[g]);
		}
	}
	return t;
}

/* The group that a member of a group exchanges data with. */
static int other(const team *t, int group) { return t->inter ? 1 - group : group; }

/* A datatype of so many elements of a predefined one. */
typedef struct {
	MPI_Datatype type;
	int made, elements;
	long long size, extent;
} kind;

static const struct {
	MPI_Datatype type;
	int size;
} bases[] = {{MPI_CHAR, 1}, {MPI_SHORT, 2}, {MPI_INT, 4}, {MPI_DOUBLE, 8}, {MPI_LONG_LONG, 8}, {MPI_FLOAT, 4}};

static kind predefined(int base) { return (kind){bases[base].type, 0, 1, bases[base].size, bases[base].size}; }

static kind derived(int base)
{
	kind k = predefined(base);
	MPI_Datatype old = k.type, half;
	MPI_Datatype both[2] = {old, old};
	int lengths[3] = {1 + (int)draw(2), (int)draw(3), 2}, at[3] = {0, 3, 6}, sizes[2] = {3, 4}, parts[2] = {2, 3}, starts[2] = {1, 0};
	MPI_Aint bytes[3] = {0, 3 * k.size, 6 * k.size}, lb, extent;
	switch (draw(11)) {
	case 0:
	case 1:
	case 2:
		return k;
	case 3:
		k.elements = lengths[0] * 3;
		OK(MPI_Type_vector(lengths[0], 3, 4, old, &k.type));
		break;
	case 4:
		k.elements = 1 + lengths[1];
		OK(MPI_Type_contiguous(k.elements, old, &k.type));
		break;
	case 5:
		k.elements = lengths[0] + lengths[1] + 2;
		OK(MPI_Type_indexed(3, lengths, at, old, &k.type));
		break;
	case 6:
		k.elements = lengths[0] + lengths[1];
		OK(MPI_Type_create_struct(2, lengths, bytes, both, &k.type));
		break;
	case 7:
		k.elements = 2;
		OK(MPI_Type_contiguous(2, old, &half));
		OK(MPI_Type_create_resized(half, 0, 5 * k.size, &k.type));
		OK(MPI_Type_free(&half));
		break;
	case 8:
		k.elements = 6;
		OK(MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, old, &k.type));
		break;
	case 9:
		k.elements = 4;
		OK(MPI_Type_create_indexed_block(2, 2, at, old, &k.type));
		break;
	case 10:
		k.elements = 6;
		OK(MPI_Type_create_hvector(2, 3, 4 * k.size, old, &half));
		OK(MPI_Type_dup(half, &k.type));
		OK(MPI_Type_free(&half));
		break;
	}
	OK(MPI_Type_commit(&k.type));
	OK(PMPI_Type_get_extent(k.type, &lb, &extent));
	k.made = 1;
	k.extent = extent;
	k.size = bases[base].size * (long long)k.elements;
	return k;
}

static void done(kind *k)
{
	if (k->made)
		OK(MPI_Type_free(&k->type));
}

static char given[ROOM], taken[ROOM];

/* Completes requests in a way that is drawn. */
static void complete(int n, MPI_Request *requests)
{
	MPI_Status statuses[64];
	int index, flag, some, indices[64], ignored = draw(2);
	switch (draw(8)) {
	case 0:
		OK(MPI_Waitall(n, requests, ignored ? MPI_STATUSES_IGNORE : statuses));
		break;
	case 1:
		for (int i = 0; i < n; i++)
			OK(MPI_Wait(&requests[i], ignored ? MPI_STATUS_IGNORE : statuses));
		break;
	case 2:
		do
			OK(MPI_Waitany(n, requests, &index, ignored ? MPI_STATUS_IGNORE : statuses));
		while (index != MPI_UNDEFINED);
		break;
	case 3:
		do
			OK(MPI_Waitsome(n, requests, &some, indices, ignored ? MPI_STATUSES_IGNORE : statuses));
		while (some != MPI_UNDEFINED);
		break;
	case 4:
		do
			OK(MPI_Testall(n, requests, &flag, ignored ? MPI_STATUSES_IGNORE : statuses));
		while (!flag);
		break;
	case 5:
		do
			OK(MPI_Testany(n, requests, &index, &flag, ignored ? MPI_STATUS_IGNORE : statuses));
		while (!flag || index != MPI_UNDEFINED);
		break;
	case 6:
		do
			OK(MPI_Testsome(n, requests, &some, indices, ignored ? MPI_STATUSES_IGNORE : statuses));
		while (some != MPI_UNDEFINED);
		break;
	default:
		for (int i = n - 1; i >= 0; i--)
			do
				OK(MPI_Test(&requests[i], &flag, ignored ? MPI_STATUS_IGNORE : statuses));
			while (!flag);
	}
}
