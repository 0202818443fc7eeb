/* Programs that are unlike those of lines and grids: mixed NAME. */
#include "kernel.h"
#include <stdio.h>

static int counts[512], displs[512];

static int square(int n)
{
	int side = 1;
	while ((side + 1) * (side + 1) <= n)
		side++;
	return side;
}

static void swap(int count, int to, int from, int tag)
{
	MPI_Sendrecv(out, count, MPI_DOUBLE, to, tag, in, count, MPI_DOUBLE, from, tag, WORLD, NONE);
}

/* layers multiplies matrices on two layers of a square. */
static void layers(void)
{
	int depth = 2, side = square(size / depth), layer = rank / (side * side), place = rank % (side * side);
	int row = place / side, column = place % side, part = 240 / side;
	MPI_Comm across, along;
	MPI_Comm_split(WORLD, place, layer, &across);
	MPI_Comm_split(WORLD, layer, place, &along);
	MPI_Bcast(out, part * part, MPI_DOUBLE, 0, across);
	for (int k = 0; k < side / depth; k++) {
		MPI_Sendrecv_replace(out, part * part, MPI_DOUBLE, row * side + (column + side - 1) % side, 1,
			row * side + (column + 1) % side, 1, along, NONE);
		MPI_Sendrecv_replace(in, part * part, MPI_DOUBLE, (row + side - 1) % side * side + column, 2,
			(row + 1) % side * side + column, 2, along, NONE);
	}
	MPI_Reduce(out, in, part * part, MPI_DOUBLE, MPI_SUM, 0, across);
	MPI_Comm_free(&across);
	MPI_Comm_free(&along);
}

/* redblack has two colours of points in each iteration. */
static void redblack(void)
{
	int columns = square(size);
	while (size % columns)
		columns--;
	int rows = size / columns, x = rank % columns, y = rank / columns, nx = 840 / columns, ny = 840 / rows;
	int up = y > 0 ? rank - columns : MPI_PROC_NULL, down = y < rows - 1 ? rank + columns : MPI_PROC_NULL;
	int left = x > 0 ? rank - 1 : MPI_PROC_NULL, right = x < columns - 1 ? rank + 1 : MPI_PROC_NULL;
	for (int i = 0; i < 6; i++)
		for (int colour = 0; colour < 2; colour++) {
			swap(nx / 2, up, down, colour);
			swap(nx / 2, down, up, colour);
			swap(ny / 2, left, right, colour);
			swap(ny / 2, right, left, colour);
			if (colour)
				MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_MAX, WORLD);
		}
}

/* sweeps are wavefronts from all four corners, in blocks of planes. */
static void sweeps(void)
{
	int extents[2] = {0};
	MPI_Dims_create(size, 2, extents);
	int px = extents[0], py = extents[1], x = rank / py, y = rank % py;
	for (int corner = 0; corner < 4; corner++) {
		int dx = corner & 1 ? -1 : 1, dy = corner & 2 ? -1 : 1;
		for (int k = 0; k < 8; k++) {
			if (x - dx >= 0 && x - dx < px)
				MPI_Recv(in, 240 / py, MPI_DOUBLE, (x - dx) * py + y, corner, WORLD, NONE);
			if (y - dy >= 0 && y - dy < py)
				MPI_Recv(in, 240 / px, MPI_DOUBLE, x * py + y - dy, corner, WORLD, NONE);
			if (x + dx >= 0 && x + dx < px)
				MPI_Send(out, 240 / py, MPI_DOUBLE, (x + dx) * py + y, corner, WORLD);
			if (y + dy >= 0 && y + dy < py)
				MPI_Send(out, 240 / px, MPI_DOUBLE, x * py + y + dy, corner, WORLD);
		}
	}
}

/* diagonals exchanges with all eight neighbours on a torus. */
static void diagonals(void)
{
	int extents[2] = {0}, periods[2] = {1, 1}, at[2];
	MPI_Comm comm;
	MPI_Dims_create(size, 2, extents);
	MPI_Cart_create(WORLD, 2, extents, periods, 0, &comm);
	MPI_Cart_coords(comm, rank, 2, at);
	for (int i = 0; i < 4; i++) {
		MPI_Request r[16];
		int n = 0;
		for (int dx = -1; dx <= 1; dx++)
			for (int dy = -1; dy <= 1; dy++) {
				int to[2] = {at[0] + dx, at[1] + dy}, peer, tag = (dx + 1) * 3 + dy + 1, count = dx && dy ? 1 : dx ? 60 : 80;
				if (dx == 0 && dy == 0)
					continue;
				MPI_Cart_rank(comm, to, &peer);
				MPI_Irecv(in + 100 * tag, count, MPI_DOUBLE, peer, 8 - tag, comm, &r[n++]);
				MPI_Isend(out + 100 * tag, count, MPI_DOUBLE, peer, tag, comm, &r[n++]);
			}
		MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
	}
}

/* chunks gives 240 tasks to all ranks but one. */
static void chunks(void)
{
	int tasks = rank ? block(240, size - 1, rank - 1) : 0;
	if (rank > 0) {
		MPI_Recv(in, 10 * tasks, MPI_DOUBLE, 0, 1, WORLD, NONE);
		MPI_Send(out, tasks, MPI_DOUBLE, 0, 2, WORLD);
		return;
	}
	for (int to = 1; to < size; to++)
		MPI_Send(out, 10 * block(240, size - 1, to - 1), MPI_DOUBLE, to, 1, WORLD);
	for (int from = 1; from < size; from++)
		MPI_Recv(in, block(240, size - 1, from - 1), MPI_DOUBLE, from, 2, WORLD, NONE);
}

/* fromone broadcasts along a binomial tree from rank 1. */
static void fromone(void)
{
	int root = 1, v = (rank - root + size) % size;
	for (int i = 0; i < 3; i++) {
		int bit = 1;
		for (; bit < size; bit <<= 1)
			if (v & bit) {
				MPI_Recv(in, 50, MPI_DOUBLE, (v - bit + root) % size, 7, WORLD, NONE);
				break;
			}
		for (bit >>= 1; bit > 0; bit >>= 1)
			if (v + bit < size)
				MPI_Send(out, 50, MPI_DOUBLE, (v + bit + root) % size, 7, WORLD);
	}
}

/* bruck exchanges between all in as many steps as the number of ranks has digits. */
static void bruck(void)
{
	for (int bit = 1; bit < size; bit <<= 1) {
		int n = 0;
		for (int i = 0; i < size; i++)
			n += (i & bit) > 0;
		swap(8 * n, (rank + bit) % size, (rank - bit + size) % size, 1);
	}
}

/* faces exchanges faces of boxes on a torus of three dimensions. */
static void faces(void)
{
	int extents[3] = {0}, periods[3] = {1, 1, 1};
	MPI_Comm comm;
	MPI_Dims_create(size, 3, extents);
	MPI_Cart_create(WORLD, 3, extents, periods, 1, &comm);
	for (int i = 0; i < 4; i++)
		for (int d = 0; d < 3; d++)
			for (int step = -1; step <= 1; step += 2) {
				int from, to, count = 36 / extents[(d + 1) % 3] * (36 / extents[(d + 2) % 3]);
				MPI_Cart_shift(comm, d, step, &from, &to);
				MPI_Sendrecv(out, count, MPI_DOUBLE, to, d, in, count, MPI_DOUBLE, from, d, comm, NONE);
			}
	MPI_Comm_free(&comm);
}

/* graph has a ring of neighbours in a communicator. */
static void graph(void)
{
	int near[2] = {(rank + size - 1) % size, (rank + 1) % size};
	MPI_Comm comm;
	MPI_Dist_graph_create_adjacent(WORLD, 2, near, MPI_UNWEIGHTED, 2, near, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
	for (int i = 0; i < 4; i++) {
		MPI_Neighbor_allgather(out, 6, MPI_DOUBLE, in, 6, MPI_DOUBLE, comm);
		MPI_Neighbor_alltoall(out, 3, MPI_DOUBLE, in, 3, MPI_DOUBLE, comm);
	}
	MPI_Comm_free(&comm);
}

/* files has a file for each rank. */
static void files(void)
{
	char name[64];
	MPI_File f;
	sprintf(name, "out.%d.dat", rank);
	MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
	for (int i = 0; i < 5; i++)
		MPI_File_write(f, out, 1000 / size, MPI_DOUBLE, NONE);
	MPI_File_close(&f);
}

/* onefile has a part of each step for each rank. */
static void onefile(void)
{
	int part = 3600 / size;
	MPI_File f;
	MPI_File_open(WORLD, "shared.dat", MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
	for (int i = 0; i < 5; i++)
		MPI_File_write_at_all(f, (MPI_Offset)8 * (i * 3600 + rank * part), out, part, MPI_DOUBLE, NONE);
	MPI_File_close(&f);
}

/* doubling is recursive doubling after a step of the ranks that are more than a power of two. */
static void doubling(void)
{
	int power = 1, number = rank;
	while (2 * power <= size)
		power *= 2;
	int rest = size - power;
	if (rank < 2 * rest && rank % 2 == 0) {
		MPI_Send(out, 100, MPI_DOUBLE, rank + 1, 0, WORLD);
		MPI_Recv(in, 100, MPI_DOUBLE, rank + 1, 0, WORLD, NONE);
		return;
	}
	if (rank < 2 * rest)
		MPI_Recv(in, 100, MPI_DOUBLE, rank - 1, 0, WORLD, NONE);
	number = rank < 2 * rest ? rank / 2 : rank - rest;
	for (int bit = 1; bit < power; bit <<= 1) {
		int other = number ^ bit, peer = other < rest ? 2 * other + 1 : other + rest;
		swap(100, peer, peer, 0);
	}
	if (rank < 2 * rest)
		MPI_Send(out, 100, MPI_DOUBLE, rank - 1, 0, WORLD);
}

/* triangle has rows of a triangle for ranks. */
static void triangle(void)
{
	int all = 0;
	for (int k = 0; k < size; k++) {
		counts[k] = 4 * (k + 1), displs[k] = all;
		all += counts[k];
	}
	for (int i = 0; i < 3; i++) {
		MPI_Scatterv(out, counts, displs, MPI_DOUBLE, in, counts[rank], MPI_DOUBLE, 0, WORLD);
		MPI_Gatherv(out, counts[rank], MPI_DOUBLE, in, counts, displs, MPI_DOUBLE, 0, WORLD);
	}
	MPI_Bcast(out, all, MPI_DOUBLE, 0, WORLD);
}

/* nodes has a leader for each two ranks. */
static void nodes(void)
{
	MPI_Comm node, leaders;
	MPI_Comm_split(WORLD, rank / 2, rank, &node);
	MPI_Comm_split(WORLD, rank % 2 ? MPI_UNDEFINED : 0, rank, &leaders);
	for (int i = 0; i < 4; i++) {
		MPI_Reduce(out, in, 40, MPI_DOUBLE, MPI_SUM, 0, node);
		if (leaders != MPI_COMM_NULL)
			MPI_Allreduce(out, in, 40, MPI_DOUBLE, MPI_SUM, leaders);
		MPI_Bcast(in, 40, MPI_DOUBLE, 0, node);
	}
}

/* fan reduces along a tree of four children. */
static void fan(void)
{
	for (int i = 0; i < 3; i++) {
		for (int child = 4 * rank + 1; child <= 4 * rank + 4 && child < size; child++)
			MPI_Recv(in, 9, MPI_DOUBLE, child, i, WORLD, NONE);
		if (rank > 0)
			MPI_Send(out, 9, MPI_DOUBLE, (rank - 1) / 4, i, WORLD);
	}
}

/* tokens go along a chain, three for each rank. */
static void tokens(void)
{
	for (int i = 0; i < 3 * size; i++) {
		if (rank > 0)
			MPI_Recv(in, 4, MPI_DOUBLE, rank - 1, i, WORLD, NONE);
		if (rank < size - 1)
			MPI_Send(out, 4, MPI_DOUBLE, rank + 1, i, WORLD);
	}
}

static const struct kernel kernels[] = {
	{"layers", layers}, {"redblack", redblack}, {"sweeps", sweeps}, {"diagonals", diagonals}, {"chunks", chunks},
	{"fromone", fromone}, {"bruck", bruck}, {"faces", faces}, {"graph", graph}, {"files", files}, {"onefile", onefile},
	{"doubling", doubling}, {"triangle", triangle}, {"nodes", nodes}, {"fan", fan}, {"tokens", tokens},
};

int main(int argc, char **argv) { return runKernel(kernels, sizeof kernels / sizeof *kernels, argc, argv); }
