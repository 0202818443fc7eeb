/*
 * Handles signals that it sends itself, within calls and between them, and ends without
 * going through exit. Argument: "wait" to go on until it is told to stop by SIGTERM.
 */
#include "check.h"
#include <signal.h>
#include <unistd.h>

enum { ROUNDS = 100 };

static volatile sig_atomic_t stop, first, second;

static void handle(int number)
{
	if (number == SIGTERM)
		stop++;
	else if (number == SIGUSR1)
		first++;
	else
		second++;
}

/* A reduction that is interrupted. */
static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
	raise(SIGUSR2);
	for (int i = 0; i < *n; i++)
		((int *)inout)[i] += ((int *)in)[i];
}

static void exchange(int round)
{
	int got = -1;
	MPI_Request requests[2];
	OK(MPI_Irecv(&got, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &requests[0]));
	OK(MPI_Isend(&round, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[1]));
	raise(SIGUSR1);
	OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
	CHECK(got == round);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
	MPI_Op op;
	int one = 1, sum = 1;
	begin(&argc, &argv);
	CHECK(!sigaction(SIGTERM, &action, NULL) && !sigaction(SIGUSR1, &action, NULL) && !sigaction(SIGUSR2, &action, NULL));
	OK(MPI_Op_create(add, 1, &op));
	for (int round = 0; round < ROUNDS; round++) {
		exchange(round);
		OK(MPI_Reduce_local(&one, &sum, 1, MPI_INT, op));
	}
	OK(MPI_Op_free(&op));
	CHECK(first == ROUNDS && second == ROUNDS && sum == ROUNDS + 1);
	if (argc > 1 && !strcmp(argv[1], "wait"))
		fprintf(stderr, "waits\n");
	else
		kill(getpid(), SIGTERM);
	while (!stop) {
		OK(MPI_Barrier(MPI_COMM_SELF));
		usleep(1000);
	}
	say("told to stop %d times", (int)stop);
	end();
	fflush(stdout);
	_exit(0);
}
