/*
 * A program with a loop that makes the same calls in each run.
 * Argument: the number of rounds.
 */
#include "stencil.h"

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100;
	double total = 0, *cells = calloc(CELLS + 2, sizeof *cells), *next = calloc(CELLS + 2, sizeof *next);
	begin(&argc, &argv);
	for (int i = 1; i <= CELLS; i++)
		cells[i] = i * (rank + 1);
	OK(MPI_Bcast(&rounds, 1, MPI_INT, 0, MPI_COMM_WORLD));
	for (int round = 0; round < rounds; round++) {
		double sum = stencil_round(cells, next, round, MPI_COMM_WORLD);
		if (round % 10 == 9)
			total = sum;
	}
	/* Nothing gets lost. */
	double want = CELLS * (CELLS + 1) / 2 * (size * (size + 1) / 2);
	CHECK(rounds < 10 || (total > want * 0.999999 && total < want * 1.000001));
	say("%d rounds, sum %.9g, first %.9g, last %.9g", rounds, total, cells[1], cells[CELLS]);
	free(cells);
	free(next);
	return end();
}
