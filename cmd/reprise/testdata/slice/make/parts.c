#include <math.h>
#include <mpi.h>
int steps(int rank) { return 3; }
void exchange(double *v, int n, int to)
{
	for (int i = 0; i < 1000; i++)
		v[i] = sqrt(v[i] + i);
	MPI_Sendrecv_replace(v, n, MPI_DOUBLE, to, 1, to, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
