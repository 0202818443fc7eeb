/*
 * Who called whom: the addresses on the stack, from the call of a wrapper up. What a thread
 * makes its calls through is mostly what it has been through before: a chain says where on the
 * stack the addresses are, so that it is enough to see whether they still are there.
 */
enum { CHAINS = 256, DEPTH = 64 };

struct chain {
	uintptr_t address, frame; /* that the wrapper returns to, and its frame */
	uint64_t number;
	unsigned closed, length;
	struct { uintptr_t address, slot; } links[DEPTH];
};

static void forget_chains(struct lane *lane)
{
	memset(lane->chains, 0, CHAINS * sizeof *lane->chains);
}

/* Each frame says where the next one is: if one is as it was, the next one is read from where it
   was. */
static inline int is_there(const struct chain *c)
{
	for (unsigned i = 0; i < c->length; i++)
		if (((const uintptr_t *)c->links[i].slot)[-1] != c->links[i].address)
			return 0;
	return 1;
}

struct climb {
	struct chain *chain;
	int begun;
};

static _Unwind_Reason_Code climb_step(struct _Unwind_Context *context, void *data)
{
	struct climb *w = data;
	struct chain *c = w->chain;
	uintptr_t address = unwinder.address(context);
	w->begun |= address == c->address;
	if (!w->begun)
		return _URC_NO_REASON;
	if (!address || c->length == DEPTH)
		return _URC_END_OF_STACK;
	c->links[c->length].address = address;
	c->links[c->length++].slot = unwinder.frame(context);
	return _URC_NO_REASON;
}

/* Writes the chain into the spool, but for the addresses in objects that calls come through.
   Returns 0 if there is no space. */
static slow int put_chain(struct lane *lane, struct chain *c)
{
	uintptr_t addresses[DEPTH];
	unsigned n = 0;
	c->number = 14695981039346656037u;
	for (unsigned i = 0; i < c->length; i++) {
		find_module(lane, c->links[i].address);
		if (lane->module.passed)
			continue;
		addresses[n++] = c->links[i].address;
		c->number = (c->number ^ c->links[i].address) * 0x9e3779b97f4a7c15u;
		c->number ^= c->number >> 29;
	}
	uint64_t *at = reserve(lane, 2 + n);
	if (!at)
		return 0;
	at[1] = c->number;
	memcpy(at + 2, addresses, n * sizeof *addresses);
	publish(lane, at, at + 2 + n, CALLERS, 0, 0);
	return 1;
}

static slow uint64_t find_chain(struct lane *lane, struct chain *c, uintptr_t address, uintptr_t frame)
{
	int saved = errno, known = atomic_load(&unwinder.known);
	c->address = address;
	c->frame = frame;
	c->closed = atomic_load(&closed);
	c->length = 0;
	struct climb w = {c, 0};
	if ((known ? known : find_unwinder()) > 0)
		unwinder.backtrace(climb_step, &w);
	if (!c->length) {
		c->links[c->length].slot = 0;
		c->links[c->length++].address = address;
	}
	int found_again = put_chain(lane, c);
#ifdef __x86_64__
	found_again = found_again && c->links[0].slot && is_there(c);
#else
	found_again = 0;
#endif
	if (!found_again)
		c->address = 0;
	errno = saved;
	return c->number;
}

static slow uintptr_t chain_of(struct lane *lane, uintptr_t address, uintptr_t frame)
{
	if (unlikely(!lane->chains)) {
		int saved = errno;
		void *memory = map_pages(CHAINS * sizeof *lane->chains, MAP_PRIVATE | MAP_ANONYMOUS, -1);
		errno = saved;
		if (memory == MAP_FAILED)
			return site_of(lane, (void *)address, (void *)frame);
		lane->chains = memory;
	}
	uint64_t mixed = (address ^ frame << 7) * 0x9e3779b97f4a7c15u;
	struct chain *c = &lane->chains[mixed >> 56];
	if (c->address == address && c->frame == frame && c->closed == atomic_load_explicit(&closed, memory_order_relaxed) && is_there(c))
		return c->number;
	return find_chain(lane, c, address, frame);
}

/* Returns where a wrapper is called: its site, or the number of a chain that the spool has. */
static inline uintptr_t place_of(struct lane *lane, const void *caller, const void *frame)
{
	return stacks ? chain_of(lane, (uintptr_t)caller, (uintptr_t)frame) : site_of(lane, caller, frame);
}
