/*
 * Exchanges halos with up to 26 neighbours in a grid of side³ ranks, without wrap-around: faces, edges and
 * corners. Each rank has the messages of the neighbours that it has one after the other in one buffer. In
 * each step it posts the receives, in a fixed order, computes, sends, waits for the messages one by one, and
 * for what it sent. Arguments: the side of the grid and the number of steps.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { points = 16, neighbours = 26 };

static int side, rank;
static int direction[neighbours][3]; /* faces, then edges, then corners */
static int peer[neighbours], count[neighbours], place[neighbours], known;

/* Fills the table of directions: those with one step first, then two, then three. */
static void directions(void)
{
	int n = 0;
	for (int steps = 1; steps <= 3; steps++)
		for (int z = -1; z <= 1; z++)
			for (int y = -1; y <= 1; y++)
				for (int x = -1; x <= 1; x++)
					if (abs(x) + abs(y) + abs(z) == steps) {
						direction[n][0] = x;
						direction[n][1] = y;
						direction[n++][2] = z;
					}
}

/* Finds the neighbours that the rank has, and returns how many numbers they all send. */
static int meet(void)
{
	int at[3] = {rank % side, rank / side % side, rank / side / side}, total = 0;
	for (int n = 0; n < neighbours; n++) {
		int other = 0, inside = 1, steps = 0;
		for (int d = 2; d >= 0; d--) {
			int p = at[d] + direction[n][d];
			inside &= p >= 0 && p < side;
			other = other * side + p;
			steps += abs(direction[n][d]);
		}
		if (!inside)
			continue;
		peer[known] = other;
		count[known] = steps == 1 ? points * points : steps == 2 ? points : 1;
		place[known] = total;
		total += count[known++];
	}
	return total;
}

static double compute(double value, int n)
{
	for (int i = 0; i < n; i++)
		value = value * 0.999 + i;
	return value;
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	side = atoi(argv[1]);
	int steps = atoi(argv[2]), size;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size != side * side * side)
		MPI_Abort(MPI_COMM_WORLD, 2);
	directions();
	int total = meet();
	double *in = malloc(total * sizeof *in), *out = calloc(total, sizeof *out), value = rank, sum;
	MPI_Request receive[neighbours], send[neighbours];
	for (int step = 0; step < steps; step++) {
		for (int i = 0; i < known; i++)
			MPI_Irecv(in + place[i], count[i], MPI_DOUBLE, peer[i], 26, MPI_COMM_WORLD, &receive[i]);
		value = compute(value, 1000);
		for (int i = 0; i < known; i++)
			MPI_Isend(out + place[i], count[i], MPI_DOUBLE, peer[i], 26, MPI_COMM_WORLD, &send[i]);
		for (int i = 0; i < known; i++)
			MPI_Wait(&receive[i], MPI_STATUS_IGNORE);
		for (int i = 0; i < known; i++)
			MPI_Wait(&send[i], MPI_STATUS_IGNORE);
		MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	free(in);
	free(out);
	MPI_Finalize();
	return 0;
}
