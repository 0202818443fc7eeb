/* Programs on grids of ranks of two and of three dimensions: grids NAME. */
#include "kernel.h"

static int square(void)
{
	int side = 1;
	while ((side + 1) * (side + 1) <= size)
		side++;
	return side;
}

static int cube(void)
{
	int side = 1;
	while ((side + 1) * (side + 1) * (side + 1) <= size)
		side++;
	return side;
}

/* exchange sends to several and receives from them, those that there are. */
static void exchange(const int *peers, const int *counts, int n, MPI_Comm comm)
{
	MPI_Request r[64];
	for (int i = 0; i < n; i++)
		MPI_Irecv(in + 1000 * i, counts[i], MPI_DOUBLE, peers[i], i ^ 1, comm, &r[i]);
	for (int i = 0; i < n; i++)
		MPI_Isend(out + 1000 * i, counts[i], MPI_DOUBLE, peers[i], i, comm, &r[n + i]);
	MPI_Waitall(2 * n, r, MPI_STATUSES_IGNORE);
}

static void cart(int dims, int wrap)
{
	int extents[3] = {0}, periods[3] = {wrap, wrap, wrap}, peers[6], counts[6];
	MPI_Comm comm;
	MPI_Dims_create(size, dims, extents);
	MPI_Cart_create(WORLD, dims, extents, periods, 0, &comm);
	for (int d = 0; d < dims; d++) {
		MPI_Cart_shift(comm, d, 1, &peers[2 * d], &peers[2 * d + 1]);
		counts[2 * d] = counts[2 * d + 1] = dims == 2 ? 720 / extents[1 - d] : 100;
	}
	for (int i = 0; i < 5; i++) {
		exchange(peers, counts, 2 * dims, comm);
		MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_MAX, comm);
	}
	MPI_Comm_free(&comm);
}

static void plane(void) { cart(2, 0); }
static void torus(void) { cart(2, 1); }
static void box(void) { cart(3, 0); }
static void torus3(void) { cart(3, 1); }

/* near is a stencil on the most square grid, without MPI's grids, and with conditions. */
static void near(void)
{
	int rows = square();
	while (size % rows)
		rows--;
	int columns = size / rows, row = rank / columns, column = rank % columns;
	int nx = 480 / columns, ny = 480 / rows;
	for (int i = 0; i < 5; i++) {
		MPI_Request r[8];
		int n = 0;
		if (column > 0) {
			MPI_Irecv(in, ny, MPI_DOUBLE, rank - 1, 1, WORLD, &r[n++]);
			MPI_Isend(out, ny, MPI_DOUBLE, rank - 1, 1, WORLD, &r[n++]);
		}
		if (column < columns - 1) {
			MPI_Irecv(in + 1000, ny, MPI_DOUBLE, rank + 1, 1, WORLD, &r[n++]);
			MPI_Isend(out + 1000, ny, MPI_DOUBLE, rank + 1, 1, WORLD, &r[n++]);
		}
		if (row > 0) {
			MPI_Irecv(in + 2000, nx, MPI_DOUBLE, rank - columns, 1, WORLD, &r[n++]);
			MPI_Isend(out + 2000, nx, MPI_DOUBLE, rank - columns, 1, WORLD, &r[n++]);
		}
		if (row < rows - 1) {
			MPI_Irecv(in + 3000, nx, MPI_DOUBLE, rank + columns, 1, WORLD, &r[n++]);
			MPI_Isend(out + 3000, nx, MPI_DOUBLE, rank + columns, 1, WORLD, &r[n++]);
		}
		MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
	}
}

/* powers sets a grid of powers of two, as LU and CG do. */
static void powers(int *rows, int *columns)
{
	int log = 0;
	while (1 << (log + 1) <= size)
		log++;
	*rows = 1 << log / 2;
	*columns = size / *rows;
}

/* lu is a pipeline of wavefronts from two corners. */
static void lu(void)
{
	int rows, columns;
	powers(&rows, &columns);
	int row = rank / columns, column = rank % columns, nx = block(102, rows, row), ny = block(102, columns, column);
	for (int i = 0; i < 4; i++) {
		for (int back = 0; back < 2; back++) {
			int west = back ? column + 1 : column - 1, north = back ? row + 1 : row - 1;
			int east = back ? column - 1 : column + 1, south = back ? row - 1 : row + 1;
			for (int k = 0; k < 10; k++) {
				if (north >= 0 && north < rows)
					MPI_Recv(in, 5 * ny, MPI_DOUBLE, north * columns + column, 1, WORLD, NONE);
				if (west >= 0 && west < columns)
					MPI_Recv(in, 5 * nx, MPI_DOUBLE, row * columns + west, 2, WORLD, NONE);
				if (south >= 0 && south < rows)
					MPI_Send(out, 5 * ny, MPI_DOUBLE, south * columns + column, 1, WORLD);
				if (east >= 0 && east < columns)
					MPI_Send(out, 5 * nx, MPI_DOUBLE, row * columns + east, 2, WORLD);
			}
		}
		MPI_Allreduce(out, in, 5, MPI_DOUBLE, MPI_SUM, WORLD);
	}
}

/* cg sums in rows, and exchanges with the transposed rank. */
static void cg(void)
{
	int rows, columns;
	powers(&rows, &columns);
	int row = rank / columns, column = rank % columns, n = 1400 * 4;
	int transposed = rows == columns ? column * columns + row : 2 * (rank / 2 % rows * rows + rank / 2 / rows) + rank % 2;
	MPI_Request r;
	for (int i = 0; i < 3; i++) {
		for (int bit = columns / 2; bit > 0; bit /= 2) {
			int peer = row * columns + (column ^ bit);
			MPI_Irecv(in, n / rows, MPI_DOUBLE, peer, 1, WORLD, &r);
			MPI_Send(out, n / rows, MPI_DOUBLE, peer, 1, WORLD);
			MPI_Wait(&r, NONE);
		}
		MPI_Irecv(in, n / columns, MPI_DOUBLE, transposed, 2, WORLD, &r);
		MPI_Send(out, n / columns, MPI_DOUBLE, transposed, 2, WORLD);
		MPI_Wait(&r, NONE);
		for (int bit = columns / 2; bit > 0; bit /= 2) {
			int peer = row * columns + (column ^ bit);
			MPI_Irecv(in, 1, MPI_DOUBLE, peer, 3, WORLD, &r);
			MPI_Send(out, 1, MPI_DOUBLE, peer, 3, WORLD);
			MPI_Wait(&r, NONE);
		}
	}
	MPI_Reduce(out, in, 1, MPI_DOUBLE, MPI_SUM, 0, WORLD);
}

/* sp sweeps over cells of a multipartition of a square of ranks. */
static void sp(void)
{
	int side = square(), row = rank / side, column = rank % side;
	if (row >= side)
		return;
	int next[3] = {row * side + (column + 1) % side, (row + 1) % side * side + column, (row + 1) % side * side + (column + 1) % side};
	int last[3] = {row * side + (column + side - 1) % side, (row + side - 1) % side * side + column,
		(row + side - 1) % side * side + (column + side - 1) % side};
	int cell = 60 / side;
	MPI_Request r[2];
	for (int i = 0; i < 3; i++) {
		for (int d = 0; d < 3; d++) {
			MPI_Irecv(in, cell * cell * 5, MPI_DOUBLE, last[d], 10 + d, WORLD, &r[0]);
			MPI_Isend(out, cell * cell * 5, MPI_DOUBLE, next[d], 10 + d, WORLD, &r[1]);
			MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		}
		for (int d = 0; d < 3; d++)
			for (int stage = 0; stage < side; stage++) {
				if (stage > 0) {
					MPI_Irecv(in, 22 * cell * cell, MPI_DOUBLE, last[d], d, WORLD, &r[0]);
					MPI_Wait(&r[0], NONE);
				}
				if (stage < side - 1) {
					if (stage > 0)
						MPI_Wait(&r[1], NONE);
					MPI_Isend(out, 22 * cell * cell, MPI_DOUBLE, next[d], d, WORLD, &r[1]);
				}
				if (stage == side - 1)
					MPI_Wait(&r[1], NONE);
			}
	}
	MPI_Allreduce(out, in, 5, MPI_DOUBLE, MPI_SUM, WORLD);
}

/* mg exchanges faces of boxes on several levels of a grid of powers of two. */
static void mg(void)
{
	int extents[3] = {1, 1, 1}, at[3], step[3];
	for (int d = 0; extents[0] * extents[1] * extents[2] < size; d = (d + 1) % 3)
		extents[d] *= 2;
	int stride = 1, n = rank;
	for (int d = 0; d < 3; d++) {
		at[d] = n % extents[d], n /= extents[d];
		step[d] = stride, stride *= extents[d];
	}
	for (int i = 0; i < 2; i++)
		for (int level = 5; level >= 3; level--) {
			int points = 1 << level;
			for (int d = 0; d < 3; d++) {
				int e = (d + 1) % 3, f = (d + 2) % 3, face = (points / extents[e] + 2) * (points / extents[f] + 2);
				int up = rank + ((at[d] + 1) % extents[d] - at[d]) * step[d];
				int down = rank + ((at[d] + extents[d] - 1) % extents[d] - at[d]) * step[d];
				MPI_Request r;
				for (int side = 0; side < 2; side++) {
					MPI_Irecv(in, face, MPI_DOUBLE, side ? down : up, d, WORLD, &r);
					MPI_Send(out, face, MPI_DOUBLE, side ? up : down, d, WORLD);
					MPI_Wait(&r, NONE);
				}
			}
		}
	MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_MAX, WORLD);
}

/* pencils transposes in rows and in columns, as FT in two dimensions. */
static void pencils(void)
{
	int extents[2] = {0};
	MPI_Comm rows, columns;
	MPI_Dims_create(size, 2, extents);
	MPI_Comm_split(WORLD, rank / extents[1], rank % extents[1], &rows);
	MPI_Comm_split(WORLD, rank % extents[1], rank / extents[1], &columns);
	for (int i = 0; i < 3; i++) {
		MPI_Alltoall(out, 14400 / size / extents[1], MPI_DOUBLE, in, 14400 / size / extents[1], MPI_DOUBLE, rows);
		MPI_Alltoall(out, 14400 / size / extents[0], MPI_DOUBLE, in, 14400 / size / extents[0], MPI_DOUBLE, columns);
	}
	MPI_Comm_free(&rows);
	MPI_Comm_free(&columns);
}

/* summa broadcasts panels in rows and in columns. */
static void summa(void)
{
	int side = square(), row = rank / side, column = rank % side, part = 120 / side;
	MPI_Comm rows, columns;
	MPI_Comm_split(WORLD, row, column, &rows);
	MPI_Comm_split(WORLD, column, row, &columns);
	for (int k = 0; k < side; k++) {
		MPI_Bcast(out, part * part, MPI_DOUBLE, k, rows);
		MPI_Bcast(in, part * part, MPI_DOUBLE, k, columns);
	}
}

/* cannon skews blocks, and shifts them. */
static void cannon(void)
{
	int side = square(), row = rank / side, column = rank % side, part = 120 / side;
	MPI_Status s;
	MPI_Sendrecv_replace(out, part * part, MPI_DOUBLE, row * side + (column - row + side) % side, 1,
		row * side + (column + row) % side, 1, WORLD, &s);
	MPI_Sendrecv_replace(in, part * part, MPI_DOUBLE, (row - column + side) % side * side + column, 2,
		(row + column) % side * side + column, 2, WORLD, &s);
	for (int k = 1; k < side; k++) {
		MPI_Sendrecv_replace(out, part * part, MPI_DOUBLE, row * side + (column + side - 1) % side, 1,
			row * side + (column + 1) % side, 1, WORLD, NONE);
		MPI_Sendrecv_replace(in, part * part, MPI_DOUBLE, (row + side - 1) % side * side + column, 2,
			(row + 1) % side * side + column, 2, WORLD, NONE);
	}
}

/* halo26 exchanges with all 26 neighbours in a cube, those that there are. */
static void halo26(void)
{
	int side = cube(), x = rank % side, y = rank / side % side, z = rank / side / side;
	MPI_Request r[52];
	for (int i = 0; i < 3; i++) {
		int n = 0;
		for (int dz = -1; dz <= 1; dz++)
			for (int dy = -1; dy <= 1; dy++)
				for (int dx = -1; dx <= 1; dx++) {
					int a = x + dx, b = y + dy, c = z + dz, far = abs(dx) + abs(dy) + abs(dz);
					if (far == 0 || a < 0 || b < 0 || c < 0 || a >= side || b >= side || c >= side)
						continue;
					int count = far == 1 ? 100 : far == 2 ? 10 : 1, tag = (dx + 1) + 3 * (dy + 1) + 9 * (dz + 1);
					MPI_Irecv(in + 100 * tag, count, MPI_DOUBLE, (c * side + b) * side + a, 26 - tag, WORLD, &r[n++]);
					MPI_Isend(out + 100 * tag, count, MPI_DOUBLE, (c * side + b) * side + a, tag, WORLD, &r[n++]);
				}
		MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
		MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_MIN, WORLD);
	}
}

/* shells has numbers of the side of a cube. */
static void shells(void)
{
	int side = cube();
	for (int i = 0; i < side; i++)
		MPI_Bcast(out, 60 / side, MPI_DOUBLE, i, WORLD);
	MPI_Allreduce(out, in, side * side, MPI_DOUBLE, MPI_SUM, WORLD);
}

/* neighbours is the stencil of a grid by collectives of neighbours. */
static void neighbours(void)
{
	int extents[2] = {0}, periods[2] = {1, 1};
	MPI_Comm comm;
	MPI_Dims_create(size, 2, extents);
	MPI_Cart_create(WORLD, 2, extents, periods, 0, &comm);
	for (int i = 0; i < 5; i++)
		MPI_Neighbor_alltoall(out, 10, MPI_DOUBLE, in, 10, MPI_DOUBLE, comm);
	MPI_Comm_free(&comm);
}

/* strips is a stencil of blocks with remainders in two dimensions. */
static void strips(void)
{
	int extents[2] = {0};
	MPI_Dims_create(size, 2, extents);
	int row = rank / extents[1], column = rank % extents[1];
	int nx = block(500, extents[1], column), ny = block(300, extents[0], row);
	for (int i = 0; i < 5; i++) {
		int w = column > 0 ? rank - 1 : MPI_PROC_NULL, e = column < extents[1] - 1 ? rank + 1 : MPI_PROC_NULL;
		int n = row > 0 ? rank - extents[1] : MPI_PROC_NULL, s = row < extents[0] - 1 ? rank + extents[1] : MPI_PROC_NULL;
		MPI_Sendrecv(out, ny, MPI_DOUBLE, w, 1, in, ny, MPI_DOUBLE, e, 1, WORLD, NONE);
		MPI_Sendrecv(out, ny, MPI_DOUBLE, e, 2, in, ny, MPI_DOUBLE, w, 2, WORLD, NONE);
		MPI_Sendrecv(out, nx, MPI_DOUBLE, n, 3, in, nx, MPI_DOUBLE, s, 3, WORLD, NONE);
		MPI_Sendrecv(out, nx, MPI_DOUBLE, s, 4, in, nx, MPI_DOUBLE, n, 4, WORLD, NONE);
	}
}

/* volume gathers parts of a plane at rank 0. */
static void volume(void)
{
	int extents[2] = {0};
	MPI_Dims_create(size, 2, extents);
	int mine = 240 / extents[0] * (240 / extents[1]);
	for (int i = 0; i < 3; i++)
		MPI_Gather(out, mine / 10, MPI_DOUBLE, in, mine / 10, MPI_DOUBLE, 0, WORLD);
}

/* sub splits a grid by MPI_Cart_sub. */
static void sub(void)
{
	int extents[2] = {0}, periods[2] = {0}, keep[2][2] = {{0, 1}, {1, 0}};
	MPI_Comm comm, lines[2];
	MPI_Dims_create(size, 2, extents);
	MPI_Cart_create(WORLD, 2, extents, periods, 0, &comm);
	for (int d = 0; d < 2; d++)
		MPI_Cart_sub(comm, keep[d], &lines[d]);
	for (int i = 0; i < 4; i++) {
		MPI_Allreduce(out, in, 10, MPI_DOUBLE, MPI_SUM, lines[0]);
		MPI_Bcast(out, 10, MPI_DOUBLE, 0, lines[1]);
	}
	for (int d = 0; d < 2; d++)
		MPI_Comm_free(&lines[d]);
	MPI_Comm_free(&comm);
}

static const struct kernel kernels[] = {
	{"plane", plane}, {"torus", torus}, {"box", box}, {"torus3", torus3}, {"near", near}, {"lu", lu}, {"cg", cg}, {"sp", sp},
	{"mg", mg}, {"pencils", pencils}, {"summa", summa}, {"cannon", cannon}, {"halo26", halo26}, {"shells", shells},
	{"neighbours", neighbours}, {"strips", strips}, {"volume", volume}, {"sub", sub},
};

int main(int argc, char **argv) { return runKernel(kernels, sizeof kernels / sizeof *kernels, argc, argv); }
