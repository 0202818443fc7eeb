/*
 * What is kept open for the segments that come once the process can open no file in the spool any more, as after chroot, setuid or a filter of
 * system calls: the directory, and some empty files. Who reads the spool gives these the names of segments.
 */
enum { SPARES = 2 };
static const size_t spare_size = (size_t)64 << 20; /* of the first, and the second one has twice as much */

/* An open file, which the program may close, and give its number to another. */
struct held { int file; dev_t device; ino_t node; };
static struct held held_directory, spares[SPARES];
static int filter; /* of system calls, that there was at the start */

/* Holds a file that was opened, under a number that is out of the way, and returns whether that could be. */
static slow int hold(struct held *held, int file)
{
	struct rlimit limit;
	struct stat status;
	if (file < 0 || getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	int high = fcntl(file, F_DUPFD_CLOEXEC, (int)(limit.rlim_cur < 2048 ? limit.rlim_cur / 2 : 1024));
	close(file);
	if (high < 0 || fstat(high, &status))
		return 0;
	*held = (struct held){high, status.st_dev, status.st_ino};
	return 1;
}

/* Whether a file is still what it was. */
static slow int is_held(const struct held *held)
{
	struct stat status;
	return held->file > 0 && !fstat(held->file, &status) && status.st_dev == held->device && status.st_ino == held->node;
}

static slow void let_go(struct held *held)
{
	if (is_held(held))
		close(held->file);
	held->file = 0;
}

static slow const char *spare_name(int i)
{
	static char name[64];
	snprintf(name, sizeof name, "%u-%llx.%d.spare", (unsigned)getpid(), (unsigned long long)loaded, i);
	return name;
}

/* Opens what is to be there. What cannot be opened is done without. */
static slow void open_spares(void)
{
	filter = prctl(PR_GET_SECCOMP);
	let_go(&held_directory); /* those of the parent of a child that was forked */
	if (!hold(&held_directory, open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)))
		return;
	for (int i = 0; i < SPARES; i++) {
		let_go(&spares[i]);
		hold(&spares[i], openat(held_directory.file, spare_name(i), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
	}
}

/* Takes the files away that are empty when the process ends. */
__attribute__((destructor)) static void remove_spares(void)
{
	struct stat status;
	if (!atomic_load(&active.flag) || !is_held(&held_directory))
		return;
	for (int i = 0; i < SPARES; i++)
		if (is_held(&spares[i]) && !fstat(spares[i].file, &status) && !status.st_size)
			unlinkat(held_directory.file, spare_name(i), 0);
}

/* Whether opening a file could end the process: a filter of system calls has come. */
static slow int is_filtered(void) { return !filter && prctl(PR_GET_SECCOMP) > 0; }

/* Maps a spare file, of the size that is given or a larger one, as there are few. */
static slow void *map_spare(size_t *size)
{
	int error = ENOENT;
	struct rlimit limit;
	for (int i = 0; i < SPARES; i++) {
		size_t sizes[2] = {*size, *size};
		if (!is_held(&spares[i]))
			continue;
		if (*size < spare_size << i && !getrlimit(RLIMIT_FSIZE, &limit) && spare_size << i <= limit.rlim_cur)
			sizes[0] = spare_size << i;
		for (int k = 0; k < 2; k++) {
			void *memory = MAP_FAILED;
			error = posix_fallocate(spares[i].file, 0, (off_t)sizes[k]);
			if (!error && (memory = map_pages(sizes[k], MAP_SHARED, spares[i].file)) == MAP_FAILED)
				error = errno;
			if (!error) {
				*size = sizes[k];
				let_go(&spares[i]);
				return memory;
			}
			if (ftruncate(spares[i].file, 0))
				break;
		}
	}
	errno = error;
	return NULL;
}
