/* Phases of truth.c with collective operations. What one gives another is drawn for each pair: amount(t, from, to). */

static int amount(int from, int to) { return between(from, to, 4); }

#define DO(blocking, nonblocking, ...) \
	do { \
		if (later) { \
			OK(nonblocking(__VA_ARGS__, &request)); \
			complete(1, &request); \
		} else { \
			OK(blocking(__VA_ARGS__)); \
		} \
	} while (0)

/* A collective operation as one member sees it. */
typedef struct {
	int n, me;          /* of its own group */
	int peers, *who;    /* with whom it exchanges data: in its group or the other one */
	kind k, l;          /* for sending and receiving */
	int more;           /* so many elements of l are one of k */
	int later, in_place; /* nonblocking; MPI_IN_PLACE where that may be */
} view;

static view seen(const team *t)
{
	view v = {.n = t->n[t->group], .me = t->self};
	int base = draw(6), g = other(t, t->group);
	v.peers = t->n[g];
	v.who = (int *)t->members[g];
	
	v.k = v.l = derived(base);
	v.more = 1;
	if (draw(2)) {
		v.l = predefined(base);
		v.more = v.k.elements;
	}
	v.later = draw(2);
	v.in_place = !t->inter && draw(3) == 0;
	return v;
}

static void seen_off(view *v) { done(&v->k); }

/* Counts and displacements of an array with a part for each of so many. */
static void lay_out(int n, int *at)
{
	for (int i = 0; i < n; i++)
		at[i] = 24 * i;
}

static void rooted(const team *t)
{
	view v = seen(t);
	int later = v.later, op = draw(6), leader = draw(t->n[0]), counts[MOST], at[MOST], count = draw(5), group = draw(2);
	int root = leader, i_am = t->self == leader, takes_part = 1, size = t->n[0];
	MPI_Request request;
	if (t->inter) { /* the root is in one group, and the others are those of the other one */
		leader = draw(t->n[group]);
		size = t->n[1 - group];
		i_am = t->group == group && t->self == leader;
		takes_part = t->group != group;
		root = t->group != group ? leader : i_am ? MPI_ROOT : MPI_PROC_NULL;
	} else {
		group = 0;
	}
	int the_root = t->members[group][leader], *them = v.who;
	void *from = given, *to = taken;
	long long sum = 0, bytes = count * v.k.size;
	for (int i = 0; i < MOST; i++)
		counts[i] = 0;
	for (int i = 0; i < size; i++)
		sum += counts[i] = amount(i, 99);
	int mine = takes_part ? counts[t->self] : 0;
	lay_out(MOST, at);
	switch (op) {
	case 0:
		DO(MPI_Bcast, MPI_Ibcast, given, count, v.k.type, root, t->comm);
		if (i_am) {
			gives(bytes);
			for (int i = 0; i < v.peers; i++)
				block(rank, them[i], bytes);
		} else if (takes_part) {
			gets(bytes);
		}
		break;
	case 1: /* gather */
	case 2:
		if (v.in_place && i_am)
			from = MPI_IN_PLACE;
		if (op == 1) {
			DO(MPI_Gather, MPI_Igather, from, count, v.k.type, to, count * v.more, v.l.type, root, t->comm);
		} else {
			for (int i = 0; i < size; i++)
				counts[i] *= v.more;
			DO(MPI_Gatherv, MPI_Igatherv, from, mine, v.k.type, to, counts, at, v.l.type, root, t->comm);
			bytes = mine * v.k.size;
		}
		if (takes_part) {
			gives(bytes);
			block(rank, the_root, bytes);
		}
		if (i_am)
			gets(op == 1 ? size * bytes : sum * v.k.size);
		break;
	case 3: /* scatter */
	case 4:
		if (v.in_place && i_am)
			to = MPI_IN_PLACE;
		if (op == 3) {
			DO(MPI_Scatter, MPI_Iscatter, from, count, v.k.type, to, count * v.more, v.l.type, root, t->comm);
			sum = size * count;
			mine = takes_part ? count : 0;
		} else {
			DO(MPI_Scatterv, MPI_Iscatterv, from, counts, at, v.k.type, to, mine * v.more, v.l.type, root, t->comm);
		}
		if (i_am) {
			gives(sum * v.k.size);
			for (int i = 0; i < v.peers; i++)
				block(rank, them[i], (op == 3 ? count : counts[i]) * v.k.size);
		}
		if (takes_part)
			gets(mine * v.k.size);
		break;
	default:
		if (v.in_place && i_am)
			DO(MPI_Reduce, MPI_Ireduce, MPI_IN_PLACE, to, count, MPI_INT, MPI_SUM, root, t->comm);
		else
			DO(MPI_Reduce, MPI_Ireduce, from, to, count, MPI_INT, MPI_SUM, root, t->comm);
		if (takes_part) {
			gives(4 * count);
			block(rank, the_root, 4 * count);
		}
		if (i_am)
			gets(4 * count);
	}
	seen_off(&v);
}

static void alike(const team *t)
{
	view v = seen(t);
	int later = v.later, op = draw(11), count = draw(5), at[MOST], out[MOST], in[MOST], bytes_at[MOST];
	int mine = 0, all = 0, g = other(t, t->group);
	MPI_Datatype types[MOST], others[MOST];
	MPI_Request request;
	void *from = v.in_place ? MPI_IN_PLACE : given;
	lay_out(MOST, at);
	for (int i = 0; i < MOST; i++) {
		types[i] = v.k.type;
		others[i] = v.l.type;
		bytes_at[i] = 4096 * i;
		out[i] = in[i] = 0;
	}
	switch (op) {
	case 0:
		DO(MPI_Allgather, MPI_Iallgather, from, count, v.k.type, taken, count * v.more, v.l.type, t->comm);
		gives(count * v.k.size);
		gets(v.peers * count * v.k.size);
		for (int i = 0; i < v.peers; i++)
			block(rank, v.who[i], count * v.k.size);
		break;
	case 1:
		mine = amount(rank, 98);
		for (int i = 0; i < v.peers; i++)
			all += in[i] = amount(v.who[i], 98);
		for (int i = 0; i < v.peers; i++)
			in[i] *= v.more;
		DO(MPI_Allgatherv, MPI_Iallgatherv, from, mine, v.k.type, taken, in, at, v.l.type, t->comm);
		gives(mine * v.k.size);
		gets(all * v.k.size);
		for (int i = 0; i < v.peers; i++)
			block(rank, v.who[i], mine * v.k.size);
		break;
	case 2:
		DO(MPI_Alltoall, MPI_Ialltoall, from, count, v.k.type, taken, count * v.more, v.l.type, t->comm);
		gives(v.peers * count * v.k.size);
		gets(v.peers * count * v.k.size);
		for (int i = 0; i < v.peers; i++)
			block(rank, v.who[i], count * v.k.size);
		break;
	case 3:
	case 4: /* in place, what is given is what is got */
		for (int i = 0; i < v.peers; i++) {
			int low = rank < v.who[i] ? rank : v.who[i];
			out[i] = v.in_place ? amount(low, rank + v.who[i] - low) : amount(rank, v.who[i]);
			in[i] = v.in_place ? out[i] : amount(v.who[i], rank);
			gives(out[i] * v.k.size);
			gets(in[i] * v.k.size);
			block(rank, v.who[i], out[i] * v.k.size);
		}
		for (int i = 0; i < v.peers; i++)
			in[i] *= v.more;
		if (op == 3)
			DO(MPI_Alltoallv, MPI_Ialltoallv, from, out, at, v.k.type, taken, in, at, v.l.type, t->comm);
		else
			DO(MPI_Alltoallw, MPI_Ialltoallw, from, out, bytes_at, types, taken, in, bytes_at, others, t->comm);
		break;
	case 5:
		DO(MPI_Allreduce, MPI_Iallreduce, from, taken, count, MPI_DOUBLE, MPI_SUM, t->comm);
		gives(8 * count);
		gets(8 * count);
		for (int i = 0; i < v.peers; i++)
			block(rank, v.who[i], 8 * count);
		break;
	case 6: /* as many for each group */
		for (int i = 0, left = 4 * MOST; i < v.n; left -= out[i++])
			out[i] = i < v.n - 1 ? amount(i, 97) : left;
		DO(MPI_Reduce_scatter, MPI_Ireduce_scatter, from, taken, out, MPI_SHORT, MPI_SUM, t->comm);
		gives(2 * 4 * MOST);
		gets(2 * out[v.me]);
		for (int i = 0; i < v.peers; i++)
			block(v.who[i], rank, 2 * out[v.me]);
		break;
	case 7:
		count *= t->inter ? t->n[g] : 1; /* as many for each group */
		DO(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, from, taken, count, MPI_INT, MPI_MAX, t->comm);
		gives(4 * count * v.n);
		gets(4 * count);
		for (int i = 0; i < v.peers; i++)
			block(v.who[i], rank, 4 * count);
		break;
	case 8:
		if (t->inter)
			break;
		DO(MPI_Scan, MPI_Iscan, from, taken, count, MPI_FLOAT, MPI_SUM, t->comm);
		gives(4 * count);
		gets(4 * count);
		for (int i = v.me + 1; i < v.n; i++)
			block(rank, v.who[i], 4 * count);
		break;
	case 9:
		if (t->inter)
			break;
		DO(MPI_Exscan, MPI_Iexscan, from, taken, count, MPI_INT, MPI_SUM, t->comm);
		gives(4 * count);
		gets(v.me ? 4 * count : 0);
		for (int i = v.me + 1; i < v.n; i++)
			block(rank, v.who[i], 4 * count);
		break;
	default:
		DO(MPI_Barrier, MPI_Ibarrier, t->comm);
	}
	seen_off(&v);
}

/* What neighbours exchange. */
static void neighbourly(const team *t)
{
	view v = seen(t);
	int later = v.later, op = draw(5), count = draw(5), mine = amount(rank, 96);
	int out[64], in[64], at[64];
	MPI_Aint bytes_at[64];
	MPI_Datatype types[64], others[64];
	MPI_Request request;
	long long k = v.k.size;
	for (int i = 0; i < 64; i++) {
		types[i] = v.k.type;
		others[i] = v.l.type;
		at[i] = 24 * (i % 4);
		bytes_at[i] = 4096 * (i % 4);
	}
	CHECK(t->outs <= 64 && t->ins <= 64);
	for (int i = 0; i < t->outs; i++) {
		out[i] = amount(rank, t->out[i] < 0 ? 50 : t->out[i]);
		if (t->out[i] < 0)
			continue;
		int n = (int[]){count, mine, count, out[i], out[i]}[op];
		block(rank, t->out[i], n * k);
		if (op >= 2)
			gives(n * k);
	}
	if (op < 2) /* once, whoever there is */
		gives((op ? mine : count) * k);
	for (int i = 0; i < t->ins; i++) {
		int from = t->in[i] < 0 ? 50 : t->in[i];
		in[i] = op == 1 ? amount(from, 96) : amount(from, rank);
		if (t->in[i] >= 0)
			gets((op == 0 || op == 2 ? count : in[i]) * k);
		in[i] *= v.more;
	}
	switch (op) {
	case 0:
		DO(MPI_Neighbor_allgather, MPI_Ineighbor_allgather, given, count, v.k.type, taken, count * v.more, v.l.type, t->comm);
		break;
	case 1:
		DO(MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv, given, mine, v.k.type, taken, in, at, v.l.type, t->comm);
		break;
	case 2:
		DO(MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, given, count, v.k.type, taken, count * v.more, v.l.type, t->comm);
		break;
	case 3:
		DO(MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, given, out, at, v.k.type, taken, in, at, v.l.type, t->comm);
		break;
	default:
		DO(MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, given, out, bytes_at, types, taken, in, bytes_at, others, t->comm);
	}
	seen_off(&v);
}
