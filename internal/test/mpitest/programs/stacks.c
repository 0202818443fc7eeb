/* Calls MPI by way of functions that leave all kinds of frames on the stack, each twice. */
#include <alloca.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define outline __attribute__((noinline, noclone))
#define behind() __asm__ volatile("" ::: "memory") /* no jump in place of a call */

outline static void leaf(int n)
{
	for (int i = 0; i < n; i++)
		MPI_Barrier(MPI_COMM_SELF);
	behind();
}

__attribute__((always_inline)) static inline void inlined(void)
{
	leaf(1);
}

outline static void around(void)
{
	inlined();
	behind();
}

outline static void growing(int size)
{
	char *memory = alloca((size_t)size);
	memset(memory, size, (size_t)size);
	__asm__ volatile("" : : "r"(memory) : "memory");
	leaf(1);
	behind();
}

outline static void aligned(void)
{
	_Alignas(64) char memory[256];
	memset(memory, 1, sizeof memory);
	__asm__ volatile("" : : "r"(memory) : "memory");
	leaf(1);
	behind();
}

outline static void recursive(int n)
{
	if (n > 0)
		recursive(n - 1);
	else
		leaf(1);
	behind();
}

outline static void odd(int n);

outline static void even(int n)
{
	if (n > 0)
		odd(n - 1);
	else
		leaf(1);
	behind();
}

outline static void odd(int n)
{
	even(n - 1);
	behind();
}

static int compare(const void *a, const void *b)
{
	leaf(1);
	behind();
	return *(const int *)a - *(const int *)b;
}

static void *thread(void *unused)
{
	leaf(1);
	behind();
	return unused;
}

outline static void nothing(void (*f)(int))
{
	f(1);
	behind();
}

int main(int argc, char **argv)
{
	int provided, numbers[] = {2, 1};
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	for (int i = 0; i < 2; i++) {
		leaf(2);
		around();
		growing(16 + 4096 * i);
		aligned();
		recursive(5 + i);
		recursive(100);
		even(4);
		nothing(leaf);
		nothing(recursive);
		qsort(numbers, 2, sizeof *numbers, compare);
		pthread_t t;
		pthread_create(&t, NULL, thread, NULL);
		pthread_join(t, NULL);
	}
	MPI_Finalize();
	return 0;
}
