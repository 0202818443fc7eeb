/* Small programs as somebody writes them who does not know how they are extrapolated: stranger NAME. */
#include "kernel.h"

/* a farm whose master hands out a fixed list of jobs in turn */
static void farm(void)
{
	const int jobs = 60;
	int workers = size - 1;
	if (rank == 0) {
		for (int j = 0; j < jobs; j++)
			MPI_Send(&j, 1, MPI_INT, 1 + j % workers, 1, MPI_COMM_WORLD);
		for (int j = 0; j < jobs; j++)
			MPI_Recv(in, 8, MPI_DOUBLE, 1 + j % workers, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else {
		for (int j = rank - 1; j < jobs; j += workers) {
			int job;
			MPI_Recv(&job, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(out, 8, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD);
		}
	}
}

/* stages: the first makes, the last uses, all pass on */
static void pipeline(void)
{
	for (int c = 0; c < 24; c++) {
		if (rank > 0)
			MPI_Recv(out, 128, MPI_DOUBLE, rank - 1, c, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank < size - 1)
			MPI_Send(out, 128, MPI_DOUBLE, rank + 1, c, MPI_COMM_WORLD);
	}
}

/* a sweep over a 2-D domain from one corner, then from the other */
static void wavefront(void)
{
	int d[2] = {0, 0};
	MPI_Dims_create(size, 2, d);
	int col = rank % d[1], row = rank / d[1], n = 720 / d[1], m = 720 / d[0];
	for (int it = 0; it < 5; it++) {
		if (row > 0) MPI_Recv(out, n, MPI_DOUBLE, rank - d[1], 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (col > 0) MPI_Recv(out, m, MPI_DOUBLE, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (row < d[0] - 1) MPI_Send(out, n, MPI_DOUBLE, rank + d[1], 0, MPI_COMM_WORLD);
		if (col < d[1] - 1) MPI_Send(out, m, MPI_DOUBLE, rank + 1, 1, MPI_COMM_WORLD);
		if (row < d[0] - 1) MPI_Recv(out, n, MPI_DOUBLE, rank + d[1], 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (col < d[1] - 1) MPI_Recv(out, m, MPI_DOUBLE, rank + 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (row > 0) MPI_Send(out, n, MPI_DOUBLE, rank - d[1], 2, MPI_COMM_WORLD);
		if (col > 0) MPI_Send(out, m, MPI_DOUBLE, rank - 1, 3, MPI_COMM_WORLD);
	}
}

/* three tokens, which start at ranks 0, 1 and 2 */
static void tokens3(void)
{
	int next = (rank + 1) % size, prev = (rank + size - 1) % size, token;
	for (int t = 0; t < 3; t++) {
		if (rank == t) {
			token = t;
			MPI_Send(&token, 1, MPI_INT, next, t, MPI_COMM_WORLD);
			MPI_Recv(&token, 1, MPI_INT, prev, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else {
			MPI_Recv(&token, 1, MPI_INT, prev, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(&token, 1, MPI_INT, next, t, MPI_COMM_WORLD);
		}
	}
}

/* halos in so many dimensions */
static void halo(int dims, int periodic, int cells)
{
	int d[3] = {0}, p[3] = {periodic, periodic, periodic}, lo, hi;
	MPI_Comm cart;
	MPI_Dims_create(size, dims, d);
	MPI_Cart_create(MPI_COMM_WORLD, dims, d, p, 0, &cart);
	for (int it = 0; it < 6; it++) {
		for (int k = 0; k < dims; k++) {
			int face = 1;
			for (int o = 0; o < dims; o++)
				if (o != k) face *= cells / d[o];
			MPI_Request r[4];
			MPI_Cart_shift(cart, k, 1, &lo, &hi);
			MPI_Irecv(in, face, MPI_DOUBLE, lo, 0, cart, &r[0]);
			MPI_Irecv(in + 8192, face, MPI_DOUBLE, hi, 1, cart, &r[1]);
			MPI_Isend(out, face, MPI_DOUBLE, hi, 0, cart, &r[2]);
			MPI_Isend(out + 8192, face, MPI_DOUBLE, lo, 1, cart, &r[3]);
			MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
		}
		double e = 1, s;
		MPI_Allreduce(&e, &s, 1, MPI_DOUBLE, MPI_MAX, cart);
	}
	MPI_Comm_free(&cart);
}
static void halo1p(void) { halo(1, 1, 3600); }
static void halo1(void) { halo(1, 0, 3600); }
static void halo2p(void) { halo(2, 1, 360); }
static void halo2(void) { halo(2, 0, 360); }
static void halo3p(void) { halo(3, 1, 60); }
static void halo3(void) { halo(3, 0, 60); }

/* a matrix of rows on ranks is transposed */
static void transpose(void)
{
	const int n = 100;
	int *sc = malloc(4 * size * sizeof(int)), *sd = sc + size, *rc = sd + size, *rd = rc + size;
	int mine = n / size + (rank < n % size);
	for (int p = 0; p < size; p++) {
		int theirs = n / size + (p < n % size);
		sc[p] = rc[p] = mine * theirs;
		sd[p] = rd[p] = p ? sd[p - 1] + sc[p - 1] : 0;
	}
	for (int it = 0; it < 4; it++)
		MPI_Alltoallv(out, sc, sd, MPI_DOUBLE, in, rc, rd, MPI_DOUBLE, MPI_COMM_WORLD);
	free(sc);
}

/* a sum by a butterfly */
static void butterfly(void)
{
	for (int it = 0; it < 3; it++)
		for (int mask = 1; mask < size; mask <<= 1)
			MPI_Sendrecv(out, 64, MPI_DOUBLE, rank ^ mask, 5, in, 64, MPI_DOUBLE, rank ^ mask, 5, MPI_COMM_WORLD,
			             MPI_STATUS_IGNORE);
}

/* a broadcast and a sum by a binomial tree */
static void binomial(void)
{
	for (int it = 0; it < 3; it++) {
		int mask = 1;
		while (mask < size) {
			if (rank & mask) {
				MPI_Recv(out, 32, MPI_DOUBLE, rank - mask, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				break;
			}
			mask <<= 1;
		}
		for (mask >>= 1; mask > 0; mask >>= 1)
			if (rank + mask < size)
				MPI_Send(out, 32, MPI_DOUBLE, rank + mask, 0, MPI_COMM_WORLD);
		for (mask = 1; mask < size; mask <<= 1) {
			if (rank & mask) {
				MPI_Send(out, 32, MPI_DOUBLE, rank - mask, 1, MPI_COMM_WORLD);
				break;
			} else if (rank + mask < size)
				MPI_Recv(in, 32, MPI_DOUBLE, rank + mask, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
	}
}

/* communicators by color */
static void colors(int color, int k)
{
	MPI_Comm c;
	int r, n;
	MPI_Comm_split(MPI_COMM_WORLD, color, rank, &c);
	MPI_Comm_rank(c, &r);
	MPI_Comm_size(c, &n);
	for (int it = 0; it < 5; it++) {
		MPI_Allreduce(out, in, 16, MPI_DOUBLE, MPI_SUM, c);
		MPI_Sendrecv(out, 4, MPI_INT, (r + 1) % n, k, in, 4, MPI_INT, (r + n - 1) % n, k, c, MPI_STATUS_IGNORE);
		MPI_Bcast(out, 10, MPI_DOUBLE, 0, c);
	}
	MPI_Comm_free(&c);
}
static void colormod(void) { colors(rank % 2, 7); }
static void colordiv(void) { colors(rank / 4, 8); }
static void colormod4(void) { colors(rank % 4, 9); }
static void colordiv2(void) { colors(rank / 2, 6); }

/* rows and columns by MPI_Cart_sub */
static void cartsub(void)
{
	int d[2] = {0, 0}, p[2] = {0, 0}, rows[2] = {0, 1}, cols[2] = {1, 0}, c[2];
	MPI_Comm cart, row, col;
	MPI_Dims_create(size, 2, d);
	MPI_Cart_create(MPI_COMM_WORLD, 2, d, p, 0, &cart);
	MPI_Cart_coords(cart, rank, 2, c);
	MPI_Cart_sub(cart, rows, &row);
	MPI_Cart_sub(cart, cols, &col);
	for (int k = 0; k < d[1]; k++) {
		MPI_Bcast(out, 64, MPI_DOUBLE, k, row);
		MPI_Allreduce(out, in, 720 / d[0], MPI_DOUBLE, MPI_SUM, col);
	}
	MPI_Reduce(out, in, 720 / d[1], MPI_DOUBLE, MPI_SUM, 0, row);
	MPI_Comm_free(&row);
	MPI_Comm_free(&col);
	MPI_Comm_free(&cart);
}

/* one-sided: each rank puts to its neighbours, between fences */
static void fence(void)
{
	MPI_Win w;
	MPI_Win_create(out, 1024 * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &w);
	for (int it = 0; it < 4; it++) {
		MPI_Win_fence(0, w);
		if (rank > 0) MPI_Put(in, 50, MPI_DOUBLE, rank - 1, 512, 50, MPI_DOUBLE, w);
		if (rank < size - 1) MPI_Put(in + 50, 50, MPI_DOUBLE, rank + 1, 0, 50, MPI_DOUBLE, w);
		MPI_Win_fence(0, w);
	}
	MPI_Accumulate(in, 1, MPI_DOUBLE, 0, 600, 1, MPI_DOUBLE, MPI_SUM, w);
	MPI_Win_fence(0, w);
	MPI_Win_free(&w);
}

/* all write their part of one file, at their offset, and read that of the next */
static void file(void)
{
	MPI_File f;
	int n = 7200 / size;
	MPI_File_open(MPI_COMM_WORLD, "stranger.dat", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
	              MPI_INFO_NULL, &f);
	MPI_File_write_at_all(f, (MPI_Offset)rank * n * sizeof(double), out, n, MPI_DOUBLE, MPI_STATUS_IGNORE);
	MPI_File_sync(f);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_File_read_at(f, (MPI_Offset)((rank + 1) % size) * n * sizeof(double), in, n, MPI_DOUBLE, MPI_STATUS_IGNORE);
	MPI_File_close(&f);
}

/* the same with a header, and one part after the other in time steps */
static void checkpoint(void)
{
	MPI_File f;
	int n = 7200 / size;
	MPI_File_open(MPI_COMM_WORLD, "stranger.chk", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
	              MPI_INFO_NULL, &f);
	for (int step = 0; step < 4; step++) {
		MPI_Offset at = 64 + (MPI_Offset)step * 7200 * sizeof(double);
		if (rank == 0)
			MPI_File_write_at(f, 16 * step, &step, 1, MPI_INT, MPI_STATUS_IGNORE);
		MPI_File_write_at_all(f, at + (MPI_Offset)rank * n * sizeof(double), out, n, MPI_DOUBLE, MPI_STATUS_IGNORE);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_File_close(&f);
}

/* sums of parts */
static void redscat(void)
{
	int *c = malloc(2 * size * sizeof(int)), *d = c + size;
	for (int p = 0; p < size; p++) {
		c[p] = block(1000, size, p);
		d[p] = p ? d[p - 1] + c[p - 1] : 0;
	}
	for (int it = 0; it < 3; it++) {
		MPI_Reduce_scatter(out, in, c, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		MPI_Reduce_scatter_block(out, in, 12, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		MPI_Allgatherv(out, c[rank], MPI_DOUBLE, in, c, d, MPI_DOUBLE, MPI_COMM_WORLD);
	}
	free(c);
}

/* neighbours in a grid */
static void neighbours(void)
{
	int d[2] = {0, 0}, p[2] = {1, 0};
	MPI_Comm cart;
	MPI_Dims_create(size, 2, d);
	MPI_Cart_create(MPI_COMM_WORLD, 2, d, p, 0, &cart);
	for (int it = 0; it < 4; it++) {
		MPI_Neighbor_alltoall(out, 30, MPI_DOUBLE, in, 30, MPI_DOUBLE, cart);
		MPI_Neighbor_allgather(out, 5, MPI_DOUBLE, in, 5, MPI_DOUBLE, cart);
	}
	MPI_Comm_free(&cart);
}

/* bodies go round a ring, n/size at a time */
static void bodies(void)
{
	int n = 5040 / size, next = (rank + 1) % size, prev = (rank - 1 + size) % size;
	for (int step = 0; step < 3; step++) {
		for (int s = 1; s < size; s++) {
			MPI_Request r[2];
			MPI_Isend(out, 3 * n, MPI_DOUBLE, next, s, MPI_COMM_WORLD, &r[0]);
			MPI_Irecv(in, 3 * n, MPI_DOUBLE, prev, s, MPI_COMM_WORLD, &r[1]);
			MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		}
		MPI_Allreduce(out, in, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
}

/* a sample sort */
static void samples(void)
{
	int n = 10080 / size;
	int *c = malloc(4 * size * sizeof(int));
	for (int p = 0; p < 4 * size; p++)
		c[p] = p < 2 * size ? n / size : (p % size) * (n / size);
	MPI_Gather(out, size - 1, MPI_DOUBLE, in, size - 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	MPI_Bcast(in, size - 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	MPI_Alltoall(c, 1, MPI_INT, c + size, 1, MPI_INT, MPI_COMM_WORLD);
	MPI_Alltoallv(out, c, c + 2 * size, MPI_DOUBLE, in, c + size, c + 3 * size, MPI_DOUBLE, MPI_COMM_WORLD);
	free(c);
}

/* rows of a picture are dealt in turn, and gathered row by row */
static void rows(void)
{
	for (int y = 0; y < 48; y++) {
		int owner = y % size;
		if (owner != 0) {
			if (rank == owner) MPI_Send(out, 640, MPI_INT, 0, y, MPI_COMM_WORLD);
			else if (rank == 0) MPI_Recv(in, 640, MPI_INT, owner, y, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
	}
}

/* scatter, work, gather, with a remainder */
static void scatter(void)
{
	const int n = 1001;
	int *c = malloc(2 * size * sizeof(int)), *d = c + size;
	for (int p = 0; p < size; p++) {
		c[p] = n / size + (p < n % size ? 1 : 0);
		d[p] = p == 0 ? 0 : d[p - 1] + c[p - 1];
	}
	MPI_Scatterv(out, c, d, MPI_DOUBLE, in, c[rank], MPI_DOUBLE, 0, MPI_COMM_WORLD);
	for (int it = 0; it < 10; it++) {
		if (rank + 1 < size)
			MPI_Sendrecv(out, 1, MPI_DOUBLE, rank + 1, 0, in, 1, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE);
		if (rank > 0)
			MPI_Sendrecv(out, 1, MPI_DOUBLE, rank - 1, 0, in, 1, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE);
	}
	MPI_Gatherv(in, c[rank], MPI_DOUBLE, out, c, d, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	free(c);
}

/* quicksort in a hypercube: communicators are halved */
static void halvings(void)
{
	MPI_Comm c, half;
	int r, n;
	MPI_Comm_dup(MPI_COMM_WORLD, &c);
	for (;;) {
		MPI_Comm_rank(c, &r);
		MPI_Comm_size(c, &n);
		if (n == 1) break;
		MPI_Bcast(out, 1, MPI_DOUBLE, 0, c);
		int peer = r < n / 2 ? r + n / 2 : r - n / 2;
		MPI_Sendrecv(out, 100, MPI_DOUBLE, peer, 0, in, 100, MPI_DOUBLE, peer, 0, c, MPI_STATUS_IGNORE);
		MPI_Comm_split(c, r < n / 2, r, &half);
		MPI_Comm_free(&c);
		c = half;
	}
	MPI_Comm_free(&c);
}

/* matrix times vector on a square of ranks, whose number is known to be one */
static void matvec(void)
{
	int q = 1;
	while (q * q < size) q++;
	int row = rank / q, col = rank % q, n = 840 / q;
	MPI_Comm r, c;
	MPI_Comm_split(MPI_COMM_WORLD, row, col, &r);
	MPI_Comm_split(MPI_COMM_WORLD, col, row, &c);
	for (int it = 0; it < 4; it++) {
		if (rank != col * q + row)
			MPI_Sendrecv(out, n, MPI_DOUBLE, col * q + row, 3, in, n, MPI_DOUBLE, col * q + row, 3, MPI_COMM_WORLD,
			             MPI_STATUS_IGNORE);
		MPI_Bcast(in, n, MPI_DOUBLE, col % q, c);
		MPI_Reduce(out, in, n, MPI_DOUBLE, MPI_SUM, row, r);
	}
	MPI_Comm_free(&r);
	MPI_Comm_free(&c);
}

/* the game of life on a torus, with corners, in columns that are strided */
static void life(void)
{
	int d[2] = {0, 0}, p[2] = {1, 1}, c[2];
	MPI_Comm cart;
	MPI_Datatype side;
	MPI_Dims_create(size, 2, d);
	MPI_Cart_create(MPI_COMM_WORLD, 2, d, p, 1, &cart);
	MPI_Cart_coords(cart, rank, 2, c);
	int h = 240 / d[0], w = 240 / d[1], n, s, e, o;
	MPI_Type_vector(h, 1, w + 2, MPI_INT, &side);
	MPI_Type_commit(&side);
	MPI_Cart_shift(cart, 0, 1, &n, &s);
	MPI_Cart_shift(cart, 1, 1, &o, &e);
	for (int g = 0; g < 8; g++) {
		MPI_Sendrecv(out, 1, side, o, 0, in, 1, side, e, 0, cart, MPI_STATUS_IGNORE);
		MPI_Sendrecv(out, 1, side, e, 1, in, 1, side, o, 1, cart, MPI_STATUS_IGNORE);
		MPI_Sendrecv(out, w + 2, MPI_INT, n, 2, in, w + 2, MPI_INT, s, 2, cart, MPI_STATUS_IGNORE);
		MPI_Sendrecv(out, w + 2, MPI_INT, s, 3, in, w + 2, MPI_INT, n, 3, cart, MPI_STATUS_IGNORE);
	}
	MPI_Type_free(&side);
	MPI_Comm_free(&cart);
}

/* persistent requests; the root collects all every third step */
static void steps(void)
{
	MPI_Request r[4];
	int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
	MPI_Recv_init(in, 20, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &r[0]);
	MPI_Recv_init(in + 20, 20, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &r[1]);
	MPI_Send_init(out, 20, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &r[2]);
	MPI_Send_init(out + 20, 20, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &r[3]);
	for (int s = 1; s <= 12; s++) {
		MPI_Startall(4, r);
		MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
		if (s % 3 == 0) {
			if (rank == 0)
				for (int p = 1; p < size; p++)
					MPI_Recv(in, 100, MPI_DOUBLE, p, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			else
				MPI_Send(out, 100, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD);
		}
	}
	for (int i = 0; i < 4; i++) MPI_Request_free(&r[i]);
}

/* Cannon in a grid of MPI_Cart_create, with a first skew by the coordinate */
static void cannon(void)
{
	int d[2] = {0, 0}, p[2] = {1, 1}, c[2], from, to;
	MPI_Comm cart;
	MPI_Dims_create(size, 2, d);
	MPI_Cart_create(MPI_COMM_WORLD, 2, d, p, 0, &cart);
	MPI_Cart_coords(cart, rank, 2, c);
	int n = 240 / d[0];
	MPI_Cart_shift(cart, 1, -c[0], &from, &to);
	MPI_Sendrecv_replace(out, n * n / 4, MPI_DOUBLE, to, 1, from, 1, cart, MPI_STATUS_IGNORE);
	MPI_Cart_shift(cart, 0, -c[1], &from, &to);
	MPI_Sendrecv_replace(in, n * n / 4, MPI_DOUBLE, to, 1, from, 1, cart, MPI_STATUS_IGNORE);
	for (int k = 0; k < d[0]; k++) {
		MPI_Cart_shift(cart, 1, -1, &from, &to);
		MPI_Sendrecv_replace(out, n * n / 4, MPI_DOUBLE, to, 2, from, 2, cart, MPI_STATUS_IGNORE);
		MPI_Cart_shift(cart, 0, -1, &from, &to);
		MPI_Sendrecv_replace(in, n * n / 4, MPI_DOUBLE, to, 2, from, 2, cart, MPI_STATUS_IGNORE);
	}
	MPI_Comm_free(&cart);
}

/* LU by columns that are dealt in turn: the owner of a column sends it to all */
static void columns(void)
{
	for (int k = 0; k < 40; k++)
		MPI_Bcast(out, 40 - k, MPI_DOUBLE, k % size, MPI_COMM_WORLD);
}

/* a scan by doubling distances, on any number of ranks */
static void scan(void)
{
	for (int dist = 1; dist < size; dist *= 2) {
		MPI_Request q;
		if (rank + dist < size) MPI_Isend(out, 3, MPI_DOUBLE, rank + dist, dist, MPI_COMM_WORLD, &q);
		if (rank - dist >= 0) MPI_Recv(in, 3, MPI_DOUBLE, rank - dist, dist, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank + dist < size) MPI_Wait(&q, MPI_STATUS_IGNORE);
	}
}

static const struct kernel kernels[] = {
	{"farm", farm}, {"pipeline", pipeline}, {"wavefront", wavefront}, {"tokens3", tokens3},
	{"halo1p", halo1p}, {"halo1", halo1}, {"halo2p", halo2p}, {"halo2", halo2}, {"halo3p", halo3p},
	{"halo3", halo3}, {"transpose", transpose}, {"butterfly", butterfly}, {"binomial", binomial},
	{"colormod", colormod}, {"colordiv", colordiv}, {"colormod4", colormod4}, {"colordiv2", colordiv2},
	{"cartsub", cartsub}, {"fence", fence}, {"file", file}, {"checkpoint", checkpoint}, {"redscat", redscat},
	{"neighbours", neighbours}, {"bodies", bodies}, {"samples", samples}, {"rows", rows},
	{"scatter", scatter}, {"halvings", halvings}, {"matvec", matvec}, {"life", life}, {"steps", steps},
	{"cannon", cannon}, {"columns", columns}, {"scan", scan},
};

int main(int argc, char **argv) { return runKernel(kernels, sizeof kernels / sizeof *kernels, argc, argv); }
