/* Kernels that compute and communicate in the patterns of the NAS Parallel Benchmarks, on two ranks or more. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static double *vector(long n)
{
	double *v = malloc(n * sizeof *v);
	if (!v)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (long i = 0; i < n; i++)
		v[i] = 1 + (double)(i % 97) / 97;
	return v;
}

static double sum(double own)
{
	double all;
	MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return all;
}

/* ep computes random numbers, and adds counts up in the end. */
static double ep(int steps)
{
	unsigned long seed = rank + 1;
	double counts[10] = {0}, all[10];
	for (long i = 0; i < steps * 200000L; i++) {
		seed = seed * 6364136223846793005 + 1442695040888963407;
		double x = (double)(seed >> 11) / (1L << 53);
		counts[(int)(10 * sqrt(x))] += x;
	}
	MPI_Allreduce(counts, all, 10, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return all[9];
}

/* cg multiplies by a sparse matrix: vectors are exchanged with a partner, and products added up. */
static double cg(int steps)
{
	enum { n = 14000 / 2, width = 13 };
	double *p = vector(n), *q = vector(n), *r = vector(n), rho = 1;
	int partner = rank ^ 1;
	for (int step = 0; step < steps; step++) {
		for (int i = 0; i < n; i++) {
			double s = 0;
			for (int k = 1; k <= width; k++)
				s += p[(i * 7L + k * 541L) % n] / k;
			q[i] = s / width;
		}
		if (partner < size) {
			MPI_Request request;
			MPI_Irecv(r, n, MPI_DOUBLE, partner, 1, MPI_COMM_WORLD, &request);
			MPI_Send(q, n, MPI_DOUBLE, partner, 1, MPI_COMM_WORLD);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		}
		double d = 0, e = 0;
		for (int i = 0; i < n; i++)
			d += p[i] * q[i];
		d = sum(d);
		for (int i = 0; i < n; i++) {
			p[i] = 0.5 * (p[i] + r[i]);
			e += p[i] * p[i];
		}
		rho = sum(e) / (1 + d);
	}
	free(p), free(q), free(r);
	return rho;
}

/* lu solves planes one after the other in a pipeline, forth and back, with many small messages. */
static double lu(int steps)
{
	enum { n = 33, planes = 31, parts = 5 };
	double *v = vector(n * n * parts), edge[n * parts], norm = 0;
	memset(edge, 0, sizeof edge);
	for (int step = 0; step < steps; step++) {
		for (int back = 0; back <= 1; back++) {
			int before = back ? rank + 1 : rank - 1, after = back ? rank - 1 : rank + 1;
			for (int plane = 0; plane < planes; plane++) {
				if (before >= 0 && before < size)
					MPI_Recv(edge, n * parts, MPI_DOUBLE, before, back, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				for (int i = 1; i < n * n; i++)
					for (int k = 0; k < parts; k++)
						v[i * parts + k] = 0.6 * v[i * parts + k] + 0.2 * v[(i - 1) * parts + k] + 0.1 * edge[i % n * parts + k];
				if (after >= 0 && after < size)
					MPI_Send(v, n * parts, MPI_DOUBLE, after, back, MPI_COMM_WORLD);
			}
		}
		if (step % 10 == 9)
			norm = sum(v[7]);
	}
	free(v);
	return norm;
}

/* adi solves lines in three directions one after the other, forth and back, on a square of ranks of which each has a cell in each
   stage of each direction, as bt and sp do: what they send differs in size. */
static double adi(int steps, int parts)
{
	enum { n = 12 };
	int side = 1;
	while ((side + 1) * (side + 1) <= size)
		side++;
	int row = rank / side, column = rank % side, there = row < side, faces = n * n * parts;
	double *cell = vector((long)n * n * n * parts), *out = vector(6L * faces), *in = vector(6L * faces), norm = 0;
	int next[3], before[3]; /* in each direction */
	static const int down[3] = {0, 1, 1}, right[3] = {1, 0, 1};
	for (int d = 0; d < 3; d++) {
		next[d] = (row + down[d]) % side * side + (column + right[d]) % side;
		before[d] = (row + side - down[d]) % side * side + (column + side - right[d]) % side;
	}
	for (int step = 0; step < steps; step++) {
		MPI_Request requests[12];
		for (int d = 0; there && d < 3; d++) {
			MPI_Irecv(in + 2 * d * faces, faces, MPI_DOUBLE, before[d], d, MPI_COMM_WORLD, &requests[4 * d]);
			MPI_Irecv(in + (2 * d + 1) * faces, faces, MPI_DOUBLE, next[d], 3 + d, MPI_COMM_WORLD, &requests[4 * d + 1]);
			MPI_Isend(out + 2 * d * faces, faces, MPI_DOUBLE, next[d], d, MPI_COMM_WORLD, &requests[4 * d + 2]);
			MPI_Isend(out + (2 * d + 1) * faces, faces, MPI_DOUBLE, before[d], 3 + d, MPI_COMM_WORLD, &requests[4 * d + 3]);
		}
		if (there)
			MPI_Waitall(12, requests, MPI_STATUSES_IGNORE);
		for (int d = 0; there && d < 3; d++)
			for (int back = 0; back <= 1; back++)
				for (int stage = 0; stage < side; stage++) {
					int from = back ? next[d] : before[d], to = back ? before[d] : next[d], count = back ? n * n * 2 : faces;
					if (stage > 0) { /* what was sent in the last one is on its way, too */
						MPI_Irecv(in, count, MPI_DOUBLE, from, 10 + d, MPI_COMM_WORLD, &requests[0]);
						MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
					}
					for (int i = 1; i < n * n * n * parts / side; i++)
						cell[i] = 0.7 * cell[i] + 0.2 * cell[i - 1] + 0.1 * in[i % faces];
					if (stage < side - 1)
						MPI_Isend(cell, count, MPI_DOUBLE, to, 10 + d, MPI_COMM_WORLD, &requests[1]);
				}
		if (step % 5 == 4)
			norm = sum(cell[3]);
	}
	free(cell), free(out), free(in);
	return norm;
}

static double bt(int steps) { return adi(steps, 25); }

static double sp(int steps) { return adi(steps, 5); }

/* mg smooths grids of several sizes, with an exchange of faces on each. */
static double mg(int steps)
{
	enum { levels = 5, largest = 64 };
	double *grid = vector((long)largest * largest * largest), *faces = vector(2L * largest * largest), norm = 0;
	int next = (rank + 1) % size, previous = (rank + size - 1) % size;
	for (int step = 0; step < steps; step++)
		for (int level = 0; level < 2 * levels - 1; level++) {
			int n = largest >> (level < levels ? level : 2 * levels - 2 - level);
			MPI_Request requests[4];
			MPI_Irecv(faces, n * n, MPI_DOUBLE, previous, 0, MPI_COMM_WORLD, &requests[0]);
			MPI_Irecv(faces + n * n, n * n, MPI_DOUBLE, next, 1, MPI_COMM_WORLD, &requests[1]);
			MPI_Isend(grid, n * n, MPI_DOUBLE, next, 0, MPI_COMM_WORLD, &requests[2]);
			MPI_Isend(grid + n * n, n * n, MPI_DOUBLE, previous, 1, MPI_COMM_WORLD, &requests[3]);
			MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
			for (long i = n * n; i < (long)n * n * n - n * n; i++)
				grid[i] = 0.4 * grid[i] + 0.15 * (grid[i - 1] + grid[i + 1] + grid[i - n * n] + grid[i + n * n]) * (1 + 1e-9 * faces[i % (n * n)]);
			if (level == 0)
				norm = sum(grid[n * n]);
		}
	free(grid), free(faces);
	return norm;
}

/* ft transposes a matrix among all ranks, and transforms it. */
static double ft(int steps)
{
	long n = 1 << 16, each = n / size;
	double *in = vector(n), *out = vector(n), s = 0;
	for (int step = 0; step < steps; step++) {
		for (int pass = 0; pass < 4; pass++)
			for (long i = 0; i < n / 2; i++) {
				double a = in[i], b = in[i + n / 2];
				in[i] = 0.5 * (a + b), in[i + n / 2] = 0.5 * (a - b) + 0.1;
			}
		MPI_Alltoall(in, each, MPI_DOUBLE, out, each, MPI_DOUBLE, MPI_COMM_WORLD);
		double *swap = in;
		in = out, out = swap;
		s = sum(in[step % n]);
	}
	free(in), free(out);
	return s;
}

/* is counts keys, and gives them to the ranks that they belong to. */
static double is(int steps)
{
	enum { n = 1 << 15, buckets = 512 };
	int *keys = malloc(n * sizeof *keys), *sorted = malloc(n * sizeof *keys), *all = malloc(2L * n * sizeof *keys), counts[buckets], total[buckets];
	int *give = malloc(4L * size * sizeof *give), *get = give + size, *from = get + size, *to = from + size;
	unsigned seed = rank + 1;
	for (int step = 0; step < steps; step++) {
		memset(counts, 0, sizeof counts);
		for (int i = 0; i < n; i++) {
			keys[i] = (seed = seed * 1103515245 + 12345) >> 23;
			counts[keys[i]]++;
		}
		MPI_Allreduce(counts, total, buckets, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		int at[buckets];
		memset(give, 0, size * sizeof *give);
		for (int i = 0, position = 0; i < buckets; i++) {
			at[i] = position;
			position += counts[i];
			give[i * size / buckets] += counts[i];
		}
		for (int i = 0; i < n; i++)
			sorted[at[keys[i]]++] = keys[i];
		MPI_Alltoall(give, 1, MPI_INT, get, 1, MPI_INT, MPI_COMM_WORLD);
		for (int i = 0; i < size; i++) {
			from[i] = i ? from[i - 1] + give[i - 1] : 0;
			to[i] = i ? to[i - 1] + get[i - 1] : 0;
		}
		MPI_Alltoallv(sorted, give, from, MPI_INT, all, get, to, MPI_INT, MPI_COMM_WORLD);
	}
	free(keys), free(sorted), free(give);
	double s = all[0];
	free(all);
	return s;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		double (*run)(int steps);
	} kernels[] = {{"ep", ep}, {"cg", cg}, {"lu", lu}, {"bt", bt}, {"sp", sp}, {"mg", mg}, {"ft", ft}, {"is", is}};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (unsigned i = 0; argc == 3 && i < sizeof kernels / sizeof *kernels; i++)
		if (strcmp(argv[1], kernels[i].name) == 0) {
			double result = kernels[i].run(atoi(argv[2]));
			if (rank == 0)
				printf("%s %.6g\n", argv[1], result);
		}
	MPI_Finalize();
	return 0;
}
