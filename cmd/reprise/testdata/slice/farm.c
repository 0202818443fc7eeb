/* A master gives work to whoever asks; how much is in each answer. Results are collected. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct work {
	int first, count;
	double results[64];
};

static void serve(int size, struct work *w)
{
	MPI_Status status;
	for (int next = 0, working = size - 1; working > 0;) {
		MPI_Recv(w, sizeof *w, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
		int count = next < 100 ? w->count + 3 : 0;
		working -= count == 0;
		w->first = next;
		w->count = count;
		next += count;
		MPI_Send(w, 2, MPI_INT, status.MPI_SOURCE, count, MPI_COMM_WORLD);
	}
}

static void work(struct work *w)
{
	w->count = 1;
	do {
		for (int i = 0; i < 64; i++)
			for (int k = 0; k < 1000; k++)
				w->results[i] += 1.0 / (w->first + i + k + 1);
		MPI_Send(w, sizeof *w, MPI_BYTE, 0, w->count % 7, MPI_COMM_WORLD);
		MPI_Recv(w, 2, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} while (w->count > 0);
}

int main(int argc, char **argv)
{
	int rank, size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	struct work *w = calloc(1, sizeof *w);
	if (!w || size < 2) {
		fprintf(stderr, "farm takes two ranks\n");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	if (rank == 0)
		serve(size, w);
	else
		work(w);
	free(w);
	MPI_Finalize();
	return 0;
}
