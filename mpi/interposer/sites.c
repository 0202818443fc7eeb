/*
 * Where calls are made: the address that a call returns to, and the objects that such
 * addresses lie in. A lane tells of an object before the first call from it.
 */
struct site {
	struct lane *lane;
	uintptr_t address;
};

static slow void put_module(struct lane *lane, const struct module *m, uintptr_t base, const char *name)
{
	int64_t n = length_of(name);
	uint64_t *at = reserve(lane, 5 + text_words(n));
	if (!at)
		return;
	at[1] = m->from;
	at[2] = m->size;
	at[3] = base;
	publish(lane, at, put_text(at + 4, n, name), MODULE, 0, 0);
	lane->modules[lane->told++ % MODULES] = lane->module = *m;
}

/* Tells of an object if the address lies in it. The one without a name is the program. */
static int put_if_in(struct dl_phdr_info *info, size_t size, void *data)
{
	struct site *site = data;
	uintptr_t bounds[2] = {site->address};
	if (!is_in_object(info, size, bounds))
		return 0;
	struct module m = {bounds[0], bounds[1] - bounds[0]};
	put_module(site->lane, &m, info->dlpi_addr, *info->dlpi_name ? info->dlpi_name : program_name);
	return 1;
}

static slow void find_module(struct lane *lane, uintptr_t address)
{
	struct site site = {lane, address};
	for (unsigned i = 0; i < MODULES; i++) {
		if (address - lane->modules[i].from < lane->modules[i].size) {
			lane->module = lane->modules[i];
			return;
		}
	}
	int saved = errno;
	dl_iterate_phdr(put_if_in, &site);
	errno = saved;
}

/* Sees to it that the spool has the object that a call returns to. */
static inline void know_module(struct lane *lane, const void *caller)
{
	if (unlikely((uintptr_t)caller - lane->module.from >= lane->module.size))
		find_module(lane, (uintptr_t)caller);
}
