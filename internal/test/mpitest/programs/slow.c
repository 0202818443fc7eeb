/* One rank computes longer than the others, which wait for it in MPI_Allreduce. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(int argc, char **argv)
{
	int rank;
	double one = 1, sum;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 25; i++) {
		struct timespec work = {0, rank == atoi(argv[1]) ? 20000000 : 2000000};
		nanosleep(&work, NULL);
		MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	puts("end");
	return 0;
}
