/* A sweep through blocks on a grid of processes from all corners, as for the transport of neutrons: what is sent on is
   computed of what is received, and nothing depends on it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
	int nx, ny, nz, angles, blocks;
	double *flux, *east, *north;
} grid;

static grid *make(int nx, int ny, int nz, int angles)
{
	grid *g = malloc(sizeof *g);
	*g = (grid){nx, ny, nz, angles, 4, calloc((size_t)nx * ny * nz, sizeof(double)), calloc(ny * nz * angles, sizeof(double)),
		calloc(nx * nz * angles, sizeof(double))};
	return g;
}

static void solve(grid *g, int octant, int block)
{
	for (int k = block; k < g->nz; k += g->blocks)
		for (int j = 0; j < g->ny; j++)
			for (int i = 0; i < g->nx; i++)
				for (int m = 0; m < g->angles; m++) {
					double *e = &g->east[(k * g->ny + j) * g->angles + m], *n = &g->north[(k * g->nx + i) * g->angles + m];
					double f = (1 + *e + *n) / (octant + 3);
					g->flux[(k * g->ny + j) * g->nx + i] += f;
					*e = *n = f;
				}
}

int main(int argc, char **argv)
{
	int rank, size, dims[2] = {0, 0}, periods[2] = {0, 0}, west, east, south, north;
	MPI_Comm cart;
	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Dims_create(size, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &cart);
	MPI_Comm_rank(cart, &rank);
	MPI_Cart_shift(cart, 0, 1, &west, &east);
	MPI_Cart_shift(cart, 1, 1, &south, &north);
	grid *g = make(12, 12, 8, 6);
	double total = 0, sum;
	for (int iteration = 0; iteration < 3; iteration++) {
		for (int octant = 0; octant < 8; octant++) {
			int fromx = octant & 1 ? east : west, tox = octant & 1 ? west : east;
			int fromy = octant & 2 ? north : south, toy = octant & 2 ? south : north;
			for (int block = 0; block < g->blocks; block++) {
				MPI_Status status;
				if (fromx != MPI_PROC_NULL)
					MPI_Recv(g->east, g->ny * g->angles, MPI_DOUBLE, fromx, octant, cart, &status);
				if (fromy != MPI_PROC_NULL)
					MPI_Recv(g->north, g->nx * g->angles, MPI_DOUBLE, fromy, octant, cart, &status);
				solve(g, octant, block);
				MPI_Send(g->east, g->ny * g->angles, MPI_DOUBLE, tox, octant, cart);
				MPI_Send(g->north, g->nx * g->angles, MPI_DOUBLE, toy, octant, cart);
			}
		}
		for (int i = 0; i < g->nx * g->ny * g->nz; i++)
			total += g->flux[i];
		MPI_Allreduce(&total, &sum, 1, MPI_DOUBLE, MPI_SUM, cart);
	}
	if (rank == 0)
		printf("%g\n", sum);
	free(g->flux), free(g->east), free(g->north), free(g);
	MPI_Comm_free(&cart);
	MPI_Finalize();
	return 0;
}
