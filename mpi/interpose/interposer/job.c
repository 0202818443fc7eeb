/*
 * The job that the process belongs to: what one command of a launcher has started, or
 * one call of MPI_Comm_spawn. All its processes find the same number, on whatever
 * machine they are. And the machine.
 */
static const uint64_t hash_seed = UINT64_C(0xcbf29ce484222325);

static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static uint64_t hash_text(uint64_t hash, const char *text) { return hash_bytes(hash, text, strlen(text) + 1); }

/* Reads a small file of a process and closes it with a zero. Returns its size. */
static ssize_t read_process(pid_t pid, const char *name, char *text, size_t size)
{
	char file_name[64];
	snprintf(file_name, sizeof file_name, "/proc/%d/%s", (int)pid, name);
	int file = open(file_name, O_RDONLY | O_CLOEXEC);
	ssize_t n = file < 0 ? -1 : read(file, text, size - 1);
	if (file >= 0)
		close(file);
	text[n < 0 ? 0 : n] = 0;
	return n;
}

static pid_t parent_of(pid_t pid)
{
	char text[512];
	int parent;
	if (read_process(pid, "stat", text, sizeof text) < 0)
		return 0;
	/* The name of the program is in parentheses, and may have some itself. */
	const char *rest = strrchr(text, ')');
	return rest && sscanf(rest + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

/* Returns what follows an option of a command line, whose words end in zeros. */
static const char *value_of(const char *option, const char *words, ssize_t n)
{
	const char *end = words + n;
	for (const char *w = words; w < end; w += strlen(w) + 1) {
		const char *value = w + strlen(w) + 1;
		if (!strcmp(w, option))
			return value < end ? value : NULL;
	}
	return NULL;
}

/* The launchers of MPICH tell the processes nothing of the job, but what starts these
   on each machine: where the launcher is, and the number of the group. */
static slow uint64_t job_of_proxy(void)
{
	char words[4096];
	pid_t pid = getppid();
	for (int i = 0; i < 16 && pid > 1; i++, pid = parent_of(pid)) {
		ssize_t n = read_process(pid, "cmdline", words, sizeof words);
		const char *port = value_of("--control-port", words, n), *group = value_of("--pgid", words, n);
		if (port && group)
			return hash_text(hash_text(hash_seed, port), group);
	}
	return 0;
}

/* Returns zero if no launcher is known to have started the process. */
static slow uint64_t find_job(void)
{
	static const char *const names[] = {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_ess_jobid", "FLUX_JOB_ID", "PALS_APID"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (getenv(names[i]))
			return hash_text(hash_seed, getenv(names[i]));
	uint64_t found = getenv("PMI_RANK") || getenv("PMI_FD") ? job_of_proxy() : 0;
	const char *id = getenv("SLURM_JOB_ID"), *step = getenv("SLURM_STEP_ID");
	if (!found && id && step)
		found = hash_text(hash_text(hash_seed, id), step);
	return found;
}

/* Returns what tells this machine, since it was started, from others, as recorders do. */
static slow uint64_t find_machine(void)
{
	char id[64];
	int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return 0;
	ssize_t n = read(file, id, sizeof id);
	close(file);
	return n > 0 ? hash_bytes(hash_seed, id, (size_t)n) : 0;
}
