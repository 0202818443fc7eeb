/* Cycles through grids of several resolutions: halos in three dimensions, on coarse grids between fewer ranks, and norms. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef N
#define N 16
#endif
enum { LEVELS = 4 };
typedef struct {
	int n[3], active, neighbour[3][2];
	double *u, *r;
} level;

static level levels[LEVELS];
static double buffer[4][(N + 2) * (N + 2)];
static int rank, dims[3], at[3];

static int number(int x, int y, int z) { return (x * dims[1] + y) * dims[2] + z; }

static void setup(int size)
{
	MPI_Dims_create(size, 3, dims);
	at[0] = rank / (dims[1] * dims[2]), at[1] = rank / dims[2] % dims[1], at[2] = rank % dims[2];
	for (int l = 0; l < LEVELS; l++) {
		level *v = &levels[l];
		int stride = l < 2 ? 1 : 1 << (l - 1); // coarse grids are on fewer ranks
		v->active = 1;
		for (int axis = 0; axis < 3; axis++) {
			int step = stride < dims[axis] ? stride : dims[axis];
			if (at[axis] % step)
				v->active = 0;
			v->n[axis] = N >> l;
			for (int side = 0; side < 2; side++) {
				int to[3] = {at[0], at[1], at[2]};
				to[axis] = (at[axis] + (side ? step : dims[axis] - step)) % dims[axis];
				v->neighbour[axis][side] = number(to[0], to[1], to[2]);
			}
		}
		size_t bytes = sizeof(double) * (v->n[0] + 2) * (v->n[1] + 2) * (v->n[2] + 2);
		v->u = malloc(bytes), v->r = malloc(bytes);
		memset(v->u, 0, bytes), memset(v->r, rank & 1 ? 1 : 0, bytes);
	}
}

static double *cell(level *v, double *u, int axis, int i, int j, int k)
{
	int x = axis == 0 ? i : j, y = axis == 1 ? i : axis == 0 ? j : k, z = axis == 2 ? i : k;
	return &u[(x * (v->n[1] + 2) + y) * (v->n[2] + 2) + z];
}

static void exchange(level *v, double *u, int tag)
{
	for (int axis = 0; axis < 3; axis++) {
		int a = v->n[(axis + 1) % 3], b = v->n[(axis + 2) % 3], n = v->n[axis];
		MPI_Request requests[2];
		if (v->neighbour[axis][0] == rank)
			continue;
		for (int side = 0; side < 2; side++)
			MPI_Irecv(buffer[side], a * b, MPI_DOUBLE, v->neighbour[axis][side], tag + axis * 2 + side, MPI_COMM_WORLD, &requests[side]);
		for (int side = 0; side < 2; side++) {
			double *out = buffer[2 + side];
			for (int j = 1; j <= a; j++)
				for (int k = 1; k <= b; k++)
					*out++ = *cell(v, u, axis, side ? n : 1, j, k);
			MPI_Send(buffer[2 + side], out - buffer[2 + side], MPI_DOUBLE, v->neighbour[axis][side], tag + axis * 2 + 1 - side, MPI_COMM_WORLD);
		}
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
		for (int side = 0; side < 2; side++)
			for (int j = 1; j <= a; j++)
				for (int k = 1; k <= b; k++)
					*cell(v, u, axis, side ? n + 1 : 0, j, k) = buffer[side][(j - 1) * b + k - 1];
	}
}

static void smooth(level *v, double *u, const double *r)
{
	int n = (v->n[0] + 2) * (v->n[1] + 2) * (v->n[2] + 2);
	for (int i = 1; i < n - 1; i++)
		u[i] += 0.5 * (r[i] - 0.25 * (u[i - 1] + u[i + 1]));
}

static void cycle(int l)
{
	level *v = &levels[l];
	if (!v->active)
		return;
	exchange(v, v->r, 100 * l);
	smooth(v, v->u, v->r);
	if (l + 1 < LEVELS) {
		for (int i = 1; i <= levels[l + 1].n[0]; i++)
			levels[l + 1].r[i] = v->r[2 * i] + v->u[i];
		cycle(l + 1);
		for (int i = 1; i <= levels[l + 1].n[0]; i++)
			v->u[2 * i] += levels[l + 1].u[i];
	}
	exchange(v, v->u, 100 * l + 50);
	smooth(v, v->r, v->u);
}

int main(int argc, char **argv)
{
	int size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	setup(size);
	for (int iteration = 0; iteration < 4; iteration++) {
		cycle(0);
		double s = 0, m = 0, sum, max;
		for (int i = 0; i < N * N; i++)
			s += levels[0].r[i] * levels[0].r[i], m = fmax(m, fabs(levels[0].r[i]));
		MPI_Allreduce(&s, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		MPI_Allreduce(&m, &max, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
		if (rank == 0)
			printf("%d: %g %g\n", iteration, sqrt(sum), max);
	}
	for (int l = 0; l < LEVELS; l++)
		free(levels[l].u), free(levels[l].r);
	MPI_Finalize();
	return 0;
}
