/*
 * Cartesian and graph topologies, and ranks in them.
 */
#include "check.h"

enum { MOST = 16 };

static void cartesian(void)
{
	MPI_Comm grid, row, other;
	int dims[2] = {0, 0}, periods[2] = {0, 1}, coords[2], kind, n, where, low, high, got = -1;
	OK(MPI_Dims_create(size, 2, dims));
	say_ints("dims", dims, 2);
	for (int reorder = 0; reorder < 2; reorder++) {
		OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, reorder, &grid));
		OK(MPI_Topo_test(grid, &kind));
		OK(MPI_Cartdim_get(grid, &n));
		CHECK(kind == MPI_CART && n == 2);
		int here, d[2], p[2];
		OK(MPI_Cart_get(grid, 2, d, p, coords));
		OK(MPI_Cart_rank(grid, coords, &where));
		OK(MPI_Comm_rank(grid, &here));
		CHECK(where == here && d[0] == dims[0] && p[1] == 1);
		OK(MPI_Cart_coords(grid, here, 2, coords));
		say_ints("coords", coords, 2);
		for (int dimension = 0; dimension < 2; dimension++) {
			OK(MPI_Cart_shift(grid, dimension, 1, &low, &high));
			CHECK(dimension == 1 || coords[0] > 0 || low == MPI_PROC_NULL);
			got = -1;
			OK(MPI_Sendrecv(&here, 1, MPI_INT, high, 1, &got, 1, MPI_INT, low, 1, grid, MPI_STATUS_IGNORE));
			CHECK(got == (low == MPI_PROC_NULL ? -1 : low));
		}
		OK(MPI_Cart_sub(grid, (int[]){0, 1}, &row));
		OK(MPI_Allreduce(&here, &got, 1, MPI_INT, MPI_SUM, row));
		say("sum of a row %d", got);
		OK(MPI_Comm_free(&row));
		OK(MPI_Comm_free(&grid));
	}
	/* A grid that leaves the last rank out. */
	dims[0] = size - 1;
	OK(MPI_Cart_map(MPI_COMM_WORLD, 1, dims, periods, &where));
	OK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &other));
	CHECK((other == MPI_COMM_NULL) == (rank == size - 1));
	if (other != MPI_COMM_NULL) {
		OK(MPI_Barrier(other));
		OK(MPI_Comm_free(&other));
	}
}

/* A star: the first rank is the neighbour of all others. */
static void graph(void)
{
	int index[MOST], edges[2 * MOST], n = 0, nodes, count, list[MOST], from[MOST];
	MPI_Comm star;
	for (int i = 0; i < size; i++) {
		for (int j = i ? 0 : 1; j < (i ? 1 : size); j++)
			edges[n++] = j;
		index[i] = n;
	}
	OK(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &star));
	OK(MPI_Graphdims_get(star, &nodes, &count));
	CHECK(nodes == size && count == n);
	OK(MPI_Graph_get(star, nodes, count, index, edges));
	OK(MPI_Graph_neighbors_count(star, rank, &count));
	CHECK(count == (rank ? 1 : size - 1));
	OK(MPI_Graph_neighbors(star, rank, count, list));
	say_ints("neighbours", list, count);
	OK(MPI_Neighbor_allgather(&rank, 1, MPI_INT, from, 1, MPI_INT, star));
	for (int i = 0; i < count; i++)
		CHECK(from[i] == list[i]);
	OK(MPI_Comm_free(&star));
}

static void distributed(void)
{
	int next = (rank + 1) % size, previous = (rank + size - 1) % size, in, out, weighted, weights[2] = {1, 2};
	int from = -1, from_nobody[1], sources[MOST], targets[MOST], w1[MOST], w2[MOST];
	MPI_Comm ring, star, none;
	OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &previous, weights, 1, &next, weights + 1, MPI_INFO_NULL, 0, &ring));
	OK(MPI_Dist_graph_neighbors_count(ring, &in, &out, &weighted));
	CHECK(in == 1 && out == 1 && weighted);
	OK(MPI_Dist_graph_neighbors(ring, 1, sources, w1, 1, targets, w2));
	say("from %d by %d, to %d by %d", sources[0], w1[0], targets[0], w2[0]);
	OK(MPI_Neighbor_allgather(&rank, 1, MPI_INT, &from, 1, MPI_INT, ring));
	CHECK(from == previous);
	OK(MPI_Comm_free(&ring));

	/* The first rank describes the whole graph, edges from it to all others. */
	int source = 0, degree = size - 1, to[MOST];
	for (int i = 1; i < size; i++)
		to[i - 1] = i;
	OK(MPI_Dist_graph_create(MPI_COMM_WORLD, rank == 0, &source, &degree, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &star));
	OK(MPI_Dist_graph_neighbors_count(star, &in, &out, &weighted));
	CHECK(in == (rank > 0) && out == (rank ? 0 : size - 1) && !weighted);
	from = -1;
	OK(MPI_Neighbor_allgather(&rank, 1, MPI_INT, &from, 1, MPI_INT, star));
	CHECK(from == (rank ? 0 : -1));
	OK(MPI_Comm_free(&star));

	OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &none));
	OK(MPI_Neighbor_allgather(&rank, 1, MPI_INT, from_nobody, 1, MPI_INT, none));
	OK(MPI_Comm_free(&none));
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	CHECK(size <= MOST && size > 1);
	cartesian();
	graph();
	distributed();
	return end();
}
