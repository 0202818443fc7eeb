/* luany.c: a pipeline through planes of a grid in the pattern of LU, whose receives of faces take any source: only one neighbor sends with
 * their tag. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 20, NZ = 12, FROM_N = 2, FROM_S = 1, FROM_E = 4, FROM_W = 3 };
static double u[5][N + 4][N + 4][NZ], rsd[5][N + 4][N + 4][NZ], buf[5 * 2 * N * NZ], buf1[5 * 2 * N * NZ];
static int id, num, nx, ny, north = -1, south = -1, east = -1, west = -1;

/* exchange_1 receives (0, 2) or sends (1, 3) the edges of a plane. */
static void exchange_1(int k, int iex)
{
	double dum[5 * N], dum1[5 * N];
	MPI_Status status;
	if (iex == 0) {
		if (north != -1) {
			MPI_Recv(dum1, 5 * ny, MPI_DOUBLE, north, FROM_N, MPI_COMM_WORLD, &status);
			for (int j = 0; j < ny; j++)
				for (int m = 0; m < 5; m++)
					rsd[m][0][j + 1][k] = dum1[m + 5 * j];
		}
		if (west != -1) {
			MPI_Recv(dum1, 5 * nx, MPI_DOUBLE, west, FROM_W, MPI_COMM_WORLD, &status);
			for (int i = 0; i < nx; i++)
				for (int m = 0; m < 5; m++)
					rsd[m][i + 1][0][k] = dum1[m + 5 * i];
		}
	} else if (iex == 1) {
		if (south != -1) {
			for (int j = 0; j < ny; j++)
				for (int m = 0; m < 5; m++)
					dum[m + 5 * j] = rsd[m][nx][j + 1][k];
			MPI_Send(dum, 5 * ny, MPI_DOUBLE, south, FROM_N, MPI_COMM_WORLD);
		}
		if (east != -1) {
			for (int i = 0; i < nx; i++)
				for (int m = 0; m < 5; m++)
					dum[m + 5 * i] = rsd[m][i + 1][ny][k];
			MPI_Send(dum, 5 * nx, MPI_DOUBLE, east, FROM_W, MPI_COMM_WORLD);
		}
	}
}

/* exchange_3 exchanges faces with two layers, with receives that are posted before, from any source. */
static void exchange_3(double g[5][N + 4][N + 4][NZ], int iex)
{
	MPI_Request mid;
	MPI_Status status;
	if (iex == 0) {
		if (north != -1)
			MPI_Irecv(buf1, 10 * ny * NZ, MPI_DOUBLE, MPI_ANY_SOURCE, FROM_N, MPI_COMM_WORLD, &mid);
		if (south != -1) {
			int at = 0;
			for (int k = 0; k < NZ; k++)
				for (int j = 0; j < ny; j++)
					for (int m = 0; m < 5; m++)
						buf[at++] = g[m][nx][j][k], buf[at++] = g[m][nx - 1][j][k];
			MPI_Send(buf, 10 * ny * NZ, MPI_DOUBLE, south, FROM_N, MPI_COMM_WORLD);
		}
		if (north != -1) {
			MPI_Wait(&mid, &status);
			int at = 0;
			for (int k = 0; k < NZ; k++)
				for (int j = 0; j < ny; j++)
					for (int m = 0; m < 5; m++)
						g[m][0][j][k] = buf1[at++], g[m][1][j][k] = buf1[at++];
		}
	} else {
		if (west != -1)
			MPI_Irecv(buf1, 10 * nx * NZ, MPI_DOUBLE, MPI_ANY_SOURCE, FROM_W, MPI_COMM_WORLD, &mid);
		if (east != -1) {
			int at = 0;
			for (int k = 0; k < NZ; k++)
				for (int i = 0; i < nx; i++)
					for (int m = 0; m < 5; m++)
						buf[at++] = g[m][i][ny][k], buf[at++] = g[m][i][ny - 1][k];
			MPI_Send(buf, 10 * nx * NZ, MPI_DOUBLE, east, FROM_W, MPI_COMM_WORLD);
		}
		if (west != -1) {
			MPI_Wait(&mid, &status);
			int at = 0;
			for (int k = 0; k < NZ; k++)
				for (int i = 0; i < nx; i++)
					for (int m = 0; m < 5; m++)
						g[m][i][0][k] = buf1[at++], g[m][i][1][k] = buf1[at++];
		}
	}
}

static void solve(int k)
{
	for (int j = 1; j <= ny; j++)
		for (int i = 1; i <= nx; i++)
			for (int m = 0; m < 5; m++) {
				rsd[m][i][j][k] = 0.25 * (rsd[m][i - 1][j][k] + rsd[m][i][j - 1][k] + u[m][i][j][k]);
				u[m][i][j][k] -= 0.1 * rsd[m][i][j][k];
			}
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &id);
	MPI_Comm_size(MPI_COMM_WORLD, &num);
	int itmax = 6, xdim = 1;
	MPI_Bcast(&itmax, 1, MPI_INT, 0, MPI_COMM_WORLD);
	while (4 * xdim * xdim <= num)
		xdim *= 2;
	int ydim = num / xdim, row = id % xdim, col = id / xdim;
	if (row > 0)
		north = id - 1;
	if (row < xdim - 1)
		south = id + 1;
	if (col > 0)
		west = id - xdim;
	if (col < ydim - 1)
		east = id + xdim;
	nx = N / 2 + row % 2, ny = N / 2 - col % 2;
	for (int k = 0; k < NZ; k++)
		for (int i = 0; i < nx; i++)
			u[0][i][0][k] = i * k + id, rsd[0][i][0][k] = 1.0 / (i + 1);
	for (int step = 1; step <= itmax; step++) {
		for (int k = 1; k < NZ - 1; k++) {
			exchange_1(k, 0);
			solve(k);
			exchange_1(k, 1);
		}
		exchange_3(u, 0);
		exchange_3(u, 1);
		if (step % 2 == 0) {
			double norm = 0, total;
			for (int k = 1; k < NZ - 1; k++)
				for (int i = 1; i <= nx; i++)
					norm += rsd[0][i][1][k] * rsd[0][i][1][k];
			MPI_Allreduce(&norm, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
			if (id == 0)
				printf("%d %g\n", step, sqrt(total));
		}
	}
	MPI_Finalize();
	return 0;
}
