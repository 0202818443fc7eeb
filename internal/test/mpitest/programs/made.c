/*
 * Calls MPI from code that the program makes while it runs, where it can on this processor.
 */
#include "check.h"
#include <stdint.h>
#include <sys/mman.h>

/* A function that calls another with an argument and returns what it returns. */
#if defined __x86_64__
static const uint8_t code[] = {
	0x48, 0x83, 0xec, 0x08, /* sub $8, %rsp */
	0x48, 0x89, 0xf8,       /* mov %rdi, %rax */
	0x48, 0x89, 0xf7,       /* mov %rsi, %rdi */
	0xff, 0xd0,             /* call *%rax */
	0x48, 0x83, 0xc4, 0x08, /* add $8, %rsp */
	0xc3,                   /* ret */
};
#elif defined __aarch64__
static const uint32_t code[] = {
	0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
	0x910003fd, /* mov x29, sp */
	0xaa0003e8, /* mov x8, x0 */
	0xaa0103e0, /* mov x0, x1 */
	0xd63f0100, /* blr x8 */
	0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
	0xd65f03c0, /* ret */
};
#endif

typedef int call(int (*function)(MPI_Comm), MPI_Comm comm);

static call *make(void)
{
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(memory != MAP_FAILED);
	memcpy(memory, code, sizeof code);
	CHECK(!mprotect(memory, 4096, PROT_READ | PROT_EXEC));
	__builtin___clear_cache(memory, (char *)memory + 4096);
	return (call *)memory;
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	call *made = make();
	for (int i = 0; i < 3; i++)
		OK(MPI_Barrier(MPI_COMM_WORLD));
	for (int i = 0; i < 5; i++)
		OK(made(MPI_Barrier, MPI_COMM_WORLD));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	return end();
}
