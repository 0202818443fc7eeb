/*
 * The functions of the loader that find others. Those that the program is given for functions of MPI, see lookups.c,
 * stand before the ones of the C library, which are found in the tables of the loaded objects: to ask the loader for
 * them would be to ask ourselves.
 */
extern ElfW(Dyn) own_dynamic[] __asm__("_DYNAMIC") __attribute__((visibility("hidden")));

/* A sanitizer may ask before it has the functions of the C library that it stands before: none is called. */
static int are_equal(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

static const ElfW(Sym) *symbol_in(const ElfW(Sym) *symbols, const char *strings, const uint32_t *table, const char *name)
{
	uint32_t hash = 5381, i;
	for (const char *c = name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	const uint32_t *buckets = table + 4 + table[2] * (sizeof(ElfW(Addr)) / sizeof *table), *chain = buckets + table[0];
	if (!table[0] || (i = buckets[hash % table[0]]) < table[1])
		return NULL;
	for (;; i++) {
		uint32_t of = chain[i - table[1]];
		if ((of | 1) == (hash | 1) && symbols[i].st_shndx != SHN_UNDEF && are_equal(strings + symbols[i].st_name, name))
			return &symbols[i];
		if (of & 1)
			return NULL;
	}
}

static const ElfW(Sym) *symbol_of(const struct link_map *object, const char *name)
{
	uintptr_t symbols = 0, strings = 0, table = 0;
	for (const ElfW(Dyn) *d = object->l_ld; d && d->d_tag != DT_NULL; d++) {
		uintptr_t at = d->d_un.d_ptr < object->l_addr ? object->l_addr + d->d_un.d_ptr : d->d_un.d_ptr;
		if (d->d_tag == DT_SYMTAB)
			symbols = at;
		else if (d->d_tag == DT_STRTAB)
			strings = at;
		else if (d->d_tag == DT_GNU_HASH)
			table = at;
	}
	if (!symbols || !strings || !table)
		return NULL;
	return symbol_in((const ElfW(Sym) *)symbols, (const char *)strings, (const uint32_t *)table, name);
}

/* The function of another object, the first behind this one that has it. One before it, as of a sanitizer, calls us. */
static slow void *lookup(const char *name)
{
	int behind = 0;
	for (const struct link_map *object = _r_debug.r_map; object; object = object->l_next) {
		const ElfW(Sym) *s = behind ? symbol_of(object, name) : NULL;
		behind |= object->l_ld == own_dynamic;
		if (s)
			return (void *)(object->l_addr + s->st_value);
	}
	return NULL;
}

static void *(*real_dlsym)(void *, const char *);

/* What is looked up here is what the C library finds. */
static inline void *look_up(void *handle, const char *name)
{
	if (unlikely(!real_dlsym) && !(real_dlsym = (void *(*)(void *, const char *))lookup("dlsym")))
		return NULL;
	void *volatile found = real_dlsym(handle, name); /* it looks at who calls: no jump */
	return found;
}
#define dlsym(handle, name) look_up(handle, name)
