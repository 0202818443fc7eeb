/*
 * Exchanges data as the setup of an algebraic multigrid solver does: no rank knows who will contact it. In each
 * exchange a rank sends to some others and waits for their answers, answers whoever contacts it, and learns
 * along a tree that all ranks are served. It waits by probing and testing. Argument: the number of exchanges.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { contactTag = 1, answerTag = 2, upTag = 3, downTag = 4, mostPeers = 4, levels = 25, sizes = 100, most = 4096 };

static int rank, ranks;
static int contact[levels][mostPeers], length[levels][mostPeers], contacts[levels];
static char in[most], out[most], answers[mostPeers][64], answer[64];

/* Returns a number that looks drawn at random, the same whenever asked. */
static unsigned drawn(unsigned a, unsigned b, unsigned c)
{
	unsigned x = (a * 0x9e3779b1u) ^ (b * 0x85ebca6bu) ^ (c * 0xc2b2ae35u);
	x ^= x >> 15;
	x *= 0x2c1b3c6du;
	x ^= x >> 12;
	x *= 0x297a2d39u;
	return x ^ x >> 15;
}

/* Chooses whom the rank contacts in a level, and with how much. */
static void choose(int level)
{
	int n = 1 + drawn(level, rank, 99) % mostPeers;
	for (int k = 0; k < n; k++) {
		int p = drawn(level, rank, k) % ranks, again = p == rank;
		for (int i = 0; i < contacts[level]; i++)
			again |= contact[level][i] == p;
		if (again)
			continue;
		contact[level][contacts[level]] = p;
		length[level][contacts[level]++] = 8 * (1 + drawn(level, rank, 50 + k) % sizes);
	}
}

/* Answers a rank that has contacted this one. */
static void serve(MPI_Status *found)
{
	int n;
	MPI_Status status;
	MPI_Get_count(found, MPI_BYTE, &n);
	MPI_Recv(in, n, MPI_BYTE, found->MPI_SOURCE, contactTag, MPI_COMM_WORLD, &status);
	MPI_Send(answer, 1 + n % 64, MPI_BYTE, found->MPI_SOURCE, answerTag, MPI_COMM_WORLD);
}

static void exchange(int level)
{
	MPI_Request sent[mostPeers], answered[mostPeers], children[2], down = MPI_REQUEST_NULL;
	MPI_Status status, statuses[mostPeers];
	int n = contacts[level], below = 0, complete = 0, gathered = 0, over = 0, found;
	for (int k = 0; k < n; k++) {
		MPI_Irecv(answers[k], 64, MPI_BYTE, contact[level][k], answerTag, MPI_COMM_WORLD, &answered[k]);
		MPI_Isend(out, length[level][k], MPI_BYTE, contact[level][k], contactTag, MPI_COMM_WORLD, &sent[k]);
	}
	for (int child = 2 * rank + 1; child <= 2 * rank + 2 && child < ranks; child++)
		MPI_Irecv(NULL, 0, MPI_INT, child, upTag, MPI_COMM_WORLD, &children[below++]);
	if (rank > 0)
		MPI_Irecv(NULL, 0, MPI_INT, (rank - 1) / 2, downTag, MPI_COMM_WORLD, &down);
	while (!over) {
		MPI_Iprobe(MPI_ANY_SOURCE, contactTag, MPI_COMM_WORLD, &found, &status);
		while (found) {
			serve(&status);
			MPI_Iprobe(MPI_ANY_SOURCE, contactTag, MPI_COMM_WORLD, &found, &status);
		}
		if (!complete) {
			MPI_Testall(n, answered, &complete, statuses);
		} else if (!gathered) {
			MPI_Testall(below, children, &gathered, statuses);
			if (gathered && rank > 0)
				MPI_Send(NULL, 0, MPI_INT, (rank - 1) / 2, upTag, MPI_COMM_WORLD);
		} else if (rank > 0) {
			MPI_Test(&down, &over, &status);
		} else {
			over = 1;
		}
	}
	for (int child = 2 * rank + 1; child <= 2 * rank + 2 && child < ranks; child++)
		MPI_Send(NULL, 0, MPI_INT, child, downTag, MPI_COMM_WORLD);
	MPI_Waitall(n, sent, MPI_STATUSES_IGNORE);
}

/* Computes for a while that differs from rank to rank. */
static double compute(double value, int n)
{
	for (int i = 0; i < n; i++)
		value = value * 0.999 + i;
	return value;
}

int main(int argc, char **argv)
{
	double value = 1, sum;
	MPI_Init(&argc, &argv);
	int exchanges = atoi(argv[1]);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int level = 0; level < levels; level++)
		choose(level);
	for (int i = 0; i < exchanges; i++) {
		value = compute(value, drawn(i, rank, 7) % 400000);
		exchange(i % levels);
		if (i % 5 == 4)
			MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
