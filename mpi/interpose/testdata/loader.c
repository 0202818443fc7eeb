/* Loads a program with MPI as an interpreter does: none of its symbols is global. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *program = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	if (!program) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	int (*run)(int, char **) = (int (*)(int, char **))dlsym(program, "main");
	return run(argc - 1, argv + 1);
}
