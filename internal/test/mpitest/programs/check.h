/*
 * What the programs have in common. Each checks what it computes, and each of its
 * ranks prints it.
 */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

#define CHECK(condition) \
	do { \
		if (!(condition)) \
			failed(__FILE__, __LINE__, #condition); \
	} while (0)
#define OK(call) CHECK((call) == MPI_SUCCESS)

static inline void failed(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: rank %d: not so: %s\n", file, line, rank, what);
	MPI_Abort(MPI_COMM_WORLD, 3);
}

static inline void say(const char *format, ...)
{
	va_list list;
	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	putchar('\n');
}

/* A status that shows what is written to it. */
static inline MPI_Status untouched(void)
{
	MPI_Status status;
	memset(&status, 0x5a, sizeof status);
	return status;
}

/* Prints a status of a message of whole elements. */
static inline void say_status(const char *what, const MPI_Status *s, MPI_Datatype type)
{
	int count = -1, cancelled = -1;
	OK(MPI_Get_count(s, type, &count));
	OK(MPI_Test_cancelled(s, &cancelled));
	say("%s: source %d, tag %d, error %d, count %d, cancelled %d", what, s->MPI_SOURCE, s->MPI_TAG, s->MPI_ERROR, count, cancelled);
}

static inline void say_ints(const char *what, const int *values, int n)
{
	printf("%s:", what);
	for (int i = 0; i < n; i++)
		printf(" %d", values[i]);
	putchar('\n');
}

static inline void begin(int *argc, char ***argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0); /* what is printed stays if the process dies */
	OK(MPI_Init(argc, argv));
	OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
	OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
	say("rank %d of %d", rank, size);
}

static inline int end(void)
{
	OK(MPI_Finalize());
	say("end");
	return 0;
}
