/*
 * Requests completed in a known order, tested when it is known what comes of it, asked
 * for, cancelled, freed and given away, and messages probed for.
 */
#include "requests.h"

/* Of two receives, one is sent a message, and the other when that is complete. */
static void waiting(void)
{
	int in[N], out[N], index, count, indices[N];
	MPI_Request receives[N], sends[N];
	MPI_Status status = untouched(), statuses[N];

	for (int round = 0; round < 3; round++) {
		int first = round % 2;
		for (int i = 0; i < 2; i++)
			OK(MPI_Irecv(&in[i], 1, MPI_INT, previous, i, MPI_COMM_WORLD, &receives[i]));
		OK(MPI_Send(&rank, 1, MPI_INT, next, first, MPI_COMM_WORLD));
		OK(MPI_Waitany(2, receives, &index, &status));
		CHECK(index == first && status.MPI_TAG == first && receives[first] == MPI_REQUEST_NULL);
		OK(MPI_Barrier(MPI_COMM_WORLD));
		OK(MPI_Send(&rank, 1, MPI_INT, next, 1 - first, MPI_COMM_WORLD));
		OK(MPI_Waitsome(2, receives, &count, indices, statuses));
		CHECK(count == 1 && indices[0] == 1 - first && statuses[0].MPI_SOURCE == previous);
		CHECK(in[0] == previous && in[1] == previous);
	}
	OK(MPI_Waitany(2, receives, &index, &status));
	CHECK(index == MPI_UNDEFINED);
	say_status("none left", &status, MPI_INT);
	OK(MPI_Waitsome(2, receives, &count, indices, MPI_STATUSES_IGNORE));
	CHECK(count == MPI_UNDEFINED);

	/* In the order in which they were begun, and in the other. */
	for (int round = 0; round < 2; round++) {
		post(in, out, receives, sends, 10);
		for (int i = 0; i < N; i++) {
			int k = round ? N - 1 - i : i;
			OK(MPI_Wait(&receives[k], &status));
			OK(MPI_Wait(&sends[k], MPI_STATUS_IGNORE));
			CHECK(status.MPI_TAG == 10 + k);
		}
		check_all(in, 10);
	}
}

static void testing(void)
{
	int in = -1, index, flag, count, indices[2];
	MPI_Request receives[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
	MPI_Status status = untouched(), statuses[2];

	/* Nothing has been sent: nothing is complete. */
	OK(MPI_Irecv(&in, 1, MPI_INT, previous, 30, MPI_COMM_WORLD, &receives[1]));
	OK(MPI_Test(&receives[1], &flag, &status));
	CHECK(!flag && receives[1] != MPI_REQUEST_NULL);
	OK(MPI_Testany(2, receives, &index, &flag, &status));
	CHECK(!flag);
	OK(MPI_Testsome(2, receives, &count, indices, statuses));
	CHECK(count == 0);
	OK(MPI_Testall(2, receives, &flag, statuses));
	CHECK(!flag);
	OK(MPI_Request_get_status(receives[1], &flag, &status));
	CHECK(!flag);
#if MPI_VERSION * 100 + MPI_SUBVERSION >= 401
	OK(MPI_Request_get_status_all(2, receives, &flag, statuses));
	CHECK(!flag);
	OK(MPI_Request_get_status_any(2, receives, &index, &flag, &status));
	CHECK(!flag);
	OK(MPI_Request_get_status_some(2, receives, &count, indices, statuses));
	CHECK(count == 0);
#endif
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Send(&rank, 1, MPI_INT, next, 30, MPI_COMM_WORLD));
	OK(MPI_Wait(&receives[1], &status));
	CHECK(in == previous && receives[1] == MPI_REQUEST_NULL);
	say_status("wait", &status, MPI_INT);
	OK(MPI_Testall(2, receives, &flag, statuses));
	CHECK(flag);
	OK(MPI_Testany(2, receives, &index, &flag, &status));
	CHECK(flag && index == MPI_UNDEFINED);
}

/* The array has the requests in an order that is another in each round, with some
   null: which status is whose is told by the order alone. */
static void permuted(void)
{
	int in[N], out[N], order[N];
	MPI_Request receives[N], sends[N], mixed[2 * N];
	MPI_Status statuses[2 * N];
	for (int round = 0; round < 6; round++) {
		post(in, out, receives, sends, 70);
		for (int i = 0; i < N; i++) {
			order[i] = (i * 5 + round) % N;
			mixed[2 * i] = receives[order[i]];
			mixed[2 * i + 1] = (i + round) % 3 ? sends[i] : MPI_REQUEST_NULL;
		}
		OK(MPI_Waitall(2 * N, mixed, statuses));
		for (int i = 0; i < N; i++) {
			CHECK(statuses[2 * i].MPI_TAG == 70 + order[i]);
			if ((i + round) % 3 == 0)
				OK(MPI_Wait(&sends[i], MPI_STATUS_IGNORE));
		}
		check_all(in, 70);
	}
	say("permuted");
}

static void probing(void)
{
	int flag, got = -1, count;
	MPI_Status status = untouched();
	MPI_Message message;
	MPI_Request request;
	OK(MPI_Isend(&rank, 1, MPI_INT, next, 80, MPI_COMM_WORLD, &request));
	OK(MPI_Probe(MPI_ANY_SOURCE, 80, MPI_COMM_WORLD, &status));
	say_status("probe", &status, MPI_INT);
	OK(MPI_Iprobe(previous, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status));
	CHECK(flag && status.MPI_TAG == 80);
	OK(MPI_Recv(&got, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	CHECK(got == previous);
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));

	OK(MPI_Isend(&rank, 1, MPI_INT, next, 81, MPI_COMM_WORLD, &request));
	OK(MPI_Mprobe(previous, 81, MPI_COMM_WORLD, &message, &status));
	OK(MPI_Get_count(&status, MPI_INT, &count));
	CHECK(count == 1 && message != MPI_MESSAGE_NULL);
	OK(MPI_Mrecv(&got, 1, MPI_INT, &message, &status));
	CHECK(got == previous && message == MPI_MESSAGE_NULL);
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));

	OK(MPI_Isend(&rank, 1, MPI_INT, next, 82, MPI_COMM_WORLD, &request));
	OK(MPI_Mprobe(MPI_ANY_SOURCE, 82, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	got = -1;
	OK(MPI_Imrecv(&got, 1, MPI_INT, &message, &request));
	OK(MPI_Wait(&request, &status));
	CHECK(got == previous);
	say_status("imrecv", &status, MPI_INT);
	OK(MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
	CHECK(message == MPI_MESSAGE_NO_PROC);
	OK(MPI_Mrecv(NULL, 0, MPI_INT, &message, MPI_STATUS_IGNORE));
}

/* Requests that are started several times, and freed in another order than made. */
static void persistent(void)
{
	int in[2], got;
	MPI_Request requests[3];
	MPI_Status status;
	for (int round = 0; round < 2; round++) {
		OK(MPI_Recv_init(&in[0], 1, MPI_INT, previous, 95, MPI_COMM_WORLD, &requests[0]));
		OK(MPI_Recv_init(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, 96, MPI_COMM_WORLD, &requests[1]));
		OK(MPI_Send_init(&rank, 1, MPI_INT, next, 95, MPI_COMM_WORLD, &requests[2]));
		for (int i = 0; i < 3; i++) {
			OK(MPI_Startall(3, requests));
			OK(MPI_Send(&i, 1, MPI_INT, next, 96, MPI_COMM_WORLD));
			OK(MPI_Wait(&requests[1], &status));
			CHECK(in[1] == i && status.MPI_SOURCE == previous && requests[1] != MPI_REQUEST_NULL);
			OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
			CHECK(in[0] == previous);
		}
		OK(MPI_Request_free(&requests[1]));
		OK(MPI_Recv_init(&got, 1, MPI_INT, MPI_ANY_SOURCE, 97, MPI_COMM_WORLD, &requests[1]));
		OK(MPI_Request_free(&requests[0]));
		OK(MPI_Start(&requests[1]));
		OK(MPI_Send(&rank, 1, MPI_INT, next, 97, MPI_COMM_WORLD));
		OK(MPI_Wait(&requests[1], &status));
		CHECK(got == previous);
		OK(MPI_Request_free(&requests[2]));
		OK(MPI_Request_free(&requests[1]));
	}
}

static void giving_up(void)
{
	int got = -1, cancelled = 0;
	MPI_Request request;
	MPI_Status status = untouched();
	OK(MPI_Irecv(&got, 1, MPI_INT, previous, 90, MPI_COMM_WORLD, &request));
	OK(MPI_Cancel(&request));
	OK(MPI_Wait(&request, &status));
	OK(MPI_Test_cancelled(&status, &cancelled));
	CHECK(cancelled && got == -1);
	/* A request that is freed while it is active. */
	OK(MPI_Isend(&rank, 1, MPI_INT, next, 91, MPI_COMM_WORLD, &request));
	OK(MPI_Request_free(&request));
	CHECK(request == MPI_REQUEST_NULL);
	OK(MPI_Recv(&got, 1, MPI_INT, previous, 91, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	CHECK(got == previous);
	OK(MPI_Barrier(MPI_COMM_WORLD));
}

static int query(void *state, MPI_Status *status)
{
	OK(MPI_Status_set_elements(status, MPI_INT, *(int *)state));
	OK(MPI_Status_set_cancelled(status, 0));
	status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
	return MPI_SUCCESS;
}
static int freed(void *state) { return state ? MPI_SUCCESS : MPI_ERR_OTHER; }
static int cancel(void *state, int complete) { return state && complete >= 0 ? MPI_SUCCESS : MPI_ERR_OTHER; }

static void generalized(void)
{
	int elements = 6, count = -1;
	MPI_Request request;
	MPI_Status status = untouched();
	OK(MPI_Grequest_start(query, freed, cancel, &elements, &request));
	OK(MPI_Grequest_complete(request));
	OK(MPI_Wait(&request, &status));
	OK(MPI_Get_count(&status, MPI_INT, &count));
	CHECK(count == 6);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	next = (rank + 1) % size;
	previous = (rank + size - 1) % size;
	waiting();
	testing();
	permuted();
	probing();
	giving_up();
	generalized();
	persistent();
	return end();
}
