/*
 * Two threads of each rank wait while the other begins and completes requests: the
 * handles that one gives up are those that the other gets.
 * Argument: "slow" for a pause every now and then.
 */
#include "check.h"
#include <pthread.h>
#include <unistd.h>

enum { ROUNDS = 100, THREADS = 2, N = 4 };

static int slow;

struct work {
	int number;
	long sum;
	MPI_Comm comm;
};

static void *exchange(void *argument)
{
	struct work *w = argument;
	int next = (rank + 1) % size, previous = (rank + size - 1) % size;
	for (int round = 0; round < ROUNDS; round++) {
		int in[N], out[N], tag = 100 * w->number;
		MPI_Request requests[2 * N];
		MPI_Status statuses[2 * N];
		for (int i = 0; i < N; i++) {
			out[i] = 1000 * rank + 10 * round + i + w->number;
			OK(MPI_Irecv(&in[i], 1, MPI_INT, i % 2 ? previous : MPI_ANY_SOURCE, tag + i, MPI_COMM_WORLD, &requests[i]));
		}
		for (int i = N - 1; i >= 0; i--)
			OK(MPI_Isend(&out[i], 1, MPI_INT, next, tag + i, MPI_COMM_WORLD, &requests[N + i]));
		if (round % 2) {
			OK(MPI_Waitall(2 * N, requests, statuses));
		} else {
			for (int i = 0; i < 2 * N; i++)
				OK(MPI_Wait(&requests[(i + w->number) % (2 * N)], &statuses[(i + w->number) % (2 * N)]));
		}
		for (int i = 0; i < N; i++) {
			CHECK(in[i] == 1000 * previous + 10 * round + i + w->number);
			CHECK(statuses[i].MPI_TAG == tag + i && statuses[i].MPI_SOURCE == previous);
			w->sum += in[i];
		}
		if (slow && round % 20 == 0)
			usleep(400000);
		/* Collectives, each thread in a communicator of its own. */
		if (round % 20 == 0) {
			int all = -1;
			MPI_Comm dup;
			OK(MPI_Allreduce(&rank, &all, 1, MPI_INT, MPI_MAX, w->comm));
			CHECK(all == size - 1);
			OK(MPI_Comm_dup(w->comm, &dup));
			OK(MPI_Barrier(dup));
			OK(MPI_Comm_free(&dup));
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int provided, is_main;
	pthread_t threads[THREADS];
	struct work work[THREADS];
	slow = argc > 1 && !strcmp(argv[1], "slow");
	OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
	OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
	OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
	OK(MPI_Is_thread_main(&is_main));
	CHECK(provided == MPI_THREAD_MULTIPLE && is_main);
	for (int i = 0; i < THREADS; i++) {
		work[i] = (struct work){.number = i};
		OK(MPI_Comm_dup(MPI_COMM_WORLD, &work[i].comm));
	}
	/* The first thread of the process works as well. */
	for (int i = 1; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, exchange, &work[i]));
	exchange(&work[0]);
	for (int i = 1; i < THREADS; i++)
		CHECK(!pthread_join(threads[i], NULL));
	for (int i = 0; i < THREADS; i++) {
		say("thread %d: sum %ld", i, work[i].sum);
		OK(MPI_Comm_free(&work[i].comm));
	}
	return end();
}
