/* Copies records between a pipe and an archive of OTF2: see package otf2, stream.go, for what is on the pipe.

     bridge read ANCHOR    writes all records of an archive to standard output
     bridge write DIR      makes an archive of the records on standard input

   It ends with status 1 and says why on standard error if libotf2 refuses anything, or the input is not what it
   has to be. */
#define _GNU_SOURCE
#include <otf2/otf2.h>
#include <otf2/OTF2_MarkerReader.h>
#include <otf2/OTF2_MarkerWriter.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if OTF2_VERSION_MAJOR < 3
#error "OTF2 3.0 or later is needed"
#endif

enum { END, LOCATION }; /* numbers that are no kinds of records */

__attribute__((noreturn, format(printf, 1, 2))) static void fail(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(1);
}

/* quiet is set while an error of libotf2 is none, and told when it has said what an error is: then come further
   lines, of its callers. */
static int quiet, told;

/* said is what libotf2 says of an error. */
static OTF2_ErrorCode said(void *data, const char *file, uint64_t line, const char *function, OTF2_ErrorCode code,
	const char *format, va_list arguments)
{
	(void)data, (void)file, (void)line, (void)function;
	if (code == OTF2_SUCCESS || code < 0 || quiet || told) /* below 0 are warnings */
		return code;
	told = 1;
	fprintf(stderr, "libotf2: %s: ", OTF2_Error_GetDescription(code));
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	return code;
}

static void check(OTF2_ErrorCode code, const char *what)
{
	if (code != OTF2_SUCCESS)
		fail("%s: %s", what, OTF2_Error_GetDescription(code));
}

/* Output. */

static uint8_t out[1 << 16];
static size_t written;

static void flush(void)
{
	for (size_t at = 0; at < written;) {
		ssize_t n = write(1, out + at, written - at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(1); /* nobody reads it */
		at += n;
	}
	written = 0;
}

static inline void put(uint64_t v)
{
	if (written > sizeof out - 10)
		flush();
	while (v >= 0x80) {
		out[written++] = v | 0x80;
		v >>= 7;
	}
	out[written++] = v;
}

static void put_text(const char *text)
{
	size_t length = strlen(text);
	put(length);
	while (length > 0) {
		if (written == sizeof out)
			flush();
		size_t n = sizeof out - written < length ? sizeof out - written : length;
		memcpy(out + written, text, n);
		written += n, text += n, length -= n;
	}
}

/* bits are those of a value of a type of OTF2. */
static uint64_t bits(OTF2_Type type, OTF2_AttributeValue v)
{
	switch (type) {
	case OTF2_TYPE_UINT8:
		return v.uint8;
	case OTF2_TYPE_UINT16:
		return v.uint16;
	case OTF2_TYPE_INT8:
		return (uint64_t)(int64_t)v.int8;
	case OTF2_TYPE_INT16:
		return (uint64_t)(int64_t)v.int16;
	case OTF2_TYPE_INT32:
		return (uint64_t)(int64_t)v.int32;
	case OTF2_TYPE_UINT64:
	case OTF2_TYPE_INT64:
	case OTF2_TYPE_DOUBLE:
	case OTF2_TYPE_LOCATION:
		return v.uint64;
	case OTF2_TYPE_NONE:
		return 0;
	}
	return v.uint32;
}

static uint64_t last_time; /* of the events of a location */

/* event begins an event. */
static inline void event(unsigned number, OTF2_TimeStamp time, OTF2_AttributeList *attributes)
{
	uint32_t n = attributes ? OTF2_AttributeList_GetNumberOfElements(attributes) : 0;
	put(number * 2 + (n > 0));
	int64_t step = (int64_t)(time - last_time);
	put((uint64_t)step << 1 ^ (uint64_t)(step >> 63));
	last_time = time;
	if (n == 0)
		return;
	put(n);
	for (uint32_t i = 0; i < n; i++) {
		OTF2_AttributeRef id;
		OTF2_Type type;
		OTF2_AttributeValue v;
		check(OTF2_AttributeList_GetAttributeByIndex(attributes, i, &id, &type, &v), "attribute");
		put(id), put(type), put(bits(type, v));
	}
}

/* Input. */

static uint8_t in[1 << 16];
static size_t at, filled;

/* fill reads more, and returns whether there is any. */
static int fill(void)
{
	memmove(in, in + at, filled - at);
	filled -= at, at = 0;
	for (;;) {
		ssize_t n = read(0, in + filled, sizeof in - filled);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			fail("standard input: %s", strerror(errno));
		filled += n;
		return n > 0;
	}
}

static inline uint64_t get(void)
{
	uint64_t v = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		if (at == filled && !fill())
			fail("the records end early");
		uint8_t b = in[at++];
		v |= (uint64_t)(b & 0x7f) << shift;
		if (b < 0x80)
			return v;
	}
	fail("a number is too long");
}

/* fit returns a value that must have some bits at most. */
static inline uint64_t fit(uint64_t v, unsigned size, const char *what)
{
	if (size < 8 && v >> 8 * size != 0)
		fail("%s: %llu does not fit in %u bytes", what, (unsigned long long)v, size);
	return v;
}

#define GET(type, what) ((type)fit(get(), sizeof(type), what))

static OTF2_AttributeValue get_value(OTF2_Type type, const char *what)
{
	uint64_t u = get();
	OTF2_AttributeValue v = {.uint64 = 0};
	switch (type) {
	case OTF2_TYPE_UINT8:
		v.uint8 = fit(u, 1, what);
		break;
	case OTF2_TYPE_UINT16:
		v.uint16 = fit(u, 2, what);
		break;
	case OTF2_TYPE_INT8:
		v.int8 = fit(u + 0x80, 1, what) - 0x80;
		break;
	case OTF2_TYPE_INT16:
		v.int16 = fit(u + 0x8000, 2, what) - 0x8000;
		break;
	case OTF2_TYPE_INT32:
		v.int32 = fit(u + 0x80000000, 4, what) - 0x80000000;
		break;
	case OTF2_TYPE_UINT64:
	case OTF2_TYPE_INT64:
	case OTF2_TYPE_DOUBLE:
	case OTF2_TYPE_LOCATION:
		v.uint64 = u;
		break;
	default:
		v.uint32 = fit(u, 4, what);
	}
	return v;
}

/* room makes room for more elements of an array. */
static void *room(void *array, size_t *capacity, size_t used, size_t size)
{
	if (used < *capacity)
		return array;
	*capacity = *capacity ? *capacity * 2 : 16;
	if (!(array = realloc(array, *capacity * size)))
		fail("no memory");
	return array;
}

static const char *get_text(int which, const char *what)
{
	static char *buffers[2];
	static size_t capacities[2];
	uint64_t length = get();
	size_t n = 0;
	for (;; n++) {
		buffers[which] = room(buffers[which], &capacities[which], n, 1);
		if (n == length)
			break;
		if (at == filled && !fill())
			fail("the records end early");
		if (!(buffers[which][n] = in[at++]))
			fail("%s has a zero byte", what);
	}
	buffers[which][n] = 0;
	return buffers[which];
}

/* The archive that is written. */

static const char *directory;
static OTF2_Archive *archive;
static uint64_t event_chunk = OTF2_CHUNK_SIZE_MIN * 4, definition_chunk = OTF2_CHUNK_SIZE_MIN * 16;
static OTF2_GlobalDefWriter *definitions;
static OTF2_MarkerWriter *markers;
static OTF2_EvtWriter *writer;     /* of the location whose events come */
static OTF2_AttributeList *list; /* of the event that comes */

static struct location { OTF2_LocationRef number; int has_events; } *locations;
static size_t location_count, location_capacity;

static OTF2_FlushType pre_flush(void *data, OTF2_FileType type, OTF2_LocationRef location, void *caller, bool final)
{
	(void)data, (void)type, (void)location, (void)caller, (void)final;
	return OTF2_FLUSH;
}

/* The chunks of a buffer of libotf2, which writes them when it gets no more: by itself, it takes 128. */
struct chunks { void *of[4]; unsigned used; };

static void *allocate_chunk(void *data, OTF2_FileType type, OTF2_LocationRef location, void **kept, uint64_t size)
{
	(void)data, (void)type, (void)location;
	struct chunks *c = *kept;
	if (!c && !(c = *kept = calloc(1, sizeof *c)))
		return NULL;
	if (c->used == sizeof c->of / sizeof *c->of)
		return NULL;
	if (!c->of[c->used] && !(c->of[c->used] = malloc(size)))
		return NULL;
	return c->of[c->used++];
}

static void free_chunks(void *data, OTF2_FileType type, OTF2_LocationRef location, void **kept, bool final)
{
	(void)data, (void)type, (void)location;
	struct chunks *c = *kept;
	if (!c)
		return;
	c->used = 0;
	for (unsigned i = 0; final && i < sizeof c->of / sizeof *c->of; i++)
		free(c->of[i]);
	if (final)
		free(c), *kept = NULL;
}

static void open_archive(void)
{
	static const OTF2_FlushCallbacks flushing = {.otf2_pre_flush = pre_flush};
	static const OTF2_MemoryCallbacks memory = {allocate_chunk, free_chunks};
	if (archive)
		return;
	archive = OTF2_Archive_Open(directory, "traces", OTF2_FILEMODE_WRITE, event_chunk, definition_chunk,
		OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
	if (!archive)
		fail("the archive cannot be made");
	check(OTF2_Archive_SetFlushCallbacks(archive, &flushing, NULL), "flush callbacks");
	check(OTF2_Archive_SetMemoryCallbacks(archive, &memory, NULL), "memory callbacks");
	check(OTF2_Archive_SetSerialCollectiveCallbacks(archive), "callbacks");
	check(OTF2_Archive_OpenEvtFiles(archive), "event files");
	if (!(definitions = OTF2_Archive_GetGlobalDefWriter(archive)))
		fail("the definitions cannot be written");
}

static OTF2_GlobalDefWriter *definition_writer(void)
{
	open_archive();
	return definitions;
}

static OTF2_MarkerWriter *marker_writer(void)
{
	open_archive();
	if (!markers && !(markers = OTF2_Archive_GetMarkerWriter(archive)))
		fail("the markers cannot be written");
	return markers;
}

static void close_writer(void)
{
	if (writer)
		check(OTF2_Archive_CloseEvtWriter(archive, writer), "the end of a location");
	writer = NULL;
}

static void add_location(OTF2_LocationRef number)
{
	locations = room(locations, &location_capacity, location_count, sizeof *locations);
	locations[location_count++] = (struct location){number, 0};
}

static int by_number(const void *a, const void *b)
{
	const struct location *p = a, *q = b;
	return p->number != q->number ? p->number < q->number ? -1 : 1 : q->has_events - p->has_events;
}

static void begin_location(OTF2_LocationRef number)
{
	open_archive();
	close_writer();
	if (!(writer = OTF2_Archive_GetEvtWriter(archive, number)))
		fail("the events of location %llu cannot be written", (unsigned long long)number);
	last_time = 0;
	add_location(number);
	locations[location_count - 1].has_events = 1;
}

/* begin_event reads what each event has, and returns its time. */
static inline OTF2_TimeStamp begin_event(int has_attributes)
{
	uint64_t v = get();
	last_time += v >> 1 ^ -(v & 1);
	if (!writer)
		fail("an event of no location");
	for (uint64_t n = has_attributes ? get() : 0; n > 0; n--) {
		OTF2_AttributeRef id = GET(OTF2_AttributeRef, "attribute");
		OTF2_Type type = GET(OTF2_Type, "type of an attribute");
		check(OTF2_AttributeList_AddAttribute(list, id, type, get_value(type, "attribute")), "attribute");
	}
	return last_time;
}

static void write_Creator(int has_attributes)
{
	(void)has_attributes;
	open_archive();
	check(OTF2_Archive_SetCreator(archive, get_text(0, "creator")), "creator");
}

static void write_Description(int has_attributes)
{
	(void)has_attributes;
	open_archive();
	check(OTF2_Archive_SetDescription(archive, get_text(0, "description")), "description");
}

static void write_MachineName(int has_attributes)
{
	(void)has_attributes;
	open_archive();
	check(OTF2_Archive_SetMachineName(archive, get_text(0, "machine name")), "machine name");
}

static void write_Property(int has_attributes)
{
	(void)has_attributes;
	open_archive();
	const char *name = get_text(0, "name of a property");
	check(OTF2_Archive_SetProperty(archive, name, get_text(1, "property"), true), name);
}

static void write_ChunkSizes(int has_attributes)
{
	(void)has_attributes;
	if (archive)
		fail("chunk sizes come first");
	event_chunk = get(), definition_chunk = get();
}

RECORDS

static OTF2_CallbackCode unknown_definition(void *data)
{
	(void)data;
	fail("a definition that libotf2 %s does not know", OTF2_VERSION);
}

static OTF2_CallbackCode unknown_event(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *data,
	OTF2_AttributeList *attributes)
{
	(void)location, (void)time, (void)position, (void)data, (void)attributes;
	fail("an event that libotf2 %s does not know", OTF2_VERSION);
}

static void put_archive(OTF2_Reader *reader)
{
	char *said, **names;
	uint32_t n;
	uint64_t events, defs;
	check(OTF2_Reader_GetChunkSize(reader, &events, &defs), "chunk sizes");
	put(NUMBER_ChunkSizes * 2), put(events), put(defs);
	check(OTF2_Reader_GetCreator(reader, &said), "creator");
	put(NUMBER_Creator * 2), put_text(said), free(said);
	check(OTF2_Reader_GetMachineName(reader, &said), "machine name");
	put(NUMBER_MachineName * 2), put_text(said), free(said);
	check(OTF2_Reader_GetDescription(reader, &said), "description");
	put(NUMBER_Description * 2), put_text(said), free(said);
	check(OTF2_Reader_GetPropertyNames(reader, &n, &names), "properties");
	for (uint32_t i = 0; i < n; i++) {
		check(OTF2_Reader_GetProperty(reader, names[i], &said), names[i]);
		put(NUMBER_Property * 2), put_text(names[i]), put_text(said), free(said);
	}
	if (n > 0)
		free(names);
}

/* has_markers returns whether there is a file of markers, which archives need not have. */
static int has_markers(const char *anchor)
{
	size_t length = strlen(anchor);
	char path[length + sizeof "marker"];
	strcpy(path, anchor);
	if (length > 4 && strcmp(path + length - 4, "otf2") == 0)
		strcpy(path + length - 4, "marker");
	return access(path, F_OK) == 0;
}

static void read_archive(const char *anchor)
{
	uint64_t n;
	OTF2_Reader *reader = OTF2_Reader_Open(anchor);
	if (!reader)
		fail("it cannot be opened");
	check(OTF2_Reader_SetSerialCollectiveCallbacks(reader), "callbacks");
	put_archive(reader);

	OTF2_GlobalDefReader *definition_reader = OTF2_Reader_GetGlobalDefReader(reader);
	if (!definition_reader)
		fail("the definitions cannot be read");
	OTF2_GlobalDefReaderCallbacks *on_definitions = OTF2_GlobalDefReaderCallbacks_New();
	OTF2_GlobalDefReaderCallbacks_SetUnknownCallback(on_definitions, unknown_definition);
	register_definitions(on_definitions);
	check(OTF2_Reader_RegisterGlobalDefCallbacks(reader, definition_reader, on_definitions, NULL), "callbacks");
	check(OTF2_Reader_ReadAllGlobalDefinitions(reader, definition_reader, &n), "definitions");
	check(OTF2_Reader_CloseGlobalDefReader(reader, definition_reader), "definitions");

	if (has_markers(anchor)) {
		OTF2_MarkerReader *marker_reader = OTF2_Reader_GetMarkerReader(reader);
		if (!marker_reader)
			fail("the markers cannot be read");
		OTF2_MarkerReaderCallbacks *on_markers = OTF2_MarkerReaderCallbacks_New();
		OTF2_MarkerReaderCallbacks_SetUnknownCallback(on_markers, unknown_definition);
		register_markers(on_markers);
		check(OTF2_Reader_RegisterMarkerCallbacks(reader, marker_reader, on_markers, NULL), "callbacks");
		check(OTF2_Reader_ReadAllMarkers(reader, marker_reader, &n), "markers");
		check(OTF2_Reader_CloseMarkerReader(reader, marker_reader), "markers");
	}

	OTF2_EvtReaderCallbacks *on_events = OTF2_EvtReaderCallbacks_New();
	OTF2_EvtReaderCallbacks_SetUnknownCallback(on_events, unknown_event);
	register_events(on_events);
	for (size_t i = 0; i < location_count; i++)
		check(OTF2_Reader_SelectLocation(reader, locations[i].number), "location");
	quiet = 1;
	int has_definitions = OTF2_Reader_OpenDefFiles(reader) == OTF2_SUCCESS;
	quiet = 0;
	check(OTF2_Reader_OpenEvtFiles(reader), "event files");
	for (size_t i = 0; i < location_count; i++) {
		OTF2_LocationRef location = locations[i].number;
		quiet = 1;
		OTF2_DefReader *local = has_definitions ? OTF2_Reader_GetDefReader(reader, location) : NULL;
		quiet = 0;
		if (local) {
			check(OTF2_Reader_ReadAllLocalDefinitions(reader, local, &n), "definitions of a location");
			check(OTF2_Reader_CloseDefReader(reader, local), "definitions of a location");
		}
		OTF2_EvtReader *event_reader = OTF2_Reader_GetEvtReader(reader, location);
		if (!event_reader)
			fail("the events of location %llu cannot be read", (unsigned long long)location);
		check(OTF2_Reader_RegisterEvtCallbacks(reader, event_reader, on_events, NULL), "callbacks");
		put(LOCATION), put(location);
		last_time = 0;
		check(OTF2_Reader_ReadAllLocalEvents(reader, event_reader, &n), "events");
		check(OTF2_Reader_CloseEvtReader(reader, event_reader), "events");
	}
	put(END);
	flush();
	OTF2_Reader_Close(reader);
}

static void write_archive(void)
{
	list = OTF2_AttributeList_New();
	for (uint64_t number; (number = get()) != END;) {
		if (number == LOCATION)
			begin_location(get());
		else if (number / 2 < sizeof writers / sizeof *writers && writers[number / 2])
			writers[number / 2](number % 2);
		else
			fail("a record of no kind");
	}
	open_archive();
	close_writer();
	qsort(locations, location_count, sizeof *locations, by_number);
	size_t kept = 0;
	for (size_t i = 0; i < location_count; i++) {
		if (kept == 0 || locations[kept - 1].number != locations[i].number)
			locations[kept++] = locations[i];
		else if (locations[i].has_events)
			fail("the events of location %llu are not together", (unsigned long long)locations[i].number);
	}
	for (size_t i = 0; i < kept; i++)
		if (!locations[i].has_events) {
			writer = OTF2_Archive_GetEvtWriter(archive, locations[i].number);
			close_writer();
		}
	check(OTF2_Archive_CloseEvtFiles(archive), "event files");
	check(OTF2_Archive_OpenDefFiles(archive), "definition files");
	for (size_t i = 0; i < kept; i++) {
		OTF2_DefWriter *local = OTF2_Archive_GetDefWriter(archive, locations[i].number);
		check(OTF2_Archive_CloseDefWriter(archive, local), "definitions of a location");
	}
	check(OTF2_Archive_CloseDefFiles(archive), "definition files");
	if (markers)
		check(OTF2_Archive_CloseMarkerWriter(archive, markers), "markers");
	check(OTF2_Archive_CloseGlobalDefWriter(archive, definitions), "definitions");
	check(OTF2_Archive_Close(archive), "the archive");
}

int main(int count, char **arguments)
{
	OTF2_Error_RegisterCallback(said, NULL);
	if (count == 3 && strcmp(arguments[1], "read") == 0)
		read_archive(arguments[2]);
	else if (count == 3 && strcmp(arguments[1], "write") == 0)
		directory = arguments[2], write_archive();
	else
		fail("bridge read ANCHOR | bridge write DIR");
	return 0;
}
