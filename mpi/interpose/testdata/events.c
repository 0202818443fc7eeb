/*
 * What programs do that makes recording them hard. The first argument says what;
 * what there is to compare is printed.
 */
#include <malloc.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, MESSAGES = 200, GENERATIONS = 3 };

static char *program;
static int rank;

/* Every thread sends itself messages with a tag of its own, and each a number. */
static void *exchange(void *argument)
{
	int tag = (int)(intptr_t)argument, got;
	for (int i = 0; i < MESSAGES; i++) {
		MPI_Request request;
		MPI_Status status;
		void *memory = malloc(1000 + tag);
		MPI_Irecv(&got, 1, MPI_INT, rank, tag, MPI_COMM_WORLD, &request);
		MPI_Send(&i, 1, MPI_INT, rank, tag, MPI_COMM_WORLD);
		MPI_Wait(&request, &status);
		if (got != i || status.MPI_TAG != tag)
			abort();
		free(memory);
	}
	return NULL;
}

static void threads(void)
{
	pthread_t list[THREADS];
	for (int generation = 0; generation < GENERATIONS; generation++) {
		for (int i = 0; i < THREADS; i++)
			pthread_create(&list[i], NULL, exchange, (void *)(intptr_t)i);
		for (int i = 0; i < THREADS; i++)
			pthread_join(list[i], NULL);
	}
}

static void memory(void)
{
	void *p, *q, *list[6];
	MPI_Pcontrol(1);
	p = malloc(100);
	printf("allocated %p 100\n", p);
	q = realloc(p, 200000);
	printf("resized %p 200000 %p\n", q, p);
	printf("released %p\n", q);
	fflush(stdout);
	free(q);
	list[0] = calloc(3, 50);
	printf("allocated %p 150\n", list[0]);
	posix_memalign(&list[1], 256, 77);
	printf("allocated %p 77\n", list[1]);
	list[2] = aligned_alloc(64, 128);
	printf("allocated %p 128\n", list[2]);
	list[3] = memalign(32, 33);
	printf("allocated %p 33\n", list[3]);
	list[4] = valloc(10);
	printf("allocated %p 10\n", list[4]);
	list[5] = realloc(NULL, 20);
	printf("allocated %p 20\n", list[5]);
	for (int i = 0; i < 6; i++) {
		printf("released %p\n", list[i]);
		free(list[i]);
	}
	fflush(stdout);
	MPI_Pcontrol(1);
}

static void *kept;

static void reuse(void *in, void *inout, int *n, MPI_Datatype *type)
{
	printf("released %p\n", kept);
	free(kept);
	kept = malloc(300);
	printf("allocated %p 300\n", kept);
	fflush(stdout);
}

/* Memory in a callback is the program's, too. */
static void callback(void)
{
	MPI_Op op;
	int a = 0, b = 0;
	MPI_Op_create(reuse, 0, &op);
	MPI_Pcontrol(1);
	kept = malloc(200);
	printf("allocated %p 200\n", kept);
	MPI_Reduce_local(&a, &b, 1, MPI_INT, op);
	printf("released %p\n", kept);
	fflush(stdout);
	free(kept);
	MPI_Pcontrol(1);
	MPI_Op_free(&op);
}

static void big(void)
{
	int n = 700000;
	MPI_Request *list = malloc(n * sizeof *list);
	for (int i = 0; i < n; i++)
		list[i] = MPI_REQUEST_NULL;
	MPI_Waitall(n, list, MPI_STATUSES_IGNORE);
	free(list);
	MPI_Barrier(MPI_COMM_SELF);
}

static void many(void)
{
	int i, n = 700000, ignored;
	MPI_Request *list = malloc(n * sizeof *list);
	for (i = 0; i < n; i++)
		list[i] = MPI_REQUEST_NULL;
	for (i = 0; i < 200000; i++) {
		MPI_Comm_rank(MPI_COMM_WORLD, &ignored);
		if (i == 100000) /* larger than any segment may be */
			MPI_Waitall(n, list, MPI_STATUSES_IGNORE);
	}
	free(list);
	printf("called %d times\n", i);
	fflush(stdout);
}

static void die(void *in, void *inout, int *n, MPI_Datatype *type)
{
	kill(getpid(), SIGKILL);
}

static void killed(void)
{
	MPI_Op op;
	int a = 1, b = 2, ignored;
	MPI_Op_create(die, 1, &op);
	for (int i = 0; i < 100000; i++)
		MPI_Comm_rank(MPI_COMM_WORLD, &ignored);
	MPI_Reduce_local(&a, &b, 1, MPI_INT, op);
}

static void forked(void)
{
	int ignored, status = -1;
	pid_t child = fork();
	if (child == 0) {
		for (int i = 0; i < 1000; i++) {
			void *volatile memory = malloc(i);
			free(memory);
		}
		_exit(7);
	}
	MPI_Comm_rank(MPI_COMM_WORLD, &ignored);
	waitpid(child, &status, 0);
	printf("child %d\n", WEXITSTATUS(status));
	printf("shell %d\n", WEXITSTATUS(system("exit 5")));
	fflush(stdout);
	MPI_Comm_rank(MPI_COMM_WORLD, &ignored);
}

static char large[1 << 24];

static void *in_thread(void *name)
{
	void *volatile memory = malloc(10);
	printf("%s %p\n", (char *)name, &name);
	free(memory);
	return NULL;
}

static void regions(void)
{
	static int initial = 7;
	pthread_t thread;
	printf("static %p\nstatic %p\nstatic %p\n", &initial, large, large + sizeof large - 1);
	printf("other %p\n", stdout);
	in_thread("stack");
	for (int i = 0; i < 2; i++) { /* one after another */
		pthread_create(&thread, NULL, in_thread, "thread");
		pthread_join(thread, NULL);
	}
	fflush(stdout);
}

static jmp_buf place;

static void leave(MPI_Comm *comm, int *code, ...) { longjmp(place, 1); }

static void jumped(void)
{
	MPI_Errhandler handler;
	int value = 0;
	volatile int times = 0;
	MPI_Comm_create_errhandler(leave, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
	setjmp(place);
	if (times++ < 3)
		MPI_Send(&value, 1, MPI_INT, 9, 1, MPI_COMM_SELF);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
	void *volatile memory = malloc(4321);
	free(memory);
}

/* Starts two processes that do nothing. */
static void spawn(void)
{
	MPI_Comm children;
	char *arguments[] = {"child", NULL};
	MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
	MPI_Comm_disconnect(&children);
}

static void child(void)
{
	MPI_Comm parent;
	MPI_Comm_get_parent(&parent);
	MPI_Comm_disconnect(&parent);
}

int main(int argc, char **argv)
{
	int provided;
	program = argv[0];
	if (!strcmp(argv[1], "threads")) {
		MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
		if (provided != MPI_THREAD_MULTIPLE)
			return 3;
	} else {
		MPI_Init(NULL, NULL);
	}
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	static const struct { const char *name; void (*run)(void); } list[] = {
		{"threads", threads}, {"memory", memory}, {"big", big}, {"many", many}, {"killed", killed}, {"forked", forked}, {"jumped", jumped}, {"regions", regions}, {"callback", callback}, {"spawn", spawn}, {"child", child},
	};
	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		if (!strcmp(argv[1], list[i].name))
			list[i].run();
	MPI_Finalize();
	return 0;
}
