/* Phases of truth.c with files. */

/* How much of what is asked for there is from an offset on. */
static long long there(MPI_File f, MPI_Offset from, long long asked)
{
	MPI_Offset size;
	OK(PMPI_File_get_size(f, &size));
	long long left = size - from;
	return left < 0 ? 0 : left < asked ? left : asked;
}

/* Waits for one access, and returns the status if the program asks for it. */
static void completed(MPI_Request *q, MPI_Status *asked, int how)
{
	int flag = 0, one, index;
	switch (how) {
	case 0: OK(MPI_Wait(q, asked)); break;
	case 1: OK(MPI_Waitall(1, q, asked == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : asked)); break;
	case 2: OK(MPI_Waitany(1, q, &index, asked)); break;
	case 3: OK(MPI_Waitsome(1, q, &one, &index, asked == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : asked)); break;
	default:
		while (!flag)
			OK(MPI_Test(q, &flag, asked));
	}
}

static void shared_in_turn(const team *t, int access, MPI_File f, int n, const kind *k, MPI_Status *asked, int how)
{
	MPI_Request q;
	for (int i = 0; i < t->n[0]; i++) {
		OK(PMPI_Barrier(t->comm));
		if (i != t->self)
			continue;
		MPI_Offset at;
		OK(PMPI_File_get_position_shared(f, &at));
		switch (access) {
		case 0:
			OK(MPI_File_write_shared(f, given, n, k->type, asked));
			writes(n * k->size);
			break;
		case 1:
			OK(MPI_File_iwrite_shared(f, given, n, k->type, &q));
			completed(&q, asked, how);
			writes(n * k->size);
			break;
		case 2:
			reads(there(f, at, n * k->size));
			OK(MPI_File_read_shared(f, taken, n, k->type, asked));
			break;
		default:
			if (there(f, at, n * k->size) < n * k->size)
				break; /* as in read_back */
			reads(there(f, at, n * k->size));
			OK(MPI_File_iread_shared(f, taken, n, k->type, &q));
			completed(&q, asked, how);
		}
	}
	OK(PMPI_Barrier(t->comm));
}

static void written(const team *t, MPI_File f, int access, int n, const kind *k, MPI_Status *s, int how)
{
	MPI_Offset at = t->self * 40;
	MPI_Request q;
	writes(n * k->size);
	switch (access) {
	case 0: OK(MPI_File_write_at(f, at, given, n, k->type, s)); break;
	case 1: OK(MPI_File_write_at_all(f, at, given, n, k->type, s)); break;
	case 2: OK(MPI_File_iwrite_at(f, at, given, n, k->type, &q)); completed(&q, s, how); break;
	case 3: OK(MPI_File_write_at_all_begin(f, at, given, n, k->type)); OK(MPI_File_write_at_all_end(f, given, s)); break;
	case 4: OK(MPI_File_write(f, given, n, k->type, s)); break;
	case 5: OK(MPI_File_write_all(f, given, n, k->type, s)); break;
	case 6: OK(MPI_File_iwrite(f, given, n, k->type, &q)); completed(&q, s, how); break;
	case 7: OK(MPI_File_write_all_begin(f, given, n, k->type)); OK(MPI_File_write_all_end(f, given, s)); break;
	case 8: OK(MPI_File_write_ordered(f, given, n, k->type, s)); break;
	case 9: OK(MPI_File_write_ordered_begin(f, given, n, k->type)); OK(MPI_File_write_ordered_end(f, given, s)); break;
	case 10: OK(MPI_File_iwrite_all(f, given, n, k->type, &q)); completed(&q, s, how); break;
	default: OK(MPI_File_iwrite_at_all(f, at, given, n, k->type, &q)); completed(&q, s, how); break;
	}
}

/* ROMIO says of what is collective, or has gaps in memory, that all was read, so that what the status says is the only truth. */
static void read_back(const team *t, MPI_File f, int access, int n, const kind *k, MPI_Status *s, int how)
{
	MPI_Offset at = draw(20) * 8, mine, shared;
	MPI_Status own;
	if (s == MPI_STATUS_IGNORE && (access >= 8 || access % 4 == 1 || access % 4 == 3 || k->made))
		s = &own;
	MPI_Request q;
	OK(PMPI_File_get_position(f, &mine));
	OK(PMPI_File_get_position_shared(f, &shared));
	OK(PMPI_Barrier(t->comm));
	/* A read in the background, or a split one, that is short never ends with Open MPI. */
#ifdef MPICH
	static const int plain[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
#else
	static const int plain[] = {0, 1, 0, 1, 4, 5, 4, 5, 8, 8, 5, 1};
#endif
	MPI_Offset first = access < 4 || access == 11 ? at : access < 8 || access == 10 ? mine : shared + t->self * n * k->size;
	int is_short = there(f, first, n * k->size) < n * k->size;
	OK(PMPI_Allreduce(MPI_IN_PLACE, &is_short, 1, MPI_INT, MPI_MAX, t->comm));
	if (is_short)
		access = plain[access];
	MPI_Offset from = access < 4 || access == 11 ? at : access < 8 || access == 10 ? mine : shared + t->self * n * k->size;
	switch (access) {
	case 0: OK(MPI_File_read_at(f, at, taken, n, k->type, s)); break;
	case 1: OK(MPI_File_read_at_all(f, at, taken, n, k->type, s)); break;
	case 2: OK(MPI_File_iread_at(f, at, taken, n, k->type, &q)); completed(&q, s, how); break;
	case 3: OK(MPI_File_read_at_all_begin(f, at, taken, n, k->type)); OK(MPI_File_read_at_all_end(f, taken, s)); break;
	case 4: OK(MPI_File_read(f, taken, n, k->type, s)); break;
	case 5: OK(MPI_File_read_all(f, taken, n, k->type, s)); break;
	case 6: OK(MPI_File_iread(f, taken, n, k->type, &q)); completed(&q, s, how); break;
	case 7: OK(MPI_File_read_all_begin(f, taken, n, k->type)); OK(MPI_File_read_all_end(f, taken, s)); break;
	case 8: OK(MPI_File_read_ordered(f, taken, n, k->type, s)); break;
	case 9: OK(MPI_File_read_ordered_begin(f, taken, n, k->type)); OK(MPI_File_read_ordered_end(f, taken, s)); break;
	case 10: OK(MPI_File_iread_all(f, taken, n, k->type, &q)); completed(&q, s, how); break;
	default: OK(MPI_File_iread_at_all(f, at, taken, n, k->type, &q)); completed(&q, s, how); break;
	}
	if (access < 8 && access % 4 != 1 && access % 4 != 3 && !k->made) {
		reads(there(f, from, n * k->size));
		return;
	}
	MPI_Count bytes;
	OK(PMPI_Get_elements_x(s, MPI_BYTE, &bytes));
	reads(bytes);
}

/* Writes a file, and reads it to its end and beyond. */
static void files(const team *t)
{
	char path[4096];
	if (t->inter)
		return;
	MPI_File f;
	snprintf(path, sizeof path, "%s/%d.%d.data", directory, phases, lowest(t, 0));
	OK(MPI_File_open(t->comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f));
	int rounds = 1 + draw(2);
	for (int i = 0; i < rounds; i++) {
		kind k = derived(draw(6));
		int n = draw(6), access = draw(14);
		MPI_Status s, *asked = draw(2) ? MPI_STATUS_IGNORE : &s;
		if (access < 12)
			written(t, f, access, n, &k, asked, draw(5));
		else
			shared_in_turn(t, access - 12, f, n, &k, asked, draw(5));
		done(&k);
	}
	OK(PMPI_File_sync(f));
	OK(PMPI_Barrier(t->comm));
	rounds = 1 + draw(4);
	for (int i = 0; i < rounds; i++) {
		kind k = derived(draw(6));
		int n = draw(10), access = draw(14);
		MPI_Status s, *asked = draw(2) ? MPI_STATUS_IGNORE : &s;
		int how = draw(5), seek = draw(3);
		if (access >= 12 && k.made) {
			done(&k);
			k = predefined(2);
		}
		MPI_Offset at = 8 * draw(12);
		if (seek == 0)
			OK(MPI_File_seek(f, at, MPI_SEEK_SET));
		else if (seek == 1)
			OK(MPI_File_seek_shared(f, at, MPI_SEEK_SET));
		if (access < 12)
			read_back(t, f, access, n, &k, asked, how);
		else
			shared_in_turn(t, access - 10, f, n, &k, asked, how);
		OK(PMPI_Barrier(t->comm));
		done(&k);
	}
	OK(MPI_File_close(&f));
}
