// Heat in a rod, on any number of processes: each exchanges the ends of its piece with its
// neighbours in every step, all add up the error in every tenth, and the first collects samples.
// The piece of rank 2 takes twice as long as those of others. A process sleeps in place of
// computing, so that times do not depend on how many processors there are.
//
//	mpicc -g -O2 -o heat heat.c
//	reprise record --times exact -o heat.rpz -- mpirun -n 4 ./heat

#include <mpi.h>
#include <stdlib.h>
#include <time.h>

enum { halo = 1024, piece = 65536, steps = 200 };

static int rank, size;

static void compute(long microseconds) {
	struct timespec t = {0, 1000 * microseconds};
	nanosleep(&t, NULL);
}

static void exchange(double *ends) {
	MPI_Request requests[4];
	int n = 0;
	for (int side = 0; side < 2; side++) {
		int other = rank + 2 * side - 1;
		if (other >= 0 && other < size) {
			MPI_Irecv(ends + side * halo, halo, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, &requests[n++]);
			MPI_Isend(ends + (2 + side) * halo, halo, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, &requests[n++]);
		}
	}
	compute(rank == 2 ? 10000 : 5000);
	MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

static void collect(double *field, int count) {
	if (rank > 0) {
		MPI_Send(field, count, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD);
		return;
	}
	for (int other = 1; other < size; other++)
		MPI_Recv(field, count, MPI_DOUBLE, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	double *ends = calloc(4 * halo, sizeof *ends), *field = calloc(piece, sizeof *field), error = 1, all;
	for (int step = 1; step <= steps; step++) {
		exchange(ends);
		if (step % 10 == 0)
			MPI_Allreduce(&error, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		if (step % 50 == 0)
			collect(field, piece / (1 + steps / step));
	}
	free(ends);
	free(field);
	MPI_Finalize();
	return 0;
}
