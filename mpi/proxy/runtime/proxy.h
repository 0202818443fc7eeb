/* What the program of a proxy needs beside MPI. */
#ifndef PROXY_H
#define PROXY_H

#include <mpi.h>
#include <stddef.h>

extern int rank, size; /* of the process among all processes, and how many these are */

/* MPI_STATUSES_IGNORE, of which compilers believe that it points to no statuses. */
extern MPI_Status *no_statuses;

/* MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY, of which they believe the same. */
extern int *unweighted, *empty_weights;

/* Sets rank and size, as a communicator of all processes has them. The program ends unless these are so many. */
void begin(MPI_Comm all, int processes);

/* Returns an address with so many bytes before and after it, which are zeros. */
#define UNKNOWN (1LL << 31) /* bytes where the trace does not say how many are used */
char *reserve(long long before, long long after);

/* Computes for a time. */
void compute(double seconds);

/* Returns one of some times in nanoseconds, the same in each run. */
double drawn(const long long *times, int n);

/* Removes a file of another run, for all processes. */
void forget(const char *name);

/* Makes a file unless it is there. */
void provide(const char *name);

/* Waits until all of the requests are complete, and says whether there is any; the same if a flag is set, and says that: then the test that
   is to set the flag may follow. */
int until_complete(const MPI_Request *requests, int n);
int reached(int flag, const MPI_Request *requests, int n);

/* The same for a message. */
void until_arrived(int source, int tag, MPI_Comm comm);
int found(int flag, int source, int tag, MPI_Comm comm);

/* Returns a source. Where that is any it waits for a message from the sender, and returns the sender if another message
   came first. */
int from(int source, int sender, int tag, MPI_Comm comm);

/* Return a status that says this: of so many of a type, or of a part of one if they are negative; of so many elements of which a
   type consists; of something that was cancelled, or not. */
MPI_Status *told(int source, int tag, MPI_Datatype type, long long n);
MPI_Status *told_elements(int source, int tag, MPI_Datatype type, long long n);
MPI_Status *told_cancelled(int source, int tag, int flag);

/* Returns the size of a receive, or that of the largest message that it may get if the source is any: another one may come first than
   in the trace. It waits until one is there, or takes what is there. */
int fitting(long long count, MPI_Datatype type, int source, int tag, MPI_Comm comm, int wait);

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
   complete and would come first, but none that are not started. It says whether there are any. */
void take(MPI_Request *list, const MPI_Request *requests, const int *numbers, int n);
int choose(MPI_Request *list, int n, const int *indices, int completed);

/* The same for a call that waits: where it can complete nothing else, the call itself does the waiting. */
void choose_or_wait(MPI_Request *list, int n, const int *indices, int completed);
void put(const MPI_Request *list, MPI_Request *requests, const int *numbers, int n);

/* An address as MPI has it. */
static inline MPI_Aint address(const void *p)
{
    MPI_Aint a;
    PMPI_Get_address((void *)p, &a);
    return a;
}

#endif
