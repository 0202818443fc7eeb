/*
 * Collective operations between two halves of the ranks. Rank 0 computes longer than the others, which need nothing of it in
 * operations whose root is rank 1, and then in one that only its own half need not wait for.
 */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

int main(int argc, char **argv)
{
	MPI_Comm half, inter;
	int rank, size, value = 1, sum = 0, got[64] = {0};
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int second = rank >= size / 2;
	MPI_Comm_split(MPI_COMM_WORLD, second, rank, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, second ? 0 : size / 2, 1, &inter);
	int root = second ? 1 : rank == 1 ? MPI_ROOT : MPI_PROC_NULL;
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		struct timespec work = {1, 0};
		nanosleep(&work, NULL);
	}
	for (int i = 0; i < 10; i++) {
		MPI_Bcast(&value, 1, MPI_INT, root, inter);
		MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, root, inter);
		MPI_Gather(&value, 1, MPI_INT, got, 1, MPI_INT, root, inter);
		MPI_Scatter(got, 1, MPI_INT, &value, 1, MPI_INT, root, inter);
	}
	if (rank == 1 && sum != size - size / 2)
		printf("sum %d\n", sum);
	MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, inter);
	printf("sum %d\n", sum);
	MPI_Comm_free(&inter);
	MPI_Finalize();
	return 0;
}
