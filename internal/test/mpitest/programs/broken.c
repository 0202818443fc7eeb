/*
 * A library with which MPI_Iprobe fails, in the program that BROKEN names or in all if that is empty.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
	const char *name = getenv("BROKEN");
	int (*real)(int, int, MPI_Comm, int *, MPI_Status *) = dlsym(RTLD_NEXT, "PMPI_Iprobe");
	if (!name || *name && strcmp(name, program_invocation_short_name))
		return real(source, tag, comm, flag, status);
	return MPI_ERR_OTHER;
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
	return PMPI_Iprobe(source, tag, comm, flag, status);
}
