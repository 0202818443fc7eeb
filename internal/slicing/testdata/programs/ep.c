/* Pairs of random numbers are counted by how large they are: nothing but sums at the end, and a test of them. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS (1 << 16)
static double x[2 * PAIRS], q[10];

static double randlc(double *seed, double a)
{
	const double r23 = 0x1p-23, t23 = 0x1p23, r46 = 0x1p-46, t46 = 0x1p46;
	double a1 = (int)(r23 * a), a2 = a - t23 * a1, x1 = (int)(r23 * *seed), x2 = *seed - t23 * x1;
	double t1 = a1 * x2 + a2 * x1, t2 = (int)(r23 * t1), z = t1 - t23 * t2, t3 = t23 * z + a2 * x2;
	*seed = t3 - t46 * (int)(r46 * t3);
	return r46 * *seed;
}

int main(int argc, char **argv)
{
	int rank, size, groups = 1 << 4;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int own = groups / size, first = rank * own + (rank < groups % size ? rank : groups % size);
	if (rank < groups % size)
		own++;
	if (own == 0) {
		fprintf(stderr, "too many ranks: %d\n", size);
		MPI_Abort(MPI_COMM_WORLD, 1);
		exit(6);
	}
	double sx = 0, sy = 0, seed, total, t[2], sums[2];
	MPI_Barrier(MPI_COMM_WORLD);
	double start = MPI_Wtime();
	for (int k = 0; k < own; k++) {
		seed = 271828183 + first + k;
		for (int i = 0; i < 2 * PAIRS; i++)
			x[i] = 2 * randlc(&seed, 1220703125) - 1;
		for (int i = 0; i < PAIRS; i++) {
			double s = x[2 * i] * x[2 * i] + x[2 * i + 1] * x[2 * i + 1];
			if (s <= 1) {
				double u = sqrt(-2 * log(s) / s), g = fabs(x[2 * i] * u), h = fabs(x[2 * i + 1] * u);
				q[(int)fmax(g, h)]++;
				sx += g, sy += h;
			}
		}
	}
	MPI_Allreduce(&sx, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	sx = total;
	t[0] = sx, t[1] = sy;
	MPI_Allreduce(t, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	double all[10];
	MPI_Allreduce(q, all, 10, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	memcpy(q, all, sizeof q);
	double elapsed = MPI_Wtime() - start, slowest;
	MPI_Allreduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%s: %g %g, %g s\n", fabs(sums[0] - sx) < 1e-8 ? "verified" : "failed", sx, sums[1], slowest);
	MPI_Finalize();
	return 0;
}
