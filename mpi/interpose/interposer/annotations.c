/*
 * Annotations of Caliper and NVTX, which are recorded as MPI_Pcontrol with a name, and handed on to the library if the
 * process has it.
 */
enum { MOST_PUSHED = 32, MOST_NAMES = 256, ALL_NAMES = 1 << 15 };

/* Names of ranges, which the end of a range does not tell: none is forgotten. */
static char all_names[ALL_NAMES];
static _Atomic unsigned names_end = 1;
static _Atomic unsigned names_of[MOST_NAMES]; /* where they begin */

/* Returns where a name stands among those of ranges, 0 if there is no room. */
static slow unsigned keep_name(const char *name)
{
	size_t size = strlen(name) + 1;
	for (int i = 0; i < MOST_NAMES; i++) {
		unsigned at = atomic_load(&names_of[i]);
		if (at && !strcmp(all_names + at, name))
			return at;
		if (at)
			continue;
		unsigned begin = atomic_fetch_add(&names_end, (unsigned)size);
		if (begin + size > ALL_NAMES)
			return 0;
		memcpy(all_names + begin, name, size);
		atomic_store(&names_of[i], begin);
		return begin;
	}
	return 0;
}

static __thread unsigned pushed __attribute__((tls_model("initial-exec")));
static __thread unsigned short pushed_names[MOST_PUSHED] __attribute__((tls_model("initial-exec")));

#define ANNOTATE(level, name) annotate(level, name, __builtin_return_address(0), __builtin_dwarf_cfa())

/* Finds the function of a library that the process has, NULL if there is none. */
static void *handed_on(const char *name, void *_Atomic *known)
{
	void *found = atomic_load(known);
	if (!found)
		atomic_store(known, found = find_symbol(name));
	return found;
}

exported void begin_of_caliper(const char *name) __asm__("cali_begin_region");
exported void begin_of_caliper(const char *name)
{
	static void *_Atomic known;
	void (*to)(const char *) = handed_on("cali_begin_region", &known);
	ANNOTATE(1, name);
	if (to)
		to(name);
}

exported void end_of_caliper(const char *name) __asm__("cali_end_region");
exported void end_of_caliper(const char *name)
{
	static void *_Atomic known;
	void (*to)(const char *) = handed_on("cali_end_region", &known);
	if (to)
		to(name);
	ANNOTATE(-1, name);
}

/* Keeps the name of a range that begins. */
static void push_name(const char *name)
{
	if (pushed++ < MOST_PUSHED)
		pushed_names[pushed - 1] = name ? (unsigned short)keep_name(name) : 0;
}

/* Returns the name of the range that ends, NULL if it is not known. */
static const char *pop_name(void)
{
	if (!pushed || --pushed >= MOST_PUSHED || !pushed_names[pushed])
		return NULL;
	return all_names + pushed_names[pushed];
}

exported int push_of_nvtx(const char *name) __asm__("nvtxRangePushA");
exported int push_of_nvtx(const char *name)
{
	static void *_Atomic known;
	int (*to)(const char *) = handed_on("nvtxRangePushA", &known);
	push_name(name);
	ANNOTATE(1, name);
	return to ? to(name) : (int)pushed - 1;
}

exported int pop_of_nvtx(void) __asm__("nvtxRangePop");
exported int pop_of_nvtx(void)
{
	static void *_Atomic known;
	int (*to)(void) = handed_on("nvtxRangePop", &known);
	int depth = to ? to() : (int)pushed - 1;
	const char *name = pop_name();
	if (name)
		ANNOTATE(-1, name);
	return depth;
}

/* NVTX 3 is in headers, which call what a library puts into tables if NVTX_INJECTION64_PATH is that library. */
struct nvtx_callbacks {
	size_t size;
	int (*table)(int module, void ***out, unsigned *size);
};

enum { NVTX_CALLBACKS = 1, NVTX_CORE = 1, NVTX_PUSH_EX = 8, NVTX_PUSH = 9, NVTX_POP = 11 };

/* The beginning of what nvtxRangePushEx takes. */
struct nvtx_attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t colour_type;
	uint32_t colour;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type; /* 1: of char */
	const char *message;
};

static int push_ex_of_nvtx(const struct nvtx_attributes *a)
{
	const char *name = a && a->message_type == 1 ? a->message : NULL;
	push_name(name);
	if (name)
		ANNOTATE(1, name);
	return (int)pushed - 1;
}

static int push_of_headers(const char *name)
{
	push_name(name);
	if (name)
		ANNOTATE(1, name);
	return (int)pushed - 1;
}

static int pop_of_headers(void)
{
	const char *name = pop_name();
	if (name)
		ANNOTATE(-1, name);
	return (int)pushed;
}

exported int InitializeInjectionNvtx2(const void *(*get)(uint32_t));
exported int InitializeInjectionNvtx2(const void *(*get)(uint32_t))
{
	const struct nvtx_callbacks *callbacks = get(NVTX_CALLBACKS);
	void **table = NULL;
	unsigned size = 0;
	if (!callbacks || callbacks->size < sizeof *callbacks || !callbacks->table(NVTX_CORE, &table, &size) || size <= NVTX_POP)
		return 0;
	*(void **)table[NVTX_PUSH_EX] = (void *)push_ex_of_nvtx;
	*(void **)table[NVTX_PUSH] = (void *)push_of_headers;
	*(void **)table[NVTX_POP] = (void *)pop_of_headers;
	return 1;
}
