/* sessions.c: sessions of MPI 4 in all that a program may do with them. "alone" has no MPI_Init, "before" has it after the first session, and
   "after" before it. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#if MPI_VERSION >= 4
static void handler(MPI_Session *session, int *error, ...)
{
	(void)session, (void)error;
}

/* ask asks a session what there is. */
static void ask(MPI_Session session)
{
	MPI_Info info;
	int sets, length, flag;
	char name[MPI_MAX_PSET_NAME_LEN], value[16];
	MPI_Session_get_info(session, &info);
	MPI_Info_free(&info);
	MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets);
	for (int i = 0; i < sets; i++) {
		length = 0;
		MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL);
		MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
		MPI_Session_get_pset_info(session, name, &info);
		length = sizeof value;
		MPI_Info_get_string(info, "mpi_size", &length, value, &flag);
		MPI_Info_free(&info);
	}
}

/* errors makes, sets, gets and calls a handler of errors of a session. */
static void errors(MPI_Session session)
{
	MPI_Errhandler made, got;
	MPI_Session_create_errhandler(handler, &made);
	MPI_Session_set_errhandler(session, made);
	MPI_Session_get_errhandler(session, &got);
	MPI_Errhandler_free(&got);
	MPI_Session_call_errhandler(session, MPI_SUCCESS);
	MPI_Errhandler_free(&made);
}

static MPI_Comm of(MPI_Session session, const char *set, const char *tag)
{
	MPI_Group group;
	MPI_Comm comm;
	MPI_Group_from_session_pset(session, set, &group);
	MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
	MPI_Group_free(&group);
	return comm;
}

/* both_ways exchanges messages between the lower ranks of a session and the others, of which the leaders are their last. */
static void both_ways(MPI_Session session)
{
	MPI_Group all, low, high;
	MPI_Comm between, merged;
	int rank, size, other, in, lower;
	MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
	MPI_Group_rank(all, &rank);
	MPI_Group_size(all, &size);
	int lows[1][3] = {{0, size / 2 - 1, 1}}, highs[1][3] = {{size / 2, size - 1, 1}};
	MPI_Group_range_incl(all, 1, lows, &low);
	MPI_Group_range_incl(all, 1, highs, &high);
	lower = rank < size / 2;
	for (int i = 0; i < 2; i++) {
		MPI_Intercomm_create_from_groups(lower ? low : high, 1, lower ? high : low, 1, "between", MPI_INFO_NULL, MPI_ERRORS_RETURN, &between);
		MPI_Comm_rank(between, &rank);
		MPI_Comm_remote_size(between, &other);
		if (rank < other)
			MPI_Sendrecv(&rank, 1, MPI_INT, rank, i, &in, 1, MPI_INT, rank, i, between, MPI_STATUS_IGNORE);
		MPI_Allreduce(&rank, &in, 1, MPI_INT, MPI_SUM, between);
		MPI_Intercomm_merge(between, !lower, &merged);
		MPI_Bcast(&in, 1, MPI_INT, 0, merged);
		MPI_Comm_free(&merged);
		MPI_Comm_free(&between);
	}
	MPI_Group_free(&low);
	MPI_Group_free(&high);
	MPI_Group_free(&all);
}

int main(int argc, char **argv)
{
	int before = strcmp(argv[1], "before") == 0, after = strcmp(argv[1], "after") == 0, provided, rank, in;
	MPI_Session first, second;
	MPI_Info info;
	if (after)
		MPI_Init(&argc, &argv);
	MPI_Info_create(&info);
	MPI_Info_set(info, "thread_level", "MPI_THREAD_SINGLE");
	MPI_Session_init(info, MPI_ERRORS_RETURN, &first);
	MPI_Info_free(&info);
	if (before)
		MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &second);
	ask(first);
	errors(second);
	MPI_Comm all = of(first, "mpi://WORLD", "all"), self = of(second, "mpi://SELF", "self");
	MPI_Comm_rank(all, &rank);
	MPI_Allreduce(&rank, &in, 1, MPI_INT, MPI_MAX, all);
	MPI_Sendrecv(&rank, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, self, MPI_STATUS_IGNORE);
	both_ways(second);
	for (int i = 0; rank == 1 && i < 3; i++) { /* one process has more */
		MPI_Session third;
		MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &third);
		MPI_Comm alone = of(third, "mpi://SELF", "third");
		MPI_Barrier(alone);
		MPI_Comm_free(&alone);
		MPI_Session_finalize(&third);
	}
	MPI_Comm_free(&self);
	MPI_Session_finalize(&second);
	if (before || after) {
		MPI_Barrier(MPI_COMM_WORLD);
		if (before)
			MPI_Finalize();
	}
	MPI_Comm_free(&all);
	MPI_Session_finalize(&first);
	if (after)
		MPI_Finalize();
	return 0;
}
#else
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Finalize();
	return 0;
}
#endif
