/* Phases of truth.c with messages from one rank to another. */

/* A message from one member to another, as they are numbered in their groups; −1 is MPI_PROC_NULL. */
typedef struct {
	int from, to, group, tag, count, posted, mode;
} transfer;

enum { SPECIFIC, ANY_SENDER, ANY_LABEL, ANY }; /* what receives name */

#define TRANSFERS 8

static int draw_transfers(const team *t, transfer *all, int wild)
{
	int n = 1 + draw(TRANSFERS), posted = draw(2);
	for (int i = 0; i < n; i++) {
		transfer *m = &all[i];
		m->group = t->inter ? (int)draw(2) : 0;
		m->from = draw(t->n[m->group]);
		m->to = draw(t->n[other(t, m->group)]);
		if (draw(8) == 0)
			m->to = -1;
		else if (draw(8) == 0 && wild == SPECIFIC)
			m->from = -1;
		m->tag = 10 + i;
		m->count = draw(5);
		m->posted = wild >= ANY_LABEL ? posted : (int)draw(2);
		m->mode = draw(14);
	}
	return n;
}

static int sent_by(const team *t, const transfer *m) { return t->group == m->group && t->self == m->from; }
static int received_by(const team *t, const transfer *m) { return t->group == other(t, m->group) && t->self == m->to; }

/* What the sender says of a message, if there is a receiver. */
static void tell(const team *t, const transfer *m, long long size)
{
	if (m->to >= 0)
		message(rank, t->members[other(t, m->group)][m->to], m->tag, m->count * size);
}

static int null(int peer) { return peer < 0 ? MPI_PROC_NULL : peer; }

/* Sends in one of the modes, and returns the request if it is not complete. Those from 8 on are persistent. */
static MPI_Request sends(const team *t, transfer *m, const kind *k)
{
	MPI_Request q = MPI_REQUEST_NULL;
	int to = null(m->to);
	if (!m->posted && to != MPI_PROC_NULL) /* what needs the receive is not for who blocks before that */
		m->mode = m->mode == 0 || m->mode == 1 ? 4 : m->mode == 3 || m->mode == 7 || m->mode == 11 ? 5 : m->mode;
	char *from = given;
	MPI_Comm comm = t->comm;
	switch (m->mode) {
	case 0: OK(MPI_Send(from, m->count, k->type, to, m->tag, comm)); break;
	case 1: OK(MPI_Ssend(from, m->count, k->type, to, m->tag, comm)); break;
	case 2: OK(MPI_Bsend(from, m->count, k->type, to, m->tag, comm)); break;
	case 3: OK(MPI_Rsend(from, m->count, k->type, to, m->tag, comm)); break;
	case 4: OK(MPI_Isend(from, m->count, k->type, to, m->tag, comm, &q)); break;
	case 5: OK(MPI_Issend(from, m->count, k->type, to, m->tag, comm, &q)); break;
	case 6: OK(MPI_Ibsend(from, m->count, k->type, to, m->tag, comm, &q)); break;
	case 7: OK(MPI_Irsend(from, m->count, k->type, to, m->tag, comm, &q)); break;
	case 8: OK(MPI_Send_init(from, m->count, k->type, to, m->tag, comm, &q)); break;
	case 9: OK(MPI_Ssend_init(from, m->count, k->type, to, m->tag, comm, &q)); break;
	case 10: OK(MPI_Bsend_init(from, m->count, k->type, to, m->tag, comm, &q)); break;
	case 11: OK(MPI_Rsend_init(from, m->count, k->type, to, m->tag, comm, &q)); break;
	default: OK(MPI_Isend(from, m->count, k->type, to, m->tag, comm, &q)); break;
	}
	return q;
}

static int is_persistent(const transfer *m) { return m->mode >= 8 && m->mode <= 11; }

/* Receives a message by a call that blocks. */
static void receive(const team *t, const transfer *m, int room, const kind *k, int wild)
{
	int source = wild == ANY_SENDER || wild == ANY ? MPI_ANY_SOURCE : null(m->from), tag = wild >= ANY_LABEL ? MPI_ANY_TAG : m->tag;
	int flag = 0, how = draw(7), ignored = draw(2);
	MPI_Status s, *asked = ignored ? MPI_STATUS_IGNORE : &s;
	MPI_Message found;
	MPI_Request q;
	MPI_Comm comm = t->comm;
	switch (how) {
	case 0:
	case 1:
		OK(MPI_Recv(taken, room, k->type, source, tag, comm, asked));
		break;
	case 2:
		OK(MPI_Probe(source, tag, comm, &s));
		OK(MPI_Recv(taken, room, k->type, s.MPI_SOURCE, m->from < 0 ? tag : s.MPI_TAG, comm, asked));
		break;
	case 3:
		while (!flag)
			OK(MPI_Iprobe(source, tag, comm, &flag, &s));
		OK(MPI_Recv(taken, room, k->type, s.MPI_SOURCE, m->from < 0 ? tag : s.MPI_TAG, comm, asked));
		break;
	case 4:
		OK(MPI_Mprobe(source, tag, comm, &found, asked));
		OK(MPI_Mrecv(taken, room, k->type, &found, asked));
		break;
	case 5:
		while (!flag)
			OK(MPI_Improbe(source, tag, comm, &flag, &found, asked));
		OK(MPI_Mrecv(taken, room, k->type, &found, MPI_STATUS_IGNORE));
		break;
	default:
		OK(MPI_Mprobe(source, tag, comm, &found, asked));
		OK(MPI_Imrecv(taken, room, k->type, &found, &q));
		complete(1, &q);
	}
}

/* Messages of all modes, which receives in all ways get. */
static void messages(const team *t)
{
	static char buffer[ROOM];
	transfer all[TRANSFERS];
	MPI_Request open[2 * TRANSFERS], again[2 * TRANSFERS];
	int requests = 0, persistent = 0, wild = draw(4), n = draw_transfers(t, all, wild), base = draw(6), size;
	void *detached;
	kind k = derived(base), l = derived(base);
	int room = l.elements ? (5 * k.elements + l.elements - 1) / l.elements + draw(3) : 3;
	if (room * l.elements < 5 * k.elements)
		for (int i = 0; i < n; i++)
			all[i].count = 0;
	OK(MPI_Buffer_attach(buffer, sizeof buffer));
	for (int i = 0; i < n; i++) {
		if (!received_by(t, &all[i]) || !all[i].posted)
			continue;
		int source = wild == ANY_SENDER || wild == ANY ? MPI_ANY_SOURCE : null(all[i].from), tag = wild >= ANY_LABEL ? MPI_ANY_TAG : all[i].tag;
		if (draw(3) == 0) {
			OK(MPI_Recv_init(taken, room, l.type, source, tag, t->comm, &again[persistent++]));
			OK(MPI_Start(&again[persistent - 1]));
		} else {
			OK(MPI_Irecv(taken, room, l.type, source, tag, t->comm, &open[requests++]));
		}
	}
	OK(PMPI_Barrier(t->comm));
	for (int i = 0; i < n; i++) {
		if (!sent_by(t, &all[i]))
			continue;
		MPI_Request q = sends(t, &all[i], &k);
		tell(t, &all[i], k.size);
		if (is_persistent(&all[i]))
			OK(MPI_Start(&q));
		if (is_persistent(&all[i]))
			again[persistent++] = q;
		else if (q != MPI_REQUEST_NULL)
			open[requests++] = q;
	}
	for (int i = 0; i < n; i++)
		if (received_by(t, &all[i]) && !all[i].posted)
			receive(t, &all[i], room, &l, wild);
	complete(requests, open);
	OK(MPI_Waitall(persistent, again, MPI_STATUSES_IGNORE));
	for (int i = 0; i < persistent; i++)
		OK(MPI_Request_free(&again[i]));
	OK(MPI_Buffer_detach(&detached, &size));
	done(&k);
	done(&l);
}

/* Persistent requests that are started several times. */
static void rounds(const team *t)
{
	transfer all[TRANSFERS];
	MPI_Request receives[TRANSFERS], requests[TRANSFERS];
	int wild = draw(2), n = draw_transfers(t, all, wild), in = 0, out = 0, base = draw(6), times = 1 + draw(4), together = draw(2), wait = draw(2);
	kind k = derived(base), plain = predefined(base);
	for (int i = 0; i < n; i++) {
		if (received_by(t, &all[i]))
			OK(MPI_Recv_init(taken, 5 * k.elements, plain.type, wild ? MPI_ANY_SOURCE : null(all[i].from), all[i].tag, t->comm, &receives[in++]));
		all[i].mode = (int[]){8, 9, 11}[all[i].mode % 3];
		all[i].posted = 1;
		if (sent_by(t, &all[i]))
			requests[out++] = sends(t, &all[i], &k);
	}
	for (int r = 0; r < times; r++) {
		if (together)
			OK(MPI_Startall(in, receives));
		for (int i = 0; i < in && !together; i++)
			OK(MPI_Start(&receives[i]));
		OK(PMPI_Barrier(t->comm));
		if (together)
			OK(MPI_Startall(out, requests));
		for (int i = 0; i < out && !together; i++)
			OK(MPI_Start(&requests[i]));
		for (int i = 0; i < n; i++)
			if (sent_by(t, &all[i]))
				tell(t, &all[i], k.size);
		OK(MPI_Waitall(out, requests, MPI_STATUSES_IGNORE));
		for (int i = 0; i < in && wait; i++)
			OK(MPI_Wait(&receives[i], MPI_STATUS_IGNORE));
		if (!wait)
			OK(MPI_Waitall(in, receives, MPI_STATUSES_IGNORE));
	}
	for (int i = 0; i < in; i++)
		OK(MPI_Request_free(&receives[i]));
	for (int i = 0; i < out; i++)
		OK(MPI_Request_free(&requests[i]));
	done(&k);
}

/* All send to the one that is some places further, round the end or not. */
static void shift(const team *t)
{
	if (t->inter)
		return;
	int n = t->n[0], by = draw(n + 1), round = draw(2), wild = draw(3), replace = draw(2), count = draw(5), ignored = draw(2);
	kind k = derived(draw(6));
	int to = t->self + by, from = t->self - by;
	to = to < n ? to : round ? to - n : MPI_PROC_NULL;
	from = from >= 0 ? from : round ? from + n : MPI_PROC_NULL;
	if (from != MPI_PROC_NULL && wild == 2)
		from = MPI_ANY_SOURCE;
	int tag = wild ? MPI_ANY_TAG : 5;
	MPI_Status s, *asked = ignored ? MPI_STATUS_IGNORE : &s;
	if (replace)
		OK(MPI_Sendrecv_replace(given, count, k.type, to, 5, from, tag, t->comm, asked));
	else
		OK(MPI_Sendrecv(given, count, k.type, to, 5, taken, count + draw(2), k.type, from, tag, t->comm, asked));
	if (to != MPI_PROC_NULL)
		message(rank, who(t, to), 5, count * k.size);
	done(&k);
}

static void fails_or_not(int error)
{
	int class;
	OK(PMPI_Error_class(error, &class));
	CHECK(class == MPI_SUCCESS || class == MPI_ERR_TRUNCATE || class == MPI_ERR_IN_STATUS);
}

/* Completes receives some of which are too short. */
static void complete_short(int n, MPI_Request *requests)
{
	MPI_Status statuses[TRANSFERS];
	int some, indices[TRANSFERS], index, flag, ignored = draw(2);
	switch (draw(6)) {
	case 0:
		fails_or_not(MPI_Waitall(n, requests, ignored ? MPI_STATUSES_IGNORE : statuses));
		break;
	case 1:
		for (some = 0; n > 0 && some != MPI_UNDEFINED;)
			fails_or_not(MPI_Waitsome(n, requests, &some, indices, ignored ? MPI_STATUSES_IGNORE : statuses));
		return;
	case 2:
		for (int i = 0; i < n; i++) {
			index = -1;
			fails_or_not(MPI_Waitany(n, requests, &index, ignored ? MPI_STATUS_IGNORE : statuses));
		}
		break;
	case 3:
		for (int left = n; left > 0; left -= some == MPI_UNDEFINED ? left : some)
			fails_or_not(MPI_Testsome(n, requests, &some, indices, ignored ? MPI_STATUSES_IGNORE : statuses));
		break;
	case 4:
		for (int i = 0; i < n; i++)
			for (flag = 0; requests[i] != MPI_REQUEST_NULL;)
				fails_or_not(MPI_Test(&requests[i], &flag, ignored ? MPI_STATUS_IGNORE : statuses));
	}
	for (int i = 0; i < n; i++)
		if (requests[i] != MPI_REQUEST_NULL)
			fails_or_not(MPI_Wait(&requests[i], ignored ? MPI_STATUS_IGNORE : statuses));
}

/* Messages that are too long for some of the receives. */
static void truncated(const team *t)
{
	transfer all[TRANSFERS];
	MPI_Request open[TRANSFERS], out[TRANSFERS];
	int in = 0, sent = 0, wild = draw(2), n = draw_transfers(t, all, wild);
	kind k = predefined(draw(6));
	OK(MPI_Comm_set_errhandler(t->comm, MPI_ERRORS_RETURN));
	OK(PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)); /* which MPICH asks for MPI_Mrecv */
	for (int i = 0; i < n; i++)
		if (received_by(t, &all[i]) && all[i].posted)
			OK(MPI_Irecv(taken, draw(2) ? 5 : 1, k.type, wild ? MPI_ANY_SOURCE : null(all[i].from), all[i].tag, t->comm, &open[in++]));
	OK(PMPI_Barrier(t->comm));
	for (int i = 0; i < n; i++)
		if (sent_by(t, &all[i])) {
			OK(MPI_Isend(given, all[i].count, k.type, null(all[i].to), all[i].tag, t->comm, &out[sent++]));
			tell(t, &all[i], k.size);
		}
	for (int i = 0; i < n; i++)
		if (received_by(t, &all[i]) && !all[i].posted) {
			int source = wild ? MPI_ANY_SOURCE : null(all[i].from);
			MPI_Status s;
			MPI_Message found;
			switch (draw(3)) {
			case 0:
				fails_or_not(MPI_Recv(taken, 2, k.type, source, all[i].tag, t->comm, MPI_STATUS_IGNORE));
				break;
			case 1:
				fails_or_not(MPI_Recv(taken, 2, k.type, source, all[i].tag, t->comm, &s));
				break;
			default:
				OK(MPI_Mprobe(source, all[i].tag, t->comm, &found, &s));
				fails_or_not(MPI_Mrecv(taken, 2, k.type, &found, &s));
			}
		}
	complete_short(in, open);
	OK(MPI_Waitall(sent, out, MPI_STATUSES_IGNORE));
	if (!t->inter) {
		int next = (t->self + 1) % t->n[0], before = (t->self + t->n[0] - 1) % t->n[0];
		fails_or_not(MPI_Sendrecv(given, 3, k.type, next, 4, taken, draw(5), k.type, before, 4, t->comm, MPI_STATUS_IGNORE));
		message(rank, who(t, next), 4, 3 * k.size);
	}
	OK(MPI_Comm_set_errhandler(t->comm, MPI_ERRORS_ARE_FATAL));
	OK(PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

/* Receives that are cancelled, as there is no message. */
static void cancelled(const team *t)
{
	int persistent = draw(2), wild = draw(2), test = draw(2), flag = 0;
	MPI_Request q;
	MPI_Status s;
	if (persistent) {
		OK(MPI_Recv_init(taken, 3, MPI_INT, wild ? MPI_ANY_SOURCE : 0, 3, t->comm, &q));
		OK(MPI_Start(&q));
	} else {
		OK(MPI_Irecv(taken, 3, MPI_INT, wild ? MPI_ANY_SOURCE : 0, 3, t->comm, &q));
	}
	OK(MPI_Cancel(&q));
	while (test && !flag)
		OK(MPI_Test(&q, &flag, &s));
	if (!test)
		OK(MPI_Wait(&q, &s));
	OK(PMPI_Test_cancelled(&s, &flag));
	CHECK(flag);
	if (persistent)
		OK(MPI_Request_free(&q));
}
