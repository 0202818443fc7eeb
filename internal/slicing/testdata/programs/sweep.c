/* A sweep of particles through a grid of processes, from each of eight corners: blocks of planes and of angles are a pipeline, with a loop
   over iterations that ends after some. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef IT
#define IT 8
#define JT 6
#define KT 10
#endif
enum { MK = 3, ANGLES = 6, MMI = 3, ITERATIONS = 3 };

static double flux[KT][JT][IT], phiib[MMI][MK][JT], phijb[MMI][MK][IT], w[ANGLES];
static int rank, size, npei, npej;

static int neighbour(int i, int j)
{
	return i >= 0 && i < npei && j >= 0 && j < npej ? j * npei + i : MPI_PROC_NULL;
}

static void receive(int from, double *a, int n, int tag)
{
	if (from == MPI_PROC_NULL)
		for (int i = 0; i < n; i++)
			a[i] = 0;
	else
		MPI_Recv(a, n, MPI_DOUBLE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void deliver(int to, double *a, int n, int tag)
{
	if (to != MPI_PROC_NULL)
		MPI_Send(a, n, MPI_DOUBLE, to, tag, MPI_COMM_WORLD);
}

static void solve(int kb, int nk, int mo, int idir, int jdir)
{
	for (int m = 0; m < MMI; m++)
		for (int k = 0; k < nk; k++)
			for (int j = 0; j < JT; j++)
				for (int i = 0; i < IT; i++) {
					int jj = jdir < 0 ? JT - 1 - j : j, ii = idir < 0 ? IT - 1 - i : i;
					double p = w[m + mo * MMI] * (phiib[m][k][jj] + phijb[m][k][ii] + 1);
					flux[k + kb * MK][jj][ii] += p;
					phiib[m][k][jj] = p / 2;
					phijb[m][k][ii] = p / 2;
				}
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 1; i * i <= size; i++)
		if (size % i == 0)
			npei = i;
	npej = size / npei;
	int myi = rank % npei, myj = rank / npei;
	for (int m = 0; m < ANGLES; m++)
		w[m] = 1.0 / (m + 1);
	for (int iteration = 1; iteration <= ITERATIONS; iteration++) {
		for (int k = 0; k < KT; k++)
			for (int j = 0; j < JT; j++)
				for (int i = 0; i < IT; i++)
					flux[k][j][i] = flux[k][j][i] / iteration + 1;
		for (int octant = 0; octant < 8; octant++) {
			int idir = octant % 2 ? 1 : -1, jdir = octant % 4 >= 2 ? 1 : -1;
			for (int mo = 0; mo < ANGLES / MMI; mo++)
				for (int kb = 0; kb < (KT + MK - 1) / MK; kb++) {
					int nk = KT - kb * MK < MK ? KT - kb * MK : MK, tag = 1000 * octant + 100 * mo + kb;
					receive(neighbour(myi - idir, myj), &phiib[0][0][0], JT * nk * MMI, tag);
					receive(neighbour(myi, myj - jdir), &phijb[0][0][0], IT * nk * MMI, tag);
					solve(kb, nk, mo, idir, jdir);
					deliver(neighbour(myi + idir, myj), &phiib[0][0][0], JT * nk * MMI, tag);
					deliver(neighbour(myi, myj + jdir), &phijb[0][0][0], IT * nk * MMI, tag);
				}
		}
		double sum = 0, total;
		for (int k = 0; k < KT; k++)
			sum += flux[k][0][0];
		MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
		if (rank == 0)
			printf("%d %g\n", iteration, total);
	}
	MPI_Finalize();
	return 0;
}
