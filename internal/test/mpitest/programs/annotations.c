/* Functions of Caliper and NVTX that do nothing: the recorder hands calls on to them. */
#include <stdio.h>

static int depth;

void cali_begin_region(const char *name) { printf("begin %s\n", name); }

void cali_end_region(const char *name) { printf("end %s\n", name); }

int nvtxRangePushA(const char *name)
{
	(void)name;
	return depth++;
}

int nvtxRangePop(void) { return --depth; }
