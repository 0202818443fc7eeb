/* Memory that sscanf allocates, and that is written afterwards. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int rank, buffer[64];
	char text[40], *digits = NULL;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	snprintf(text, sizeof text, "1%d5", rank);
	sscanf(text, "%m[0-9]", &digits);
	digits[0]++;
	MPI_Bcast(buffer, atoi(digits) & 63, MPI_INT, 0, MPI_COMM_SELF);
	free(digits);
	MPI_Finalize();
	return 0;
}
