/*
 * Names of regions: MPI_Pcontrol(1, "name") begins one, and with -1 or 0 and the same name it ends. The argument after
 * the level is not there in many programs, and then what is in its place is anything: it is taken for a name only
 * if it points to memory that can be read, with some printable characters before a zero.
 */
enum { MOST_NAME = 255, MOST_OPEN = 64 };

static __thread char region_name[MOST_NAME + 1] __attribute__((tls_model("initial-exec")));
static __thread int name_of_fortran __attribute__((tls_model("initial-exec"))); /* it is in region_name */

/* Copies as many of size bytes as can be read, and returns how many these are. */
static slow ssize_t read_safely(char *to, const char *from, size_t size)
{
	struct iovec here = {to, size}, there = {(void *)from, size};
	ssize_t n = -1;
#ifdef SYS_process_vm_readv
	n = syscall(SYS_process_vm_readv, getpid(), &here, 1, &there, 1, 0);
#endif
	if (n < 0) { /* which may not be allowed in a container, or the memory may end before */
		int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
		if (memory < 0)
			return -1;
		n = pread(memory, to, size, (off_t)(uintptr_t)from);
		close(memory);
	}
	return n;
}

/* Sets the name to what is at an address, of length characters if that is not 0, and reports whether it is one. */
static slow int take_name(const char *from, size_t length)
{
	int saved = errno;
	size_t most = length && length <= MOST_NAME ? length : MOST_NAME + 1, n = 0, page = 4096;
	char found[MOST_NAME + 1];
	if ((uintptr_t)from < page)
		return 0;
	size_t first = page - (uintptr_t)from % page; /* the memory may end with a page */
	ssize_t got = read_safely(found, from, first < most ? first : most);
	if (got > 0 && (size_t)got == first && first < most) {
		ssize_t more = memchr(found, 0, first) ? 0 : read_safely(found + first, from + first, most - first);
		got += more > 0 ? more : 0;
	}
	errno = saved;
	while (got > 0 && n < (size_t)got && (unsigned char)found[n] >= ' ' && found[n] != 0x7f)
		n++;
	if (got <= 0 || (n < (size_t)got ? found[n] != 0 : n < most || !length) || n > MOST_NAME)
		return 0;
	while (length && n > 0 && found[n - 1] == ' ')
		n--;
	memcpy(region_name, found, n);
	region_name[n] = 0;
	return n > 0;
}

/* The regions that have begun, by the hashes of their names. */
static struct { _Atomic uint64_t name; _Atomic int count; } open_regions[MOST_OPEN];

static uint64_t hash_of(const char *name)
{
	uint64_t hash = UINT64_C(14695981039346656037);
	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * UINT64_C(1099511628211);
	return hash | 1;
}

/* Counts a region that begins. */
static void open_region(uint64_t name)
{
	for (int i = 0; i < MOST_OPEN; i++) {
		uint64_t known = 0;
		if (atomic_compare_exchange_strong(&open_regions[i].name, &known, name) || known == name) {
			atomic_fetch_add(&open_regions[i].count, 1);
			return;
		}
	}
}

/* Reports whether a region with a name has begun, and counts that it ends. */
static int close_region(uint64_t name)
{
	for (int i = 0; i < MOST_OPEN; i++) {
		uint64_t known = atomic_load(&open_regions[i].name);
		if (known == name && atomic_load(&open_regions[i].count) > 0)
			return atomic_fetch_sub(&open_regions[i].count, 1) > 0;
		if (!known)
			return 0;
	}
	return 0;
}

/* Returns the name of the region that a call of MPI_Pcontrol begins or ends, NULL if it does not. */
static slow const char *region_of(int wanted, const char *argument)
{
	if (wanted < -1 || wanted > 1)
		return NULL;
	int named = name_of_fortran ? region_name[0] != 0 : take_name(argument, 0);
	if (!named)
		return NULL;
	if (wanted == 1)
		open_region(hash_of(region_name));
	else if (!close_region(hash_of(region_name)))
		return NULL;
	return region_name;
}

/* The argument of a function after the last one that it declares, of a level that may have a name. */
#define ARGUMENT_AFTER(last) __extension__ ({ \
	const char *argument_ = NULL; \
	if ((last) >= -1 && (last) <= 1) { \
		va_list list_; \
		va_start(list_, last); \
		argument_ = va_arg(list_, const char *); \
		va_end(list_); \
	} \
	argument_; })
