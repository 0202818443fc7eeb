/*
 * Writing values to a record. An argument that is an integer, a handle or a pointer
 * becomes a word.
 */
#define WORD(x) ((uint64_t)(int64_t)(x))

#define PUT_COUNTED(at, n, x) \
	do { \
		*at++ = (uint64_t)(n); \
		for (int64_t i_ = 0; i_ < (n); i_++) \
			*at++ = WORD((x)[i_]); \
	} while (0)

static slow uint64_t error_word(int code);

/* Statuses of our own stand in for those that the program does not ask for: they are told, by their
   length, what stands for no array, and that; or are only asked how much was read. */
enum { NOT_OURS, OURS_TOLD, OURS_ASKED };

static inline uint64_t *put_statuses(uint64_t *at, int64_t n, const MPI_Status *statuses, int errors, int own)
{
	if (own == OURS_ASKED && n >= 0)
		n = IGNORED;
	*at++ = (uint64_t)(own && n >= 0 ? INT64_MIN + n : n);
	for (int64_t i = 0; i < n; i++) {
		*at++ = WORD(statuses[i].MPI_SOURCE);
		*at++ = WORD(statuses[i].MPI_TAG);
		*at++ = errors ? error_word(statuses[i].MPI_ERROR) : 0;
	}
	return at;
}

static inline size_t text_words(int64_t n) { return n > 0 ? ((size_t)n + 7) / 8 : 0; }

static inline uint64_t *put_text(uint64_t *at, int64_t n, const char *text)
{
	*at++ = (uint64_t)n;
	if (n > 0) {
		at[text_words(n) - 1] = 0;
		memcpy(at, text, (size_t)n);
	}
	return at + text_words(n);
}

static inline int64_t length_of(const char *text) { return text ? (int64_t)strlen(text) : ABSENT; }

static inline int64_t length_within(const char *text, int64_t limit)
{
	return !text ? ABSENT : limit <= 0 ? 0 : (int64_t)strnlen(text, (size_t)limit);
}

static slow size_t texts_words(int64_t n, char *const *texts)
{
	size_t words = 0;
	for (int64_t i = 0; i < n; i++)
		words += 1 + text_words(length_of(texts[i]));
	return words;
}

static slow uint64_t *put_texts(uint64_t *at, int64_t n, char *const *texts)
{
	*at++ = (uint64_t)n;
	for (int64_t i = 0; i < n; i++)
		at = put_text(at, length_of(texts[i]), texts[i]);
	return at;
}

/* Lists of strings, each with its closing NULL. */
static slow int64_t list_lengths(int64_t n, char **const *lists)
{
	int64_t total = 0;
	for (int64_t i = 0; i < n; i++) {
		for (int64_t k = 0; lists[i] && lists[i][k]; k++)
			total++;
		total++;
	}
	return total;
}

static slow size_t lists_words(int64_t n, char **const *lists)
{
	size_t words = 0;
	for (int64_t i = 0; i < n; i++) {
		for (int64_t k = 0; lists[i] && lists[i][k]; k++)
			words += 1 + text_words(length_of(lists[i][k]));
		words++;
	}
	return words;
}

static slow uint64_t *put_lists(uint64_t *at, int64_t n, char **const *lists)
{
	*at++ = (uint64_t)(n > 0 ? list_lengths(n, lists) : n);
	for (int64_t i = 0; i < n; i++) {
		for (int64_t k = 0; lists[i] && lists[i][k]; k++)
			at = put_text(at, length_of(lists[i][k]), lists[i][k]);
		*at++ = (uint64_t)ABSENT;
	}
	return at;
}

static inline size_t words_of(int64_t n) { return n > 0 ? (size_t)n : 0; }

/* Whether a receive has left its source or its tag open. Only then is a status news that
   the program does not ask for. */
static _Atomic int wildcards;

static inline int is_wildcard(int source, int tag) { return unlikely(source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG); }

static inline void note_wildcard(int source, int tag)
{
	if (is_wildcard(source, tag) && !atomic_load_explicit(&wildcards, memory_order_relaxed))
		atomic_store_explicit(&wildcards, 1, memory_order_relaxed);
}

/* A message that a probe finds while recording is off has left both open for who receives it. */
static inline void note_message(void)
{
	if (!atomic_load_explicit(&level, memory_order_relaxed))
		atomic_store_explicit(&wildcards, 1, memory_order_relaxed);
}

/* Whether a call has made an object that is there when a request is complete: what completes requests
   is recorded from then on even while recording is off. */
static _Atomic int pending_objects;

static inline int objects_pend(void) { return atomic_load_explicit(&pending_objects, memory_order_relaxed); }
static inline void note_pending_object(void) { atomic_store_explicit(&pending_objects, 1, memory_order_relaxed); }

static inline int any_wildcard(void) { return unlikely(atomic_load_explicit(&wildcards, memory_order_relaxed)); }

/* How many statuses of our own are on the stack of the thread, which may be small. */
enum { FEW_STATUSES = 64 };

struct many_statuses {
	MPI_Status *at;
	size_t size;
};

static slow MPI_Status *map_statuses(struct many_statuses *many, int64_t n)
{
	size_t size = (size_t)n * sizeof(MPI_Status);
	int saved = errno;
	void *at = map_pages(size, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	errno = saved;
	if (at == MAP_FAILED)
		return NULL;
	*many = (struct many_statuses){at, size};
	return at;
}

static inline void unmap_statuses(struct many_statuses *many)
{
	if (unlikely(many->at != NULL))
		unmap_pages(many->at, many->size);
}
