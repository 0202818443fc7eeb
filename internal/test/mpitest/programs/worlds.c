/*
 * Two processes that start two more, and these another one, and talk to them through
 * intercommunicators and what is made of them; and halves of a world that accept and connect.
 */
#include <mpi.h>
#include <stdio.h>

static int rank, size;

static void exchange(MPI_Comm comm, int peer, int tag)
{
	int sent = tag, got = 0;
	MPI_Sendrecv(&sent, 1, MPI_INT, peer, tag, &got, 1, MPI_INT, peer, tag, comm, MPI_STATUS_IGNORE);
	if (got != tag)
		printf("got %d, not %d\n", got, tag);
}

/* meet has the halves of the world meet twice at a port. */
static void meet(void)
{
	MPI_Comm half, other;
	char port[MPI_MAX_PORT_NAME] = "";
	int second = rank >= size / 2;
	MPI_Comm_split(MPI_COMM_WORLD, second, rank, &half);
	if (rank == 0)
		MPI_Open_port(MPI_INFO_NULL, port);
	MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
	for (int i = 0; i < 2; i++) {
		if (second)
			MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &other);
		else
			MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &other);
		exchange(other, 0, 30 + i);
		MPI_Comm_disconnect(&other);
	}
	if (rank == 0)
		MPI_Close_port(port);
	MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
	MPI_Comm parent, again, children = MPI_COMM_NULL, all;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_get_parent(&parent);
	MPI_Comm_get_parent(&again);
	if (parent == MPI_COMM_NULL) {
		meet();
		MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
	} else if (size == 2) {
		char *commands[] = {argv[0]};
		int processes[] = {1};
		MPI_Info infos[] = {MPI_INFO_NULL};
		MPI_Comm_spawn_multiple(1, commands, MPI_ARGVS_NULL, processes, infos, 1, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
	}
	if (size == 2)
		exchange(MPI_COMM_WORLD, 1 - rank, 1);
	if (children != MPI_COMM_NULL && parent == MPI_COMM_NULL)
		exchange(children, 1 - rank, 10);
	else if (children != MPI_COMM_NULL && rank == 1)
		exchange(children, 0, 11);
	if (parent != MPI_COMM_NULL) {
		exchange(parent, 1 - rank, size == 2 ? 10 : 11);
		MPI_Intercomm_merge(parent, 1, &all);
		MPI_Barrier(all);
		MPI_Comm_free(&all);
	}
	if (children != MPI_COMM_NULL) {
		MPI_Intercomm_merge(children, 0, &all);
		MPI_Barrier(all);
		MPI_Comm_free(&all);
		MPI_Comm_disconnect(&children);
	}
	if (parent != MPI_COMM_NULL)
		MPI_Comm_disconnect(&again);
	MPI_Finalize();
	return 0;
}
