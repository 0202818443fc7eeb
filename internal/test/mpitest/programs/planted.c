/* Planted waits: rank LATE computes MS milliseconds longer before the operation of PATTERN, N times, so it is known who
   waits, for whom and how long. planted PATTERN N MS LATE DIRECTORY
   Computing is sleeping. As processes that wait may keep others from the processors, each rank notes when it comes to
   where it may wait, and to where others wait for it: DIRECTORY/RANK has a line of two times in ns for each round. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SMALL = 8, LARGE = 1 << 20, MOST = 1000 };
static int rank, size, late, ms, round_;
static long long waits_at[MOST], gives_at[MOST];
static double *out, *in;
static MPI_Request persistent = MPI_REQUEST_NULL;
static MPI_Win window;
static MPI_Group to, from;
static MPI_Comm ring;

#define LEFT ((rank + size - 1) % size)
#define RIGHT ((rank + 1) % size)
#define BEFORE ((late + size - 1) % size)
#define AFTER ((late + 1) % size)

static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1000000000LL * t.tv_sec + t.tv_nsec;
}

static void compute(void) { usleep(1000 * (rank == late ? 1 + ms : 1)); }

/* Late sender: AFTER waits. */
static void recv_pattern(void)
{
    if (rank == late)
        MPI_Send(out, SMALL, MPI_DOUBLE, AFTER, 1, MPI_COMM_WORLD);
    else if (rank == AFTER)
        MPI_Recv(in, SMALL, MPI_DOUBLE, late, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Late sender from any source. */
static void any_pattern(void)
{
    if (rank == late)
        MPI_Send(out, SMALL, MPI_DOUBLE, AFTER, 1, MPI_COMM_WORLD);
    else if (rank == AFTER) {
        MPI_Status status;
        MPI_Recv(in, SMALL, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    }
}

/* Wrong order: BEFORE has sent long before LATE does, and AFTER receives from LATE first. */
static void order_pattern(void)
{
    if (rank == late || rank == BEFORE)
        MPI_Send(out, SMALL, MPI_DOUBLE, AFTER, 1, MPI_COMM_WORLD);
    else if (rank == AFTER) {
        MPI_Recv(in, SMALL, MPI_DOUBLE, late, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(in, SMALL, MPI_DOUBLE, BEFORE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* Late sender of a persistent request. */
static void start_pattern(void)
{
    if (rank == late) {
        MPI_Send(out, SMALL, MPI_DOUBLE, AFTER, 1, MPI_COMM_WORLD);
    } else if (rank == AFTER) {
        if (persistent == MPI_REQUEST_NULL)
            MPI_Recv_init(in, SMALL, MPI_DOUBLE, late, 1, MPI_COMM_WORLD, &persistent);
        MPI_Start(&persistent);
        MPI_Wait(&persistent, MPI_STATUS_IGNORE);
    }
}

/* Late sender, in MPI_Wait: AFTER waits, and others as the delay goes round the ring. */
static void wait_pattern(void)
{
    MPI_Request r[2];
    MPI_Irecv(in, SMALL, MPI_DOUBLE, LEFT, 1, MPI_COMM_WORLD, &r[0]);
    compute();
    gives_at[round_] = now();
    MPI_Isend(out, SMALL, MPI_DOUBLE, RIGHT, 1, MPI_COMM_WORLD, &r[1]);
    waits_at[round_] = now();
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
}

/* The same in MPI_Waitall, of two neighbours. */
static void waitall_pattern(void)
{
    MPI_Request r[4];
    MPI_Irecv(in, SMALL, MPI_DOUBLE, LEFT, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(in + SMALL, SMALL, MPI_DOUBLE, RIGHT, 2, MPI_COMM_WORLD, &r[1]);
    compute();
    gives_at[round_] = now();
    MPI_Isend(out, SMALL, MPI_DOUBLE, RIGHT, 1, MPI_COMM_WORLD, &r[2]);
    MPI_Isend(out, SMALL, MPI_DOUBLE, LEFT, 2, MPI_COMM_WORLD, &r[3]);
    waits_at[round_] = now();
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}

/* Late receiver: BEFORE waits in MPI_Send, in MPI_Ssend, or in MPI_Wait. */
static void rendezvous_pattern(void)
{
    if (rank == late)
        MPI_Recv(in, LARGE, MPI_DOUBLE, BEFORE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (rank == BEFORE)
        MPI_Send(out, LARGE, MPI_DOUBLE, late, 1, MPI_COMM_WORLD);
}

static void ssend_pattern(void)
{
    if (rank == late)
        MPI_Recv(in, SMALL, MPI_DOUBLE, BEFORE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (rank == BEFORE)
        MPI_Ssend(out, SMALL, MPI_DOUBLE, late, 1, MPI_COMM_WORLD);
}

static void isend_pattern(void)
{
    if (rank == late) {
        MPI_Recv(in, LARGE, MPI_DOUBLE, BEFORE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == BEFORE) {
        MPI_Request r;
        MPI_Isend(out, LARGE, MPI_DOUBLE, late, 1, MPI_COMM_WORLD, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
}

/* All others wait for the last to arrive. */
static void barrier_pattern(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void allreduce_pattern(void) { MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }

static void ibarrier_pattern(void)
{
    MPI_Request r;
    MPI_Ibarrier(MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* Late root: all others wait. */
static void bcast_pattern(void) { MPI_Bcast(out, SMALL, MPI_DOUBLE, late, MPI_COMM_WORLD); }

/* Early root: the root waits, which is AFTER. */
static void reduce_pattern(void) { MPI_Reduce(out, in, SMALL, MPI_DOUBLE, MPI_SUM, AFTER, MPI_COMM_WORLD); }

/* Those of higher rank wait. */
static void scan_pattern(void) { MPI_Scan(out, in, SMALL, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }

/* LATE delays the next, which delays the one after it, and so on. */
static void chain_pattern(void)
{
    int at = (rank + size - late) % size;
    if (at > 0)
        MPI_Recv(in, SMALL, MPI_DOUBLE, LEFT, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    gives_at[round_] = now();
    if (at < size - 1)
        MPI_Send(out, SMALL, MPI_DOUBLE, RIGHT, 1, MPI_COMM_WORLD);
}

static void fence_pattern(void) { MPI_Win_fence(0, window); }

/* Late post: BEFORE waits. */
static void post_pattern(void)
{
    if (rank == late) {
        MPI_Win_post(from, 0, window);
        MPI_Win_wait(window);
    } else if (rank == BEFORE) {
        MPI_Win_start(to, 0, window);
        MPI_Put(out, SMALL, MPI_DOUBLE, late, 0, SMALL, MPI_DOUBLE, window);
        MPI_Win_complete(window);
    }
}

/* Late complete: AFTER waits, to whose memory LATE writes. */
static void complete_pattern(void)
{
    if (rank == late) {
        MPI_Win_start(to, 0, window);
        MPI_Put(out, SMALL, MPI_DOUBLE, AFTER, 0, SMALL, MPI_DOUBLE, window);
        gives_at[round_] = now();
        MPI_Win_complete(window);
    } else if (rank == AFTER) {
        MPI_Win_post(from, 0, window);
        MPI_Win_wait(window);
    }
}

/* Lock: BEFORE waits for LATE, which computes while it has the lock. */
static void lock_of(int target)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == late) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
        MPI_Put(out, SMALL, MPI_DOUBLE, target, 0, SMALL, MPI_DOUBLE, window);
        MPI_Win_flush(target, window);
        usleep(1000 * (ms + 10));
        gives_at[round_] = now();
        MPI_Win_unlock(target, window);
    } else if (rank == BEFORE) {
        usleep(1000 * 10);
        waits_at[round_] = now();
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
        MPI_Put(out, SMALL, MPI_DOUBLE, target, 0, SMALL, MPI_DOUBLE, window);
        MPI_Win_unlock(target, window);
    }
}

static void lock_pattern(void) { lock_of(late); }
static void lockother_pattern(void) { lock_of(AFTER); } /* which waits at the next barrier */

/* Shared: BEFORE, which has the lock to itself, waits for LATE, which shares it. */
static void shared_pattern(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == late) {
        MPI_Win_lock_all(0, window);
        MPI_Put(out, SMALL, MPI_DOUBLE, late, 0, SMALL, MPI_DOUBLE, window);
        MPI_Win_flush_all(window);
        usleep(1000 * (ms + 10));
        gives_at[round_] = now();
        MPI_Win_unlock_all(window);
    } else if (rank == BEFORE) {
        usleep(1000 * 10);
        waits_at[round_] = now();
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, late, 0, window);
        MPI_Put(out, SMALL, MPI_DOUBLE, late, 0, SMALL, MPI_DOUBLE, window);
        MPI_Win_unlock(late, window);
    }
}

/* Late neighbour, in a ring: those on both sides wait, and others as the delay goes round. */
static void neighbor_pattern(void) { MPI_Neighbor_allgather(out, SMALL, MPI_DOUBLE, in, SMALL, MPI_DOUBLE, ring); }

static void groups(int writer, int owner)
{
    MPI_Group world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &owner, &to);
    MPI_Group_incl(world, 1, &writer, &from);
    MPI_Group_free(&world);
}

int main(int argc, char **argv)
{
    struct {
        const char *name;
        void (*run)(void);
        int computes;
    } patterns[] = {{"recv", recv_pattern, 0}, {"any", any_pattern, 0}, {"order", order_pattern, 0},
        {"start", start_pattern, 0}, {"wait", wait_pattern, 1}, {"waitall", waitall_pattern, 1},
        {"rendezvous", rendezvous_pattern, 0}, {"ssend", ssend_pattern, 0}, {"isend", isend_pattern, 0},
        {"barrier", barrier_pattern, 0}, {"ibarrier", ibarrier_pattern, 0}, {"allreduce", allreduce_pattern, 0},
        {"bcast", bcast_pattern, 0}, {"reduce", reduce_pattern, 0}, {"scan", scan_pattern, 0},
        {"chain", chain_pattern, 0}, {"fence", fence_pattern, 0}, {"post", post_pattern, 0},
        {"complete", complete_pattern, 0}, {"neighbor", neighbor_pattern, 0}, {"lock", lock_pattern, 1},
        {"lockother", lockother_pattern, 1}, {"shared", shared_pattern, 1}};
    if (argc < 6 || atoi(argv[2]) > MOST)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int n = atoi(argv[2]);
    ms = atoi(argv[3]);
    late = atoi(argv[4]);
    out = calloc(LARGE, sizeof *out);
    in = calloc(LARGE, sizeof *in);
    if (!strcmp(argv[1], "post"))
        groups(BEFORE, late);
    if (!strcmp(argv[1], "complete"))
        groups(late, AFTER);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 0, &ring);
    MPI_Win_create(in, SMALL * sizeof *in, sizeof *in, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    if (!strcmp(argv[1], "fence"))
        MPI_Win_fence(0, window);
    MPI_Barrier(MPI_COMM_WORLD); /* so that all begin at one time */
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++)
        if (strcmp(argv[1], patterns[k].name) == 0)
            for (int i = 0; i < n; i++) {
                MPI_Barrier(MPI_COMM_SELF); /* marks the iteration, waits for nobody */
                if (!patterns[k].computes)
                    compute();
                round_ = i;
                waits_at[i] = gives_at[i] = now();
                patterns[k].run();
            }
    char name[4096];
    snprintf(name, sizeof name, "%s/%d", argv[5], rank);
    FILE *f = fopen(name, "w");
    for (int i = 0; f && i < n; i++)
        fprintf(f, "%lld %lld\n", waits_at[i], gives_at[i]);
    if (!f || fclose(f))
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (persistent != MPI_REQUEST_NULL)
        MPI_Request_free(&persistent);
    MPI_Win_free(&window);
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}
