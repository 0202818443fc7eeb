/*
 * Finding the functions of MPI, and starting and switching the recording. No lock
 * of ours is held while the loader is asked: it may be loading a library in another
 * thread whose constructor calls MPI.
 */
enum { OBJECTS = 1024, OBJECT_NAME = 256 };

struct objects {
	char names[OBJECTS][OBJECT_NAME];
	int n;
};

static int remember_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct objects *objects = data;
	(void)size;
	if (objects->n < OBJECTS && strlen(info->dlpi_name) < OBJECT_NAME)
		strcpy(objects->names[objects->n++], info->dlpi_name);
	return 0;
}

/* Reports whether an address lies in this library itself. */
static int is_own(const void *address)
{
	Dl_info own, other;
	return dladdr(directory, &own) && dladdr(address, &other) && own.dli_fbase == other.dli_fbase;
}

/* Finds what no global scope has, because the program itself is loaded by an
   interpreter. */
static slow void *find_in_objects(const char *name)
{
	void *found = NULL;
	struct objects *objects = map_pages(sizeof *objects, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (objects == MAP_FAILED)
		return NULL;
	dl_iterate_phdr(remember_object, objects);
	for (int i = 0; i < objects->n && !found; i++) {
		void *object = dlopen(objects->names[i], RTLD_LAZY | RTLD_NOLOAD);
		if (object) {
			found = dlsym(object, name);
			if (found && is_own(found))
				found = NULL;
			dlclose(object);
		}
	}
	unmap_pages(objects, sizeof *objects);
	return found;
}

/* The library of MPI, if the program has looked it up there; it may be in no scope, or in another namespace. */
static void *mpi_handle;

/* Finds what another library has. */
static slow void *find_symbol(const char *name)
{
	void *found = mpi_handle ? dlsym(mpi_handle, name) : NULL;
	if (!found)
		found = dlsym(RTLD_NEXT, name);
	return found ? found : find_in_objects(name);
}

/* Finds a variable. The one that counts may be a copy in the program. */
static slow void *find_variable(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);
	return found ? found : find_symbol(name);
}

static slow void *find_function(const char *name)
{
	void *found = find_symbol(name);
	if (!found) {
		fprintf(stderr, "reprise: no library has %s\n", name);
		abort();
	}
	return found;
}

/* The program may change its working directory. */
static slow int set_directory(const char *wanted)
{
	char *at = directory;
	if (*wanted != '/') {
		if (!getcwd(directory, sizeof directory - 1)) {
			complain("the working directory");
			return 0;
		}
		at += strlen(directory);
		*at++ = '/';
	}
	if (strlen(wanted) >= (size_t)(directory + sizeof directory - at)) {
		errno = ENAMETOOLONG;
		complain(wanted);
		return 0;
	}
	strcpy(at, wanted);
	return 1;
}

static slow void start_in(const char *wanted)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static int registered;
	pthread_mutex_lock(&lock);
	if (!loaded && set_directory(wanted)) {
		find_clock();
		job = find_job();
		machine = find_machine();
		both_clocks(&load_ticks, &load_monotonic);
		loaded = real_time_at(load_monotonic);
		open_spares();
		/* The first segment needs the rate of the ticks. */
		while (invariant && nanoseconds(CLOCK_MONOTONIC) - load_monotonic < 200000)
			;
		const char *off = getenv("REPRISE_RECORD");
		if (off && !strcmp(off, "off"))
			atomic_store(&level, 0);
		const char *wanted_sites = getenv("REPRISE_SITES");
		stacks = wanted_sites && !strcmp(wanted_sites, "stack");
		if (stacks || wanted_sites && !strcmp(wanted_sites, "caller"))
			sites = readlink("/proc/self/exe", program_name, sizeof program_name - 1) > 0;
		if (!registered)
			registered = !pthread_key_create(&thread_end, leave_lane) && !pthread_atfork(NULL, NULL, in_child);
		if (registered) {
			madvise(&active, sizeof active, MADV_WIPEONFORK);
			atomic_store(&active.flag, 1);
		} else {
			complain("pthread_key_create");
		}
	}
	pthread_mutex_unlock(&lock);
}

/* Finds out whether the process has another MPI than this library was built for:
   one whose handles are of another size and whose constants have other values. The
   wrappers pass on the calls of any MPI, but nothing may be recorded. */
static slow void check_implementation(void)
{
#if defined(OPEN_MPI) || defined(MPICH_VERSION)
	const char *name = "ompi_mpi_comm_world";
	int open_mpi = mpi_handle ? dlsym(mpi_handle, name) != NULL : dlsym(RTLD_NEXT, name) || !dlsym(RTLD_NEXT, "PMPI_Init") && find_in_objects(name);
#ifdef OPEN_MPI
	foreign = !open_mpi;
#else
	foreign = open_mpi;
#endif
#endif
}

#ifdef OPEN_MPI
#define OWN_MPI "Open MPI"
#define OTHER_COMPILER "mpicc.mpich"
#else
#define OWN_MPI "MPICH"
#define OTHER_COMPILER "mpicc.openmpi"
#endif

static slow void refuse(void)
{
	static _Atomic int once;
	if (!atomic_exchange(&once, 1))
		fprintf(stderr, "reprise: process %d uses another MPI than the interposer was built for, which is " OWN_MPI "; its calls are not recorded: "
			"name the compiler command of its MPI, as in record --mpicc " OTHER_COMPILER "\n", (int)getpid());
}

/* Starts the recording in a process that has MPI. */
static slow void start(void)
{
	const char *wanted = getenv("REPRISE_SPOOL");
	check_implementation();
	if (!wanted || !*wanted)
		return;
	if (foreign)
		refuse();
	else
		start_in(wanted);
}

/* A process that is linked with MPI is recorded from here on, for the sake of its
   memory; one that loads MPI later, from its first call of MPI_Init, or one of those that
   may come before. */
__attribute__((constructor)) static void load(void)
{
	main_thread = pthread_self();
	dl_iterate_phdr(find_program, NULL);
	if (dlsym(RTLD_NEXT, "PMPI_Init"))
		start();
}

/* Recording is switched by MPI_Pcontrol and MPI_Info_set: on also where MPI_Pcontrol begins a region, as what looks like
   a name may be what was left in a register. */
static void control(int wanted, const char *region)
{
	if (wanted >= (region ? 1 : 0) && wanted <= 2)
		atomic_store(&level, wanted != 0);
}

static void control_by_info(const char *key, const char *value)
{
	if (!key || !value || strcmp(key, "reprise_record"))
		return;
	if (!strcmp(value, "on"))
		atomic_store(&level, 1);
	else if (!strcmp(value, "off"))
		atomic_store(&level, 0);
}

static _Atomic uint64_t constant_types[256]; /* the datatypes among the constants */

static void put_constant(struct lane *lane, unsigned number, uint64_t value)
{
	uint64_t *at = reserve(lane, 2);
	if (!at)
		return;
	at[1] = value;
	publish(lane, at, at + 2, CONSTANT, number, 0);
}
