#include <mpi.h>
#include <mpi-ext.h>

/* Functions of Open MPI that the standard of its time does not have. */
int main(void)
{
	int one = 1, sum = 0, size;
	MPI_Request r;

	MPI_Init(0, 0);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPIX_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
	MPI_Start(&r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Request_free(&r);
#ifdef MANY
	MPIX_Query_cuda_support();
	if (sum < 0) {
		MPIX_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &r);
		MPIX_Bcast_init(&one, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
		MPIX_Scan_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
		MPIX_Exscan_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
		MPIX_Reduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
	}
#endif
	MPI_Finalize();
	return sum != size;
}
