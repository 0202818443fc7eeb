/*
 * Hangs, each pair of ranks in another way, or has a rank die while others wait for it.
 *
 *	hang pairs   12 ranks, see below: deadlocks, and a rank that computes for ever
 *	hang gone    a rank is killed, others are in a barrier
 */
#include <mpi.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static char large[1 << 22];

static void pairs(int rank, MPI_Comm pair)
{
	int n = 0, other = rank ^ 1, peer = other % 2;
	MPI_Request requests[2];
	MPI_Status statuses[2];

	switch (rank) {
	case 0: case 1: /* both send more than MPI stores */
		MPI_Send(large, sizeof large, MPI_CHAR, other, 3, MPI_COMM_WORLD);
		break;
	case 2: case 3: /* both wait for a tag that the other does not send */
		MPI_Irecv(&n, 1, MPI_INT, other, 1, MPI_COMM_WORLD, &requests[0]);
		MPI_Isend(&rank, 1, MPI_INT, other, 2, MPI_COMM_WORLD, &requests[1]);
		MPI_Waitall(2, requests, statuses);
		break;
	case 4: /* sends another tag than 5 receives, and goes on to the barrier of all */
		MPI_Send(&rank, 1, MPI_INT, other, 7, MPI_COMM_WORLD);
		break;
	case 5:
		MPI_Recv(&n, 1, MPI_INT, other, 5, MPI_COMM_WORLD, statuses);
		break;
	case 6: /* waits for 7 to make the call, which waits for it */
		MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_INT, MPI_SUM, pair);
		break;
	case 7:
		MPI_Recv(&n, 1, MPI_INT, peer, 5, pair, statuses);
		break;
	case 8: /* 9 waits for what 8 may do yet */
		for (;;)
			usleep(1000);
	case 9:
		MPI_Recv(&n, 1, MPI_INT, other, 5, MPI_COMM_WORLD, statuses);
		break;
	case 10:
		MPI_Recv(&n, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, pair, statuses);
		break;
	case 11:
		MPI_Probe(peer, 4, pair, statuses);
		break;
	}
}

int main(int argc, char **argv)
{
	int rank;
	MPI_Comm pair;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
	for (int i = 0; i < 10; i++)
		MPI_Barrier(pair);
	if (argc > 1 && !strcmp(argv[1], "pairs"))
		pairs(rank, pair);
	else if (rank == 1) {
		usleep(300000); /* the others are in the barrier by then */
		raise(SIGKILL);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
