/* vain.c: calls that find nothing, where a message is under way that the next one may find, and where nothing can ever come. */
#include <mpi.h>

int main(int argc, char **argv)
{
	int rank, size, flag, index, n, indices[2], in[2], out = 1;
	MPI_Request list[2];
	MPI_Status status;
	MPI_Message message;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 5; i++) {
		if (rank > 0) {
			MPI_Send(&out, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
			MPI_Send(&out, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
			continue;
		}
		for (int from = 1; from < size; from++) {
			MPI_Iprobe(from, 99, MPI_COMM_WORLD, &flag, &status); /* for which there is no message */
			MPI_Improbe(from, 99, MPI_COMM_WORLD, &flag, &message, &status);
			MPI_Iprobe(from, 5, MPI_COMM_WORLD, &flag, &status);
			MPI_Irecv(&in[0], 1, MPI_INT, from, 5, MPI_COMM_WORLD, &list[0]);
			MPI_Irecv(&in[1], 1, MPI_INT, from, 6, MPI_COMM_WORLD, &list[1]);
			MPI_Request_get_status(list[0], &flag, &status);
			MPI_Testall(2, list, &flag, MPI_STATUSES_IGNORE);
			MPI_Testany(2, list, &index, &flag, &status);
			MPI_Testsome(2, list, &n, indices, MPI_STATUSES_IGNORE);
			MPI_Test(&list[0], &flag, &status);
			MPI_Waitall(2, list, MPI_STATUSES_IGNORE);
		}
	}
	MPI_Finalize();
	return 0;
}
