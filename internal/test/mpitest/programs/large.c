/*
 * The functions with large counts.
 */
#include "check.h"

enum { N = 4 };

#if MPI_VERSION >= 4
static void messages(void)
{
	int next = (rank + 1) % size, previous = (rank + size - 1) % size, out[N] = {rank, 1, 2, 3}, in[N];
	MPI_Count count = -1;
	MPI_Request pair[2];
	MPI_Status status = untouched();
	OK(MPI_Irecv_c(in, N, MPI_INT, previous, 1, MPI_COMM_WORLD, &pair[0]));
	OK(MPI_Isend_c(out, N, MPI_INT, next, 1, MPI_COMM_WORLD, &pair[1]));
	OK(MPI_Wait(&pair[0], &status));
	OK(MPI_Wait(&pair[1], MPI_STATUS_IGNORE));
	OK(MPI_Get_count_c(&status, MPI_INT, &count));
	CHECK(count == N && in[0] == previous);
	OK(MPI_Sendrecv_c(out, 2, MPI_INT, next, 2, in, N, MPI_INT, previous, 2, MPI_COMM_WORLD, &status));
	OK(MPI_Get_elements_c(&status, MPI_INT, &count));
	CHECK(count == 2);
	if (rank == 0)
		OK(MPI_Send_c(out, 1, MPI_INT, 1, 3, MPI_COMM_WORLD));
	if (rank == 1)
		OK(MPI_Recv_c(in, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void collectives(void)
{
	int sum = -1, told = rank ? 0 : 9, out[16], in[16];
	MPI_Count counts[16];
	MPI_Aint displs[16];
	for (int i = 0; i < size; i++) {
		counts[i] = 1;
		displs[i] = size - 1 - i;
		out[i] = 10 * rank + i;
	}
	OK(MPI_Bcast_c(&told, 1, MPI_INT, 0, MPI_COMM_WORLD));
	OK(MPI_Allreduce_c(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	OK(MPI_Alltoallv_c(out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, MPI_COMM_WORLD));
	CHECK(told == 9 && sum == size * (size - 1) / 2 && in[displs[0]] == displs[rank]);
	OK(MPI_Allgatherv_c(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, (in[displs[rank]] = rank, in), counts, displs, MPI_INT, MPI_COMM_WORLD));
	say_ints("allgatherv", in, size);
}

/* More elements than an int can count. */
static void types(void)
{
	MPI_Datatype huge, vector, struct_type;
	MPI_Count n = (MPI_Count)3 << 30, bytes = -1, lower, extent, lengths[2] = {1, 2}, at[2] = {0, 8}, c[4], d[4], e[2];
	MPI_Count integers, addresses, counts, kinds;
	int combiner;
	MPI_Datatype of[1];
	OK(MPI_Type_contiguous_c(n, MPI_INT, &huge));
	OK(MPI_Type_size_c(huge, &bytes));
	OK(MPI_Type_get_extent_c(huge, &lower, &extent));
	CHECK(bytes == 4 * n && lower == 0 && extent == bytes);
	OK(MPI_Type_get_envelope_c(huge, &integers, &addresses, &counts, &kinds, &combiner));
	say("envelope: %ld %ld %ld %ld", (long)integers, (long)addresses, (long)counts, (long)kinds);
	OK(MPI_Type_get_contents_c(huge, integers, addresses, counts, kinds, (int *)c, (MPI_Aint *)d, e, of));
	OK(MPI_Type_vector_c(2, 3, 5, MPI_INT, &vector));
	OK(MPI_Type_create_struct_c(2, lengths, at, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &struct_type));
	OK(MPI_Type_size_c(struct_type, &bytes));
	CHECK(bytes == 20);
	OK(MPI_Type_free(&huge));
	OK(MPI_Type_free(&vector));
	OK(MPI_Type_free(&struct_type));
}
#else
static void messages(void)
{
	int next = (rank + 1) % size, previous = (rank + size - 1) % size, in[N], out[N] = {0};
	MPI_Count count = -1;
	MPI_Status status = untouched();
	OK(MPI_Sendrecv(out, 3, MPI_INT, next, 2, in, N, MPI_INT, previous, 2, MPI_COMM_WORLD, &status));
	OK(MPI_Get_elements_x(&status, MPI_INT, &count));
	CHECK(count == 3);
	OK(MPI_Status_set_elements_x(&status, MPI_INT, (MPI_Count)1 << 33));
	OK(MPI_Get_elements_x(&status, MPI_INT, &count));
	CHECK(count == (MPI_Count)1 << 33);
}

static void collectives(void) {}

static void types(void)
{
	MPI_Datatype large, huge;
	MPI_Count bytes = -1, lower = -1, extent = -1;
	OK(MPI_Type_contiguous(1 << 30, MPI_INT, &large));
	OK(MPI_Type_contiguous(3, large, &huge));
	OK(MPI_Type_size_x(huge, &bytes));
	OK(MPI_Type_get_extent_x(huge, &lower, &extent));
	CHECK(bytes == (MPI_Count)12 << 30 && lower == 0 && extent == bytes);
	OK(MPI_Type_get_true_extent_x(huge, &lower, &extent));
	CHECK(lower == 0 && extent == bytes);
	OK(MPI_Type_free(&huge));
	OK(MPI_Type_free(&large));
}
#endif

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	CHECK(size > 1);
	messages();
	collectives();
	types();
	return end();
}
