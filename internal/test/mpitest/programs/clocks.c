/*
 * Messages to and fro between each rank and the one that is two from it, by calls that
 * block and by others in turn, and barriers.
 * Arguments: how many rounds, of a millisecond or more, and a file to write to after a quarter of them: the time in fifty
 * milliseconds, and when it was written, by the monotonic clock of the kernel, which is that of all ranks, whatever their
 * library has.
 */
#include "check.h"
#include <fcntl.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int64_t monotonic(void)
{
	struct timespec t;
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void announce(const char *path)
{
	int file = open(path, O_WRONLY);
	int64_t ns = monotonic() + 50000000;
	CHECK(file >= 0 && pwrite(file, &ns, sizeof ns, 0) == sizeof ns);
	ns = monotonic();
	CHECK(pwrite(file, &ns, sizeof ns, sizeof ns) == sizeof ns && !close(file));
}

int main(int argc, char **argv)
{
	OK(MPI_Init(&argc, &argv));
	OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
	OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
	CHECK((argc == 2 || argc == 3) && size == 4);
	int rounds = atoi(argv[1]), other = rank ^ 2, got = -1;
	OK(MPI_Barrier(MPI_COMM_WORLD));
	for (int i = 0; i < rounds; i++) {
		if (argc == 3 && rank == 0 && i == rounds / 4)
			announce(argv[2]);
		if (i % 2) {
			MPI_Request requests[2];
			OK(MPI_Irecv(&got, 1, MPI_INT, other, 3, MPI_COMM_WORLD, &requests[0]));
			OK(MPI_Isend(&i, 1, MPI_INT, other, 3, MPI_COMM_WORLD, &requests[1]));
			OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
		} else if (rank < other) {
			OK(MPI_Send(&i, 1, MPI_INT, other, 1, MPI_COMM_WORLD));
			OK(MPI_Recv(&got, 1, MPI_INT, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		} else {
			OK(MPI_Recv(&got, 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
			OK(MPI_Send(&i, 1, MPI_INT, other, 2, MPI_COMM_WORLD));
		}
		CHECK(got == i);
		usleep(1000);
	}
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Finalize());
	return 0;
}
