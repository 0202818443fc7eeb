/* Integer keys are sorted: how many go to which rank depends on the keys. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEYS = 1 << 10, MAX = 1 << 11, BUCKETS = 1 << 6, SHIFT = 5 };
static int keys[KEYS], sorted[2 * KEYS * 8], received[2 * KEYS * 8], count[MAX], sizes[BUCKETS], all[BUCKETS], start[BUCKETS];
static int *send, *from, *receive, *to;
static int rank, size;

static void make(unsigned seed)
{
	for (int i = 0; i < KEYS; i++) {
		unsigned sum = 0;
		for (int k = 0; k < 4; k++)
			sum += (seed = seed * 1103515245 + 12345) >> 8 & (MAX / 4 - 1);
		keys[i] = sum;
	}
}

/* order sorts once, and returns how many keys the rank has. */
static int order(int iteration)
{
	if (rank == 0)
		keys[iteration] = iteration, keys[iteration + 10] = MAX - iteration - 1;
	for (int b = 0; b < BUCKETS; b++)
		sizes[b] = 0;
	for (int i = 0; i < KEYS; i++)
		sizes[keys[i] >> SHIFT]++;
	start[0] = 0;
	for (int b = 1; b < BUCKETS; b++)
		start[b] = start[b - 1] + sizes[b - 1];
	for (int i = 0; i < KEYS; i++)
		sorted[start[keys[i] >> SHIFT]++] = keys[i];
	MPI_Allreduce(sizes, all, BUCKETS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	int sum = 0, own = 0, j = 0;
	for (int p = 0; p < size; p++)
		send[p] = 0;
	for (int b = 0; b < BUCKETS; b++) {
		sum += all[b];
		own += sizes[b];
		if (sum >= (j + 1) * KEYS || b == BUCKETS - 1) {
			send[j] = own;
			if (j)
				from[j] = from[j - 1] + send[j - 1];
			own = 0;
			if (j < size - 1)
				j++;
		}
	}
	MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, MPI_COMM_WORLD);
	to[0] = 0;
	for (int p = 1; p < size; p++)
		to[p] = to[p - 1] + receive[p - 1];
	MPI_Alltoallv(sorted, send, from, MPI_INT, received, receive, to, MPI_INT, MPI_COMM_WORLD);
	int n = to[size - 1] + receive[size - 1];
	for (int k = 0; k < MAX; k++)
		count[k] = 0;
	for (int i = 0; i < n; i++)
		count[received[i]]++;
	for (int k = 1; k < MAX; k++)
		count[k] += count[k - 1];
	return n;
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int *arrays = calloc(4 * size, sizeof *arrays), n = 0, bad = 0, total;
	if (!arrays)
		return 1;
	send = arrays, from = send + size, receive = from + size, to = receive + size;
	make(314159 + rank);
	for (int iteration = 0; iteration < 5; iteration++)
		n = order(iteration);
	int last = n ? received[n - 1] : 0, before = 0;
	MPI_Request request;
	MPI_Status status;
	if (rank > 0)
		MPI_Irecv(&before, 1, MPI_INT, rank - 1, 1000, MPI_COMM_WORLD, &request);
	if (rank < size - 1)
		MPI_Send(&last, 1, MPI_INT, rank + 1, 1000, MPI_COMM_WORLD);
	if (rank > 0)
		MPI_Wait(&request, &status);
	for (int i = 1; i < n; i++)
		bad += count[i & (MAX - 1)] < count[(i - 1) & (MAX - 1)];
	MPI_Reduce(&bad, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d out of order\n", total + (before > last));
	free(arrays);
	MPI_Finalize();
	return 0;
}
