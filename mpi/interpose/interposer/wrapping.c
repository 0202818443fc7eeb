/*
 * Functions of a program that wrap one of MPI, as hypre_MPI_Isend does MPI_Isend: calls in them are made where
 * they are called. They are told by their names, in the table of symbols of the object's file. Those that stand
 * one after the other are one range of addresses.
 */
enum { WRAPPING = 32, RANGES = 64, PADDING = 31, MOST_WRAPPER = 1024, LEAST_WRAPPERS = 2 };

struct wrapping {
	uintptr_t from, size; /* the object */
	unsigned closed;      /* objects had been closed when it was looked at */
	unsigned n;
	struct { uintptr_t from, to; } ranges[RANGES]; /* ascending */
};

static struct wrapping wrappings[WRAPPING];
static unsigned wrapping_next;
static pthread_mutex_t wrapping_lock = PTHREAD_MUTEX_INITIALIZER;

/* Reports whether a function is called as one of MPI, with something before that. */
static int is_wrapping(const char *name, size_t most)
{
	size_t n = strnlen(name, most);
	const char *dot = memchr(name, '.', n); /* of a part of it, or a copy */
	n = dot ? (size_t)(dot - name) : n;
	if (n == most || !strncmp(name, "_Z", 2) || !strncmp(name, "PMPI_", 5))
		return 0;
	for (size_t at = n < 5 ? 0 : n - 5; at > 0; at--) {
		if (strncmp(name + at, "MPI_", 4))
			continue;
		for (int i = 0; i < COUNT; i++)
			if (real_names[i] && strlen(real_names[i] + 1) == n - at && !strncmp(real_names[i] + 1, name + at, n - at))
				return 1;
		return 0;
	}
	return 0;
}

/* Adds a function. */
static void add_wrapping(struct wrapping *w, uintptr_t from, uintptr_t to)
{
	unsigned i = w->n;
	while (i > 0 && w->ranges[i - 1].from > from)
		i--;
	if (w->n == RANGES) /* the next may be joined to another; this one is left out if not */
		i = RANGES;
	else {
		memmove(&w->ranges[i + 1], &w->ranges[i], (w->n++ - i) * sizeof w->ranges[0]);
		w->ranges[i].from = from;
		w->ranges[i].to = to;
	}
	for (i = 1; i < w->n; i++) {
		if (w->ranges[i].from > w->ranges[i - 1].to + PADDING)
			continue;
		if (w->ranges[i].to > w->ranges[i - 1].to)
			w->ranges[i - 1].to = w->ranges[i].to;
		memmove(&w->ranges[i], &w->ranges[i + 1], (--w->n - i) * sizeof w->ranges[0]);
		i--;
	}
}

/* Finds the functions in a file of size bytes, whose object has its base there. */
static void read_wrapping(struct wrapping *w, const char *file, size_t size, uintptr_t base)
{
	const ElfW(Ehdr) *head = (const void *)file;
	if (size < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
	    head->e_shentsize != sizeof(ElfW(Shdr)) || head->e_shoff > size || head->e_shnum > (size - head->e_shoff) / sizeof(ElfW(Shdr)))
		return;
	const ElfW(Shdr) *sections = (const void *)(file + head->e_shoff), *symbols = NULL;
	for (unsigned i = 0; i < head->e_shnum; i++)
		if (sections[i].sh_type == SHT_SYMTAB || (sections[i].sh_type == SHT_DYNSYM && !symbols))
			symbols = &sections[i];
	if (!symbols || symbols->sh_link >= head->e_shnum)
		return;
	const ElfW(Shdr) *strings = &sections[symbols->sh_link];
	if (symbols->sh_offset > size || symbols->sh_size > size - symbols->sh_offset || symbols->sh_offset % sizeof(void *) ||
	    strings->sh_offset > size || strings->sh_size > size - strings->sh_offset)
		return;
	const ElfW(Sym) *list = (const void *)(file + symbols->sh_offset);
	unsigned found = 0;
	for (size_t i = 0; i < symbols->sh_size / sizeof *list; i++) {
		const ElfW(Sym) *s = &list[i];
		if ((s->st_info & 15) != STT_FUNC || s->st_shndx == SHN_UNDEF || !s->st_size || s->st_size > MOST_WRAPPER || s->st_name >= strings->sh_size)
			continue;
		if (!is_wrapping(file + strings->sh_offset + s->st_name, strings->sh_size - s->st_name))
			continue;
		add_wrapping(w, base + s->st_value, base + s->st_value + s->st_size);
		found++;
	}
	if (found < LEAST_WRAPPERS)
		w->n = 0;
}

/* Returns the functions of an object in a file. */
static const struct wrapping *wrapping_of(uintptr_t from, uintptr_t size, const char *path, uintptr_t base)
{
	unsigned now_closed = atomic_load(&closed);
	for (unsigned i = 0; i < WRAPPING; i++)
		if (wrappings[i].from == from && wrappings[i].size == size && wrappings[i].closed == now_closed)
			return &wrappings[i];
	struct wrapping *w = &wrappings[wrapping_next++ % WRAPPING];
	w->from = from;
	w->size = size;
	w->closed = now_closed;
	w->n = 0;
	struct stat of;
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file >= 0 && !fstat(file, &of) && of.st_size > 0) {
		char *memory = map_pages((size_t)of.st_size, MAP_PRIVATE, file);
		if (memory != MAP_FAILED) {
			read_wrapping(w, memory, (size_t)of.st_size, base);
			unmap_pages(memory, (size_t)of.st_size);
		}
	}
	if (file >= 0)
		close(file);
	return w;
}

/* Makes an object, in a file, that part of itself in which an address lies: such functions, whose calls are passed on,
   or what is between them. */
static slow void narrow(struct module *m, uintptr_t address, const char *path, uintptr_t base)
{
	pthread_mutex_lock(&wrapping_lock);
	const struct wrapping *w = wrapping_of(m->from, m->size, path, base);
	uintptr_t from = m->from, to = m->from + m->size;
	for (unsigned i = 0; i < w->n; i++) {
		if (address >= w->ranges[i].to) {
			from = w->ranges[i].to;
		} else if (address >= w->ranges[i].from) {
			from = w->ranges[i].from;
			to = w->ranges[i].to;
			m->passed = WRAPS;
			break;
		} else {
			to = w->ranges[i].from;
			break;
		}
	}
	m->from = from;
	m->size = to - from;
	pthread_mutex_unlock(&wrapping_lock);
}
