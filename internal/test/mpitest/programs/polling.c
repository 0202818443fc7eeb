/*
 * What differs between runs in programs with requests: waiting for any of several, asking
 * again until something is complete, and receiving from all.
 */
#include "requests.h"

static void waiting(void)
{
	int in[N], out[N], seen = 0, index, count, indices[N];
	MPI_Request receives[N], sends[N];
	MPI_Status status = untouched(), statuses[N];

	post(in, out, receives, sends, 10);
	for (int i = 0; i < N; i++) {
		OK(MPI_Waitany(N, receives, &index, &status));
		CHECK(index >= 0 && index < N && receives[index] == MPI_REQUEST_NULL);
		CHECK(status.MPI_TAG == 10 + index && status.MPI_SOURCE == previous);
		seen |= 1 << index;
	}
	CHECK(seen == (1 << N) - 1);
	OK(MPI_Waitany(N, receives, &index, &status));
	CHECK(index == MPI_UNDEFINED);
	say_status("none left", &status, MPI_INT);
	OK(MPI_Waitall(N, sends, MPI_STATUSES_IGNORE));
	check_all(in, 10);

	post(in, out, receives, sends, 20);
	for (int left = N; left > 0; left -= count) {
		OK(MPI_Waitsome(N, receives, &count, indices, left % 2 ? MPI_STATUSES_IGNORE : statuses));
		CHECK(count > 0 && count <= left);
		for (int i = 0; i < count; i++)
			CHECK(left % 2 || statuses[i].MPI_TAG == 20 + indices[i]);
	}
	OK(MPI_Waitsome(N, receives, &count, indices, statuses));
	CHECK(count == MPI_UNDEFINED);
	OK(MPI_Waitall(N, sends, MPI_STATUSES_IGNORE));
	check_all(in, 20);
}

static void testing(void)
{
	int in[N], out[N], index, flag, count, indices[N];
	MPI_Request receives[N], sends[N];
	MPI_Status status = untouched(), statuses[N];

	/* Nothing has been sent: nothing is complete. */
	OK(MPI_Irecv(&in[0], 1, MPI_INT, previous, 30, MPI_COMM_WORLD, &receives[0]));
	OK(MPI_Test(&receives[0], &flag, &status));
	CHECK(!flag && receives[0] != MPI_REQUEST_NULL);
	OK(MPI_Request_get_status(receives[0], &flag, &status));
	CHECK(!flag);
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Send(&rank, 1, MPI_INT, next, 30, MPI_COMM_WORLD));
	do
		OK(MPI_Request_get_status(receives[0], &flag, &status));
	while (!flag);
	CHECK(receives[0] != MPI_REQUEST_NULL && status.MPI_SOURCE == previous);
	OK(MPI_Test(&receives[0], &flag, &status));
	CHECK(flag && receives[0] == MPI_REQUEST_NULL && in[0] == previous);
	say_status("test", &status, MPI_INT);

	post(in, out, receives, sends, 40);
	for (int left = N; left > 0;) {
		OK(MPI_Testany(N, receives, &index, &flag, &status));
		CHECK(!flag || status.MPI_TAG == 40 + index);
		left -= flag;
	}
	OK(MPI_Testany(N, receives, &index, &flag, &status));
	CHECK(flag && index == MPI_UNDEFINED);
	OK(MPI_Waitall(N, sends, MPI_STATUSES_IGNORE));
	check_all(in, 40);

	post(in, out, receives, sends, 50);
	for (int left = N; left > 0; left -= count) {
		OK(MPI_Testsome(N, receives, &count, indices, statuses));
		for (int i = 0; i < count; i++)
			CHECK(statuses[i].MPI_TAG == 50 + indices[i]);
	}
	do
		OK(MPI_Testall(N, sends, &flag, MPI_STATUSES_IGNORE));
	while (!flag);
	check_all(in, 50);

#if MPI_VERSION * 100 + MPI_SUBVERSION >= 401
	/* Requests that are complete stay, and may share a handle. */
	post(in, out, receives, sends, 55);
	do
		OK(MPI_Request_get_status_any(N, receives, &index, &flag, &status));
	while (!flag);
	CHECK(status.MPI_TAG == 55 + index && receives[index] != MPI_REQUEST_NULL);
	do
		OK(MPI_Request_get_status_some(N, receives, &count, indices, statuses));
	while (count < N);
	for (int i = 0; i < N; i++)
		CHECK(statuses[i].MPI_TAG == 55 + indices[i]);
	do
		OK(MPI_Request_get_status_all(N, sends, &flag, MPI_STATUSES_IGNORE));
	while (!flag);
	OK(MPI_Waitall(N, sends, MPI_STATUSES_IGNORE));
	OK(MPI_Request_get_status_all(N, receives, &flag, statuses));
	CHECK(flag);
	OK(MPI_Waitall(N, receives, statuses));
	check_all(in, 55);
#endif

	post(in, out, receives, sends, 60);
	do
		OK(MPI_Testall(N, receives, &flag, statuses));
	while (!flag);
	for (int i = 0; i < N; i++)
		CHECK(statuses[i].MPI_TAG == 60 + i && receives[i] == MPI_REQUEST_NULL);
	OK(MPI_Waitall(N, sends, statuses));
	check_all(in, 60);
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
	OK(MPI_Recv(&got, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	CHECK(got == previous);
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));

	OK(MPI_Isend(&rank, 1, MPI_INT, next, 81, MPI_COMM_WORLD, &request));
	do
		OK(MPI_Iprobe(previous, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status));
	while (!flag);
	say_status("iprobe", &status, MPI_INT);
	OK(MPI_Mprobe(previous, 81, MPI_COMM_WORLD, &message, &status));
	OK(MPI_Get_count(&status, MPI_INT, &count));
	CHECK(count == 1 && message != MPI_MESSAGE_NULL);
	OK(MPI_Mrecv(&got, 1, MPI_INT, &message, &status));
	CHECK(got == previous && message == MPI_MESSAGE_NULL);
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));

	OK(MPI_Isend(&rank, 1, MPI_INT, next, 82, MPI_COMM_WORLD, &request));
	do
		OK(MPI_Improbe(MPI_ANY_SOURCE, 82, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE));
	while (!flag);
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

/* The last receives from all, in the order in which they come. */
static void from_all(void)
{
	if (rank < size - 1) {
		for (int i = 0; i < 5; i++)
			OK(MPI_Send(&i, 1, MPI_INT, size - 1, rank, MPI_COMM_WORLD));
		return;
	}
	for (int i = 0, got; i < 5 * (size - 1); i++) {
		MPI_Status status;
		OK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
		CHECK(status.MPI_TAG == status.MPI_SOURCE && got >= 0 && got < 5);
	}
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	next = (rank + 1) % size;
	previous = (rank + size - 1) % size;
	waiting();
	testing();
	probing();
	from_all();
	return end();
}
