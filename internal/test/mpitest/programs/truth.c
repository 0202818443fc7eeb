/*
 * Phases that draw what they do, and write down by hand what their calls move. Arguments: a directory, in which each rank writes that to the
 * file truth.RANK, and phases: a letter that says what it does, and a number from which it draws.
 */
#include "truth.h"
#include "truth_messages.h"
#include "truth_collective.h"
#include "truth_files.h"

#define TEAMS 10

static team teams[TEAMS];
static int n_teams;

static MPI_Comm grid(const team *t)
{
	MPI_Comm comm;
	int n = t->n[0], dims[2] = {n, 1}, periods[2] = {(int)draw(2), (int)draw(2)}, keep[2] = {(int)draw(2), 1};
	int reorder = draw(2), planes = 1 + draw(2);
	if (planes == 2 && n % 2 == 0)
		dims[0] = n / 2, dims[1] = 2;
	if (planes == 1 && draw(4) == 0 && n > 1)
		dims[0] = n - 1;
	OK(MPI_Cart_create(t->comm, planes, dims, periods, reorder, &comm));
	if (planes == 2 && draw(3) == 0) {
		MPI_Comm part;
		OK(MPI_Cart_sub(comm, keep, &part));
		OK(MPI_Comm_free(&comm));
		comm = part;
	}
	return comm;
}

static MPI_Comm graph(const team *t)
{
	MPI_Comm comm;
	int n = t->n[0], index[MOST], edges[MOST * MOST], total = 0, reorder = draw(2), salt = draw(1000);
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < n; j++) { /* as MPI wants, symmetric */
			int low = i < j ? i : j;
			if (mix(salt + 31 * low + (i + j)) % 2)
				edges[total++] = j;
		}
		index[i] = total;
	}
	OK(MPI_Graph_create(t->comm, n, index, edges, reorder, &comm));
	return comm;
}

/* Each names whom it gets from and sends to, or edges of others. */
static MPI_Comm spread_graph(const team *t)
{
	MPI_Comm comm;
	int n = t->n[0], salt = draw(1000), adjacent = draw(2), weights = draw(2), reorder = draw(2), shifted = draw(2);
	int in[MOST], out[MOST], ins = 0, outs = 0, w[MOST] = {1, 1, 1, 1, 1, 1, 1, 1};
#ifdef OPEN_MPI /* which divides by zero */
	reorder = 0;
#endif
	int about = shifted ? (t->self + 1) % n : t->self;
	if (adjacent)
		about = t->self;
	for (int i = 0; i < n; i++) {
		if (mix(salt + 31 * about + i) % 2)
			out[outs++] = i;
		if (mix(salt + 31 * i + about) % 2)
			in[ins++] = i;
	}
	if (adjacent)
		OK(MPI_Dist_graph_create_adjacent(t->comm, ins, in, weights ? w : MPI_UNWEIGHTED, outs, out, weights ? w : MPI_UNWEIGHTED, MPI_INFO_NULL, reorder, &comm));
	else
		OK(MPI_Dist_graph_create(t->comm, 1, &about, &outs, out, weights ? w : MPI_UNWEIGHTED, MPI_INFO_NULL, reorder, &comm));
	return comm;
}

static MPI_Comm part(const team *t, int how)
{
	MPI_Comm comm = MPI_COMM_NULL;
	MPI_Group group, some;
	int n = t->n[0], least = draw(n), most = least + draw(n - least), range[1][3] = {{most, least, -1}};
	OK(MPI_Comm_group(t->comm, &group));
	OK(MPI_Group_range_incl(group, 1, range, &some));
	if (how)
		OK(MPI_Comm_create(t->comm, some, &comm));
	else if (t->self >= least && t->self <= most)
		OK(MPI_Comm_create_group(t->comm, some, 7, &comm));
	OK(MPI_Group_free(&group));
	OK(MPI_Group_free(&some));
	return comm;
}

/* Two halves, and what is between them or both together. */
static MPI_Comm halves(const team *t, int merge)
{
	MPI_Comm half, comm, both;
	int n = t->n[0];
	if (n < 2)
		return MPI_COMM_NULL;
	int first = 1 + draw(n - 1), low = t->self < first, back = draw(2), high = draw(2);
	OK(MPI_Comm_split(t->comm, low, back ? -t->self : t->self, &half));
	int theirs = low ? (back ? n - 1 : first) : back ? first - 1 : 0; /* the first of the other half */
	OK(MPI_Intercomm_create(half, 0, t->comm, theirs, 3, &comm));
	OK(MPI_Comm_free(&half));
	if (!merge)
		return comm;
	OK(MPI_Intercomm_merge(comm, low == high, &both));
	OK(MPI_Comm_free(&comm));
	return both;
}

static void make(const team *t)
{
	MPI_Comm comm = MPI_COMM_NULL;
	MPI_Request q;
	int op = draw(t->inter ? 3 : 13);
	if (n_teams == TEAMS)
		return;
	switch (t->comm == MPI_COMM_NULL ? -1 : op) {
	case -1: break;
	case 0: OK(MPI_Comm_dup(t->comm, &comm)); break;
	case 1: OK(MPI_Comm_dup(t->comm, &comm)); break;
	case 2: OK(t->inter ? MPI_Intercomm_merge(t->comm, t->group, &comm) : MPI_Comm_dup_with_info(t->comm, MPI_INFO_NULL, &comm)); break;
	case 3: OK(MPI_Comm_idup(t->comm, &comm, &q)); OK(MPI_Wait(&q, MPI_STATUS_IGNORE)); break;
	case 4: OK(MPI_Comm_split(t->comm, between(t->self, 0, 3) - 1 < 0 ? MPI_UNDEFINED : between(t->self, 0, 3), between(t->self, 1, 9), &comm)); break;
	case 5: comm = part(t, 0); break;
	case 6: comm = part(t, 1); break;
	case 7: comm = halves(t, 0); break;
	case 8: comm = halves(t, 1); break;
	case 9: comm = grid(t); break;
	case 10: comm = grid(t); break;
	case 11: comm = graph(t); break;
	default: comm = spread_graph(t);
	}
	int inter = op == 7 || (t->inter && op < 2), has_neighbours = op >= 9 || (t->has_neighbours && op < 4);
	teams[n_teams] = described(comm);
	teams[n_teams].inter = inter;
	teams[n_teams++].has_neighbours = has_neighbours;
}

/* Frees one of the communicators that the program has made. */
static void unmake(void)
{
	if (n_teams <= 2)
		return;
	int i = 2 + draw(n_teams - 2);
	if (teams[i].comm != MPI_COMM_NULL)
		OK(MPI_Comm_free(&teams[i].comm));
	memmove(&teams[i], &teams[i + 1], (--n_teams - i) * sizeof teams[0]);
}

static void phase(const char *name)
{
	phases++;
	state = strtoull(name + 1, NULL, 10);
	const team *t = &teams[draw(n_teams)];
	switch (*name) {
	case 'd': unmake(); return;
	case 'm': make(t); return;
	}
	if (*name == 'n')
		for (int i = 0; i < n_teams && !t->has_neighbours; i++)
			t = &teams[i];
	if (t->comm == MPI_COMM_NULL)
		return;
	switch (*name) {
	case 'p': messages(t); break;
	case 'r': rounds(t); break;
	case 's': shift(t); break;
	case 't': truncated(t); break;
	case 'x': cancelled(t); break;
	case 'c': rooted(t); break;
	case 'a': alike(t); break;
	case 'f': files(t); break;
	case 'n':
		if (t->topology != MPI_UNDEFINED)
			neighbourly(t);
		break;
	default: CHECK(!"a phase");
	}
	OK(PMPI_Barrier(t->comm));
}

int main(int argc, char **argv)
{
	char path[4096];
	begin(&argc, &argv);
	CHECK(argc > 1 && size <= MOST);
	directory = argv[1];
	snprintf(path, sizeof path, "%s/truth.%d", directory, rank);
	CHECK((truth = fopen(path, "w")));
	teams[n_teams++] = described(MPI_COMM_WORLD);
	teams[n_teams++] = described(MPI_COMM_SELF);
	for (int i = 2; i < argc; i++)
		phase(argv[i]);
	CHECK(fclose(truth) == 0);
	return end();
}
