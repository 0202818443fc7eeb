/* A master hands tasks to workers, which is what their messages decide: a worker says how much it has found, and the master hands out
   tasks until that is enough. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TASK = 1, RESULT = 2, END = 3, ENOUGH = 40, LARGEST = 64 };

/* A task is numbers of which some are found. */
static int find(const int *numbers, int n)
{
	int found = 0;
	for (int i = 0; i < n; i++) {
		int divisors = 0;
		for (int d = 1; d <= numbers[i]; d++)
			divisors += numbers[i] % d == 0;
		found += divisors == 2;
	}
	return found;
}

static void master(int size)
{
	int numbers[LARGEST], next = 2, found = 0, turn = 0;
	double spent = 0;
	while (found < ENOUGH) {
		for (int worker = 1; worker < size; worker++) {
			int n = 1 + (turn + worker) % LARGEST / 4;
			for (int i = 0; i < n; i++)
				numbers[i] = next++;
			MPI_Send(numbers, n, MPI_INT, worker, TASK, MPI_COMM_WORLD);
		}
		for (int worker = 1; worker < size; worker++) {
			struct {
				int found;
				double seconds;
			} result;
			MPI_Recv(&result, sizeof result, MPI_BYTE, worker, RESULT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			found += result.found;
			spent += result.seconds;
		}
		turn++;
	}
	for (int worker = 1; worker < size; worker++)
		MPI_Send(NULL, 0, MPI_INT, worker, END, MPI_COMM_WORLD);
	printf("%d found in %g s\n", found, spent);
}

static void work(void)
{
	int numbers[LARGEST], n;
	for (;;) {
		MPI_Status status;
		MPI_Recv(numbers, LARGEST, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
		if (status.MPI_TAG == END)
			return;
		MPI_Get_count(&status, MPI_INT, &n);
		double begun = MPI_Wtime();
		struct {
			int found;
			double seconds;
		} result = {find(numbers, n), 0};
		result.seconds = MPI_Wtime() - begun;
		MPI_Send(&result, sizeof result, MPI_BYTE, 0, RESULT, MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	int rank, size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (rank == 0)
		master(size);
	else
		work();
	MPI_Finalize();
	return 0;
}
