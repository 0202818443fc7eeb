/*
 * Messages of which several are under way, for programs with requests.
 */
#include "check.h"

enum { N = 8 };

static int next, previous;

/* Posts receives of N messages and sends them in another order, such that those
   with odd tags come later. */
static void post(int *in, int *out, MPI_Request *receives, MPI_Request *sends, int tag)
{
	for (int i = 0; i < N; i++) {
		in[i] = -1;
		out[i] = 100 * rank + tag + i;
		OK(MPI_Irecv(&in[i], 1, MPI_INT, previous, tag + i, MPI_COMM_WORLD, &receives[i]));
	}
	for (int i = 0; i < N; i++) {
		int j = (i * 3 + 1) % N;
		OK(MPI_Isend(&out[j], 1, MPI_INT, next, tag + j, MPI_COMM_WORLD, &sends[j]));
	}
}

static void check_all(const int *in, int tag)
{
	for (int i = 0; i < N; i++)
		CHECK(in[i] == 100 * previous + tag + i);
}
