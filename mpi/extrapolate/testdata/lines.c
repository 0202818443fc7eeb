/* Programs on lines, rings, trees and hypercubes of ranks: lines NAME. */
#include "kernel.h"

static void send(int count, int to, int tag) { MPI_Send(out, count, MPI_DOUBLE, to, tag, WORLD); }
static void recv(int count, int from, int tag) { MPI_Recv(in, count, MPI_DOUBLE, from, tag, WORLD, NONE); }

static void ring(void)
{
	for (int i = 0; i < 10; i++)
		MPI_Sendrecv(out, 8, MPI_DOUBLE, (rank + 1) % size, 0, in, 8, MPI_DOUBLE, (rank + size - 1) % size, 0, WORLD, NONE);
}

static void ringwait(void)
{
	MPI_Request r[4];
	for (int i = 0; i < 10; i++) {
		int left = (rank + size - 1) % size, right = (rank + 1) % size;
		MPI_Irecv(in, 100, MPI_DOUBLE, left, 1, WORLD, &r[0]);
		MPI_Irecv(in + 100, 100, MPI_DOUBLE, right, 2, WORLD, &r[1]);
		MPI_Isend(out, 100, MPI_DOUBLE, right, 1, WORLD, &r[2]);
		MPI_Isend(out + 100, 100, MPI_DOUBLE, left, 2, WORLD, &r[3]);
		MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
	}
}

/* around passes a token around once a step. */
static void around(void)
{
	for (int i = 0; i < 5; i++) {
		if (rank == 0) {
			send(1, 1, 7);
			recv(1, size - 1, 7);
		} else {
			recv(1, rank - 1, 7);
			send(1, (rank + 1) % size, 7);
		}
	}
}

static void chain(void)
{
	for (int i = 0; i < 10; i++) {
		if (rank > 0)
			recv(64, rank - 1, 3);
		if (rank < size - 1)
			send(64, rank + 1, 3);
	}
	MPI_Barrier(WORLD);
}

static void lastroot(void)
{
	for (int i = 0; i < 10; i++) {
		if (rank > 0)
			recv(1, rank - 1, 1);
		if (rank < size - 1)
			send(1, rank + 1, 1);
		if (rank == size - 1)
			send(1, 0, 1);
		if (rank == 0)
			recv(1, size - 1, 1);
	}
	MPI_Reduce(out, in, 1, MPI_DOUBLE, MPI_MAX, size - 1, WORLD);
}

/* line is a stencil on a line of 1,000 points, which are divided with a remainder. */
static void line(void)
{
	MPI_Request r[4];
	int mine = block(1000, size, rank);
	for (int i = 0; i < 10; i++) {
		int n = 0;
		if (rank > 0) {
			MPI_Irecv(in, 1, MPI_DOUBLE, rank - 1, 0, WORLD, &r[n++]);
			MPI_Isend(out, 1, MPI_DOUBLE, rank - 1, 0, WORLD, &r[n++]);
		}
		if (rank < size - 1) {
			MPI_Irecv(in + 1, 1, MPI_DOUBLE, rank + 1, 0, WORLD, &r[n++]);
			MPI_Isend(out + 1, 1, MPI_DOUBLE, rank + 1, 0, WORLD, &r[n++]);
		}
		MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
	}
	if (rank > 0)
		send(mine, 0, 9);
	else
		for (int from = 1; from < size; from++)
			recv(block(1000, size, from), from, 9);
}

/* ep adds up in the end. */
static void ep(void)
{
	MPI_Barrier(WORLD);
	MPI_Reduce(out, in, 10, MPI_DOUBLE, MPI_SUM, 0, WORLD);
	MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, WORLD);
	MPI_Bcast(in, 5, MPI_DOUBLE, 0, WORLD);
}

/* binomial broadcasts along a binomial tree. */
static void binomial(void)
{
	for (int i = 0; i < 4; i++) {
		int mask = 1;
		for (; mask < size; mask <<= 1)
			if (rank & mask) {
				recv(16, rank - mask, 5);
				break;
			}
		for (mask >>= 1; mask > 0; mask >>= 1)
			if (rank + mask < size)
				send(16, rank + mask, 5);
	}
}

/* tree reduces along a binary tree, and broadcasts. */
static void tree(void)
{
	int left = 2 * rank + 1, right = 2 * rank + 2, parent = (rank - 1) / 2;
	for (int i = 0; i < 4; i++) {
		if (left < size)
			recv(8, left, 1);
		if (right < size)
			recv(8, right, 1);
		if (rank > 0) {
			send(8, parent, 1);
			recv(8, parent, 2);
		}
		if (left < size)
			send(8, left, 2);
		if (right < size)
			send(8, right, 2);
	}
}

static void hypercube(void)
{
	for (int i = 0; i < 5; i++)
		for (int bit = 1; bit < size; bit <<= 1)
			MPI_Sendrecv(out, 32, MPI_DOUBLE, rank ^ bit, 1, in, 32, MPI_DOUBLE, rank ^ bit, 1, WORLD, NONE);
}

/* halving halves what is sent in each step, and doubles it again. */
static void halving(void)
{
	for (int i = 0; i < 3; i++) {
		int count = 4096;
		for (int bit = size / 2; bit > 0; bit >>= 1) {
			count /= 2;
			MPI_Sendrecv(out, count, MPI_DOUBLE, rank ^ bit, 1, in, count, MPI_DOUBLE, rank ^ bit, 1, WORLD, NONE);
		}
		for (int bit = 1; bit < size; bit <<= 1) {
			MPI_Sendrecv(out, count, MPI_DOUBLE, rank ^ bit, 2, in, count, MPI_DOUBLE, rank ^ bit, 2, WORLD, NONE);
			count *= 2;
		}
	}
}

/* dissemination is a barrier of messages to ranks 1, 2, 4 … away. */
static void dissemination(void)
{
	for (int i = 0; i < 5; i++)
		for (int k = 1; k < size; k *= 2)
			MPI_Sendrecv(out, 0, MPI_BYTE, (rank + k) % size, k, in, 0, MPI_BYTE, (rank - k + size) % size, k, WORLD, NONE);
}

static void master(void)
{
	for (int i = 0; i < 3; i++) {
		if (rank > 0) {
			recv(100, 0, 1);
			send(10, 0, 2);
			continue;
		}
		for (int to = 1; to < size; to++)
			send(100, to, 1);
		for (int from = 1; from < size; from++)
			recv(10, from, 2);
	}
}

/* farm has 60 tasks, which workers get in turn. */
static void farm(void)
{
	for (int task = 0; task < 60; task++) {
		int worker = 1 + task % (size - 1);
		if (rank == 0) {
			send(20, worker, task);
			recv(4, worker, task);
		} else if (rank == worker) {
			recv(20, 0, task);
			send(4, 0, task);
		}
	}
}

/* pairwise exchanges between all, with one partner after the other. */
static void pairwise(void)
{
	for (int i = 1; i < size; i++)
		MPI_Sendrecv(out, 8192 / size, MPI_DOUBLE, (rank + i) % size, 1, in, 8192 / size, MPI_DOUBLE, (rank - i + size) % size, 1, WORLD, NONE);
}

/* ringreduce is an allreduce of 7200 numbers around a ring, in parts. */
static void ringreduce(void)
{
	int part = 7200 / size;
	for (int phase = 0; phase < 2; phase++)
		for (int i = 0; i < size - 1; i++)
			MPI_Sendrecv(out + (rank - i + 2 * size) % size * part, part, MPI_DOUBLE, (rank + 1) % size, phase,
				in + (rank - i - 1 + 2 * size) % size * part, part, MPI_DOUBLE, (rank + size - 1) % size, phase, WORLD, NONE);
}

/* panels are those of a factorization: counts shrink, the root goes round. */
static void panels(void)
{
	for (int k = 0; k < 50; k++)
		MPI_Bcast(out + 8 * k, (50 - k) * 8, MPI_DOUBLE, k % size, WORLD);
}

/* roots goes round with the same count. */
static void roots(void)
{
	for (int k = 0; k < 24; k++)
		MPI_Bcast(out, 100, MPI_DOUBLE, k % size, WORLD);
}

/* everyroot has each rank as a root once. */
static void everyroot(void)
{
	for (int k = 0; k < size; k++)
		MPI_Bcast(out, 1200 / size, MPI_DOUBLE, k, WORLD);
}

/* is sorts keys: buckets, sizes, keys. */
static void is(void)
{
	int counts[256], displs[256];
	for (int i = 0; i < 5; i++) {
		MPI_Allreduce(out, in, 1024 + 5, MPI_INT, MPI_SUM, WORLD);
		MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, WORLD);
		for (int k = 0; k < size; k++)
			counts[k] = 65536 / size / size, displs[k] = k * counts[k];
		MPI_Alltoallv(out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, WORLD);
	}
	if (rank > 0)
		MPI_Recv(in, 1, MPI_INT, rank - 1, 1000, WORLD, NONE);
	if (rank < size - 1)
		MPI_Send(out, 1, MPI_INT, rank + 1, 1000, WORLD);
	MPI_Reduce(out, in, 1, MPI_INT, MPI_SUM, 0, WORLD);
}

/* ft transposes slabs. */
static void ft(void)
{
	MPI_Bcast(out, 3, MPI_INT, 0, WORLD);
	for (int i = 0; i < 4; i++) {
		MPI_Alltoall(out, 32768 / size / size, MPI_DOUBLE, in, 32768 / size / size, MPI_DOUBLE, WORLD);
		MPI_Reduce(out, in, 2, MPI_DOUBLE, MPI_SUM, 0, WORLD);
	}
}

/* gathered collects parts of 1,003 numbers of which the first are larger. */
static void gathered(void)
{
	int counts[256], displs[256], at = 0;
	for (int k = 0; k < size; k++) {
		counts[k] = block(1003, size, k), displs[k] = at;
		at += counts[k];
	}
	MPI_Scatterv(out, counts, displs, MPI_DOUBLE, in, counts[rank], MPI_DOUBLE, 0, WORLD);
	for (int i = 0; i < 3; i++)
		MPI_Allgatherv(in, counts[rank], MPI_DOUBLE, out, counts, displs, MPI_DOUBLE, WORLD);
	MPI_Gatherv(in, counts[rank], MPI_DOUBLE, out, counts, displs, MPI_DOUBLE, 0, WORLD);
}

/* lasttakes gives the rest of 1,003 numbers to the last rank. */
static void lasttakes(void)
{
	int part = 1003 / size, mine = rank == size - 1 ? 1003 - part * (size - 1) : part;
	for (int i = 0; i < 4; i++) {
		if (rank > 0)
			send(mine, 0, 4);
		else
			for (int from = 1; from < size; from++)
				recv(from == size - 1 ? 1003 - part * (size - 1) : part, from, 4);
		MPI_Allreduce(out, in, mine > 0, MPI_DOUBLE, MPI_SUM, WORLD);
	}
}

/* ceiling divides 1,000 numbers rounded up. */
static void ceiling(void)
{
	int part = (1000 + size - 1) / size;
	MPI_Scatter(out, part, MPI_DOUBLE, in, part, MPI_DOUBLE, 0, WORLD);
	for (int i = 0; i < 4; i++)
		MPI_Allgather(out, part, MPI_DOUBLE, in, part, MPI_DOUBLE, WORLD);
	MPI_Gather(out, part, MPI_DOUBLE, in, part, MPI_DOUBLE, size - 1, WORLD);
}

/* oddeven sorts by exchanges of neighbours. */
static void oddeven(void)
{
	for (int phase = 0; phase < size; phase++) {
		int partner = (phase + rank) % 2 == 0 ? rank + 1 : rank - 1;
		if (partner >= 0 && partner < size)
			MPI_Sendrecv(out, 4096 / size, MPI_INT, partner, phase, in, 4096 / size, MPI_INT, partner, phase, WORLD, NONE);
	}
}

/* shared writes blocks of records to a file. */
static void written(void)
{
	MPI_File f;
	MPI_File_open(WORLD, "written.dat", MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
	for (int i = 0; i < 6; i++)
		MPI_File_write_at(f, (MPI_Offset)64 * (i * size + rank), out, 8, MPI_DOUBLE, NONE);
	MPI_File_close(&f);
}

/* windows puts to the right, and gets from the left. */
static void windows(void)
{
	MPI_Win w;
	MPI_Win_create(in, sizeof in, sizeof *in, MPI_INFO_NULL, WORLD, &w);
	MPI_Win_fence(0, w);
	for (int i = 0; i < 4; i++) {
		MPI_Put(out, 16, MPI_DOUBLE, (rank + 1) % size, 16, 16, MPI_DOUBLE, w);
		MPI_Win_fence(0, w);
		MPI_Get(out, 4, MPI_DOUBLE, (rank + size - 1) % size, 4 * rank, 4, MPI_DOUBLE, w);
		MPI_Win_fence(0, w);
	}
	MPI_Win_free(&w);
}

/* persistent starts the same exchange again and again. */
static void persistent(void)
{
	MPI_Request r[2];
	MPI_Recv_init(in, 50, MPI_DOUBLE, (rank + size - 1) % size, 0, WORLD, &r[0]);
	MPI_Send_init(out, 50, MPI_DOUBLE, (rank + 1) % size, 0, WORLD, &r[1]);
	for (int i = 0; i < 8; i++) {
		MPI_Startall(2, r);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	}
	MPI_Request_free(&r[0]);
	MPI_Request_free(&r[1]);
}

/* halves splits the ranks into two halves, and even ones from odd ones. */
static void halves(void)
{
	MPI_Comm half, parity;
	MPI_Comm_split(WORLD, rank < size / 2, rank, &half);
	MPI_Comm_split(WORLD, rank % 2, rank, &parity);
	for (int i = 0; i < 3; i++) {
		MPI_Allreduce(out, in, 4, MPI_DOUBLE, MPI_SUM, half);
		MPI_Bcast(out, 4, MPI_DOUBLE, 0, parity);
	}
	MPI_Comm_free(&half);
	MPI_Comm_free(&parity);
}

/* wide exchanges with two neighbours on each side, around. */
static void wide(void)
{
	MPI_Request r[8];
	for (int i = 0; i < 5; i++) {
		int n = 0;
		for (int d = 1; d <= 2; d++) {
			MPI_Irecv(in + d, d, MPI_DOUBLE, (rank + d) % size, d, WORLD, &r[n++]);
			MPI_Irecv(in - d + 100, d, MPI_DOUBLE, (rank - d + size) % size, d, WORLD, &r[n++]);
			MPI_Isend(out + d, d, MPI_DOUBLE, (rank + d) % size, d, WORLD, &r[n++]);
			MPI_Isend(out - d + 100, d, MPI_DOUBLE, (rank - d + size) % size, d, WORLD, &r[n++]);
		}
		MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
	}
}

/* strong has counts that depend on the number of ranks in several ways. */
static void strong(void)
{
	int levels = 0;
	while (1 << levels < size)
		levels++;
	for (int i = 0; i < 4; i++) {
		MPI_Allreduce(out, in, 3 * size, MPI_DOUBLE, MPI_SUM, WORLD);
		MPI_Bcast(out, 1000 / size, MPI_DOUBLE, 0, WORLD);
		MPI_Allreduce(out, in, size + 2, MPI_DOUBLE, MPI_SUM, WORLD);
	}
	for (int i = 0; i < levels; i++)
		MPI_Barrier(WORLD);
}

static const struct kernel kernels[] = {
	{"ring", ring}, {"ringwait", ringwait}, {"around", around}, {"chain", chain}, {"lastroot", lastroot}, {"line", line},
	{"ep", ep}, {"binomial", binomial}, {"tree", tree}, {"hypercube", hypercube}, {"halving", halving},
	{"dissemination", dissemination}, {"master", master}, {"farm", farm}, {"pairwise", pairwise}, {"ringreduce", ringreduce},
	{"panels", panels}, {"roots", roots}, {"everyroot", everyroot}, {"is", is}, {"ft", ft}, {"gathered", gathered},
	{"lasttakes", lasttakes}, {"ceiling", ceiling}, {"oddeven", oddeven}, {"written", written}, {"windows", windows},
	{"persistent", persistent}, {"halves", halves}, {"wide", wide}, {"strong", strong},
};

int main(int argc, char **argv) { return runKernel(kernels, sizeof kernels / sizeof *kernels, argc, argv); }
