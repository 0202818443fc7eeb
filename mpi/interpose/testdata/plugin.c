/* A program that loads a library, calls it, closes it, and does the same with another, which is
   likely to be in its place; and the libraries, where NAME is their function. */
#include <dlfcn.h>
#include <mpi.h>

#ifdef NAME
void NAME(void)
{
	MPI_Barrier(MPI_COMM_SELF);
	__asm__ volatile("" ::: "memory");
}
#else
static int call(const char *library, const char *name)
{
	void *object = dlopen(library, RTLD_NOW);
	void (*function)(void) = object ? (void (*)(void))dlsym(object, name) : 0;
	if (!function)
		return 1;
	function();
	function();
	return dlclose(object);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	int failed = call(FIRST, "first") || call(SECOND, "second") || call(FIRST, "first");
	MPI_Finalize();
	return failed;
}
#endif
