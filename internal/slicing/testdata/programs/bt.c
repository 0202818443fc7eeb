/* A solver along the three axes, each rank with several cells on a diagonal, so that all have work in each stage: faces are
   sent in a ring along each axis, forth and back. With -DSP, elimination sends two rows, and back substitution one. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef SP
enum { FORTH = 22, BACK = 10 };
#else
enum { FORTH = 30, BACK = 5 };
#endif
#ifndef SIZE
#define CELLS 4 /* of a rank, at most */
#define SIZE 6  /* of a cell along an axis, at most */
#define GRID 9
#endif
enum { FACE = 10 * CELLS * SIZE * SIZE };
struct cell { int low[3], size[3], at[3], slice[3]; double u[SIZE * SIZE * SIZE * 5], rhs[SIZE * SIZE * SIZE * 5]; };

static struct cell cells[CELLS];
static int rank, size, ncells, successor[3], predecessor[3];
static double *in, *out;
static MPI_Comm solving;

static void partition(int grid)
{
	int p = rank / ncells, q = rank % ncells;
	for (int c = 0; c < ncells; c++) {
		int at[3] = {(q + c) % ncells, (p + ncells - c) % ncells, c};
		for (int axis = 0; axis < 3; axis++) {
			cells[c].at[axis] = at[axis];
			cells[c].slice[axis] = at[axis];
			cells[c].size[axis] = grid / ncells + (at[axis] < grid % ncells);
			cells[c].low[axis] = at[axis] * (grid / ncells) + (at[axis] < grid % ncells ? at[axis] : grid % ncells);
			if (cells[c].size[axis] > SIZE) {
				fprintf(stderr, "a cell is too large: %d\n", cells[c].size[axis]);
				MPI_Abort(MPI_COMM_WORLD, 2);
			}
		}
	}
	successor[0] = p * ncells + (q + 1) % ncells, predecessor[0] = p * ncells + (q + ncells - 1) % ncells;
	successor[1] = (p + 1) % ncells * ncells + q, predecessor[1] = (p + ncells - 1) % ncells * ncells + q;
	successor[2] = (p + 1) % ncells * ncells + (q + ncells - 1) % ncells, predecessor[2] = (p + ncells - 1) % ncells * ncells + (q + 1) % ncells;
}

static void faces(void)
{
	MPI_Request requests[12];
	int n = 0, lengths[3];
	for (int axis = 0; axis < 3; axis++) {
		lengths[axis] = 0;
		for (int c = 0; c < ncells; c++)
			if (cells[c].at[axis] != ncells - 1)
				lengths[axis] += 2 * 5 * cells[c].size[(axis + 1) % 3] * cells[c].size[(axis + 2) % 3];
	}
	for (int axis = 0; axis < 3; axis++) {
		MPI_Irecv(in + axis * 2 * FACE, FACE, MPI_DOUBLE, predecessor[axis], axis, MPI_COMM_WORLD, &requests[n++]);
		MPI_Irecv(in + (axis * 2 + 1) * FACE, FACE, MPI_DOUBLE, successor[axis], axis + 3, MPI_COMM_WORLD, &requests[n++]);
	}
	for (int axis = 0; axis < 3; axis++) {
		for (int i = 0; i < lengths[axis]; i++)
			out[axis * FACE + i] = cells[i % ncells].u[i];
		MPI_Isend(out + axis * FACE, lengths[axis], MPI_DOUBLE, successor[axis], axis, MPI_COMM_WORLD, &requests[n++]);
		MPI_Isend(out + axis * FACE, lengths[axis], MPI_DOUBLE, predecessor[axis], axis + 3, MPI_COMM_WORLD, &requests[n++]);
	}
	MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
	for (int c = 0; c < ncells; c++)
		for (int i = 0; i < SIZE; i++)
			cells[c].rhs[i] += in[c * SIZE + i];
}

/* solve goes through the stages of an axis, forward or back. */
static void solve(int axis, int forward)
{
	MPI_Request request[2];
	for (int stage = 0; stage < ncells; stage++) {
		int at = forward ? stage : ncells - 1 - stage, c = 0;
		while (cells[c].slice[axis] != at)
			c++;
		struct cell *own = &cells[c];
		int rows = own->size[(axis + 1) % 3] * own->size[(axis + 2) % 3], each = forward ? FORTH : BACK;
		int from = forward ? predecessor[axis] : successor[axis], to = forward ? successor[axis] : predecessor[axis];
		if (stage > 0) {
			MPI_Irecv(in, each * rows, MPI_DOUBLE, from, 10 + axis + at, solving, &request[0]);
			MPI_Wait(&request[0], MPI_STATUS_IGNORE);
			for (int i = 0; i < rows; i++)
				own->rhs[i] -= in[i];
		}
		for (int i = 1; i < SIZE * SIZE * SIZE * 5; i++)
			own->u[i] = 0.5 * own->u[i] + 0.2 * (own->u[i - 1] - own->rhs[i]);
		if (stage < ncells - 1) {
			memcpy(out, own->u, sizeof(double) * rows);
			MPI_Isend(out, each * rows, MPI_DOUBLE, to, 10 + axis + at + (forward ? 1 : -1), solving, &request[1]);
			MPI_Wait(&request[1], MPI_STATUS_IGNORE);
		}
	}
}

int main(int argc, char **argv)
{
	int steps = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	ncells = (int)(sqrt((double)size) + 0.00001);
	int active = MPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS && rank < ncells * ncells;
	MPI_Comm_split(MPI_COMM_WORLD, !active, rank, &solving);
	if (!active) {
		MPI_Finalize();
		return 0;
	}
	if (rank == 0)
		steps = 3;
	MPI_Bcast(&steps, 1, MPI_INT, 0, solving);
	in = calloc(6 * FACE, sizeof *in), out = calloc(3 * FACE, sizeof *out);
	partition(GRID);
	for (int step = 1; step <= steps; step++) {
		faces();
		for (int axis = 0; axis < 3; axis++)
			solve(axis, 1), solve(axis, 0);
	}
	double own[5], sum[5];
	for (int m = 0; m < 5; m++)
		for (int c = own[m] = 0; c < ncells; c++)
			own[m] += cells[c].u[m] * cells[c].u[m];
	MPI_Allreduce(own, sum, 5, MPI_DOUBLE, MPI_SUM, solving);
	if (rank == 0)
		printf("%g: %s\n", sqrt(sum[0]), fabs(sum[0]) < 1 ? "verified" : "failed");
	free(in), free(out);
	MPI_Comm_free(&solving);
	MPI_Finalize();
	return 0;
}
