/*
 * The last rank dies in the middle of a loop.
 * Arguments: the round, and how: "kill" by a signal, "abort" by MPI_Abort, "exit"
 * without MPI_Finalize.
 */
#include "stencil.h"
#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int last = argc > 1 ? atoi(argv[1]) : 10;
	const char *how = argc > 2 ? argv[2] : "kill";
	double cells[CELLS + 2] = {0}, next[CELLS + 2];
	begin(&argc, &argv);
	cells[1] = rank + 1;
	for (int round = 0;; round++) {
		if (round == last) {
			say("round %d", round);
			/* The others have left the round before as well. */
			OK(MPI_Barrier(MPI_COMM_WORLD));
			if (rank == size - 1 && !strcmp(how, "kill"))
				raise(SIGKILL);
			if (rank == size - 1 && !strcmp(how, "abort"))
				MPI_Abort(MPI_COMM_WORLD, 7);
			if (rank == size - 1)
				_exit(5);
		}
		stencil_round(cells, next, round, MPI_COMM_WORLD);
	}
}
