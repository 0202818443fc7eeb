/*
 * Ranks add to a counter of rank 0 under an exclusive lock, and compute while they have it. Recorded as
 * locks.exact.rpz by
 *
 *	mpicc.mpich -o locks locks.c
 *	reprise record --anonymous --times exact -o locks.exact.rpz -- mpirun.mpich -n 3 ./locks
 */
#include <mpi.h>

int main(int argc, char **argv)
{
	int rank, size, value, *memory;
	volatile double work = 1;
	MPI_Win win;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
	*memory = 0;
	MPI_Win_unlock(rank, win);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < 20; i++) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
		MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
		MPI_Win_flush(0, win);
		for (int k = 0; k < 200000; k++)
			work *= 1.0000001;
		value++;
		MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
		MPI_Win_unlock(0, win);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
	MPI_Win_unlock_all(win);
	if (value != 20 * size)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
