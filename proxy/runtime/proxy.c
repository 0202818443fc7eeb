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

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#ifdef PROXY_SLEEP
static void pass(double seconds)
{
    struct timespec t = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&t, NULL);
}
#else
static void rounds(double n)
{
    for (volatile double i = 0; i < n; i++)
        ;
}

static double rounds_per_second;

/* The rounds of the fastest of some tries, which nothing interrupts. */
static void calibrate(void)
{
    for (int i = 0; i < 50; i++) {
        double n = 10000, begun = now();
        rounds(n);
        double speed = n / (now() - begun);
        if (speed > rounds_per_second)
            rounds_per_second = speed;
    }
}

static void pass(double seconds)
{
    rounds(seconds * rounds_per_second);
}
#endif

/* MPI is asked by its PMPI names, so that no tool records it. */
void begin(int processes)
{
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
#ifndef PROXY_SLEEP
    calibrate();
#endif
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
    /* What the last ones took longer, or shorter: a recorded gap has what interrupted the program, and so has this one. */
    static double owed;
    owed += seconds;
    if (owed <= 0)
        return;
    double begun = now();
    pass(owed);
    owed -= now() - begun;
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
