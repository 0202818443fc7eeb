/* probes.c: probes of any kind, drawn from a number, for messages that come later, never, or that nobody receives. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { LATER = 3, NEVER_RECEIVED = 5, NEVER_SENT = 7 }; /* tags, and the one behind each */

static unsigned long long state;
static int rank, size;
static MPI_Comm comms[2];

/* draw returns the same numbers on all ranks. */
static int draw(int n)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (int)((state >> 33) % (unsigned)n);
}

/* probe looks for a message without waiting. One that is taken is one that nobody else receives. */
static void probe(int source, int tag, MPI_Comm comm, int take)
{
	int flag, in[4];
	MPI_Message message;
	MPI_Status status;
	if (!take) {
		MPI_Iprobe(source, tag, comm, &flag, &status);
		return;
	}
	MPI_Improbe(source, tag, comm, &flag, &message, &status);
	if (flag)
		MPI_Mrecv(in, 4, MPI_INT, &message, &status);
}

/* probes looks for some messages. */
static void probes(int asks)
{
	for (int n = 1 + draw(6); n > 0; n--) {
		int source = draw(2) ? draw(size) : MPI_ANY_SOURCE, take = draw(3) == 0, tag = LATER + draw(6);
		if (take && tag < NEVER_RECEIVED)
			tag += 2;
		if (!take && draw(3) == 0)
			tag = MPI_ANY_TAG;
		for (int times = draw(4) == 0 ? 50 : 1, comm = draw(2); times > 0; times--)
			if (asks)
				probe(source, tag, comms[comm], take);
	}
}

int main(int argc, char **argv)
{
	int out[4] = {0}, in[4];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	comms[0] = MPI_COMM_WORLD;
	MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
	state = (unsigned long long)atoi(argv[argc - 1]);
	for (int phase = 0; phase < 40; phase++) {
		int to = draw(size), from = (to + 1 + draw(size - 1)) % size, received = draw(2), late = draw(3) == 0;
		int tag = (received ? LATER : NEVER_RECEIVED) + draw(2), comm = draw(2), n = draw(5);
		if (draw(4) == 0)
			MPI_Barrier(MPI_COMM_WORLD); /* what was sent is there, at last */
		if (rank == from) {
			if (late)
				usleep(500);
			MPI_Send(out, n, MPI_INT, to, tag, comms[comm]);
		}
		probes(rank == to);
		if (received && rank == to) {
			MPI_Recv(in, 4, MPI_INT, from, tag, comms[comm], MPI_STATUS_IGNORE);
			probe(from, tag, comms[comm], 0);
		}
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
