/* What a proxy of a trace of SimGrid needs: such a trace has no buffers and no requests. */
#ifndef SIMGRID_H
#define SIMGRID_H

#include "proxy.h"

#include <stdlib.h>

static char *memory[2]; /* what is sent and what is received */
static const int no_distances[RANKS];

#define SENT (memory[0])
#define RECEIVED (memory[1])

/* Operations are not in the trace. MPI has none for all types: bytes are or-ed. */
#define ANY_OPERATION(type) ((type) == MPI_BYTE || (type) == MPI_CHAR ? MPI_BOR : MPI_MAX)

/* Requests that were started and not waited for, in their order. */
static struct pending { int source, destination, tag; MPI_Request request; } *pending;
static int many, room;

/* Returns where to put the request of a message. */
static inline MPI_Request *started(int source, int destination, int tag)
{
    if (many == room) {
        room = 2 * room + 16;
        pending = realloc(pending, (size_t)room * sizeof *pending);
        if (pending == NULL)
            PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    pending[many] = (struct pending){source, destination, tag, MPI_REQUEST_NULL};
    return &pending[many++].request;
}

/* Removes the oldest request of a message, and returns it. */
static inline MPI_Request *oldest(int source, int destination, int tag)
{
    static MPI_Request request;
    request = MPI_REQUEST_NULL;
    for (int i = 0; i < many; i++) {
        if (pending[i].source != source || pending[i].destination != destination || pending[i].tag != tag)
            continue;
        request = pending[i].request;
        for (many--; i < many; i++)
            pending[i] = pending[i + 1];
    }
    return &request;
}

/* Waits for all requests. */
static inline void finish_all(void)
{
    static MPI_Request *list;
    static int most;
    if (many > most) {
        most = many;
        list = realloc(list, (size_t)most * sizeof *list);
        if (list == NULL)
            PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int i = 0; i < many; i++)
        list[i] = pending[i].request;
    MPI_Waitall(many, list, MPI_STATUSES_IGNORE);
    many = 0;
}

#endif
