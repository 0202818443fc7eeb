/*
 * What programs do that an interposer must not disturb. The first argument says
 * what; a line that begins with "wrong" is a fault.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(x) \
	do { \
		if (!(x)) \
			printf("wrong: line %d: %s\n", __LINE__, #x); \
	} while (0)

static size_t volatile huge = SIZE_MAX / 2;

/* Many allocations, so that segments end within them. */
static void allocations(void)
{
	void *p, *q;
	for (int i = 0; i < 30000; i++) {
		size_t n = (size_t)i % 3000;
		errno = 77;
		p = malloc(n);
		CHECK(malloc_usable_size(p) >= n && (uintptr_t)p % 16 == 0);
		q = calloc(n, 2);
		CHECK(q && (!n || !((char *)q)[2 * n - 1]));
		memset(p, 5, n);
		p = realloc(p, n + 5000);
		CHECK((uintptr_t)p % 16 == 0 && (!n || ((char *)p)[n - 1] == 5));
		p = reallocarray(p, n + 1, 8);
		CHECK(malloc_usable_size(p) >= 8 * (n + 1));
		free(q);
		free(p);
		CHECK(!posix_memalign(&p, 1024, n) && (uintptr_t)p % 1024 == 0);
		q = aligned_alloc(256, 512);
		CHECK((uintptr_t)q % 256 == 0);
		free(p);
		free(q);
		q = memalign(4096, n);
		CHECK((uintptr_t)q % 4096 == 0);
		free(q);
		free(NULL);
		CHECK(errno == 77);
	}
	p = malloc(10);
	errno = 0;
	CHECK(!malloc(huge) && errno == ENOMEM);
	errno = 0;
	CHECK(!calloc(huge, 4) && errno == ENOMEM);
	errno = 0;
	CHECK(!realloc(p, huge) && errno == ENOMEM);
	errno = 0;
	CHECK(!reallocarray(p, huge, 4) && errno == ENOMEM);
	errno = 0;
	CHECK(!memalign(64, huge) && errno == ENOMEM);
	errno = 77;
	CHECK(posix_memalign(&q, 3, 10) == EINVAL && posix_memalign(&q, 64, huge) == ENOMEM);
	free(p);
	p = strdup("copied");
	p = realloc(p, 0);
	CHECK(!p);
}

/* A timer interrupts the system calls that make segments. */
static volatile int ticks;
static void tick(int number) { ticks++; }

static void timer(void)
{
	struct itimerval interval = {{0, 200}, {0, 200}}, none = {{0}};
	int ignored;
	signal(SIGALRM, tick);
	setitimer(ITIMER_REAL, &interval, NULL);
	for (int i = 0; i < 500000; i++)
		MPI_Comm_rank(MPI_COMM_WORLD, &ignored);
	setitimer(ITIMER_REAL, &none, NULL);
	CHECK(ticks > 10);
}

/* A signal arrives within a call, and its handler has a stack above all others. */
static void on_signal(int number)
{
	MPI_Wtime();
	void *volatile memory = malloc(7777);
	free(memory);
}

static void interrupted_op(void *in, void *inout, int *n, MPI_Datatype *type)
{
	raise(SIGUSR1);
	void *volatile memory = malloc(6666);
	free(memory);
}

static void signals(void)
{
	stack_t stack = {.ss_size = 65536};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
	MPI_Op op;
	int a = 1, b = 2;
	char above[65536]; /* its frame is the highest */
	stack.ss_sp = above;
	CHECK(!sigaltstack(&stack, NULL));
	sigaction(SIGUSR1, &action, NULL);
	MPI_Op_create(interrupted_op, 1, &op);
	MPI_Reduce_local(&a, &b, 1, MPI_INT, op);
	MPI_Op_free(&op);
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
}

/* A thread is cancelled only where it may be. */
static void *cancelled(void *argument)
{
	void *volatile memory;
	for (int i = 0; i < 300000; i++) {
		memory = malloc(i % 100);
		free(memory);
	}
	*(int *)argument = 1;
	pthread_testcancel();
	*(int *)argument = 2;
	return NULL;
}

static void cancel(void)
{
	pthread_t thread;
	pthread_attr_t attributes;
	int reached = 0;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 32 << 10);
	pthread_create(&thread, &attributes, cancelled, &reached);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	CHECK(reached == 1);
}

/* Destructors of a thread's data call MPI. */
static pthread_key_t key;
static void destroy(void *value)
{
	int ignored;
	MPI_Comm_size(MPI_COMM_SELF, &ignored);
}

static void *keyed(void *argument)
{
	int ignored;
	pthread_setspecific(key, &key);
	MPI_Comm_rank(MPI_COMM_SELF, &ignored);
	return NULL;
}

static void destructors(void)
{
	pthread_t thread;
	pthread_key_create(&key, destroy);
	pthread_create(&thread, NULL, keyed, NULL);
	pthread_join(thread, NULL);
}

static void directory(void)
{
	int ignored;
	CHECK(!chdir("/"));
	for (int i = 0; i < 100000; i++)
		MPI_Comm_rank(MPI_COMM_WORLD, &ignored);
}

/* A child that was made without a notice to anyone. */
static void raw_fork(void)
{
	int status = -1;
	pid_t child = syscall(SYS_fork);
	if (!child) {
		for (int i = 0; i < 1000; i++) {
			void *volatile memory = malloc(i);
			free(memory);
		}
		_exit(3);
	}
	waitpid(child, &status, 0);
	CHECK(WEXITSTATUS(status) == 3);
}

/* Faults before MPI_Init are returned. */
static void before(void)
{
	int provided, length = 0, verbosity, binding, scope;
	MPI_Datatype type;
	MPI_T_enum values;
	CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
	CHECK(MPI_T_cvar_get_info(1 << 30, NULL, &length, &verbosity, &type, &values, NULL, NULL, &binding, &scope) != MPI_SUCCESS);
}

#if MPI_VERSION >= 4
static void session(void)
{
	MPI_Session session;
	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
	MPI_Session_finalize(&session);
}
#endif

int main(int argc, char **argv)
{
	int provided, status;
#if MPI_VERSION >= 4
	if (!strcmp(argv[1], "session"))
		return session(), 0;
#endif
	if (!strcmp(argv[1], "before"))
		before();
	if (!strcmp(argv[1], "child")) {
		pid_t child = fork();
		if (child) {
			waitpid(child, &status, 0);
			return status;
		}
	}
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	static const struct { const char *name; void (*run)(void); } list[] = {
		{"allocations", allocations}, {"timer", timer}, {"signals", signals}, {"cancel", cancel},
		{"destructors", destructors}, {"directory", directory}, {"raw-fork", raw_fork},
	};
	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		if (!strcmp(argv[1], list[i].name))
			list[i].run();
	fflush(stdout);
	MPI_Finalize();
	return 0;
}
