/* Loops whose arguments advance: addresses of rows, tags that wrap, counts that shrink, offsets in a file. */
#include <mpi.h>
#include <stdlib.h>

static int rank, size;

/* Both ends of the rows of a matrix go from rank to rank. */
static void rows(int outer, int inner, int row)
{
	double *matrix = calloc((size_t)inner * row, sizeof *matrix);
	for (int o = 0; o < outer; o++) {
		for (int j = 1; j < inner; j++) {
			if (rank > 0)
				MPI_Recv(&matrix[j * row], 1, MPI_DOUBLE, rank - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			if (rank < size - 1)
				MPI_Send(&matrix[j * row + row - 1], 1, MPI_DOUBLE, rank + 1, 3, MPI_COMM_WORLD);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	free(matrix);
}

static void tags(int n, int wrap)
{
	int *x = calloc(2, sizeof *x);
	for (int i = 0; i < n; i++)
		MPI_Sendrecv(x, 1, MPI_INT, (rank + 1) % size, i % wrap, x + 1, 1, MPI_INT, (rank + size - 1) % size, i % wrap, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	free(x);
}

/* Panels shrink, from the end backwards, and their root goes round. */
static void panels(int outer, int inner)
{
	double *panel = calloc((size_t)inner * 8, sizeof *panel);
	for (int o = 0; o < outer; o++)
		for (int k = inner - 1; k >= 0; k--)
			MPI_Bcast(&panel[k * 8], (inner - k) * 8, MPI_DOUBLE, k % size, MPI_COMM_WORLD);
	free(panel);
}

/* Blocks of planes of a cube: three indices, none of which is that of a loop alone. */
static void blocks(int outer)
{
	enum { n = 6 };
	double *cube = calloc(n * n * n, sizeof *cube), *x = calloc(1, sizeof *x);
	for (int o = 0; o < outer; o++)
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n - 1; j++)
				for (int k = 0; k < n - 2; k++)
					MPI_Sendrecv(&cube[(i * n + j) * n + k], 1, MPI_DOUBLE, rank, 1, x, 1, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	free(cube);
	free(x);
}

/* Each rank writes records of its own length, which are apart by a multiple of the rank. */
static void records(int n)
{
	MPI_File file;
	int *x = calloc(size + 1, sizeof *x);
	MPI_File_open(MPI_COMM_WORLD, "running.dat", MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
	for (int i = 0; i < n; i++)
		MPI_File_write_at(file, (MPI_Offset)1024 * rank + (MPI_Offset)i * 4 * (rank + 1), x, rank + 1, MPI_INT, MPI_STATUS_IGNORE);
	for (int i = 0; i < n; i++)
		MPI_File_write_at(file, ((MPI_Offset)i << 28) + rank * rank * 8, x, size + 1, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_close(&file);
	free(x);
}

static void ring(int *x, int n)
{
	for (int i = 0; i < n; i++) {
		MPI_Bcast(&x[i], 1, MPI_INT, 1, MPI_COMM_WORLD);
		MPI_Allreduce(&x[i], &x[n + i], 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	}
}

/* The same loop in two places, which is a function of the proxy: its arguments advance with the calls. */
static void twice(int outer, int n)
{
	int *x = calloc(2 * n, sizeof *x);
	for (int o = 0; o < outer; o++) {
		ring(x, n);
		MPI_Barrier(MPI_COMM_WORLD);
		ring(x, n);
		MPI_Scan(x, x + n, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
	free(x);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	rows(5, 40, 51);
	tags(230, 100);
	panels(4, 36);
	blocks(3);
	records(50);
	twice(4, 20);
	MPI_Finalize();
	return 0;
}
