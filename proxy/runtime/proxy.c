#define _GNU_SOURCE
#include "proxy.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#ifndef BUFFER_BYTES
#define BUFFER_BYTES ((size_t)1 << 32)
#endif

int rank, size;
MPI_Status *no_statuses = MPI_STATUSES_IGNORE;

/* MPI is asked by its PMPI names, so that no tool records it. */
void begin(int processes)
{
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size == processes)
        return;
    if (rank == 0)
        fprintf(stderr, "proxy: run by %d processes, not the recorded %d\n", size, processes);
    PMPI_Finalize();
    exit(2);
}

char *reserve(void)
{
    void *p = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        perror("proxy: no address space for a buffer");
        exit(2);
    }
    return (char *)p + BUFFER_BYTES / 2;
}

void compute(double seconds)
{
    struct timespec now, start;
#ifdef PROXY_SLEEP
    now.tv_sec = (time_t)seconds;
    now.tv_nsec = (long)((seconds - (double)now.tv_sec) * 1e9);
    (void)start;
    nanosleep(&now, NULL);
#else
    clock_gettime(CLOCK_MONOTONIC, &start);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) * 1e-9 < seconds);
#endif
}

void take(MPI_Request *list, const MPI_Request *requests, const int *numbers, int n)
{
    for (int i = 0; i < n; i++)
        list[i] = requests[numbers[i]];
}

void await(MPI_Request *list, int n, const int *indices, int completed)
{
    int next = 0;
    for (int i = 0; i < n; i++) {
        int chosen = 0, done = 0;
        for (next = 0; next < completed; next++)
            chosen |= indices[next] == i;
        if (!chosen)
            list[i] = MPI_REQUEST_NULL;
        while (chosen && !done)
            PMPI_Request_get_status(list[i], &done, MPI_STATUS_IGNORE);
    }
}

void put(const MPI_Request *list, MPI_Request *requests, const int *numbers, int n, const int *indices, int completed)
{
    if (indices == NULL) {
        for (int i = 0; i < n; i++)
            requests[numbers[i]] = list[i];
        return;
    }
    for (int k = 0; k < completed; k++)
        if (indices[k] >= 0 && indices[k] < n)
            requests[numbers[indices[k]]] = list[indices[k]];
}
