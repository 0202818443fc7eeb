/*
 * Regions: by MPI_Pcontrol, also without a name and with what is no name, by Caliper and by NVTX, whose functions are
 * here as in a library, and whose headers call what a library puts into tables.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void cali_begin_region(const char *name);
void cali_end_region(const char *name);
int nvtxRangePushA(const char *name);
int nvtxRangePop(void);

/* What the headers of NVTX 3 have. */
static int (*push)(const char *), (*pop)(void), (*push_ex)(const void *);
static void *table[16];

static int core_table(int module, void ***out, unsigned *size)
{
	*out = table;
	*size = 16;
	return module == 1;
}

static struct { size_t size; int (*of)(int, void ***, unsigned *); } callbacks = {sizeof callbacks, core_table};

static const void *export_table(uint32_t id) { return id == 1 ? &callbacks : NULL; }

static int inject(void)
{
	static void *unused[16];
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*initialize)(const void *(*)(uint32_t)) = NULL;
	for (int i = 0; i < 16; i++)
		table[i] = &unused[i];
	table[8] = &push_ex;
	table[9] = &push;
	table[11] = &pop;
	if (library)
		*(void **)&initialize = dlsym(library, "InitializeInjectionNvtx2");
	return initialize && initialize(export_table) && push && pop && push_ex;
}

static void reduce(int times)
{
	int one = 1, sum;
	while (times--)
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	struct {
		uint16_t version, size;
		uint32_t category;
		int32_t colour_type;
		uint32_t colour;
		int32_t payload_type, reserved;
		uint64_t payload;
		int32_t message_type;
		const char *message;
	} attributes = {.version = 3, .message_type = 1, .message = "extended"};
	MPI_Init(&argc, &argv);
	MPI_Pcontrol(1, "setup");
	reduce(1);
	MPI_Pcontrol(-1, "setup");
	for (int i = 0; i < 10; i++) {
		MPI_Pcontrol(1, "solve");
		reduce(2);
		MPI_Pcontrol(1, "inner");
		reduce(3);
		MPI_Pcontrol(0, "inner");
		MPI_Pcontrol(0, "solve");
		MPI_Pcontrol(1);
		MPI_Pcontrol(1, (char *)8);
		MPI_Pcontrol(1, (char *)UINT64_C(0x7ffffffff000));
		MPI_Pcontrol(1, "never ends");
		MPI_Pcontrol(-1, "never began");
		MPI_Pcontrol(1, "\001");
		MPI_Pcontrol(5);
	}
	cali_begin_region("caliper");
	for (int i = 0; i < 4; i++) {
		nvtxRangePushA("nvtx");
		reduce(5);
		nvtxRangePop();
	}
	cali_end_region("caliper");
	if (inject()) {
		push("header");
		push_ex(&attributes);
		reduce(6);
		pop();
		pop();
	}
	MPI_Pcontrol(0);
	reduce(100);
	MPI_Pcontrol(1);
	reduce(1);
	MPI_Finalize();
	return 0;
}
