/*
 * Of each two ranks, one waits in the operation that an argument names, and the other computes for ever.
 */
#include "check.h"
#include <unistd.h>

static char data[1 << 20];
static int counts[2] = {1, 2}, displacements[2] = {0, 4}, in_bytes[2];
static MPI_Aint distances[2] = {0, 64};
static MPI_Datatype types[2];

static void wait_for(MPI_Request *requests, const char *how)
{
	MPI_Request two[2] = {requests[0], MPI_REQUEST_NULL};
	int index, done[2];
	if (!strcmp(how, "wait"))
		OK(MPI_Wait(two, MPI_STATUS_IGNORE));
	else if (!strcmp(how, "waitall"))
		OK(MPI_Waitall(2, two, MPI_STATUSES_IGNORE));
	else if (!strcmp(how, "waitany"))
		OK(MPI_Waitany(2, two, &index, MPI_STATUS_IGNORE));
	else
		OK(MPI_Waitsome(2, two, &index, done, MPI_STATUSES_IGNORE));
}

static void call(const char *name, MPI_Comm pair, MPI_Comm cart, MPI_Comm graph)
{
	char *to = data + (sizeof data) / 2;
	MPI_Request request;
	if (!strcmp(name, "Alltoallv"))
		OK(MPI_Alltoallv(data, counts, displacements, MPI_INT, to, counts, displacements, MPI_INT, pair));
	else if (!strcmp(name, "Alltoallw"))
		OK(MPI_Alltoallw(data, counts, in_bytes, types, to, counts, in_bytes, types, pair));
	else if (!strcmp(name, "Allgatherv"))
		OK(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INT, to, counts, displacements, MPI_INT, pair));
	else if (!strcmp(name, "Gatherv"))
		OK(MPI_Gatherv(data, 1, MPI_INT, to, counts, displacements, MPI_INT, 0, pair));
	else if (!strcmp(name, "Scatterv"))
		OK(MPI_Scatterv(NULL, NULL, NULL, MPI_INT, to, 1, MPI_INT, 1, pair));
	else if (!strcmp(name, "Reduce_scatter"))
		OK(MPI_Reduce_scatter(data, to, counts, MPI_INT, MPI_SUM, pair));
	else if (!strcmp(name, "Neighbor_alltoallv"))
		OK(MPI_Neighbor_alltoallv(data, counts, displacements, MPI_INT, to, counts, displacements, MPI_INT, cart));
	else if (!strcmp(name, "Neighbor_allgatherv"))
		OK(MPI_Neighbor_allgatherv(data, 1, MPI_INT, to, counts, displacements, MPI_INT, graph));
	else if (!strcmp(name, "Neighbor_alltoallw"))
		OK(MPI_Neighbor_alltoallw(data, counts, distances, types, to, counts, distances, types, graph));
	else if (!strcmp(name, "Igatherv")) {
		OK(MPI_Igatherv(data, 1, MPI_INT, to, counts, displacements, MPI_INT, 0, pair, &request));
		wait_for(&request, "wait");
	} else if (!strcmp(name, "Ialltoallw")) {
		OK(MPI_Ialltoallw(data, counts, in_bytes, types, to, counts, in_bytes, types, pair, &request));
		wait_for(&request, "waitall");
	} else if (!strcmp(name, "Ineighbor_alltoallv")) {
		OK(MPI_Ineighbor_alltoallv(data, counts, displacements, MPI_INT, to, counts, displacements, MPI_INT, graph, &request));
		wait_for(&request, "waitany");
	} else {
		OK(MPI_Irecv(to, 1, MPI_INT, 1, 5, pair, &request));
		wait_for(&request, name);
	}
}

int main(int argc, char **argv)
{
	int in_pair, two = 2, one = 1, periodic = 0;
	MPI_Comm pair, cart, graph;
	begin(&argc, &argv);
	types[0] = types[1] = MPI_INT;
	OK(MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair));
	OK(MPI_Comm_rank(pair, &in_pair));
	OK(MPI_Cart_create(pair, 1, &two, &periodic, 0, &cart));
	in_pair = !in_pair; /* the only neighbour */
	OK(MPI_Dist_graph_create_adjacent(pair, one, &in_pair, MPI_UNWEIGHTED, one, &in_pair, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph));
	for (int i = 0; i < 4; i++)
		OK(MPI_Barrier(pair));
	if (rank % 2 == 0 && rank / 2 + 1 < argc)
		call(argv[rank / 2 + 1], pair, cart, graph);
	for (;;)
		usleep(10000);
}
