#define _GNU_SOURCE
#include "proxy.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define LARGE ((size_t)1 << 20)

int rank, size;
static MPI_Comm everyone;
MPI_Status *no_statuses = MPI_STATUSES_IGNORE;
int *unweighted, *empty_weights;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#ifdef PROXY_SLEEP
#define STEP 1e9
static double calibrate(double seconds)
{
    (void)seconds;
    return 0;
}

static void pass(double seconds)
{
    struct timespec t = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&t, NULL);
}
#else
#define STEP 1e-3
#define TRIES 50
#define TRY 3e-5 /* seconds */
#define FIRST 100 /* rounds */
#define LAST 10000
static void rounds(double n)
{
    for (volatile double i = 0; i < n; i++)
        ;
}

static double rounds_per_second;

/* Takes parts of the first gaps to find the rounds of the fastest of some tries, which nothing interrupts. Each is
   as long as is known to fit, so that short gaps do not become longer. */
static double calibrate(double seconds)
{
    static int tries;
    double left = seconds;
    for (; left > 0 && tries < TRIES; tries++) {
        double n = (left < TRY ? left : TRY) * rounds_per_second, begun = now();
        n = n < FIRST ? FIRST : n > LAST ? LAST : n;
        rounds(n);
        double took = now() - begun;
        if (took > 0 && n / took > rounds_per_second)
            rounds_per_second = n / took;
        left -= took;
    }
    return seconds - left;
}

static void pass(double seconds)
{
    rounds(seconds * rounds_per_second);
}
#endif

/* MPI is asked by its PMPI names, so that no tool records it. */
void begin(MPI_Comm all, int processes)
{
    int begun;
    everyone = all;
    unweighted = MPI_UNWEIGHTED; /* a variable, for some */
    empty_weights = MPI_WEIGHTS_EMPTY;
    PMPI_Comm_rank(everyone, &rank);
    PMPI_Comm_size(everyone, &size);
    if (size == processes)
        return;
    if (rank == 0)
        fprintf(stderr, "proxy: run by %d processes, not the recorded %d\n", size, processes);
    PMPI_Initialized(&begun);
    if (begun)
        PMPI_Finalize();
    exit(2);
}

char *reserve(long long before, long long after)
{
    /* Aligned, with a byte at the end. Pages of large memory are taken when they are touched. */
    size_t start = ((size_t)before + 63) & ~(size_t)63, bytes = start + (size_t)after + 1;
    char *p = bytes < LARGE ? calloc(bytes, 1) : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == NULL || p == MAP_FAILED) {
        perror("proxy: no memory for a buffer");
        exit(2);
    }
    return p + start;
}

void compute(double seconds)
{
    /* What the last ones took longer, or shorter: a recorded gap has what interrupted the program, and so has this one.
       A long one looks at the clock now and then, as it may be the last. */
    static double owed;
    owed += seconds;
    if (owed > 0)
        owed -= calibrate(owed);
    if (owed <= 0)
        return;
    for (int last = 0; !last;) {
        last = owed <= STEP;
        double begun = now();
        pass(last ? owed : STEP);
        owed -= now() - begun;
        last = last || owed <= 0;
    }
}

double drawn(const long long *times, int n)
{
    /* A linear congruential generator: D. E. Knuth, The Art of Computer Programming 2, 3.3.4. */
    static unsigned long long x;
    if (x == 0)
        x = (unsigned long long)rank + 1;
    x = x * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)times[(x >> 33) % (unsigned long long)n];
}

void forget(const char *name)
{
    if (rank == 0)
        unlink(name);
    PMPI_Barrier(everyone);
}

void provide(const char *name)
{
    int file = open(name, O_RDWR | O_CREAT, 0666);
    if (file >= 0)
        close(file);
}

static int complete(const MPI_Request *requests, int n)
{
    int done = 1;
    for (int i = 0; i < n && done; i++)
        PMPI_Request_get_status(requests[i], &done, MPI_STATUS_IGNORE);
    return done;
}

int until_complete(const MPI_Request *requests, int n)
{
    int there = 0;
    for (int i = 0; i < n; i++)
        there = there || requests[i] != MPI_REQUEST_NULL;
    while (!complete(requests, n))
        sched_yield();
    return there;
}

int reached(int flag, const MPI_Request *requests, int n)
{
    if (flag)
        until_complete(requests, n);
    return flag;
}

static int arrived(int source, int tag, MPI_Comm comm)
{
    int there;
    PMPI_Iprobe(source, tag, comm, &there, MPI_STATUS_IGNORE);
    return there;
}

void until_arrived(int source, int tag, MPI_Comm comm)
{
    while (!arrived(source, tag, comm))
        sched_yield();
}

int found(int flag, int source, int tag, MPI_Comm comm)
{
    if (flag)
        until_arrived(source, tag, comm);
    return flag;
}

/* The source of the message that a receive from any would get, if one is there. */
static int next_source(int tag, MPI_Comm comm, MPI_Status *first)
{
    int there;
    PMPI_Iprobe(MPI_ANY_SOURCE, tag, comm, &there, first);
    return there ? first->MPI_SOURCE : MPI_PROC_NULL;
}

int from(int source, int sender, int tag, MPI_Comm comm)
{
    /* Some MPI go round the sources, so that what was asked for twice is the next one: then it is asked until the turn is the
       sender's. While there are messages, asking does not bring others. */
    MPI_Status first;
    if (source != MPI_ANY_SOURCE || sender < 0)
        return source;
    until_arrived(sender, tag, comm);
    int head = next_source(tag, comm, &first), sources = 1;
    while (next_source(tag, comm, &first) != head)
        sources++;
    for (int i = 0; i < sources; i++)
        if (next_source(tag, comm, &first) == sender) {
            for (int k = 1; k < sources; k++)
                next_source(tag, comm, &first);
            return source;
        }
    return sender;
}

int fitting(long long count, MPI_Datatype type, int source, int tag, MPI_Comm comm, int wait)
{
    MPI_Status first;
    if (source != MPI_ANY_SOURCE)
        return (int)count;
    if (wait)
        PMPI_Probe(source, tag, comm, &first);
    int n, head = next_source(tag, comm, &first), at = head;
    while (at != MPI_PROC_NULL) {
        PMPI_Get_count(&first, type, &n);
        if (n > count)
            count = n;
        if ((at = next_source(tag, comm, &first)) == head)
            break;
    }
    return (int)count;
}

static MPI_Status asked;

static MPI_Status *sized(int source, int tag, MPI_Count bytes)
{
    asked.MPI_SOURCE = source;
    asked.MPI_TAG = tag;
    PMPI_Status_set_cancelled(&asked, 0);
    PMPI_Status_set_elements_x(&asked, MPI_BYTE, bytes);
    return &asked;
}

MPI_Status *told(int source, int tag, MPI_Datatype type, long long n)
{
    MPI_Count bytes;
    PMPI_Type_size_x(type, &bytes);
    return sized(source, tag, n < 0 ? 1 : bytes * (MPI_Count)n);
}

MPI_Status *told_elements(int source, int tag, MPI_Datatype type, long long n)
{
    MPI_Count bytes, of_one = 0, found = 0;
    PMPI_Type_size_x(type, &bytes);
    PMPI_Get_elements_x(sized(source, tag, bytes), type, &of_one);
    if (of_one <= 0 || n < 0)
        return sized(source, tag, n < 0);
    MPI_Count least = bytes * ((MPI_Count)n / of_one), most = least + bytes;
    for (bytes = least; bytes < most; bytes++) {
        PMPI_Get_elements_x(sized(source, tag, bytes), type, &found);
        if (found == (MPI_Count)n)
            break;
    }
    return &asked;
}

MPI_Status *told_cancelled(int source, int tag, int flag)
{
    sized(source, tag, 0);
    PMPI_Status_set_cancelled(&asked, flag);
    return &asked;
}

void operation(void *in, void *out, int *count, MPI_Datatype *type)
{
    (void)in, (void)out, (void)count, (void)type;
}

void comm_error(MPI_Comm *comm, int *error, ...)
{
    (void)comm, (void)error;
}

void file_error(MPI_File *file, int *error, ...)
{
    (void)file, (void)error;
}

void win_error(MPI_Win *win, int *error, ...)
{
    (void)win, (void)error;
}

int query_request(void *state, MPI_Status *status)
{
    (void)state;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int free_request(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

int cancel_request(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

static char *hidden; /* requests of the list that MPI does not see */

void take(MPI_Request *list, const MPI_Request *requests, const int *numbers, int n)
{
    free(hidden);
    hidden = calloc((size_t)n, 1);
    if (hidden == NULL)
        PMPI_Abort(everyone, 1);
    for (int i = 0; i < n; i++)
        list[i] = requests[numbers[i]];
}

/* Whether a request is a persistent one that is not started: its status says nothing. */
static int idle(MPI_Request request)
{
    int done;
    MPI_Status status = {0};
    PMPI_Request_get_status(request, &done, &status);
    return done && status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG;
}

static int is_one_of(int i, const int *indices, int n)
{
    for (int k = 0; k < n; k++)
        if (indices[k] == i)
            return 1;
    return 0;
}

int choose(MPI_Request *list, int n, const int *indices, int completed)
{
    int last = 0;
    for (int k = 0; k < completed; k++) {
        if (indices[k] < 0 || indices[k] >= n)
            continue;
        until_complete(&list[indices[k]], 1);
        last = n;
        if (completed == 1 && indices[k] < n)
            last = indices[k];
    }
    /* Asking for one lets MPI complete others: all are asked again until none is new. */
    for (int found = 1; found;) {
        found = 0;
        for (int i = 0; i < n; i++) {
            if (list[i] == MPI_REQUEST_NULL || is_one_of(i, indices, completed) || !complete(&list[i], 1) || idle(list[i]))
                continue;
            if (i < last) {
                found = hidden[i] = 1;
                list[i] = MPI_REQUEST_NULL;
            }
        }
    }
    return completed != 0;
}

void choose_or_wait(MPI_Request *list, int n, const int *indices, int completed)
{
    int others = completed != 1;
    for (int i = 0; i < n && !others; i++)
        others = i != indices[0] && list[i] != MPI_REQUEST_NULL && !idle(list[i]);
    if (others)
        choose(list, n, indices, completed);
}

void put(const MPI_Request *list, MPI_Request *requests, const int *numbers, int n)
{
    for (int i = 0; i < n; i++)
        if (!hidden[i])
            requests[numbers[i]] = list[i];
}
