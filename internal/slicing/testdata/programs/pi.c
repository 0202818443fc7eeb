/* Pi by quadrature: the number of intervals is read, and sent to all. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double f(double a) { return 4.0 / (1.0 + a * a); }

int main(int argc, char **argv)
{
	int n = 0, rank, size, rounds = argc > 1 ? atoi(argv[1]) : 3;
	char name[MPI_MAX_PROCESSOR_NAME];
	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Get_processor_name(name, &n);
	fprintf(stderr, "%d of %d on %s\n", rank, size, name);
	double pi, start = MPI_Wtime();
	for (int round = 0;; round++) {
		if (rank == 0) {
			n = round < rounds ? 1000 << round : 0;
			FILE *input = fopen("intervals", "r");
			if (input) {
				if (fscanf(input, "%d", &n) != 1)
					n = 0;
				fclose(input);
			}
		}
		MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
		if (n == 0)
			break;
		double h = 1.0 / n, sum = 0;
		for (int i = rank + 1; i <= n; i += size)
			sum += f(h * (i - 0.5));
		sum *= h;
		MPI_Reduce(&sum, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
		if (rank == 0)
			printf("%.16f, off by %.16f, %f s\n", pi, fabs(pi - M_PI), MPI_Wtime() - start);
	}
	MPI_Finalize();
	return 0;
}
