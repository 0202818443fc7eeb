/*
 * Calls until it is killed, and says how many calls have returned.
 * Argument: a directory, in which each rank writes that to a file of its number.
 */
#include "check.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char path[4096];
	begin(&argc, &argv);
	CHECK(argc > 1);
	snprintf(path, sizeof path, "%s/%d", argv[1], rank);
	int file = open(path, O_RDWR | O_CREAT, 0600);
	CHECK(file >= 0 && ftruncate(file, sizeof(long)) == 0);
	volatile long *returned = mmap(NULL, sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	CHECK(returned != MAP_FAILED);
	for (int sum, i = 0;; i++) {
		OK(MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % size, 1, &sum, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		++*returned;
		if (i % 7 == 0) {
			OK(MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
			++*returned;
		}
	}
}
