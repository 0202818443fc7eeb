/*
 * Communicators of all makes, with messages and collectives inside each.
 */
#include "check.h"

/* Sends around the communicator and adds up in it. */
static void use(const char *what, MPI_Comm comm)
{
	int here, n, there, got = -1, sum = -1, inter;
	if (comm == MPI_COMM_NULL) {
		say("%s: null", what);
		return;
	}
	OK(MPI_Comm_test_inter(comm, &inter));
	OK(MPI_Comm_rank(comm, &here));
	OK(MPI_Comm_size(comm, &n));
	there = n;
	if (inter)
		OK(MPI_Comm_remote_size(comm, &there));
	int to = inter ? here : (here + 1) % n, from = inter ? here : (here + n - 1) % n;
	if (to >= there)
		to = from = MPI_PROC_NULL;
	OK(MPI_Sendrecv(&rank, 1, MPI_INT, to, 5, &got, 1, MPI_INT, from, 5, comm, MPI_STATUS_IGNORE));
	OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
	if (!inter) {
		int last = rank;
		OK(MPI_Bcast(&last, 1, MPI_INT, n - 1, comm));
		CHECK(here < n - 1 || last == rank);
	}
	say("%s: rank %d of %d, %d there; got %d, sum %d", what, here, n, there, got, sum);
}

static void duplicates(void)
{
	MPI_Comm dup, again;
	MPI_Info info;
	MPI_Request request;
	int same;
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
	OK(MPI_Comm_set_name(dup, "a duplicate"));
	use("dup", dup);
	OK(MPI_Comm_compare(dup, MPI_COMM_WORLD, &same));
	CHECK(same == MPI_CONGRUENT);
	OK(MPI_Info_create(&info));
	OK(MPI_Comm_dup_with_info(dup, info, &again));
	OK(MPI_Info_free(&info));
	OK(MPI_Comm_free(&dup));
	use("dup of a freed one", again);
	OK(MPI_Comm_idup(again, &dup, &request));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	use("idup", dup);
	OK(MPI_Comm_free(&dup));
	OK(MPI_Comm_free(&again));
	CHECK(again == MPI_COMM_NULL);
	use("self", MPI_COMM_SELF);
}

static void splits(void)
{
	MPI_Comm half, one, node, reversed;
	OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
	use("half", half);
	/* Each half splits on: what the halves make have equal names and never meet. */
	int here;
	OK(MPI_Comm_rank(half, &here));
	OK(MPI_Comm_split(half, here == 0, 0, &one));
	use("half of a half", one);
	OK(MPI_Comm_free(&one));
	OK(MPI_Comm_free(&half));
	OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed));
	use("reversed", reversed);
	OK(MPI_Comm_rank(reversed, &here));
	CHECK(here == size - 1 - rank);
	OK(MPI_Comm_free(&reversed));
	OK(MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 7, 0, &one));
	CHECK((one == MPI_COMM_NULL) == (rank == 0));
	use("all but the first", one);
	if (one != MPI_COMM_NULL)
		OK(MPI_Comm_free(&one));
	OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node));
	use("node", node);
	OK(MPI_Comm_free(&node));
}

/* The communicators have the same handle one after another, and other members. */
static void reused(void)
{
	MPI_Comm comm, before = MPI_COMM_NULL;
	int equal = 0;
	for (int round = 0; round < 4; round++) {
		OK(MPI_Comm_split(MPI_COMM_WORLD, round % 2 ? rank % 2 : 0, round < 2 ? rank : -rank, &comm));
		equal += comm == before;
		before = comm;
		use("again", comm);
		OK(MPI_Comm_free(&comm));
	}
	CHECK(equal > 0); /* the case this is for */
	say("equal handles");
}

static void groups(void)
{
	MPI_Group world, some, back, both;
	MPI_Comm comm;
	int ranges[1][3] = {{size - 1, 0, -1}}, first = 0, translated, same;
	OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
	OK(MPI_Group_excl(world, 1, &first, &some));
	OK(MPI_Comm_create(MPI_COMM_WORLD, some, &comm));
	use("create", comm);
	if (comm != MPI_COMM_NULL)
		OK(MPI_Comm_free(&comm));
	if (rank > 0) { /* only the members call this one */
		OK(MPI_Comm_create_group(MPI_COMM_WORLD, some, 42, &comm));
		use("create_group", comm);
		OK(MPI_Comm_free(&comm));
	}
	OK(MPI_Group_range_incl(world, 1, ranges, &back));
	OK(MPI_Group_translate_ranks(world, 1, &first, back, &translated));
	CHECK(translated == size - 1);
	OK(MPI_Group_union(some, world, &both));
	OK(MPI_Group_compare(both, world, &same));
	CHECK(same == (size == 1 ? MPI_IDENT : MPI_SIMILAR));
	OK(MPI_Comm_create(MPI_COMM_WORLD, back, &comm));
	use("backwards", comm);
	OK(MPI_Comm_free(&comm));
	OK(MPI_Group_free(&both));
	OK(MPI_Group_free(&back));
	OK(MPI_Group_free(&some));
	OK(MPI_Group_free(&world));
}

/* Even ranks on one side, odd ones on the other. */
static void between(void)
{
	MPI_Comm half, inter, dup, merged;
	OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
	OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 99, &inter));
	use("inter", inter);
	OK(MPI_Comm_dup(inter, &dup));
	use("dup of inter", dup);
	OK(MPI_Intercomm_merge(inter, rank % 2, &merged));
	use("merged", merged);
	int told = rank == 0 ? 5 : -1;
	OK(MPI_Bcast(&told, 1, MPI_INT, rank == 0 ? MPI_ROOT : rank % 2 ? 0 : MPI_PROC_NULL, inter));
	CHECK(told == (rank == 0 || rank % 2 ? 5 : -1));
	OK(MPI_Comm_free(&merged));
	OK(MPI_Comm_free(&dup));
	OK(MPI_Comm_free(&inter));
	OK(MPI_Comm_free(&half));
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	CHECK(size > 1);
	duplicates();
	splits();
	reused();
	groups();
	between();
	return end();
}
