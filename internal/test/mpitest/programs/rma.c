/*
 * Windows of all makes, accesses and synchronization.
 */
#include "check.h"

enum { N = 8 };

static int next, previous;

static void fenced(void)
{
	int *memory, value = 100 + rank, got = -1, old = -1, compare = 100 + previous, *base, *unit, flag;
	MPI_Win win;
	OK(MPI_Alloc_mem(N * sizeof(int), MPI_INFO_NULL, &memory));
	memset(memory, 0, N * sizeof(int));
	OK(MPI_Win_create(memory, N * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	OK(MPI_Win_set_name(win, "a window"));
	OK(MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag));
	CHECK(flag && base == memory);
	OK(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flag));
	CHECK(flag && *unit == sizeof(int));
	OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
	OK(MPI_Put(&value, 1, MPI_INT, next, 0, 1, MPI_INT, win));
	OK(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
	OK(MPI_Win_fence(0, win));
	CHECK(memory[0] == 100 + previous);
	OK(MPI_Get(&got, 1, MPI_INT, next, 0, 1, MPI_INT, win));
	OK(MPI_Accumulate(&rank, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, win));
	OK(MPI_Win_fence(0, win));
	CHECK(got == 100 + rank);
	CHECK(rank != 0 || memory[1] == size * (size - 1) / 2);
	OK(MPI_Get_accumulate(&value, 1, MPI_INT, &got, 1, MPI_INT, next, 2, 1, MPI_INT, MPI_REPLACE, win));
	OK(MPI_Fetch_and_op(&value, &old, MPI_INT, next, 3, MPI_SUM, win));
	OK(MPI_Win_fence(0, win));
	CHECK(got == 0 && old == 0 && memory[2] == 100 + previous && memory[3] == 100 + previous);
	OK(MPI_Compare_and_swap(&rank, &compare, &old, MPI_INT, rank, 3, win));
	OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
	CHECK(old == 100 + previous && memory[3] == rank);
	say_ints("memory", memory, 4);
	OK(MPI_Win_free(&win));
	CHECK(win == MPI_WIN_NULL);
	OK(MPI_Free_mem(memory));
}

/* Post, start, complete and wait: each is the origin of the next and the target of
   the previous one. */
static void posted(void)
{
	int *memory, value = 7 * rank, flag = 0;
	MPI_Win win;
	MPI_Group world, origin, target;
	OK(MPI_Win_allocate(N * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
	OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
	OK(MPI_Group_incl(world, 1, &previous, &origin));
	OK(MPI_Group_incl(world, 1, &next, &target));
	for (int round = 0; round < 3; round++) {
		memory[round] = -1;
		OK(MPI_Win_post(origin, 0, win));
		OK(MPI_Win_start(target, 0, win));
		OK(MPI_Put(&value, 1, MPI_INT, next, round, 1, MPI_INT, win));
		OK(MPI_Win_complete(win));
		if (round < 2)
			OK(MPI_Win_wait(win));
		else
			do
				OK(MPI_Win_test(win, &flag));
			while (!flag);
		CHECK(memory[round] == 7 * previous);
	}
	OK(MPI_Group_free(&origin));
	OK(MPI_Group_free(&target));
	OK(MPI_Group_free(&world));
	OK(MPI_Win_free(&win));
}

static void locked(void)
{
	int *memory, value = rank + 1, got = -1, sum = -1;
	MPI_Win win;
	MPI_Request requests[3];
	OK(MPI_Win_allocate(N * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
	OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win));
	memset(memory, 0, N * sizeof(int));
	OK(MPI_Win_unlock(rank, win));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
	OK(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win));
	OK(MPI_Win_flush(0, win));
	OK(MPI_Win_unlock(0, win));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Win_lock_all(0, win));
	OK(MPI_Rget(&sum, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &requests[0]));
	OK(MPI_Rput(&value, 1, MPI_INT, next, 1, 1, MPI_INT, win, &requests[1]));
	OK(MPI_Raccumulate(&value, 1, MPI_INT, next, 2, 1, MPI_INT, MPI_SUM, win, &requests[2]));
	OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
	OK(MPI_Win_flush_all(win));
	OK(MPI_Win_flush_local(next, win));
	OK(MPI_Win_flush_local_all(win));
	CHECK(sum == size * (size + 1) / 2);
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Win_sync(win));
	OK(MPI_Rget_accumulate(NULL, 0, MPI_INT, &got, 1, MPI_INT, rank, 1, 1, MPI_INT, MPI_NO_OP, win, &requests[0]));
	OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
	OK(MPI_Win_unlock_all(win));
	CHECK(got == previous + 1 && memory[2] == previous + 1);
	say("sum %d, got %d", sum, got);
	OK(MPI_Win_free(&win));
}

static void shared(void)
{
	int *mine, *theirs, unit, n = rank + 1;
	MPI_Aint bytes;
	MPI_Win win;
	MPI_Comm node;
	OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
	OK(MPI_Win_allocate_shared(n * sizeof(int), sizeof(int), MPI_INFO_NULL, node, &mine, &win));
	OK(MPI_Win_fence(0, win));
	mine[rank] = 33 + rank;
	OK(MPI_Win_fence(0, win));
	OK(MPI_Win_shared_query(win, next, &bytes, &unit, &theirs));
	CHECK(bytes == (MPI_Aint)((next + 1) * sizeof(int)) && unit == sizeof(int) && theirs[next] == 33 + next);
	OK(MPI_Win_free(&win));
	OK(MPI_Comm_free(&node));
}

/* A window of memory that is attached later, at its address. */
static void dynamic(void)
{
	int *memory = calloc(N, sizeof *memory), value = 5 + rank;
	MPI_Aint here, there = 0;
	MPI_Win win;
	OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	OK(MPI_Win_attach(win, memory, N * sizeof *memory));
	OK(MPI_Get_address(memory, &here));
	OK(MPI_Sendrecv(&here, 1, MPI_AINT, previous, 1, &there, 1, MPI_AINT, next, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	OK(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win));
	OK(MPI_Put(&value, 1, MPI_INT, next, MPI_Aint_add(there, 2 * sizeof(int)), 1, MPI_INT, win));
	OK(MPI_Win_unlock(next, win));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
	CHECK(memory[2] == 5 + previous);
	OK(MPI_Win_unlock(rank, win));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Win_detach(win, memory));
	OK(MPI_Win_free(&win));
	free(memory);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	next = (rank + 1) % size;
	previous = (rank + size - 1) % size;
	fenced();
	posted();
	locked();
	shared();
	dynamic();
	return end();
}
