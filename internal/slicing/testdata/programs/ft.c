/* A transform in three dimensions on a grid of ranks: transposes among rows and columns of it, and sums. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct { double re, im; } complex_t;
enum { NX = 32, NY = 16, NZ = 16 };

typedef struct {
	MPI_Comm rows, columns;
	int n1, n2, r1, r2, local;
	complex_t *u0, *u1, *scratch;
	double *twiddle;
} plan;

static int power(int n)
{
	int k = 0;
	while (1 << (k + 1) <= n)
		k++;
	return k;
}

static void setup(plan *p, int size, int rank)
{
	p->n1 = 1 << power(size) / 2, p->n2 = size / p->n1;
	p->r1 = rank / p->n2, p->r2 = rank % p->n2;
	MPI_Comm_split(MPI_COMM_WORLD, p->r1, p->r2, &p->rows);
	MPI_Comm_split(MPI_COMM_WORLD, p->r2, p->r1, &p->columns);
	p->local = NX * NY * NZ / size;
	p->u0 = calloc(3 * p->local, sizeof *p->u0);
	p->u1 = p->u0 + p->local, p->scratch = p->u1 + p->local;
	p->twiddle = calloc(p->local, sizeof *p->twiddle);
	for (int i = 0; i < p->local; i++)
		p->u0[i].re = sin(i + rank), p->u0[i].im = cos(i - rank), p->twiddle[i] = exp(-1e-6 * i);
}

static void lines(complex_t *u, int n, int count, int sign)
{
	for (int l = 0; l < count; l++, u += n)
		for (int m = n / 2; m > 0; m /= 2)
			for (int i = 0; i < n; i++)
				if (!(i & m)) {
					complex_t a = u[i], b = u[i + m];
					double angle = sign * M_PI * i / m, c = cos(angle), s = sin(angle);
					u[i].re = a.re + b.re, u[i].im = a.im + b.im;
					a.re -= b.re, a.im -= b.im;
					u[i + m].re = a.re * c - a.im * s, u[i + m].im = a.re * s + a.im * c;
				}
}

static void transpose(plan *p, MPI_Comm comm, complex_t *u)
{
	int ranks;
	MPI_Comm_size(comm, &ranks);
	if (ranks == 1)
		return;
	int block = p->local / ranks;
	for (int i = 0; i < p->local; i++)
		p->scratch[i % ranks * block + i / ranks] = u[i];
	MPI_Alltoall(p->scratch, 2 * block, MPI_DOUBLE, u, 2 * block, MPI_DOUBLE, comm);
}

static void transform(plan *p, complex_t *u, int sign)
{
	lines(u, NX, p->local / NX, sign);
	transpose(p, sign > 0 ? p->rows : p->columns, u);
	lines(u, NY, p->local / NY, sign);
	transpose(p, sign > 0 ? p->columns : p->rows, u);
	lines(u, NZ, p->local / NZ, sign);
}

int main(int argc, char **argv)
{
	int rank, size, parameters[2] = {0, 0};
	plan p;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (rank == 0)
		parameters[0] = 4, parameters[1] = NX;
	MPI_Bcast(parameters, 2, MPI_INT, 0, MPI_COMM_WORLD);
	setup(&p, size, rank);
	transform(&p, p.u0, 1);
	for (int iteration = 0; iteration < parameters[0]; iteration++) {
		for (int i = 0; i < p.local; i++)
			p.u0[i].re *= p.twiddle[i], p.u0[i].im *= p.twiddle[i], p.u1[i] = p.u0[i];
		transform(&p, p.u1, -1);
		complex_t own = {0, 0}, sum;
		for (int j = 1; j <= 64; j++)
			own.re += p.u1[j * 7 % p.local].re, own.im += p.u1[j * 5 % p.local].im;
		MPI_Reduce(&own, &sum, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
		if (rank == 0)
			printf("%d %g %g\n", iteration, sum.re, sum.im);
	}
	free(p.u0), free(p.twiddle);
	MPI_Comm_free(&p.rows), MPI_Comm_free(&p.columns);
	MPI_Finalize();
	return 0;
}
