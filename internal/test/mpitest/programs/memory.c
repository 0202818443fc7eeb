/*
 * Messages from and into memory of all kinds: of the heap, by each function that
 * gives it, static, of the stack, and of MPI.
 */
#define _GNU_SOURCE /* mremap */
#include "check.h"
#include <sys/mman.h>
#include <unistd.h>

enum { N = 100 };

static int next, previous;
static int zeroed[N], filled[N] = {1};

/* Sends from one place and receives into another. */
static void exchange(const char *what, int *out, int *in)
{
	for (int i = 0; i < N; i++)
		out[i] = 1000 * rank + i;
	OK(MPI_Sendrecv(out, N, MPI_INT, next, 1, in, N, MPI_INT, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	for (int i = 0; i < N; i++)
		CHECK(in[i] == 1000 * previous + i);
	say("%s", what);
}

static void on_the_stack(int depth)
{
	int out[N], in[N];
	if (depth > 0)
		on_the_stack(depth - 1);
	exchange("stack", out, in);
}

static void allocated(void)
{
	int *a = malloc(N * sizeof *a), *b = calloc(N, sizeof *b), *c = NULL, *d = aligned_alloc(64, 512), *e = NULL, *f;
	CHECK(a && b && d && !posix_memalign((void **)&c, 4096, N * sizeof *c));
	exchange("malloc, calloc", a, b);
	exchange("posix_memalign, aligned_alloc", c, d);
	/* Parts of a block, inside it. */
	f = malloc(3 * N * sizeof *f);
	exchange("parts", f + 2 * N, f + 17);
	for (int n = N; n < 1 << 20; n *= 4) { /* moves at times, and once becomes a mapping of its own */
		e = realloc(e, n * sizeof *e);
		CHECK(e);
		exchange("realloc", e + n - N, a);
	}
	e = realloc(e, N * sizeof *e);
	exchange("shrunk", e, a);
	free(a);
	free(b);
	free(c);
	free(d);
	free(e);
	free(f);
}

/* A block that is freed and allocated again has the same address in general. */
static void again(void)
{
	void *before = NULL;
	int equal = 0;
	for (int round = 0; round < 8; round++) {
		int *a = malloc(1000 + N * sizeof *a);
		equal += a == before;
		exchange("again", a, zeroed);
		before = a;
		free(a);
	}
	CHECK(equal > 0);
	/* Now it is of another size. */
	int *larger = malloc(5000), *other = malloc(N * sizeof *other);
	exchange("other sizes", larger, other);
	free(other);
	free(larger);
}

/* Memory of the system: part of it goes before it is used, and it grows. */
static void mapped(void)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *all = mmap(NULL, 8 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(all != MAP_FAILED && !munmap(all, 2 * page) && !munmap(all + 6 * page, 2 * page));
	int *a = (int *)(all + 2 * page), *b = (int *)(all + 4 * page);
	exchange("mapped", a, b);
	CHECK(!munmap(all + 3 * page, page));
	exchange("with a gap", a, b);
	b = mremap(b, 2 * page, 64 * page, MREMAP_MAYMOVE);
	CHECK(b != MAP_FAILED);
	exchange("grown", a, b + 40 * page / sizeof *b);
	CHECK(!munmap(b, 64 * page) && !munmap(a, page));
}

static void of_mpi(void)
{
	int *a, *b;
	char name[MPI_MAX_PROCESSOR_NAME];
	int length;
	OK(MPI_Alloc_mem(N * sizeof *a, MPI_INFO_NULL, &a));
	OK(MPI_Alloc_mem(N * sizeof *b, MPI_INFO_NULL, &b));
	exchange("alloc_mem", a, b);
	OK(MPI_Free_mem(a));
	OK(MPI_Free_mem(b));
	OK(MPI_Get_processor_name(name, &length));
	CHECK(length == (int)strlen(name));
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	next = (rank + 1) % size;
	previous = (rank + size - 1) % size;
	exchange("static", filled, zeroed);
	on_the_stack(0);
	on_the_stack(3);
	allocated();
	again();
	mapped();
	of_mpi();
	return end();
}
