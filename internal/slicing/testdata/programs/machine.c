// machine.c: a machine that runs commands which it receives, with a table of functions, unions, qsort and
// messages to a log.
#include <mpi.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef enum { OP_SCALE, OP_SHIFT, OP_SORT, OP_SEND, OP_SUM, OP_N } opcode;
typedef union {
	double d;
	long l;
	struct {
		int a, b;
	} pair;
	unsigned char raw[8];
} cell;
typedef struct {
	opcode op;
	int arg;
	cell value;
	char label[12];
} command;
typedef struct machine {
	cell *cells;
	int n, rank, size, level;
	MPI_Datatype type;
	MPI_Comm comm;
	struct stats {
		long bytes, messages;
		double busy;
	} stats;
} machine;
typedef int (*handler)(machine *, const command *);
static int verbosity = 1;
static void logmsg(machine *m, int level, const char *fmt, ...)
{
	va_list ap;
	if (level > verbosity)
		return;
	va_start(ap, fmt);
	fprintf(stderr, "[%d] ", m->rank);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
}
static int by_value(const void *a, const void *b)
{
	double x = ((const cell *)a)->d, y = ((const cell *)b)->d;
	return (x > y) - (x < y);
}
static int by_arg(const void *a, const void *b)
{
	return ((const command *)a)->arg - ((const command *)b)->arg;
}
static int do_scale(machine *m, const command *c)
{
	for (int i = 0; i < m->n; i++)
		m->cells[i].d *= c->value.d;
	return 0;
}
static int do_shift(machine *m, const command *c)
{
	cell first = m->cells[0];
	memmove(m->cells, m->cells + 1, (m->n - 1) * sizeof *m->cells);
	m->cells[m->n - 1] = first;
	return c->arg > 100;
}
static int do_sort(machine *m, const command *c)
{
	(void)c;
	qsort(m->cells, m->n, sizeof *m->cells, by_value);
	return 0;
}
static int do_send(machine *m, const command *c)
{
	int to = (m->rank + c->value.pair.a) % m->size,
		from = (m->rank + m->size - c->value.pair.a % m->size) % m->size, n = c->value.pair.b % m->n + 1;
	cell *in = malloc(n * sizeof *in);
	MPI_Request q[2];
	MPI_Irecv(in, n, MPI_DOUBLE, from, c->arg, m->comm, &q[0]);
	MPI_Isend(m->cells, n, MPI_DOUBLE, to, c->arg, m->comm, &q[1]);
	MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
	for (int i = 0; i < n; i++)
		m->cells[i].d += 0.5 * in[i].d;
	m->stats.bytes += n * 8;
	m->stats.messages++;
	free(in);
	return 0;
}
static int do_sum(machine *m, const command *c)
{
	double s = 0, all;
	for (int i = 0; i < m->n; i++)
		s += m->cells[i].d;
	MPI_Reduce(&s, &all, 1, MPI_DOUBLE, MPI_SUM, c->arg % m->size, m->comm);
	logmsg(m, 2, "sum %g of %s\n", all, c->label);
	return 0;
}
static const struct {
	const char *name;
	handler run;
} table[OP_N] = {
	{"scale", do_scale}, {"shift", do_shift}, {"sort", do_sort}, {"send", do_send}, {"sum", do_sum}};
static MPI_Datatype command_type(void)
{
	command c;
	int len[4] = {1, 1, 8, 12};
	MPI_Aint base, at[4];
	MPI_Datatype ty[4] = {MPI_INT, MPI_INT, MPI_BYTE, MPI_CHAR}, t, r;
	MPI_Get_address(&c, &base);
	MPI_Get_address(&c.op, &at[0]);
	MPI_Get_address(&c.arg, &at[1]);
	MPI_Get_address(&c.value, &at[2]);
	MPI_Get_address(&c.label, &at[3]);
	for (int i = 0; i < 4; i++)
		at[i] -= base;
	MPI_Type_create_struct(4, len, at, ty, &t);
	MPI_Type_create_resized(t, 0, sizeof c, &r);
	MPI_Type_commit(&r);
	MPI_Type_free(&t);
	return r;
}
int main(int argc, char **argv)
{
	machine m = {.n = 16, .comm = MPI_COMM_WORLD};
	command program[10];
	int count = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(m.comm, &m.rank);
	MPI_Comm_size(m.comm, &m.size);
	m.cells = calloc(m.n, sizeof *m.cells);
	for (int i = 0; i < m.n; i++)
		m.cells[i].d = (i * 37 % 11) + m.rank;
	m.type = command_type();
	memset(program, 0, sizeof program);
	if (m.rank == 0) {
		for (int i = 0; i < 10; i++) {
			command *c = &program[count++];
			c->op = i * 3 % OP_N;
			c->arg = 50 - i;
			snprintf(c->label, sizeof c->label, "step%d", i);
			if (c->op == OP_SCALE)
				c->value.d = 1.5;
			else {
				c->value.pair.a = 1 + i % 2;
				c->value.pair.b = 3 + i;
			}
		}
		qsort(program, count, sizeof *program, by_arg);
	}
	MPI_Bcast(&count, 1, MPI_INT, 0, m.comm);
	MPI_Bcast(program, count, m.type, 0, m.comm);
	for (int pass = 0; pass < 3; pass++)
		for (int i = 0; i < count; i++) {
			if (program[i].op >= OP_N)
				MPI_Abort(m.comm, 2);
			double t = MPI_Wtime();
			if (table[program[i].op].run(&m, &program[i]))
				logmsg(&m, 0, "%s failed\n", table[program[i].op].name);
			m.stats.busy += MPI_Wtime() - t;
		}
	logmsg(&m, 3, "%ld bytes in %ld messages, %g s\n", m.stats.bytes, m.stats.messages, m.stats.busy);
	MPI_Type_free(&m.type);
	free(m.cells);
	MPI_Finalize();
	return 0;
}
