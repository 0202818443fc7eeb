/*
 * The functions that allocate memory. What happens inside a call of MPI is the memory
 * of MPI itself and not recorded, unless the program itself calls them, in one of its
 * callbacks.
 */
static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static void (*real_free)(void *);
static int (*real_posix_memalign)(void **, size_t, size_t);
static void *(*real_aligned_alloc)(size_t, size_t);
static void *(*real_memalign)(size_t, size_t);
static void *(*real_valloc)(size_t);
static void *(*real_pvalloc)(size_t);

/* What is asked for while the functions are looked up comes from here and is
   never freed. */
static char early[64 << 10] __attribute__((aligned(64)));
static _Atomic size_t early_used;
static __thread int resolving __attribute__((tls_model("initial-exec")));

static slow void *allocate_early(size_t size, size_t alignment)
{
	size_t used;
	if (size > sizeof early || alignment > sizeof early ||
		(used = atomic_fetch_add(&early_used, size + alignment)) + size + alignment > sizeof early) {
		errno = ENOMEM;
		return NULL;
	}
	uintptr_t address = (uintptr_t)early + used;
	return (void *)((address + alignment - 1) & ~(uintptr_t)(alignment - 1));
}

static inline int is_early(const void *p)
{
	return (uintptr_t)p - (uintptr_t)early < sizeof early;
}

static slow void resolve_memory(void)
{
	int saved = errno;
	resolving = 1;
	real_calloc = dlsym(RTLD_NEXT, "calloc");
	real_realloc = dlsym(RTLD_NEXT, "realloc");
	real_free = dlsym(RTLD_NEXT, "free");
	real_posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
	real_aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
	real_memalign = dlsym(RTLD_NEXT, "memalign");
	real_valloc = dlsym(RTLD_NEXT, "valloc");
	real_pvalloc = dlsym(RTLD_NEXT, "pvalloc");
	real_malloc = dlsym(RTLD_NEXT, "malloc");
	resolving = 0;
	errno = saved;
}

#define RESOLVE(real, otherwise) \
	do { \
		if (unlikely(!real)) { \
			if (!resolving) \
				resolve_memory(); \
			if (!real) \
				return otherwise; \
		} \
	} while (0)

static inline struct lane *enter_memory(const void *caller)
{
	if (unlikely(!atomic_load_explicit(&active.flag, memory_order_relaxed)))
		return NULL;
	if (self.depth && (uintptr_t)caller - program[0] >= program[1] - program[0])
		return NULL;
	return enter(1);
}

#define CALLER __builtin_return_address(0)

/* A device is its number and one, and 0 is the host. */
static inline void put_allocated(const void *p, size_t size, unsigned device, const void *caller)
{
	struct lane *lane;
	if (p && (lane = enter_memory(caller))) {
		uint64_t *at = reserve(lane, 4);
		if (at) {
			at[1] = now_ordered();
			at[2] = WORD(p);
			at[3] = size;
			publish(lane, at, at + 4, ALLOCATE, device, 0);
		}
	}
}

static inline void *allocated(void *p, size_t size, const void *caller)
{
	put_allocated(p, size, 0, caller);
	return p;
}

static inline void put_released(const void *p, const void *caller)
{
	struct lane *lane = enter_memory(caller);
	if (lane) {
		uint64_t *at = reserve(lane, 3);
		if (at) {
			at[1] = now();
			at[2] = WORD(p);
			publish(lane, at, at + 3, RELEASE, 0, 0);
		}
	}
}

static inline void put_resized(const void *p, size_t size, uint64_t before, uintptr_t old, const void *caller)
{
	struct lane *lane = enter_memory(caller);
	if (lane) {
		uint64_t *at = reserve(lane, 6);
		if (at) {
			at[1] = now_ordered();
			at[2] = WORD(p);
			at[3] = size;
			at[4] = before;
			at[5] = (uint64_t)old;
			publish(lane, at, at + 6, RESIZE, 0, 0);
		}
	}
}

exported void *malloc(size_t size)
{
	RESOLVE(real_malloc, allocate_early(size, 16));
	return allocated(real_malloc(size), size, CALLER);
}

exported void *calloc(size_t n, size_t size)
{
	RESOLVE(real_calloc, n && size > SIZE_MAX / n ? NULL : allocate_early(n * size, 16));
	return allocated(real_calloc(n, size), n * size, CALLER);
}

exported void free(void *p)
{
	if (!p || unlikely(is_early(p)))
		return;
	RESOLVE(real_free, (void)0);
	put_released(p, CALLER);
	real_free(p);
}

static slow void *realloc_early(void *p, size_t size)
{
	size_t known = (size_t)(early + sizeof early - (char *)p);
	void *q = malloc(size);
	if (q)
		memcpy(q, p, size < known ? size : known);
	return q;
}

exported void *realloc(void *p, size_t size)
{
	if (unlikely(p && is_early(p)))
		return realloc_early(p, size);
	RESOLVE(real_realloc, p ? NULL : allocate_early(size, 16));
	if (!p)
		return allocated(real_realloc(NULL, size), size, CALLER);
	uint64_t before = enter_memory(CALLER) ? now() : 0;
	uintptr_t old = (uintptr_t)p;
	void *q = real_realloc(p, size);
	if (q || !size)
		put_resized(q, size, before, old, CALLER);
	return q;
}

exported int posix_memalign(void **p, size_t alignment, size_t size)
{
	RESOLVE(real_posix_memalign, ENOMEM);
	int result = real_posix_memalign(p, alignment, size);
	if (!result)
		allocated(*p, size, CALLER);
	return result;
}

exported void *aligned_alloc(size_t alignment, size_t size)
{
	RESOLVE(real_aligned_alloc, allocate_early(size, alignment));
	return allocated(real_aligned_alloc(alignment, size), size, CALLER);
}

exported void *memalign(size_t alignment, size_t size)
{
	RESOLVE(real_memalign, allocate_early(size, alignment));
	return allocated(real_memalign(alignment, size), size, CALLER);
}

exported void *valloc(size_t size)
{
	RESOLVE(real_valloc, NULL);
	return allocated(real_valloc(size), size, CALLER);
}

exported void *pvalloc(size_t size)
{
	RESOLVE(real_pvalloc, NULL);
	return allocated(real_pvalloc(size), size, CALLER);
}
