/* Messages of known number and size between 3 processes, on communicators that come and go,
   to receives that name no source, and by persistent requests. Two are never received. */
#include <mpi.h>

int main(int argc, char **argv) {
	int rank, size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	double grid[64] = {0};
	int ring[16] = {0}, more[16] = {0};
	int next = (rank + 1) % size, previous = (rank + size - 1) % size;

	/* 20 messages of a derived datatype from each to the next: 3 blocks of 2 doubles. */
	MPI_Datatype vector;
	MPI_Type_vector(3, 2, 5, MPI_DOUBLE, &vector);
	MPI_Type_commit(&vector);
	int bytes;
	MPI_Type_size(vector, &bytes);
	for (int i = 0; i < 20; i++) {
		MPI_Request requests[2];
		MPI_Irecv(grid + 32, 1, vector, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[0]);
		MPI_Isend(grid, 1, vector, next, 1, MPI_COMM_WORLD, &requests[1]);
		MPI_Status statuses[2];
		MPI_Waitall(2, requests, statuses);
	}
	MPI_Type_free(&vector);

	/* 20 by persistent requests: 7 ints. */
	MPI_Request persistent[2];
	MPI_Recv_init(more, 7, MPI_INT, previous, 2, MPI_COMM_WORLD, &persistent[0]);
	MPI_Send_init(ring, 7, MPI_INT, next, 2, MPI_COMM_WORLD, &persistent[1]);
	for (int i = 0; i < 20; i++) {
		MPI_Startall(2, persistent);
		MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
	}
	MPI_Request_free(&persistent[0]);
	MPI_Request_free(&persistent[1]);

	/* 10 from each other rank to rank 0, in any order. */
	for (int i = 0; i < 10; i++) {
		if (rank > 0)
			MPI_Send(ring, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
		else
			for (int k = 1; k < size; k++) {
				MPI_Status status;
				MPI_Recv(more, 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
			}
		MPI_Barrier(MPI_COMM_WORLD);
	}

	/* 8 on communicators whose handles are used again, in which the ranks are turned round. */
	for (int i = 0; i < 8; i++) {
		MPI_Comm turned;
		MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? rank : -rank, &turned);
		int there = i % 2 ? next : size - 1 - next, back = i % 2 ? previous : size - 1 - previous;
		MPI_Sendrecv(ring, 3, MPI_INT, there, 4, more, 3, MPI_INT, back, 4, turned, MPI_STATUS_IGNORE);
		MPI_Bcast(ring, 1, MPI_INT, 0, turned);
		MPI_Comm_free(&turned);
	}

	/* Two that nobody receives, and a receive that is given up. */
	if (rank == 0)
		for (int i = 0; i < 2; i++) {
			MPI_Request request;
			MPI_Isend(ring, 1, MPI_BYTE, 1, 99, MPI_COMM_WORLD, &request);
			MPI_Request_free(&request);
		}
	if (rank == 2) {
		MPI_Request request;
		MPI_Irecv(more, 1, MPI_INT, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &request);
		MPI_Cancel(&request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
	return 0;
}
