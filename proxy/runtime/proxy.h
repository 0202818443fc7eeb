/* What the program of a proxy needs beside MPI. */
#ifndef PROXY_H
#define PROXY_H

#include <mpi.h>
#include <stddef.h>

extern int rank, size; /* of the process in MPI_COMM_WORLD, and of that */

/* MPI_STATUSES_IGNORE, of which compilers believe that it points to no statuses. */
extern MPI_Status *no_statuses;

/* MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY, of which they believe the same. */
extern int *unweighted, *empty_weights;

/* Sets rank and size. The program ends unless it is run by so many processes. */
void begin(int processes);

/* Returns the middle of memory for a buffer. Pages are taken when they are touched. */
char *reserve(void);

/* Computes for a time. */
void compute(double seconds);

/* Returns one of some times in nanoseconds, the same in each run. */
double drawn(const long long *times, int n);

/* Removes a file of another run, for all processes. */
void forget(const char *name);

/* Makes a file unless it is there. */
void provide(const char *name);

/* Whether all of the requests are complete; waits until they are, and says whether there is any; either, as a flag
   says: then the test that is to set the flag may follow. */
int complete(const MPI_Request *requests, int n);
int until_complete(const MPI_Request *requests, int n);
int reached(int flag, const MPI_Request *requests, int n);

/* The same for a message. */
int arrived(int source, int tag, MPI_Comm comm);
void until_arrived(int source, int tag, MPI_Comm comm);
int found(int flag, int source, int tag, MPI_Comm comm);

/* Stand for all functions of the recorded program that MPI calls: operations, handlers of errors, and those of generalized
   requests. They do nothing. */
void operation(void *in, void *out, int *count, MPI_Datatype *type);
void comm_error(MPI_Comm *comm, int *error, ...);
void file_error(MPI_File *file, int *error, ...);
void win_error(MPI_Win *win, int *error, ...);
int query_request(void *state, MPI_Status *status);
int free_request(void *state);
int cancel_request(void *state, int complete);

/* Makes a list of requests, and puts them back. Between the two, choose sees to it that a call which
   completes some of them completes those of the indices: it waits for these, and hides others that are
   complete and would come first. If none is to be completed it says whether none is complete. */
void take(MPI_Request *list, const MPI_Request *requests, const int *numbers, int n);
int choose(MPI_Request *list, int n, const int *indices, int completed);
void put(const MPI_Request *list, MPI_Request *requests, const int *numbers, int n);

/* An address as MPI has it. */
static inline MPI_Aint address(const void *p)
{
    MPI_Aint a;
    PMPI_Get_address((void *)p, &a);
    return a;
}

#endif
