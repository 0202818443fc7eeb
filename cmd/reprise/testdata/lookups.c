// Looks up MPI at run time, in the way that its first argument says; the second is the library, or one that depends on it. It is
// not linked with MPI.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *handle;

static void *find(const char *name)
{
	void *found = dlsym(handle, name);
	if (!found) {
		printf("no %s\n", name);
		exit(1);
	}
	return found;
}

int main(int argc, char **argv)
{
	const char *kind = argv[1];
	int flag = 0, global = !strcmp(kind, "default") || !strcmp(kind, "next");
	if (dlsym(RTLD_DEFAULT, "MPI_Init") || dlsym(RTLD_NEXT, "MPI_Init"))
		return puts("found before it was loaded"), 1;
	if (!strcmp(kind, "namespace"))
		handle = dlmopen(LM_ID_NEWLM, argv[2], RTLD_NOW);
	else
		handle = dlopen(argv[2], RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL) | (strcmp(kind, "deep") ? 0 : RTLD_DEEPBIND));
	if (!handle)
		return puts(dlerror()), 1;
	if (global)
		handle = strcmp(kind, "next") ? RTLD_DEFAULT : RTLD_NEXT;
	if (!strcmp(kind, "plugin") || !strcmp(kind, "deep")) {
		((int (*)(int *))find("run_plugin"))(&flag);
	} else {
		int (*init)(void *, void *) = find("MPI_Init"), (*initialized)(int *) = find("MPI_Initialized"), (*finalize)(void) = find("MPI_Finalize");
		init(NULL, NULL);
		initialized(&flag);
		finalize();
		if (dlsym(handle, "MPI_No_such") || !dlerror())
			return puts("found what is not there"), 1;
	}
	return !flag;
}
