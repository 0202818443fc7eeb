/*
 * What recording costs.
 */
enum { COST_BATCHES = 4, COST_CALLS = 128, COST_BEGIN = 8, COST_END = 4 };
_Static_assert(sizeof(struct header) + COST_BATCHES * COST_CALLS * (COST_BEGIN + COST_END + 1) * 8 < (256 << 10),
	"what is recorded to measure the cost fits the smallest segment");

static __attribute__((noinline)) void record_trial(struct lane *lane, uint64_t value)
{
	unsigned flags = begin_flags(depth_of(__builtin_frame_address(0)));
	uint64_t *at = reserve(lane, COST_BEGIN), *p = at + 2;
	while (p < at + COST_BEGIN)
		*p++ = value;
	at[1] = now();
	publish(lane, at, p, BEGIN, 0, flags);
	uint64_t tick = now();
	at = reserve(lane, COST_END);
	at[1] = tick;
	at[2] = at[3] = value;
	publish(lane, at, at + COST_END, END, 0, flags);
}

/* Measures it in a segment that is not yet in use: the best of some batches of
   calls with six arguments, which repeat. Takes much less than a millisecond. */
static slow void measure_cost(struct header *header, struct slot *slots)
{
	uint64_t *from = (uint64_t *)(header + 1), best = UINT64_MAX;
	struct lane lane = {.header = header, .at = from, .end = (uint64_t *)((char *)header + smallest), .slots = slots};
	for (int batch = 0; batch < COST_BATCHES; batch++) {
		uint64_t before = nanoseconds(CLOCK_MONOTONIC);
		for (uint64_t i = 0; i < COST_CALLS; i++)
			record_trial(&lane, 1);
		uint64_t taken = nanoseconds(CLOCK_MONOTONIC) - before;
		best = taken < best ? taken : best;
	}
	memset(from, 0, (size_t)((char *)lane.at - (char *)from));
	cost = best * 1000 / COST_CALLS + 1;
	self.busy = 1; /* still */
}
