/*
 * Programs that look up the functions of MPI, as bindings of other languages do, in a library that is loaded for them alone: they
 * get the wrappers. All else that is looked up is left to the loader, which looks at who asks: so it is jumped to.
 */
#define jumps __attribute__((optimize("optimize-sibling-calls")))

static const void *object_of(const void *address)
{
	Dl_info info;
	return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

/* What RTLD_NEXT finds for a caller: in the objects behind its own. */
static slow void *find_behind(const void *caller, const char *name)
{
	Dl_info info;
	struct link_map *map = NULL;
	void *found = NULL;
	if (!dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
		return NULL;
	while (!found && (map = map->l_next)) {
		void *object = *map->l_name ? dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
		if (!object)
			continue;
		found = dlsym(object, name);
		dlclose(object);
	}
	void *volatile error = found ? NULL : dlsym(RTLD_NEXT, name); /* which the program may ask for */
	return found ? found : error;
}

/* Returns the number of a function that is recorded, or -1. */
static int number_of(const char *name)
{
	for (int i = 0; i < COUNT; i++)
		if (real_names[i] && !strcmp(real_names[i] + 1, name))
			return i;
	return -1;
}

/* Returns what a program is given for what was found: the wrapper for a function of MPI itself, and not for one of a tool
   that has the same name. */
static slow void *given_for(void *found, void *handle, const char *name, const void *caller)
{
	int number = number_of(name), special = handle == RTLD_NEXT || handle == RTLD_DEFAULT;
	if (!found || number < 0)
		return found;
	const char *real_name = real_names[number];
	if (is_own(found)) /* found or not, as if we were not there */
		return find_symbol(real_name) ? found : dlsym(RTLD_NEXT, name);
	void *real = special ? find_symbol(real_name) : dlsym(handle, real_name);
	if (!real || object_of(real) != object_of(found) || object_of(caller) == object_of(found))
		return found;
	if (!special && !mpi_handle) {
		Dl_info info;
		void *kept = dladdr(real, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
		if (kept && dlsym(kept, real_name) != real) { /* of another namespace */
			dlclose(kept);
			kept = NULL;
		}
		mpi_handle = kept ? kept : handle;
	}
	if (!real_functions[number])
		real_functions[number] = real;
	return own_wrappers[number];
}

static inline int is_mpi_name(const char *name) { return name && name[0] == 'M' && name[1] == 'P' && name[2] == 'I' && name[3] == '_'; }

/* Whether something was opened in a way by which its calls of MPI do not come here: it is told of once it is used. */
static _Atomic int opened_apart;

static slow void look_at_apart(void *handle)
{
	static _Atomic int once;
	void *real;
	if (handle == RTLD_NEXT || handle == RTLD_DEFAULT || !handle)
		return;
	real = dlsym(handle, "PMPI_Init");
	if (real && getenv("REPRISE_SPOOL") && !atomic_exchange(&once, 1))
		fprintf(stderr, "reprise: process %d has loaded MPI with dlmopen or RTLD_DEEPBIND: what it does not look up with dlsym, but is linked there, is not recorded\n",
			(int)getpid());
	atomic_store(&opened_apart, 0);
}

exported void *given_dlsym(void *handle, const char *name) __asm__("dlsym");
exported jumps void *given_dlsym(void *handle, const char *name)
{
	if (unlikely(!real_dlsym))
		real_dlsym = (void *(*)(void *, const char *))lookup("dlsym");
	if (unlikely(is_mpi_name(name)))
		return given_for(handle == RTLD_NEXT ? find_behind(CALLER, name) : dlsym(handle, name), handle, name, CALLER);
	if (unlikely(atomic_load_explicit(&opened_apart, memory_order_relaxed)))
		look_at_apart(handle);
	return real_dlsym(handle, name);
}

exported void *given_dlvsym(void *handle, const char *name, const char *version) __asm__("dlvsym");
exported jumps void *given_dlvsym(void *handle, const char *name, const char *version)
{
	static void *(*real)(void *, const char *, const char *);
	if (unlikely(!real))
		real = (void *(*)(void *, const char *, const char *))lookup("dlvsym");
	if (unlikely(is_mpi_name(name))) {
		void *volatile found = handle == RTLD_NEXT ? find_behind(CALLER, name) : real(handle, name, version);
		return given_for(found, handle, name, CALLER);
	}
	return real(handle, name, version);
}

exported void *given_dlmopen(Lmid_t space, const char *file, int flags) __asm__("dlmopen");
exported jumps void *given_dlmopen(Lmid_t space, const char *file, int flags)
{
	static void *(*real)(Lmid_t, const char *, int);
	if (unlikely(!real))
		real = (void *(*)(Lmid_t, const char *, int))lookup("dlmopen");
	if (space != LM_ID_BASE)
		atomic_store(&opened_apart, 1);
	return real(space, file, flags);
}

exported void *given_dlopen(const char *file, int flags) __asm__("dlopen");
exported jumps void *given_dlopen(const char *file, int flags)
{
	static void *(*real)(const char *, int);
	if (unlikely(!real))
		real = (void *(*)(const char *, int))lookup("dlopen");
	if (unlikely(flags & RTLD_DEEPBIND))
		atomic_store(&opened_apart, 1);
	return real(file, flags);
}
