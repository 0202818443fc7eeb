/*
 * The blocking collectives, with and without MPI_IN_PLACE, with arguments that
 * count at the root only.
 */
#include "check.h"

enum { MOST = 16 };

static void rooted(int root)
{
	int value = 100 + rank, all[MOST], counts[MOST], displs[MOST], part[MOST];
	int here = rank == root;
	for (int i = 0; i < size; i++) {
		counts[i] = i + 1;
		displs[i] = i * (i + 1) / 2;
	}
	int n = size * (size + 1) / 2, *packed = calloc(n, sizeof *packed);

	int told = here ? 4711 : 0;
	OK(MPI_Bcast(&told, 1, MPI_INT, root, MPI_COMM_WORLD));
	CHECK(told == 4711);

	/* What does not count need not be valid. */
	OK(MPI_Gather(&value, 1, MPI_INT, here ? all : NULL, here ? 1 : -99, here ? MPI_INT : MPI_DATATYPE_NULL, root, MPI_COMM_WORLD));
	for (int i = 0; here && i < size; i++)
		CHECK(all[i] == 100 + i);
	if (here)
		all[rank] = 200 + rank;
	value = 200 + rank;
	OK(MPI_Gather(here ? MPI_IN_PLACE : &value, 1, MPI_INT, all, 1, MPI_INT, root, MPI_COMM_WORLD));
	for (int i = 0; here && i < size; i++)
		CHECK(all[i] == 200 + i);

	for (int i = 0; i <= rank; i++)
		part[i] = 10 * rank + i;
	OK(MPI_Gatherv(part, rank + 1, MPI_INT, here ? packed : NULL, here ? counts : NULL, here ? displs : NULL, MPI_INT, root, MPI_COMM_WORLD));
	for (int i = 0; here && i < size; i++)
		CHECK(packed[displs[i]] == 10 * i && packed[displs[i] + i] == 11 * i);
	if (here)
		say_ints("gatherv", packed, n);

	memset(part, 0, sizeof part);
	OK(MPI_Scatterv(packed, here ? counts : NULL, here ? displs : NULL, MPI_INT, part, rank + 1, MPI_INT, root, MPI_COMM_WORLD));
	CHECK(part[0] == 10 * rank && part[rank] == 11 * rank);
	OK(MPI_Scatter(here ? all : NULL, 1, MPI_INT, here ? MPI_IN_PLACE : &value, 1, MPI_INT, root, MPI_COMM_WORLD));
	CHECK(value == 200 + rank);

	double mine[2] = {rank, -rank}, result[2] = {-1, -1};
	OK(MPI_Reduce(mine, here ? result : NULL, 2, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD));
	CHECK(!here || (result[0] == size * (size - 1) / 2 && result[1] == -result[0]));
	OK(MPI_Reduce(here ? MPI_IN_PLACE : mine, mine, 2, MPI_DOUBLE, MPI_MAX, root, MPI_COMM_WORLD));
	CHECK(!here || (mine[0] == size - 1 && mine[1] == 0));
	free(packed);
}

static void all_to_all(void)
{
	int value = rank * rank, all[MOST], out[MOST], in[MOST], counts[MOST], displs[MOST];
	MPI_Datatype types[MOST];
	OK(MPI_Allgather(&value, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
	say_ints("allgather", all, size);
	for (int i = 0; i < size; i++) {
		CHECK(all[i] == i * i);
		all[i] = i == rank ? rank + 50 : -1;
		counts[i] = 1;
		displs[i] = size - 1 - i;
	}
	OK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD));
	for (int i = 0; i < size; i++)
		CHECK(all[i] == i + 50);
	OK(MPI_Allgatherv(&value, 1, MPI_INT, all, counts, displs, MPI_INT, MPI_COMM_WORLD));
	for (int i = 0; i < size; i++)
		CHECK(all[displs[i]] == i * i);

	for (int i = 0; i < size; i++)
		out[i] = in[i] = 100 * rank + i;
	OK(MPI_Alltoall(out, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
	OK(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, MPI_INT, MPI_COMM_WORLD));
	for (int i = 0; i < size; i++)
		CHECK(all[i] == 100 * i + rank && in[i] == all[i]);
	OK(MPI_Alltoallv(out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, MPI_COMM_WORLD));
	say_ints("alltoallv", in, size);
	for (int i = 0; i < size; i++)
		CHECK(in[displs[i]] == 100 * i + displs[rank]);
	for (int i = 0; i < size; i++) {
		displs[i] *= sizeof(int);
		types[i] = MPI_INT;
	}
	memset(in, 0, sizeof in);
	OK(MPI_Alltoallw(out, counts, displs, types, in, counts, displs, types, MPI_COMM_WORLD));
	say_ints("alltoallw", in, size);
}

/* Keeps the first of its operands: not commutative. */
static void keep_first(void *in, void *inout, int *n, MPI_Datatype *type)
{
	CHECK(*type == MPI_INT);
	memcpy(inout, in, *n * sizeof(int));
}

static void reductions(void)
{
	int mine[MOST], all[MOST], counts[MOST], got = -1;
	MPI_Op first;
	for (int i = 0; i < size; i++) {
		mine[i] = rank + i;
		counts[i] = 1;
	}
	OK(MPI_Allreduce(mine, all, size, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	for (int i = 0; i < size; i++)
		CHECK(all[i] == size * (size - 1) / 2 + i * size);
	OK(MPI_Allreduce(MPI_IN_PLACE, all, size, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
	OK(MPI_Reduce_scatter(mine, &got, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	CHECK(got == size * (size - 1) / 2 + rank * size);
	OK(MPI_Reduce_scatter_block(mine, &got, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
	CHECK(got == size - 1 + rank);
	OK(MPI_Scan(&rank, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	CHECK(got == rank * (rank + 1) / 2);
	got = -5;
	OK(MPI_Exscan(&rank, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	CHECK(got == (rank ? rank * (rank - 1) / 2 : -5));

	struct { double value; int index; } pair = {(rank * 7) % 5, rank}, most;
	OK(MPI_Allreduce(&pair, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD));
	say("most %g at %d", most.value, most.index);

	int commutes = -1, a = 1, b = 2;
	OK(MPI_Op_create(keep_first, 0, &first));
	OK(MPI_Allreduce(&rank, &got, 1, MPI_INT, first, MPI_COMM_WORLD));
	CHECK(got == 0);
	OK(MPI_Reduce_local(&a, &b, 1, MPI_INT, first));
	OK(MPI_Op_commutative(first, &commutes));
	CHECK(b == 1 && commutes == 0);
	OK(MPI_Op_free(&first));
	CHECK(first == MPI_OP_NULL);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	CHECK(size <= MOST);
	OK(MPI_Barrier(MPI_COMM_WORLD));
	for (int root = 0; root < size; root++)
		rooted(root);
	all_to_all();
	reductions();
	return end();
}
