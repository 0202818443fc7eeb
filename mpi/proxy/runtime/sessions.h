/* What a proxy needs whose program has sessions before MPI_Init, or without: a session of its own, as long as it runs. */
#ifndef SESSIONS_H
#define SESSIONS_H

#include "proxy.h"

#if MPI_VERSION < 4
#error "the program has sessions: build its proxy with an MPI of version 4 or later, as MPICH 4"
#endif

static MPI_Session session_of_proxy;
static MPI_Comm all_of_proxy;

static inline void begin_session(int processes)
{
    MPI_Group group;
    PMPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session_of_proxy);
    PMPI_Group_from_session_pset(session_of_proxy, "mpi://WORLD", &group);
    PMPI_Comm_create_from_group(group, "reprise-proxy", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &all_of_proxy);
    PMPI_Group_free(&group);
    begin(all_of_proxy, processes);
}

static inline void end_session(void)
{
    PMPI_Comm_free(&all_of_proxy);
    PMPI_Session_finalize(&session_of_proxy);
}

/* Stands for handlers of errors of sessions. */
static inline void session_error(MPI_Session *session, int *error, ...)
{
    (void)session, (void)error;
}

#endif
