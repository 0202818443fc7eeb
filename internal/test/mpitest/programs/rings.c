/*
 * Rings in two communicators of different sizes, whose ranks are in another order than
 * those of the run, in a duplicate of each, and in one that all are in.
 */
#include "check.h"

static void ring(MPI_Comm comm, int tag)
{
	int me, n, got = -1;
	MPI_Request request;
	MPI_Status status;
	OK(MPI_Comm_rank(comm, &me));
	OK(MPI_Comm_size(comm, &n));
	int next = (me + 1) % n, previous = (me + n - 1) % n;
	for (int i = 0; i < 8; i++) {
		OK(MPI_Sendrecv(&me, 1, MPI_INT, next, tag + i, &got, 1, MPI_INT, previous, tag + i, comm, &status));
		CHECK(got == previous && status.MPI_SOURCE == previous);
		OK(MPI_Isend(&me, 1, MPI_INT, previous, tag + i, comm, &request));
		OK(MPI_Recv(&got, 1, MPI_INT, next, tag + i, comm, &status));
		OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
		CHECK(got == next);
	}
}

int main(int argc, char **argv)
{
	MPI_Comm part, same, all;
	int me, n;
	begin(&argc, &argv);
	OK(MPI_Comm_split(MPI_COMM_WORLD, (rank + rank * rank / 3) % 2, rank * 7 % 10, &part));
	OK(MPI_Comm_dup(part, &same));
	OK(MPI_Comm_split(MPI_COMM_WORLD, 0, rank * 7 % 10, &all));
	OK(MPI_Comm_rank(part, &me));
	OK(MPI_Comm_size(part, &n));
	say("%d of %d", me, n);
	OK(MPI_Comm_rank(all, &me));
	say("%d of %d", me, size);
	ring(part, 10);
	ring(same, 20);
	ring(all, 30);
	OK(MPI_Comm_free(&all));
	OK(MPI_Comm_free(&same));
	OK(MPI_Comm_free(&part));
	return end();
}
