/*
 * Three processes, and for each pair of them another amount of data that they
 * exchange in collective operations.
 */
#include "check.h"

int main(int argc, char **argv)
{
	int ints[64] = {0}, more[64] = {0}, zeros[3] = {0};
	double doubles[64] = {0}, sums[64] = {0};
	char chars[64] = {0}, others[64] = {0};
	begin(&argc, &argv);

	/* Process i gives process j 3·i + j integers. */
	int give[3], get[3], at[3] = {0, 16, 32};
	for (int peer = 0; peer < 3; peer++) {
		give[peer] = 3 * rank + peer;
		get[peer] = 3 * peer + rank;
	}
	OK(MPI_Alltoallv(ints, give, at, MPI_INT, more, get, at, MPI_INT, MPI_COMM_WORLD));
	int two[3] = {2, 2, 2};
	OK(MPI_Alltoallv(MPI_IN_PLACE, zeros, zeros, MPI_INT, more, two, at, MPI_INT, MPI_COMM_WORLD));

	/* The root has its part already. */
	int parts[3] = {1, 2, 3};
	OK(MPI_Gatherv(rank == 1 ? MPI_IN_PLACE : doubles, rank + 1, MPI_DOUBLE, sums, parts, at, MPI_DOUBLE, 1, MPI_COMM_WORLD));
	OK(MPI_Scatter(chars, 7, MPI_CHAR, rank == 0 ? MPI_IN_PLACE : others, 7, MPI_CHAR, 0, MPI_COMM_WORLD));

	/* Six integers with gaps between them. */
	MPI_Datatype vector;
	OK(MPI_Type_vector(2, 3, 5, MPI_INT, &vector));
	OK(MPI_Type_commit(&vector));
	OK(MPI_Bcast(ints, 1, vector, 2, MPI_COMM_WORLD));
	OK(MPI_Type_free(&vector));

	for (int i = 0; i < 5; i++)
		OK(MPI_Allreduce(doubles, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
	OK(MPI_Scan(ints, more, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	OK(MPI_Reduce_scatter(ints, more, parts, MPI_INT, MPI_SUM, MPI_COMM_WORLD));

	/* Processes 2 and 0, and process 1 alone. */
	MPI_Comm half, between, ring;
	MPI_Request request;
	OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half));
	OK(MPI_Iallgather(chars, 3, MPI_CHAR, others, 3, MPI_CHAR, half, &request));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 1 ? 2 : 1, 1, &between));
	OK(MPI_Allgather(chars, 5, MPI_CHAR, others, 5, MPI_CHAR, between));

	int dims[1] = {3}, periods[1] = {1};
	OK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring));
	OK(MPI_Neighbor_alltoall(ints, 2, MPI_INT, more, 2, MPI_INT, ring));
	OK(MPI_Barrier(ring));

	OK(MPI_Comm_free(&ring));
	OK(MPI_Comm_free(&between));
	OK(MPI_Comm_free(&half));
	return end();
}
