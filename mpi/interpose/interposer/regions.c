/*
 * Memory that no function allocates: static data and stacks.
 */
static void put_region(struct lane *lane, uintptr_t address, size_t size, int64_t number)
{
	uint64_t *at = reserve(lane, 4);
	if (!at)
		return;
	at[1] = address;
	at[2] = size;
	at[3] = (uint64_t)number;
	publish(lane, at, at + 4, REGION, 0, 0);
}

/* The bounds of a stack are those that it may grow to. */
static int find_stack(pthread_t thread, uintptr_t *address, size_t *size)
{
	pthread_attr_t attributes;
	void *lowest;
	if (pthread_getattr_np(thread, &attributes))
		return 0;
	int found = !pthread_attr_getstack(&attributes, &lowest, size);
	pthread_attr_destroy(&attributes);
	*address = (uintptr_t)lowest;
	return found && *size;
}

static uintptr_t program[2]; /* where the program itself is, from and to */

static int find_program(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size, (void)data;
	program[0] = UINTPTR_MAX;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t address = info->dlpi_addr + p->p_vaddr;
		if (p->p_type != PT_LOAD)
			continue;
		program[0] = address < program[0] ? address : program[0];
		program[1] = address + p->p_memsz > program[1] ? address + p->p_memsz : program[1];
	}
	return 1; /* the first object is the program itself */
}

struct objects_seen {
	struct lane *lane;
	int64_t n;
};

/* The first object is the program itself. */
static int put_static_data(struct dl_phdr_info *info, size_t size, void *data)
{
	struct objects_seen *seen = data;
	int64_t number = seen->n ? STATIC_OF_OTHERS - (seen->n - 1) : STATIC;
	uintptr_t from = UINTPTR_MAX, to = 0;
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t address = info->dlpi_addr + p->p_vaddr;
		if (p->p_type != PT_LOAD || !(p->p_flags & PF_W))
			continue;
		from = address < from ? address : from;
		to = address + p->p_memsz > to ? address + p->p_memsz : to;
	}
	if (from < to && number > STACK_OF_THREAD)
		put_region(seen->lane, from, to - from, number);
	seen->n++;
	return 0;
}

static slow void put_regions(struct lane *lane)
{
	struct objects_seen seen = {lane, 0};
	uintptr_t address;
	size_t size;
	dl_iterate_phdr(put_static_data, &seen);
	if (find_stack(main_thread, &address, &size))
		put_region(lane, address, size, STACK);
}
