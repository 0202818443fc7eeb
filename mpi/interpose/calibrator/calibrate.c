/* Measures what messages and collective operations take, and prints it: see ReadCalibration. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	passes = 3,          /* over all sizes, so that a disturbance does not hit all of what is measured of one */
	most_rounds = 20000, /* of one size in one pass */
	least_rounds = 5,
	batch = 20,          /* messages or operations without a break */
	largest = 4 << 20,   /* bytes of a message */
	small = 8,           /* bytes of the messages that overheads are measured with */
	data = 0, agreed = 1 /* tags */
};
static const double budget = 2e7; /* nanoseconds for one size in one pass */
static const double patience = 5e9; /* after which no pass begins: something else runs here, and one pass has to do */

static const long sizes[] = {
	1, 8, 32, 64, 256, 512, 1 << 10, 2 << 10, 3000, 4000, 6000, 8 << 10, 12 << 10, 16 << 10, 24 << 10, 32 << 10, 48 << 10, 64 << 10,
	96 << 10, 128 << 10, 192 << 10, 256 << 10, 384 << 10, 512 << 10, 768 << 10, 1 << 20, 3 << 19, 2 << 20, 4 << 20,
};

static int rank, ranks;
static char *out, *in;
static double samples[most_rounds];

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void spin(double nanoseconds)
{
	for (double end = now() + nanoseconds; now() < end;)
		;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* report prints the mean of the samples, and the quartiles at its sides. Samples in which another program had the
   processor are left out: what interrupts a program all the time is shorter. */
static void report(const char *what, const char *of, long bytes, int rounds)
{
	qsort(samples, rounds, sizeof *samples, compare);
	double sum = 0, most = 10 * samples[rounds / 2] + 2e5;
	int used = 0;
	while (used < rounds && samples[used] <= most)
		sum += samples[used++];
	double mean = sum / used;
	printf("\nreprise-calibrate\t%s\t%s\t%ld\t%.1f\t%.1f\t%.1f\n", what, of, bytes, samples[rounds / 4], mean, samples[rounds * 3 / 4]);
	fflush(stdout);
}

static void give(int peer, long bytes) { MPI_Send(out, bytes, MPI_BYTE, peer, data, MPI_COMM_WORLD); }

static void get(int peer, long bytes) { MPI_Recv(in, bytes, MPI_BYTE, peer, data, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

/* A pair is two ranks, of which the first measures, unless it is said otherwise. */
struct pair {
	const char *link;
	int peer, first; /* the other rank, and whether this is the first */
};

/* touch writes what is to be sent, as programs do, so that it is in the cache of this rank alone. It returns how
   long that took. */
static double touch(long bytes)
{
	volatile char *line = out;
	double begin = now();
	for (long i = 0; i < bytes; i += 64)
		line[i]++;
	return now() - begin;
}

/* round_trips samples half of each round trip, without the time in which the other rank writes. */
static void round_trips(const struct pair *p, long bytes, int rounds)
{
	for (int i = 0; i < rounds; i++)
		if (p->first) {
			double wrote = touch(bytes), begin = now();
			give(p->peer, bytes);
			get(p->peer, bytes);
			double took = now() - begin;
			samples[i] = (took > wrote ? took - wrote : took) / 2;
		} else {
			get(p->peer, bytes);
			touch(bytes);
			give(p->peer, bytes);
		}
}

/* agree has both of a pair use what the first says. */
static int agree(const struct pair *p, int value)
{
	if (p->first)
		MPI_Send(&value, 1, MPI_INT, p->peer, agreed, MPI_COMM_WORLD);
	else
		MPI_Recv(&value, 1, MPI_INT, p->peer, agreed, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return value;
}

static int rounds_in_budget(double each)
{
	double n = budget / (each + 1);
	return n > most_rounds ? most_rounds : n < least_rounds ? least_rounds : n;
}

/* one_way measures messages of each size, and returns what small ones take. */
static double one_way(const struct pair *p)
{
	double least = 1e12;
	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		double begin = now();
		round_trips(p, sizes[i], least_rounds);
		int rounds = agree(p, rounds_in_budget((now() - begin) / least_rounds));
		round_trips(p, sizes[i], rounds);
		if (p->first)
			report("one-way", p->link, sizes[i], rounds);
		if (samples[rounds / 2] < least)
			least = samples[rounds / 2];
	}
	return least;
}

/* overheads measures what a send takes to whose receiver nothing else is on the way, a receive whose
   message has come, and a send that follows others. */
static void overheads(const struct pair *p, double way)
{
	int rounds = agree(p, rounds_in_budget(8 * way));
	for (int i = 0; i < rounds; i++)
		if (p->first) {
			double begin = now();
			give(p->peer, small);
			samples[i] = now() - begin;
			get(p->peer, 0);
		} else {
			get(p->peer, small);
			give(p->peer, 0);
		}
	if (p->first)
		report("send", p->link, small, rounds);
	for (int i = 0; i < rounds; i++)
		if (p->first) {
			get(p->peer, 0);
			spin(4 * way);
			double begin = now();
			get(p->peer, small);
			samples[i] = now() - begin;
		} else {
			give(p->peer, 0);
			give(p->peer, small);
		}
	if (p->first)
		report("receive", p->link, small, rounds);
	rounds = agree(p, rounds_in_budget(batch * way));
	for (int i = 0; i < rounds; i++)
		if (p->first) {
			double begin = now();
			for (int k = 0; k < batch; k++)
				give(p->peer, small);
			samples[i] = (now() - begin) / batch;
			get(p->peer, 0);
		} else {
			for (int k = 0; k < batch; k++)
				get(p->peer, small);
			give(p->peer, 0);
		}
	if (p->first)
		report("gap", p->link, small, rounds);
}

/* together measures messages that are sent at one time, from the first send until all have come. */
static void together(const struct pair *p, int count)
{
	enum { most = 4, bytes = 64 << 10 };
	int rounds = agree(p, 50);
	for (int i = 0; i < rounds; i++) {
		MPI_Request requests[most];
		if (p->first) {
			touch(bytes * count);
			get(p->peer, 0); /* receives are there */
			double begin = now();
			for (int k = 0; k < count; k++)
				MPI_Isend(out + k * bytes, bytes, MPI_BYTE, p->peer, data, MPI_COMM_WORLD, &requests[k]);
			MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
			get(p->peer, 0);
			samples[i] = now() - begin;
		} else {
			for (int k = 0; k < count; k++)
				MPI_Irecv(in + k * bytes, bytes, MPI_BYTE, p->peer, data, MPI_COMM_WORLD, &requests[k]);
			give(p->peer, 0);
			MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
			give(p->peer, 0);
		}
	}
	if (p->first)
		report(count == 1 ? "alone" : "together", p->link, bytes, rounds);
}

/* waits reports whether a send waits for a receiver that is late. */
static int waits(const struct pair *p, long bytes, double late)
{
	enum { rounds = 5 };
	for (int i = 0; i < rounds; i++)
		if (p->first) {
			get(p->peer, 0);
			double begin = now();
			give(p->peer, bytes);
			samples[i] = now() - begin;
			get(p->peer, 0);
		} else {
			give(p->peer, 0);
			spin(late);
			get(p->peer, bytes);
			give(p->peer, 0);
		}
	qsort(samples, rounds, sizeof *samples, compare);
	return agree(p, samples[rounds / 2] > late / 2);
}

/* eager finds the largest message whose send does not wait for its receiver: −1 if all wait. */
static void eager(const struct pair *p, double way)
{
	double late = agree(p, way < 1e7 ? 4e5 + 20 * way : 2e8);
	long low = -1, high = 0;
	while (high <= largest && !waits(p, high, late)) {
		low = high;
		high = high ? 2 * high : 1;
	}
	while (high <= largest && high - low > 1) {
		long middle = low + (high - low) / 2;
		if (waits(p, middle, late))
			high = middle;
		else
			low = middle;
	}
	samples[0] = 0;
	if (p->first)
		report(high <= largest ? "eager" : "unlimited", p->link, low, 1);
}

/* measure measures messages between two ranks while the others sleep. */
static void measure(const char *link, int first, int second)
{
	MPI_Request all;
	if (rank == first || rank == second) {
		struct pair p = {link, rank == first ? second : first, rank == first};
		round_trips(&p, largest, least_rounds); /* which connects them, and touches all memory */
		double way = 0, begin = now();
		for (int i = 0; i < passes && agree(&p, now() - begin < patience); i++) {
			way = one_way(&p);
			way = agree(&p, way < 1e9 ? way : 1e9);
			overheads(&p, way);
			together(&p, 1);
			together(&p, 4);
		}
		eager(&p, way);
	}
	MPI_Ibarrier(MPI_COMM_WORLD, &all);
	for (int done = 0; !done; usleep(100))
		MPI_Test(&all, &done, MPI_STATUS_IGNORE);
}

static void operation(const char *name, long bytes)
{
	if (strcmp(name, "barrier") == 0)
		MPI_Barrier(MPI_COMM_WORLD);
	else if (strcmp(name, "bcast") == 0)
		MPI_Bcast(out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
	else if (strcmp(name, "allreduce") == 0)
		MPI_Allreduce(out, in, bytes / 8, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	else
		MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

/* given returns how many bytes a rank gives in an operation. */
static long given(const char *name, long bytes) { return strcmp(name, "alltoall") == 0 ? bytes * ranks : bytes; }

/* swap has what came be what is sent next, as programs that transform data do, so that it lies in the caches that it came by. */
static void swap(void)
{
	char *came = in;
	in = out;
	out = came;
}

/* collective measures an operation that is called a batch of times. */
static void collective(const char *name, long bytes)
{
	int rounds = 2;
	for (int warm = 1; warm >= 0; warm--) {
		double start = now();
		for (int i = 0; i < rounds; i++) {
			MPI_Barrier(MPI_COMM_WORLD);
			double wrote = 0, begin = now();
			for (int k = 0; k < batch; k++) {
				wrote += touch(given(name, bytes));
				operation(name, bytes);
				swap();
			}
			double took = now() - begin;
			samples[i] = (took > wrote ? took - wrote : took) / batch;
		}
		if (warm) {
			rounds = rounds_in_budget((now() - start) / rounds);
			MPI_Bcast(&rounds, 1, MPI_INT, 0, MPI_COMM_WORLD);
		}
	}
	if (rank == 0)
		report("collective", name, bytes, rounds);
}

/* delayed returns for how many nanoseconds this process could have run, and others had the processor: 0 where that is
   not known. */
static double delayed(void)
{
	double ran = 0, waited = 0;
	FILE *f = fopen("/proc/self/schedstat", "r");
	if (!f)
		return 0;
	if (fscanf(f, "%lf %lf", &ran, &waited) != 2)
		waited = 0;
	fclose(f);
	return waited;
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);

	/* The node of a rank is the first rank on it. */
	MPI_Comm node;
	int leader = rank, *nodes = malloc(ranks * sizeof *nodes);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
	MPI_Bcast(&leader, 1, MPI_INT, 0, node);
	MPI_Allgather(&leader, 1, MPI_INT, nodes, 1, MPI_INT, MPI_COMM_WORLD);
	int beside = -1, beyond = -1, first = 0; /* the ranks that are measured */
	for (int i = 0; i < ranks; i++) {
		if (rank == 0)
			printf("\nreprise-calibrate\trank\t%d\t%d\t%ld\n", i, nodes[i], sysconf(_SC_NPROCESSORS_ONLN));
		if (beside < 0 && nodes[i] != i)
			beside = i, first = nodes[i];
		if (beyond < 0 && nodes[i] != nodes[0])
			beyond = i;
	}
	fflush(stdout);

	size_t bytes = (size_t)largest + (64 << 10) * (size_t)ranks;
	out = malloc(bytes);
	in = malloc(bytes);
	if (!out || !in) {
		fprintf(stderr, "rank %d has no memory for buffers of %zu bytes\n", rank, bytes);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	memset(out, 0, bytes);
	memset(in, 0, bytes);
	double begun = now(), before = delayed();
	if (beside >= 0)
		measure("within", first, beside);
	if (beyond >= 0)
		measure("between", 0, beyond);
	double begin = now();
	for (int i = 0, more = ranks > 1; i < passes && more; i++) {
		collective("barrier", 0);
		for (long n = 8; n < largest; n *= n < 2048 ? 16 : 4) /* 8 and 128 bytes, 2, 8, 32, 128 and 512 KiB, 2 MiB */
			for (int k = 0; k < 3; k++) {
				static const char *const names[] = {"bcast", "allreduce", "alltoall"};
				if (given(names[k], n) <= largest)
					collective(names[k], n);
			}
		more = now() - begin < patience;
		MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	double share = (delayed() - before) / (now() - begun), most = 0;
	MPI_Reduce(&share, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("\nreprise-calibrate\tdelayed\t%.6f\n", most);
	if (rank == 0)
		printf("\nreprise-calibrate\tend\n");
	MPI_Finalize();
	return 0;
}
