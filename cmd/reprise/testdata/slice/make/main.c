#include <mpi.h>
int steps(int rank);
void exchange(double *v, int n, int to);
int main(int argc, char **argv)
{
	int rank, size;
	static double v[1000];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < steps(rank); i++)
		exchange(v, 10 + i, size - 1 - rank);
	MPI_Finalize();
	return 0;
}
