/* The calls of stencils, and calls in the patterns of the NAS benchmarks CG, LU and BT, of one problem on any number of ranks.
   Nothing is computed. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static double *out, *in; /* buffers, as large as the largest message */

static void sum(int count)
{
	MPI_Allreduce(MPI_IN_PLACE, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* stencil exchanges the rims of a plane in a grid of MPI_Cart_create. */
static void stencil(int steps, int wraps)
{
	enum { n = 256, dimensions = 2 };
	MPI_Comm grid;
	int dims[dimensions] = {0}, wrap[dimensions] = {wraps, wraps}, at[dimensions], neighbour[2 * dimensions], rim[dimensions];
	MPI_Dims_create(size, dimensions, dims);
	MPI_Cart_create(MPI_COMM_WORLD, dimensions, dims, wrap, 0, &grid);
	MPI_Cart_coords(grid, rank, dimensions, at);
	for (int d = 0; d < dimensions; d++) {
		MPI_Cart_shift(grid, d, 1, &neighbour[2 * d], &neighbour[2 * d + 1]);
		rim[d] = n / dims[1 - d];
	}
	for (int step = 0; step < steps; step++) {
		MPI_Request requests[4 * dimensions];
		for (int i = 0; i < 2 * dimensions; i++)
			MPI_Irecv(in, rim[i / 2], MPI_DOUBLE, neighbour[i], i % 2, grid, &requests[i]);
		for (int i = 0; i < 2 * dimensions; i++)
			MPI_Isend(out, rim[i / 2], MPI_DOUBLE, neighbour[i], 1 - i % 2, grid, &requests[2 * dimensions + i]);
		MPI_Waitall(4 * dimensions, requests, MPI_STATUSES_IGNORE);
		MPI_Allreduce(MPI_IN_PLACE, out, 1, MPI_DOUBLE, MPI_MAX, grid);
	}
	MPI_Comm_free(&grid);
}

static void torus(int steps) { stencil(steps, 1); }
static void plane(int steps) { stencil(steps, 0); }

static void exchange(int count, int peer, int tag)
{
	MPI_Request request;
	MPI_Irecv(in, count, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD, &request);
	MPI_Send(out, count, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* cg adds vectors up along the rows of a square of ranks in a butterfly, and gives them to the transposed rank. */
static void cg(int steps)
{
	enum { n = 1 << 14, inner = 5 };
	int columns = 1, levels = 0;
	while (columns * columns < size)
		columns *= 2, levels++;
	int rows = size / columns, row = rank / columns, column = rank % columns;
	int transposed = columns == rows ? column * columns + row : 2 * (rank / 2 % rows * rows + rank / 2 / rows) + rank % 2;
	for (int step = 0; step < steps; step++) {
		for (int i = 0; i < inner; i++) {
			for (int k = levels; k > 0; k--)
				exchange(n / rows, row * columns + (column ^ 1 << (k - 1)), 1);
			exchange(n / columns, transposed, 2);
			for (int k = 0; k < levels; k++)
				exchange(1, row * columns + (column ^ 1 << k), 3);
		}
		for (int k = 0; k < levels; k++)
			exchange(2, row * columns + (column ^ 1 << k), 4);
		sum(1);
	}
}

/* part is how many of n things the one at a place has. */
static int part(int n, int parts, int at) { return n / parts + (at < n % parts); }

/* lu goes through planes in wavefronts, from one corner and back, and exchanges the rims of all planes then. */
static void lu(int steps)
{
	enum { n = 102, planes = 10 };
	int columns = 1, rows = 1;
	while (columns * rows < size)
		if (columns == rows)
			columns *= 2;
		else
			rows *= 2;
	int row = rank / columns, column = rank % columns, high = part(n, rows, row), wide = part(n, columns, column);
	int north = row > 0 ? rank - columns : -1, south = row < rows - 1 ? rank + columns : -1;
	int west = column > 0 ? rank - 1 : -1, east = column < columns - 1 ? rank + 1 : -1;
	for (int step = 0; step < steps; step++) {
		for (int back = 0; back <= 1; back++) {
			int from[2] = {back ? south : north, back ? east : west}, to[2] = {back ? north : south, back ? west : east};
			int count[2] = {5 * wide, 5 * high};
			for (int k = 1; k < planes - 1; k++) {
				for (int d = 0; d < 2; d++)
					if (from[d] >= 0)
						MPI_Recv(in, count[d], MPI_DOUBLE, from[d], 2 * back + d, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				for (int d = 0; d < 2; d++)
					if (to[d] >= 0)
						MPI_Send(out, count[d], MPI_DOUBLE, to[d], 2 * back + d, MPI_COMM_WORLD);
			}
		}
		int rim[4] = {10 * wide * planes, 10 * wide * planes, 10 * high * planes, 10 * high * planes}, peers[4] = {south, north, east, west};
		for (int d = 0; d < 4; d++) {
			MPI_Request request;
			if (peers[d ^ 1] >= 0)
				MPI_Irecv(in, rim[d], MPI_DOUBLE, peers[d ^ 1], 10 + d, MPI_COMM_WORLD, &request);
			if (peers[d] >= 0)
				MPI_Send(out, rim[d], MPI_DOUBLE, peers[d], 10 + d, MPI_COMM_WORLD);
			if (peers[d ^ 1] >= 0)
				MPI_Wait(&request, MPI_STATUS_IGNORE);
		}
		sum(5);
	}
}

/* bt sweeps over the cells of a multipartition: each rank of a square has one in each plane of each direction. */
static void bt(int steps)
{
	enum { n = 96, faces = 5 };
	int side = 1;
	while ((side + 1) * (side + 1) <= size)
		side++;
	MPI_Comm active;
	MPI_Comm_split(MPI_COMM_WORLD, rank >= side * side, rank, &active);
	int row = rank / side, column = rank % side, face = n / side * (n / side), next[3], before[3];
	static const int down[3] = {0, 1, -1}, right[3] = {1, 0, -1};
	for (int d = 0; d < 3; d++) {
		next[d] = (row + side + down[d]) % side * side + (column + side + right[d]) % side;
		before[d] = (row + side - down[d]) % side * side + (column + side - right[d]) % side;
	}
	for (int step = 0; step < steps; step++) {
		MPI_Request requests[12];
		for (int d = 0; d < 3; d++) {
			MPI_Irecv(in, faces * 2 * face * side, MPI_DOUBLE, before[d], 2 * d, active, &requests[2 * d]);
			MPI_Irecv(in, faces * 2 * face * side, MPI_DOUBLE, next[d], 2 * d + 1, active, &requests[2 * d + 1]);
		}
		for (int d = 0; d < 3; d++) {
			MPI_Isend(out, faces * 2 * face * side, MPI_DOUBLE, next[d], 2 * d, active, &requests[6 + 2 * d]);
			MPI_Isend(out, faces * 2 * face * side, MPI_DOUBLE, before[d], 2 * d + 1, active, &requests[6 + 2 * d + 1]);
		}
		MPI_Waitall(12, requests, MPI_STATUSES_IGNORE);
		for (int d = 0; d < 3; d++)
			for (int back = 0; back <= 1; back++)
				for (int stage = 0; stage < side; stage++) {
					int from = back ? next[d] : before[d], to = back ? before[d] : next[d], count = face * (back ? faces : faces * faces + faces);
					if (stage > 0) { /* what was sent in the last one is on its way, too */
						MPI_Irecv(in, count, MPI_DOUBLE, from, 10 + d, active, &requests[0]);
						MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
					}
					if (stage < side - 1)
						MPI_Isend(out, count, MPI_DOUBLE, to, 10 + d, active, &requests[1]);
				}
		MPI_Reduce(step % 2 ? out : in, step % 2 ? in : out, 5, MPI_DOUBLE, MPI_SUM, 0, active);
	}
	MPI_Comm_free(&active);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(int steps);
	} patterns[] = {{"torus", torus}, {"plane", plane}, {"cg", cg}, {"lu", lu}, {"bt", bt}};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	out = calloc(1 << 18, sizeof *out), in = calloc(1 << 18, sizeof *in);
	for (unsigned i = 0; argc == 3 && i < sizeof patterns / sizeof *patterns; i++)
		if (strcmp(argv[1], patterns[i].name) == 0)
			patterns[i].run(atoi(argv[2]));
	free(out), free(in);
	MPI_Finalize();
	return 0;
}
