/*
 * Calls of one line, some of which each rank makes: those of the ranks before come first.
 */
#include "check.h"

static void turn(int k, int n)
{
	if (k == 0) OK(MPI_Send(&n, 1, MPI_INT, 1, 0, MPI_COMM_WORLD)); else if (k == 1) OK(MPI_Recv(&n, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)); else OK(MPI_Barrier(MPI_COMM_SELF));
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	turn(rank, 7);
	end();
	return 0;
}
