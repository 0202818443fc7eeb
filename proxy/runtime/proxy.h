/* What the program of a proxy needs beside MPI. */
#ifndef PROXY_H
#define PROXY_H

#include <mpi.h>
#include <stddef.h>

extern int rank, size; /* of the process in MPI_COMM_WORLD, and of that */

/* MPI_STATUSES_IGNORE, of which compilers believe that it points to no statuses. */
extern MPI_Status *no_statuses;

/* Sets rank and size. The program ends unless it is run by so many processes. */
void begin(int processes);

/* Returns the middle of memory for a buffer. Pages are taken when they are touched. */
char *reserve(void);

/* Computes for a time. */
void compute(double seconds);

/* Waits until some of the requests are complete, makes a list of these, with
   MPI_REQUEST_NULL for the others, and puts them back. */
void take(MPI_Request *list, const MPI_Request *requests, const int *numbers, int n);
void await(MPI_Request *list, int n, const int *indices, int completed);
void put(const MPI_Request *list, MPI_Request *requests, const int *numbers, int n, const int *indices, int completed);

#endif
