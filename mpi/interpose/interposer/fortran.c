/*
 * Programs in Fortran. What Fortran calls is a function of the MPI library that
 * calls the one of C: MPI_Send or, in Open MPI and for much of the module mpi_f08
 * of MPICH, PMPI_Send. So there are wrappers with these names, too. They record a
 * call if it comes from the function of Fortran of the same name, and are not
 * there for all others, such as MPI itself.
 */
static void *_Atomic fortran_library; /* NULL if there is none in the process */
static _Atomic int fortran_known;

/* Where the calls of a function come from that are those of Fortran. An interval
   may go on at zero. */
static struct callers {
	_Atomic int known;
	struct { uintptr_t from, size; } in[2];
} callers[COUNT];

/* Two threads may look for what stays the same from then on, and find the same. */
static void find_fortran_library(void)
{
	Dl_info info;
	if (atomic_load(&fortran_known))
		return;
	void *found = find_symbol("mpi_init_");
	if (found && dladdr(found, &info))
		atomic_store(&fortran_library, dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD));
	atomic_store(&fortran_known, 1);
}

/* Adds the function of Fortran with a name. */
static void add_caller(struct callers *c, int i, const char *name)
{
	Dl_info info;
	const ElfW(Sym) *symbol = NULL;
	void *found = dlsym(fortran_library, name);
	if (!found || !dladdr1(found, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol || info.dli_saddr != found)
		return;
	c->in[i].from = (uintptr_t)found;
	c->in[i].size = symbol->st_size;
}

static int is_in_object(struct dl_phdr_info *info, size_t size, void *data)
{
	uintptr_t *bounds = data, from = UINTPTR_MAX, to = 0;
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type != PT_LOAD)
			continue;
		uintptr_t address = info->dlpi_addr + p->p_vaddr;
		from = address < from ? address : from;
		to = address + p->p_memsz > to ? address + p->p_memsz : to;
	}
	if (bounds[0] - from >= to - from)
		return 0;
	bounds[0] = from;
	bounds[1] = to;
	return 1;
}

static int is_among(const char *const *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i], name))
			return 1;
	return 0;
}

#define IS_AMONG(list, name) is_among(list, sizeof(list) / sizeof *(list), name)

/* The functions of Fortran that end in a jump to that of C are not on the stack:
   their calls come from anywhere but MPI itself. */
static const char *const jumped_to[] = {"PMPI_Wtime", "PMPI_Wtick", "PMPI_Pcontrol", "PMPI_Aint_add", "PMPI_Aint_diff"};

/* These are called by functions of the library that have no names. */
static const char *const called_within[] = {"PMPI_Comm_spawn", "PMPI_Comm_spawn_multiple"};

/* Sets the interval to the object that an address lies in. */
static int set_object(struct callers *c, void *address)
{
	uintptr_t bounds[2] = {(uintptr_t)address};
	if (!dl_iterate_phdr(is_in_object, bounds))
		return 0;
	c->in[0].from = bounds[0];
	c->in[0].size = bounds[1] - bounds[0];
	return 1;
}

static void set_callers(unsigned number, struct callers *c)
{
	const char *name = real_names[number];
	char plain[128], other[sizeof plain + 16];
	int n = 0;
	for (; name[1 + n] && n < (int)sizeof plain - 2; n++)
		plain[n] = (char)tolower((unsigned char)name[1 + n]);
	int large = n > 2 && !strncmp(plain + n - 2, "_c", 2);
	snprintf(other, sizeof other, "%.*s%s", large ? n - 2 : n, plain, large ? "_f08_large_" : "_f08_");
	strcpy(plain + n, "_");
	if (IS_AMONG(called_within, name)) {
		set_object(c, dlsym(fortran_library, "mpi_init_"));
	} else if (!IS_AMONG(jumped_to, name)) {
		add_caller(c, 0, plain);
		add_caller(c, 1, other);
	} else if (set_object(c, real_function(number))) {
		c->in[0].from += c->in[0].size;
		c->in[0].size = -c->in[0].size;
	}
}

static slow void find_callers(unsigned number, struct callers *c)
{
	struct callers found = {0};
	find_fortran_library();
	if (atomic_load(&fortran_library))
		set_callers(number, &found);
	memcpy(c->in, found.in, sizeof found.in);
	atomic_store_explicit(&c->known, 1, memory_order_release);
}

static struct { uintptr_t from, size; } library; /* of the functions of MPI, once a call was made */

static slow void find_library(void)
{
	uintptr_t bounds[2] = {(uintptr_t)find_symbol("PMPI_Initialized")};
	if (!library.size && bounds[0] && dl_iterate_phdr(is_in_object, bounds)) {
		library.from = bounds[0];
		library.size = bounds[1] - bounds[0];
	}
}

static inline int from_fortran(unsigned number, const void *caller)
{
	struct callers *c = &callers[number];
	if (unlikely(!atomic_load_explicit(&c->known, memory_order_acquire)))
		find_callers(number, c);
	return (uintptr_t)caller - c->in[0].from < c->in[0].size || (uintptr_t)caller - c->in[1].from < c->in[1].size;
}

/* The object that the thread last looked at as one that calls are made from inside MPI. */
static __thread struct { uintptr_t from, size; unsigned closed; int of_mpi; } looked_at __attribute__((tls_model("initial-exec")));

/* Reports whether a call of a function is made by MPI itself: by its library, unless the function of Fortran
   makes it that the program has called, or, inside of a call, by one of its components. */
static slow int is_of_mpi(unsigned number, uintptr_t caller)
{
	Dl_info info;
	if (caller - library.from < library.size)
		return !from_fortran(number, (const void *)caller);
	if (caller - looked_at.from < looked_at.size && looked_at.closed == atomic_load(&closed))
		return looked_at.of_mpi;
	uintptr_t bounds[2] = {caller};
	int saved = errno;
	if (!dladdr((void *)caller, &info) || !dl_iterate_phdr(is_in_object, bounds)) {
		errno = saved;
		return 0;
	}
	errno = saved;
	const char *base = strrchr(info.dli_fname, '/');
	looked_at.from = bounds[0];
	looked_at.size = bounds[1] - bounds[0];
	looked_at.closed = atomic_load(&closed);
	looked_at.of_mpi = !strncmp(base ? base + 1 : info.dli_fname, "mca_", 4);
	return looked_at.of_mpi;
}

/* The program makes few calls inside of others: those of its callbacks. */
static inline int by_mpi(unsigned number, const void *caller)
{
	return unlikely((uintptr_t)caller - library.from < library.size || self.depth) && is_of_mpi(number, (uintptr_t)caller);
}

/* MPI_Pcontrol of Fortran hands on the level alone: here is what programs call, with the name of a region if it has
   one, which is as long as the compiler says after it, or ends with char(0). */
exported void control_of_fortran(const int *level, const char *name, size_t length) __asm__("mpi_pcontrol_");
exported void control_of_fortran(const int *level, const char *name, size_t length)
{
	static void *_Atomic real;
	void *to = atomic_load(&real);
	if (!to)
		atomic_store(&real, to = find_function("mpi_pcontrol_"));
	if (*level < -1 || *level > 1 || !take_name(name, length <= MOST_NAME ? length : 0))
		region_name[0] = 0;
	name_of_fortran = 1;
	((void (*)(const int *))to)(level);
	name_of_fortran = 0;
}
