/*
 * Messages and collective operations of many kinds. Recorded as messages.exact.rpz by
 *
 *	mpicc.openmpi -o messages messages.c
 *	reprise record --times exact -o messages.exact.rpz -- mpirun.openmpi -n 4 ./messages
 */
#include <mpi.h>
#include <stdlib.h>

enum { N = 4 };

static int rank, size, left, right;
static int a[1 << 16], b[1 << 16];

static void point_to_point(MPI_Comm comm)
{
	MPI_Request r[4];
	MPI_Status status, statuses[4];
	int index, flag, count, indices[4];

	MPI_Sendrecv(a, 10, MPI_INT, right, 1, b, 20, MPI_INT, left, 1, comm, &status);
	MPI_Sendrecv_replace(a, 5, MPI_DOUBLE, left, 2, right, 2, comm, MPI_STATUS_IGNORE);
	MPI_Irecv(b, 0, MPI_INT, left, 3, comm, &r[0]);
	MPI_Issend(a, 0, MPI_INT, right, 3, comm, &r[1]);
	MPI_Waitall(2, r, statuses);
	/* two messages of one source and tag at a time */
	MPI_Irecv(b, 100, MPI_INT, left, 4, comm, &r[0]);
	MPI_Irecv(b + 100, 100, MPI_INT, left, 4, comm, &r[1]);
	MPI_Isend(a, 100, MPI_INT, right, 4, comm, &r[2]);
	MPI_Isend(a, 50, MPI_INT, right, 4, comm, &r[3]);
	for (int i = 0; i < 4; i++)
		MPI_Waitany(4, r, &index, &status);
	/* no process */
	MPI_Irecv(b, 1, MPI_INT, rank ? rank - 1 : MPI_PROC_NULL, 5, comm, &r[0]);
	MPI_Isend(a, 1, MPI_INT, rank < N - 1 ? rank + 1 : MPI_PROC_NULL, 5, comm, &r[1]);
	for (int left_over = 2; left_over > 0; left_over -= count == MPI_UNDEFINED ? 0 : count)
		MPI_Testsome(2, r, &count, indices, statuses);
	/* any source, told by the status and not */
	if (rank == 0) {
		for (int i = 1; i < N; i++)
			MPI_Recv(b, 100, MPI_INT, MPI_ANY_SOURCE, 6, comm, &status);
		for (int i = 1; i < N; i++) {
			MPI_Irecv(b, 100, MPI_INT, MPI_ANY_SOURCE, 7, comm, &r[0]);
			MPI_Wait(&r[0], &status);
		}
		for (int i = 1; i < N; i++) {
			MPI_Irecv(b, 100, MPI_INT, MPI_ANY_SOURCE, 8, comm, &r[0]);
			MPI_Wait(&r[0], MPI_STATUS_IGNORE);
		}
	} else {
		for (int tag = 6; tag < 9; tag++)
			MPI_Ssend(a, 10 * rank, MPI_INT, 0, tag, comm);
	}
	/* persistent requests */
	MPI_Recv_init(b, 10, MPI_INT, left, 9, comm, &r[0]);
	MPI_Send_init(a, 10, MPI_INT, right, 9, comm, &r[1]);
	for (int i = 0; i < 3; i++) {
		MPI_Startall(2, r);
		do
			MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE);
		while (!flag);
	}
	MPI_Start(&r[0]);
	MPI_Start(&r[1]);
	MPI_Wait(&r[1], &status);
	MPI_Wait(&r[0], &status);
	MPI_Request_free(&r[0]);
	MPI_Request_free(&r[1]);
	/* a probe */
	if (rank == 1)
		MPI_Send(a, 1000, MPI_DOUBLE, 0, 10, comm);
	if (rank == 0) {
		MPI_Probe(MPI_ANY_SOURCE, 10, comm, &status);
		MPI_Get_count(&status, MPI_DOUBLE, &count);
		MPI_Recv(b, count, MPI_DOUBLE, status.MPI_SOURCE, 10, comm, MPI_STATUS_IGNORE);
	}
}

static void collectives(MPI_Comm comm)
{
	int counts[N], displacements[N], me;
	MPI_Request request;
	MPI_Datatype pair;

	MPI_Comm_rank(comm, &me);
	for (int i = 0, at = 0; i < N; at += counts[i++])
		counts[i] = 10 * i, displacements[i] = at;
	MPI_Type_contiguous(2, MPI_INT, &pair);
	MPI_Type_commit(&pair);
	MPI_Barrier(comm);
	MPI_Bcast(a, 100, pair, 1, comm);
	MPI_Reduce(a, b, 10, MPI_INT, MPI_SUM, 2, comm);
	MPI_Allreduce(MPI_IN_PLACE, b, 10, MPI_INT, MPI_SUM, comm);
	MPI_Scan(a, b, 10, MPI_INT, MPI_SUM, comm);
	MPI_Exscan(a, b, 10, MPI_INT, MPI_SUM, comm);
	MPI_Gather(a, 10, MPI_INT, b, 10, MPI_INT, 1, comm);
	MPI_Scatter(a, 10, MPI_INT, b, 10, MPI_INT, 3, comm);
	MPI_Allgather(a, 10, MPI_INT, b, 10, MPI_INT, comm);
	MPI_Alltoall(a, 10, MPI_INT, b, 10, MPI_INT, comm);
	MPI_Gatherv(a, counts[me], MPI_INT, b, counts, displacements, MPI_INT, 1, comm);
	MPI_Scatterv(a, counts, displacements, MPI_INT, b, counts[me], MPI_INT, 0, comm);
	MPI_Allgatherv(a, counts[me], MPI_INT, b, counts, displacements, MPI_INT, comm);
	MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, comm);
	MPI_Reduce_scatter_block(a, b, 7, MPI_INT, MPI_SUM, comm);
	for (int i = 0; i < N; i++)
		counts[i] = 1 + (me + i) % 3, displacements[i] = 3 * i;
	MPI_Alltoallv(a, counts, displacements, MPI_INT, b, counts, displacements, MPI_INT, comm);
	MPI_Iallreduce(a, b, 10, MPI_INT, MPI_SUM, comm, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Ibarrier(comm, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Type_free(&pair);
}

int main(int argc, char **argv)
{
	MPI_Comm copy, backwards, halves;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size != N)
		MPI_Abort(MPI_COMM_WORLD, 1);
	left = (rank + size - 1) % size, right = (rank + 1) % size;
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &halves);
	point_to_point(MPI_COMM_WORLD);
	point_to_point(copy);
	collectives(MPI_COMM_WORLD);
	collectives(backwards);
	MPI_Allreduce(a, b, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
	MPI_Status status;
	MPI_Sendrecv(a, 1, MPI_INT, rank / 2 ? 0 : 1, 1, b, 1, MPI_INT, rank / 2 ? 0 : 1, 1, halves, &status);
	if (argc > 1)
		MPI_Bcast(a, 1, MPI_INT, 0, halves);
	MPI_Comm_free(&halves);
	MPI_Comm_free(&backwards);
	MPI_Comm_free(&copy);
	MPI_Finalize();
	return 0;
}
