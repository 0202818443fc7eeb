/*
 * Where calls are made: the address that a call returns to, and the objects that such
 * addresses lie in. A lane tells of an object before the first call from it. Calls that
 * come through a library of MPI, as those of Fortran do, or through functions of the program
 * that wrap MPI, are made where these are called.
 */

struct site {
	struct lane *lane;
	uintptr_t address;
};

static slow void put_module(struct lane *lane, const struct module *m, uintptr_t base, const char *name)
{
	lane->modules[lane->told++ % MODULES] = lane->module = *m;
	if (m->passed && m->passed != WRAPS)
		return;
	int64_t n = length_of(name);
	uint64_t *at = reserve(lane, 5 + text_words(n));
	if (!at)
		return;
	at[1] = m->from;
	at[2] = m->size;
	at[3] = base;
	publish(lane, at, put_text(at + 4, n, name), MODULE, 0, 0);
}

/* Reports whether calls come through an object from elsewhere: it is this library, or one
   of MPI. */
static int is_passed(const char *name, const uintptr_t bounds[2])
{
	const char *base = strrchr(name, '/');
	base = base ? base + 1 : name;
	return (uintptr_t)&program_name - bounds[0] < bounds[1] - bounds[0] || !strncmp(base, "libmpi", 6);
}

/* Tells of an object if the address lies in it. The one without a name is the program. */
static int put_if_in(struct dl_phdr_info *info, size_t size, void *data)
{
	struct site *site = data;
	uintptr_t bounds[2] = {site->address};
	if (!is_in_object(info, size, bounds))
		return 0;
	struct module m = {bounds[0], bounds[1] - bounds[0], is_passed(info->dlpi_name, bounds)};
	const char *path = *info->dlpi_name ? info->dlpi_name : program_name;
	if (!m.passed)
		narrow(&m, site->address, path, info->dlpi_addr);
	put_module(site->lane, &m, info->dlpi_addr, path);
	return 1;
}

/* Has the lane know the object that an address lies in. Code that lies in none, as it is
   made while the program runs, is a page of an object without a name. */
static slow void find_module(struct lane *lane, uintptr_t address)
{
	struct site site = {lane, address};
	unsigned now_closed = atomic_load(&closed);
	if (lane->closed != now_closed) {
		memset(lane->modules, 0, sizeof lane->modules);
		lane->closed = now_closed;
	}
	for (unsigned i = 0; i < MODULES; i++) {
		if (address - lane->modules[i].from < lane->modules[i].size) {
			lane->module = lane->modules[i];
			return;
		}
	}
	int saved = errno;
	if (!dl_iterate_phdr(put_if_in, &site)) {
		struct module none = {address & ~(uintptr_t)4095, 4096, 0};
		put_module(lane, &none, 0, "");
	}
	errno = saved;
}

static inline void know_module(struct lane *lane, uintptr_t address)
{
	if (unlikely(address - lane->module.from >= lane->module.size || lane->closed != atomic_load_explicit(&closed, memory_order_relaxed)))
		find_module(lane, address);
}

/* A walk goes up the stack from the call of a wrapper to one from elsewhere. */
struct walk {
	struct lane *lane;
	uintptr_t from, site; /* address that the wrapper returns to, and what was found */
	uintptr_t slot; /* behind where on the stack that is */
	int begun;
};

/* The library of the compiler that walks stacks, which not every process has. */
static struct {
	_Unwind_Reason_Code (*backtrace)(_Unwind_Trace_Fn, void *);
	__typeof__(&_Unwind_GetIP) address;
	__typeof__(&_Unwind_GetCFA) frame;
	_Atomic int known; /* 1 if it is there, −1 if it is not */
} unwinder;

/* Two threads may look for it at once, and find the same. */
static slow int find_unwinder(void)
{
	void *library = dlopen("libgcc_s.so.1", RTLD_LAZY);
	if (library) {
		unwinder.backtrace = (__typeof__(unwinder.backtrace))dlsym(library, "_Unwind_Backtrace");
		unwinder.address = (__typeof__(unwinder.address))dlsym(library, "_Unwind_GetIP");
		unwinder.frame = (__typeof__(unwinder.frame))dlsym(library, "_Unwind_GetCFA");
	}
	int known = library && unwinder.backtrace && unwinder.address && unwinder.frame ? 1 : -1;
	atomic_store(&unwinder.known, known);
	return known;
}

static _Unwind_Reason_Code step_up(struct _Unwind_Context *context, void *data)
{
	struct walk *w = data;
	uintptr_t address = unwinder.address(context);
	w->begun |= address == w->from;
	if (!w->begun)
		return _URC_NO_REASON;
	if (!address)
		return _URC_END_OF_STACK;
	find_module(w->lane, address);
	if (w->lane->module.passed)
		return _URC_NO_REASON;
	w->site = address;
	w->slot = unwinder.frame(context);
	return _URC_END_OF_STACK;
}

static slow uintptr_t walk_up(struct lane *lane, uintptr_t address, uintptr_t *slot)
{
	struct walk w = {lane, address, address, 0, 0};
	int saved = errno, known = atomic_load(&unwinder.known);
	if ((known ? known : find_unwinder()) > 0)
		unwinder.backtrace(step_up, &w);
	errno = saved;
	*slot = w.slot;
	return w.site;
}

/* Returns where a call comes from that a library of MPI has passed on. What is between the
   wrapper and there takes as much of the stack each time, so that the way up is walked once;
   if it did not, what lies there is not an address of the same object. */
static slow uintptr_t behind(struct lane *lane, uintptr_t address, uintptr_t frame)
{
	uintptr_t slot = 0;
#ifdef __x86_64__
	struct passage *p = &lane->passages[(address >> 2 ^ address >> 9) % PASSAGES];
	if (p->address == address) {
		uintptr_t site = ((uintptr_t *)(frame + p->distance))[-1];
		if (site - p->module.from < p->module.size && lane->closed == atomic_load_explicit(&closed, memory_order_relaxed)) {
			lane->module = p->module;
			return site;
		}
	}
#endif
	uintptr_t site = walk_up(lane, address, &slot);
	find_module(lane, site);
#ifdef __x86_64__
	if (slot && !lane->module.passed) {
		p->address = address;
		p->distance = slot - frame;
		p->module = lane->module;
	}
#endif
	(void)frame;
	return site;
}

/* Returns where a wrapper is called, and sees to it that the spool has the object that this
   lies in. The frame is that of the wrapper: the address behind the one it returns to. */
static inline uintptr_t site_of(struct lane *lane, const void *caller, const void *frame)
{
	uintptr_t address = (uintptr_t)caller;
	if (unlikely(address - lane->passed.from < lane->passed.size))
		return behind(lane, address, (uintptr_t)frame);
	know_module(lane, address);
	if (unlikely(lane->module.passed)) {
		lane->passed = lane->module;
		return behind(lane, address, (uintptr_t)frame);
	}
	return address;
}

exported int dlclose(void *handle)
{
	static int (*_Atomic real_dlclose)(void *);
	int (*known)(void *) = atomic_load(&real_dlclose);
	if (!known) {
		known = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
		if (!known)
			return -1;
		atomic_store(&real_dlclose, known);
	}
	int result = known(handle);
	atomic_fetch_add(&closed, 1);
	return result;
}
