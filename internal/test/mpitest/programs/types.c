/*
 * Derived datatypes of every constructor, sent to the next rank.
 */
#include "check.h"

enum { N = 64 };

static int next, previous;

/* Sends one element of a type from one array of integers and receives it into
   another: the two agree where the type has data. */
static void exchange(const char *what, MPI_Datatype type)
{
	int out[N], in[N], bytes;
	MPI_Aint lower, extent, true_lower, true_extent;
	MPI_Status status = untouched();
	for (int i = 0; i < N; i++) {
		out[i] = 1000 * rank + i;
		in[i] = -1;
	}
	OK(MPI_Type_commit(&type));
	OK(MPI_Type_size(type, &bytes));
	OK(MPI_Type_get_extent(type, &lower, &extent));
	OK(MPI_Type_get_true_extent(type, &true_lower, &true_extent));
	OK(MPI_Sendrecv(out, 1, type, next, 1, in, 1, type, previous, 1, MPI_COMM_WORLD, &status));
	int n = 0, elements = -1;
	for (int i = 0; i < N; i++) {
		CHECK(in[i] == -1 || in[i] == 1000 * previous + i);
		n += in[i] != -1;
	}
	CHECK(n * (int)sizeof(int) == bytes);
	OK(MPI_Get_elements(&status, type, &elements));
	say("%s: %d bytes, lower bound %ld, extent %ld, true %ld %ld, %d elements", what, bytes, (long)lower, (long)extent,
		(long)true_lower, (long)true_extent, elements);
	say_status(what, &status, type);
	OK(MPI_Type_free(&type));
	CHECK(type == MPI_DATATYPE_NULL);
}

static void constructors(void)
{
	MPI_Datatype type, other;
	int lengths[3] = {1, 2, 3}, displs[3] = {0, 4, 9};
	MPI_Aint bytes[3] = {0, 4 * sizeof(int), 9 * sizeof(int)};
	OK(MPI_Type_contiguous(5, MPI_INT, &type));
	exchange("contiguous", type);
	OK(MPI_Type_vector(4, 2, 5, MPI_INT, &type));
	exchange("vector", type);
	OK(MPI_Type_create_hvector(3, 1, 3 * sizeof(int), MPI_INT, &type));
	exchange("hvector", type);
	OK(MPI_Type_indexed(3, lengths, displs, MPI_INT, &type));
	exchange("indexed", type);
	OK(MPI_Type_create_hindexed(3, lengths, bytes, MPI_INT, &type));
	exchange("hindexed", type);
	OK(MPI_Type_create_indexed_block(3, 2, displs, MPI_INT, &type));
	exchange("indexed_block", type);
	OK(MPI_Type_create_hindexed_block(3, 2, bytes, MPI_INT, &type));
	exchange("hindexed_block", type);
	OK(MPI_Type_create_struct(3, lengths, bytes, (MPI_Datatype[]){MPI_INT, MPI_INT, MPI_INT}, &type));
	exchange("struct", type);
	OK(MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &other));
	OK(MPI_Type_contiguous(4, other, &type));
	OK(MPI_Type_free(&other));
	exchange("resized", type);
	OK(MPI_Type_create_subarray(2, (int[]){4, 6}, (int[]){2, 3}, (int[]){1, 2}, MPI_ORDER_C, MPI_INT, &type));
	exchange("subarray", type);
	OK(MPI_Type_create_darray(2, 0, 2, (int[]){4, 4}, (int[]){MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC},
		(int[]){MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, (int[]){2, 1}, MPI_ORDER_C, MPI_INT, &type));
	exchange("darray", type);
	OK(MPI_Type_dup(MPI_INT, &type));
	OK(MPI_Type_set_name(type, "an integer"));
	exchange("dup", type);
	OK(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, sizeof(int), &type));
	CHECK(type != MPI_DATATYPE_NULL);
}

/* A structure at its place in memory. */
static void absolute(void)
{
	struct { int number; double values[2]; char name[8]; } out = {rank, {rank + 0.5, 2}, "abc"}, in = {-1, {0, 0}, ""};
	MPI_Datatype types[3] = {MPI_INT, MPI_DOUBLE, MPI_CHAR}, sent, received;
	int lengths[3] = {1, 2, 8};
	MPI_Aint at[3];
	OK(MPI_Get_address(&out.number, &at[0]));
	OK(MPI_Get_address(out.values, &at[1]));
	OK(MPI_Get_address(out.name, &at[2]));
	CHECK(MPI_Aint_diff(at[1], at[0]) == (char *)out.values - (char *)&out.number);
	OK(MPI_Type_create_struct(3, lengths, at, types, &sent));
	OK(MPI_Get_address(&in.number, &at[0]));
	OK(MPI_Get_address(in.values, &at[1]));
	OK(MPI_Get_address(in.name, &at[2]));
	OK(MPI_Type_create_struct(3, lengths, at, types, &received));
	OK(MPI_Type_commit(&sent));
	OK(MPI_Type_commit(&received));
	OK(MPI_Sendrecv(MPI_BOTTOM, 1, sent, next, 2, MPI_BOTTOM, 1, received, previous, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	CHECK(in.number == previous && in.values[0] == previous + 0.5 && !strcmp(in.name, "abc"));
	if (rank == 0)
		in.number = 99;
	OK(MPI_Bcast(MPI_BOTTOM, 1, received, 0, MPI_COMM_WORLD));
	CHECK(in.number == 99);
	OK(MPI_Type_free(&sent));
	OK(MPI_Type_free(&received));
}

static void packing(void)
{
	char buffer[256], outside[256];
	int position = 0, n, size1, number = -1;
	double value = -1;
	OK(MPI_Pack_size(1, MPI_DOUBLE, MPI_COMM_WORLD, &size1));
	OK(MPI_Pack(&rank, 1, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
	OK(MPI_Pack(&(double){rank / 4.0}, 1, MPI_DOUBLE, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
	n = position;
	OK(MPI_Sendrecv_replace(buffer, n, MPI_PACKED, next, 3, previous, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	position = 0;
	OK(MPI_Unpack(buffer, n, &position, &number, 1, MPI_INT, MPI_COMM_WORLD));
	OK(MPI_Unpack(buffer, n, &position, &value, 1, MPI_DOUBLE, MPI_COMM_WORLD));
	CHECK(number == previous && value == previous / 4.0 && position == n);
	MPI_Aint at = 0, external = 0;
	OK(MPI_Pack_external_size("external32", 2, MPI_INT, &external));
	OK(MPI_Pack_external("external32", (int[]){1, 2}, 2, MPI_INT, outside, sizeof outside, &at));
	CHECK(at == external && outside[3] == 1 && outside[7] == 2);
	int two[2];
	at = 0;
	OK(MPI_Unpack_external("external32", outside, sizeof outside, &at, two, 2, MPI_INT));
	CHECK(two[0] == 1 && two[1] == 2);
	say("packed %d, %d for a double, external %ld", n, size1, (long)external);
}

static void contents(void)
{
	MPI_Datatype vector, type, of[1];
	int integers, addresses, types, combiner, numbers[3], predefined;
	MPI_Aint none[1];
	OK(MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &vector));
	OK(MPI_Type_create_resized(vector, 0, 64, &type));
	OK(MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner));
	CHECK(combiner == MPI_COMBINER_RESIZED && integers == 0 && addresses == 2 && types == 1);
	MPI_Aint bounds[2];
	OK(MPI_Type_get_contents(type, 0, 2, 1, numbers, bounds, of));
	CHECK(bounds[0] == 0 && bounds[1] == 64);
	OK(MPI_Type_get_contents(of[0], 3, 0, 1, numbers, none, (MPI_Datatype[1]){MPI_DATATYPE_NULL}));
	say_ints("vector", numbers, 3);
	OK(MPI_Type_free(&of[0]));
	OK(MPI_Type_get_envelope(MPI_DOUBLE, &integers, &addresses, &types, &predefined));
	CHECK(predefined == MPI_COMBINER_NAMED);
	OK(MPI_Type_free(&type));
	OK(MPI_Type_free(&vector));
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	next = (rank + 1) % size;
	previous = (rank + size - 1) % size;
	constructors();
	absolute();
	packing();
	contents();
	return end();
}
