/*
 * Persistent requests that are started together, some of which are of no process.
 * Recorded as startall.exact.rpz by
 *
 *	mpicc.openmpi -o startall startall.c
 *	reprise record --times exact -o startall.exact.rpz -- mpirun.openmpi -n 3 ./startall
 */
#include <mpi.h>

enum { N = 4 };

int main(int argc, char **argv)
{
	static const int offsets[N] = {-2, -1, 1, 2};
	static int a[256], b[N][256];
	MPI_Request r[2 * N];
	int rank, size, i, peer;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (i = 0; i < N; i++) {
		peer = rank + offsets[i];
		if (peer < 0 || peer >= size)
			peer = MPI_PROC_NULL;
		MPI_Recv_init(b[i], 16 * (i + 1), MPI_INT, peer, 1, MPI_COMM_WORLD, &r[i]);
		MPI_Send_init(a, 16 * (N - i), MPI_INT, peer, 1, MPI_COMM_WORLD, &r[N + i]);
	}
	for (i = 0; i < 10; i++) {
		MPI_Startall(2 * N, r);
		MPI_Waitall(2 * N, r, MPI_STATUSES_IGNORE);
	}
	MPI_Finalize();
	return 0;
}
