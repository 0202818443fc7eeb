/*
 * Memory that the program maps. Libraries for networks patch the first bytes of these functions, where
 * dlsym finds them, to hear of memory that goes: so the functions have the version that the C library
 * gave its own first, which calls are linked to, and which dlsym does not look at. It finds
 * those of the C library, which are called from here.
 */
#if defined __GLIBC__ && defined __x86_64__
#define FIRST "GLIBC_2.2.5"
#elif defined __GLIBC__ && (defined __aarch64__ || defined __powerpc64__ && defined __LITTLE_ENDIAN__)
#define FIRST "GLIBC_2.17"
#elif defined __GLIBC__ && defined __riscv
#define FIRST "GLIBC_2.27"
#endif

#ifdef FIRST
#define BEFORE(function, name) __asm__(".symver " #function ", " #name "@" FIRST);

static void *(*real_mmap)(void *, size_t, int, int, int, off_t);
static int (*real_munmap)(void *, size_t);
static void *(*real_mremap)(void *, size_t, size_t, int, ...);

static slow void resolve_mapping(void)
{
	int saved = errno;
	resolving = 1;
	real_munmap = dlsym(RTLD_NEXT, "munmap");
	real_mremap = dlsym(RTLD_NEXT, "mremap");
	real_mmap = dlsym(RTLD_NEXT, "mmap");
	resolving = 0;
	errno = saved;
}

exported void *reprise_mmap(void *at, size_t size, int protection, int flags, int file, off_t offset)
{
	if (unlikely(!real_mmap) && !resolving)
		resolve_mapping();
	void *p = real_mmap ? real_mmap(at, size, protection, flags, file, offset)
		: (void *)syscall(SYS_mmap, at, size, protection, flags, file, offset);
	if (p != MAP_FAILED)
		put_allocated(p, size, 0, CALLER);
	return p;
}
BEFORE(reprise_mmap, mmap)
BEFORE(reprise_mmap, mmap64)

exported int reprise_munmap(void *p, size_t size)
{
	if (unlikely(!real_munmap) && !resolving)
		resolve_mapping();
	struct lane *lane = enter_memory(CALLER);
	if (lane) {
		uint64_t *at = reserve(lane, 4);
		if (at) {
			at[1] = now();
			at[2] = WORD(p);
			at[3] = size;
			publish(lane, at, at + 4, UNMAP, 0, 0);
		}
	}
	return real_munmap ? real_munmap(p, size) : (int)syscall(SYS_munmap, p, size);
}
BEFORE(reprise_munmap, munmap)

exported void *reprise_mremap(void *p, size_t old, size_t size, int flags, ...)
{
	void *to = NULL;
	if (flags & MREMAP_FIXED) {
		va_list rest;
		va_start(rest, flags);
		to = va_arg(rest, void *);
		va_end(rest);
	}
	if (unlikely(!real_mremap) && !resolving)
		resolve_mapping();
	uint64_t before = enter_memory(CALLER) ? now() : 0;
	void *q = real_mremap ? real_mremap(p, old, size, flags, to) : (void *)syscall(SYS_mremap, p, old, size, flags, to);
	if (q == MAP_FAILED)
		return q;
	if (old)
		put_resized(q, size, before, (uintptr_t)p, CALLER);
	else
		put_allocated(q, size, 0, CALLER);
	return q;
}
BEFORE(reprise_mremap, mremap)
#endif
