/*
 * Switches the recording off and on, and uses objects across.
 */
#include "check.h"

static int next, previous;

static void exchange(int times, MPI_Comm comm)
{
	for (int i = 0; i < times; i++) {
		int got = -1;
		OK(MPI_Sendrecv(&rank, 1, MPI_INT, next, i, &got, 1, MPI_INT, previous, i, comm, MPI_STATUS_IGNORE));
		CHECK(got == previous);
	}
}

static void by_info(const char *value)
{
	MPI_Info info;
	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "reprise_record", value));
	OK(MPI_Info_free(&info));
}

int main(int argc, char **argv)
{
	int in = -1, sum = -1;
	MPI_Comm comm, other;
	MPI_Request across, persistent;
	begin(&argc, &argv);
	next = (rank + 1) % size;
	previous = (rank + size - 1) % size;
	exchange(3, MPI_COMM_WORLD);
	/* Begun on, completed off. */
	OK(MPI_Irecv(&in, 1, MPI_INT, previous, 50, MPI_COMM_WORLD, &across));
	OK(MPI_Pcontrol(0));
	OK(MPI_Send(&rank, 1, MPI_INT, next, 50, MPI_COMM_WORLD));
	OK(MPI_Wait(&across, MPI_STATUS_IGNORE));
	CHECK(in == previous);
	exchange(5, MPI_COMM_WORLD);
	OK(MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm));
	/* Begun off, completed on. */
	OK(MPI_Irecv(&in, 1, MPI_INT, previous, 51, comm, &across));
	OK(MPI_Recv_init(&in, 1, MPI_INT, previous, 52, comm, &persistent));
	OK(MPI_Pcontrol(1));
	OK(MPI_Send(&rank, 1, MPI_INT, next, 51, comm));
	OK(MPI_Wait(&across, MPI_STATUS_IGNORE));
	OK(MPI_Start(&persistent));
	OK(MPI_Send(&rank, 1, MPI_INT, next, 52, comm));
	OK(MPI_Wait(&persistent, MPI_STATUS_IGNORE));
	OK(MPI_Request_free(&persistent));
	exchange(7, comm);
	by_info("off");
	OK(MPI_Comm_dup(comm, &other));
	OK(MPI_Comm_free(&comm));
	exchange(11, other);
	OK(MPI_Pcontrol(0));
	by_info("on");
	by_info("neither");
	OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, other));
	CHECK(sum == size * (size - 1) / 2);
	OK(MPI_Pcontrol(2));
	OK(MPI_Pcontrol(17, "of another tool"));
	exchange(2, other);
	OK(MPI_Comm_free(&other));
	return end();
}
