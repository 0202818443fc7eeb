/* Values that come to arguments of MPI by ways through memory that are not usual: each is the count of a broadcast on one rank.
   It calls no function that is not known, as much is kept then. */
#include <errno.h>
#include <math.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

union word { double d; int *p; float f[2]; };
struct entry { int key, value; };
struct large { int a[10], *p; };
struct step { int (*f)(int); struct step *next; };
struct tail { int n, d[1]; };

static int rank, size, buffer[64], prepared, calls, u0[4], u1[4], u2[4], u3[4], u4[4], sum[4], other[4];
static double saved;
static struct entry table[8];
static struct { int x[8], y[8], z[8]; } arrays;
static volatile int counter;

static void show(int n) { MPI_Bcast(buffer, n & 63, MPI_INT, 0, MPI_COMM_SELF); }

__attribute__((constructor)) static void prepare(void) { prepared = 9; }

static double same(double d) { return d; }

/* Addresses that are moved as other types. */
static void unions(void)
{
	union word a, b, c, d, e;
	a.p = u0, b.d = a.d, b.p[1] = rank + 5;
	show(u0[1]);
	a.p = u1, c.d = same(a.d), c.p[2] = rank + 6;
	show(u1[2]);
	a.p = u2, saved = a.d, d.d = saved, *d.p = rank + 7;
	show(u2[0]);
	a.p = u3, e.f[0] = a.f[0], e.f[1] = a.f[1], e.p[3] = rank + 8;
	show(u3[3]);
	uintptr_t marked = (uintptr_t)&u4[2] | 1;
	*(int *)(marked & ~(uintptr_t)1) = rank + 3;
	show(u4[2]);
}

static int compare(const void *a, const void *b)
{
	calls++;
	return ((const struct entry *)a)->key - ((const struct entry *)b)->key;
}

static void found(void)
{
	for (int i = 0; i < 8; i++)
		table[i].key = 2 * i, table[i].value = i;
	struct entry key = {6, 0}, *f = bsearch(&key, table, 8, sizeof *table, compare);
	f->value = 30 + rank;
	show(table[3].value);
	qsort(table, 8, sizeof *table, compare);
	show(calls);
}

static int take(int n, ...)
{
	va_list list;
	int r = 0;
	va_start(list, n);
	for (int i = 0; i < n; i++) {
		struct large s = va_arg(list, struct large);
		r += s.a[3], s.p[i] = 17 + i + rank;
	}
	va_end(list);
	return r;
}

static int last(struct large s) { return s.p[s.a[1]] += 2, s.a[9]; }

static void copies(void)
{
	struct large s = {{1, 2, 3, rank + 2}, sum}, t = {{0}, other};
	show(take(2, s, s));
	show(sum[1]);
	t.a[1] = 2, t.a[9] = rank + 12;
	show(last(t));
	show(other[2]);
}

/* Arrays that are counted from 1, and ones that go on behind their end. */
static void bounds(void)
{
	int k = rank & 1, *p = &arrays.y[k] - 2, *x = arrays.x - 1;
	p[2] = rank + 5;
	show(arrays.y[0] + 2 * arrays.y[1]);
	for (int i = 1; i <= 8; i++)
		x[i] = i + rank;
	show(arrays.x[3]);
	double *v = (double *)malloc(10 * sizeof *v) - 1;
	for (int i = 1; i <= 10; i++)
		v[i] = i * (rank + 1);
	show(v[7]);
	free(v + 1);
	struct tail *t = malloc(sizeof *t + 40);
	for (int i = 0; i < 12; i++)
		t->d[i] = i + rank;
	show(t->d[10]);
	free(t);
}

static void library(void)
{
	char text[40], *end, *copy;
	errno = 0;
	strtol(rank & 1 ? "999999999999999999999999" : "12", NULL, 10);
	show(errno ? 5 : 3);
	errno = 0;
	(void)log(-1.0 - rank);
	show(errno == EDOM ? 7 : 9);
	snprintf(text, sizeof text, "%d:%s", rank + 4, "34");
	show(strtol(text, &end, 10));
	show(atoi(end + 1));
	copy = strdup(text);
	*strchr(copy, '3') = '5';
	show(atoi(strchr(copy, ':') + 1));
	free(copy);
	srand(rank + 3);
	for (int i = 0; i < 5; i++)
		rand();
	show(rand());
	int *grown = NULL;
	for (int i = 0; i < 10; i++) {
		grown = realloc(grown, (i + 1) * sizeof *grown);
		grown[i] = i + rank;
	}
	show(grown[3]);
	free(grown);
}

static int more(int x) { return counter += 3, x + 1; }
static int twice(int x) { return counter += rank, 2 * x; }

static int deep(int n, int *sum)
{
	static int depth;
	depth++;
	if (n == 0)
		return depth;
	*sum += n;
	return deep(n - 1, sum) + (n & 1);
}

static void swap(void **a, void **b)
{
	void *t = *a;
	*a = *b, *b = t;
}

static void functions(void)
{
	struct step a = {more, NULL}, b = {twice, &a};
	int x = 1, sum = 0, m[4] = {1, 2, 3, 4}, n[4] = {5, 6, 7, 8};
	void *p = m, *q = n;
	for (struct step *s = &b; s; s = s->next)
		x = s->f(x);
	show(x + 5);
	show(counter);
	show(deep(5 + rank, &sum));
	show(sum);
	swap(&p, &q);
	((int *)p)[2] = 40 + rank;
	show(n[2]);
}

/* What processes tell each other by files, when a message says so. */
static void files(void)
{
	char name[40];
	FILE *f, *g;
	int n = 0, m;
	snprintf(name, sizeof name, "own.%d", rank);
	f = fopen(name, "w");
	fprintf(f, "%d\n", rank + 3);
	fflush(NULL); /* all files */
	g = fopen(name, "r");
	fscanf(g, "%d", &n);
	show(n);
	fclose(f), fclose(g), remove(name);
	if (rank == 0) {
		f = fopen("shared", "w");
		fputs("19\n", f);
		fclose(f);
		for (int i = 1; i < size; i++)
			MPI_Send(&n, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
	} else {
		MPI_Recv(&m, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		n = 1;
		if ((f = fopen("shared", "r"))) {
			fscanf(f, "%d", &n);
			fclose(f);
		}
		show(n);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		remove("shared");
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	show(prepared);
	unions(), found(), copies(), bounds(), library(), functions(), files();
	MPI_Finalize();
	return 0;
}
