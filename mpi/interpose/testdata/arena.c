/* A program with functions of its own to allocate memory, as some link them in. */
#include <errno.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char arena[256 << 20] __attribute__((aligned(64)));
static _Atomic size_t used;
static _Atomic int freed;

void *aligned_alloc(size_t alignment, size_t size)
{
	size_t need = size + alignment + 16;
	char *p = arena + atomic_fetch_add(&used, need);
	if (need < size || p + need > arena + sizeof arena) {
		errno = ENOMEM;
		return NULL;
	}
	p = (char *)(((uintptr_t)p + 16 + alignment - 1) / alignment * alignment);
	((size_t *)p)[-1] = size;
	return p;
}

void *malloc(size_t size) { return aligned_alloc(16, size); }
void *memalign(size_t alignment, size_t size) { return aligned_alloc(alignment, size); }
void *calloc(size_t n, size_t size) { return aligned_alloc(16, n * size); }
void free(void *p)
{
	if (p && ((char *)p < arena || (char *)p >= arena + sizeof arena))
		abort();
	freed++;
}

int posix_memalign(void **p, size_t alignment, size_t size)
{
	*p = aligned_alloc(alignment < 16 ? 16 : alignment, size);
	return *p ? 0 : ENOMEM;
}

void *realloc(void *p, size_t size)
{
	void *q = malloc(size);
	if (p && q) {
		size_t old = ((size_t *)p)[-1];
		memcpy(q, p, old < size ? old : size);
		free(p);
	}
	return q;
}

int main(int argc, char **argv)
{
	int sum = 0, one = 1;
	MPI_Init(&argc, &argv);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	char *p = realloc(strdup("text"), 100);
	if (sum != 2 || strcmp(p, "text") || freed == 0)
		printf("wrong\n");
	free(p);
	fflush(stdout);
	MPI_Finalize();
	return 0;
}
