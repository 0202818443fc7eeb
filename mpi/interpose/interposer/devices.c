/*
 * Memory of devices: the functions of CUDA and HIP that allocate it, where a library of the
 * process has them. Nothing of CUDA or HIP is needed to build this.
 */
enum { NO_SUCH_FUNCTION = 999 }; /* the unknown error of both */

static __thread int in_device __attribute__((tls_model("initial-exec"))); /* one may call another */

/* Finds the function that a wrapper stands before; NULL if there is none. */
static void *behind_wrapper(void *_Atomic *known, const char *name)
{
	void *found = atomic_load(known);
	if (!found) {
		int saved = errno;
		found = find_symbol(name);
		if (found && is_own(found))
			found = NULL;
		errno = saved;
		atomic_store(known, found);
	}
	return found;
}

/* The device that the thread uses, as it is recorded: the first if nobody tells. */
static unsigned current_device(const char *asks)
{
	int device = 0, (*get)(int *) = (int (*)(int *))dlsym(RTLD_DEFAULT, asks);
	if (!get || get(&device) || device < 0 || device > 65000)
		device = 0;
	return (unsigned)device + 1;
}

/* Wrappers of functions that allocate at *p, and of those that free p. Where is the device, or 0
   for memory of the host. */
#define ALLOCATES(name, declared, arguments, pointer, bytes, where) \
	exported int name declared; \
	exported int name declared \
	{ \
		static void *_Atomic known; \
		int (*real) declared = (int (*) declared)behind_wrapper(&known, #name); \
		if (!real) \
			return NO_SUCH_FUNCTION; \
		in_device++; \
		int result = real arguments; \
		if (!--in_device && !result) \
			put_allocated((const void *)(uintptr_t)*pointer, bytes, where, CALLER); \
		return result; \
	}
#define RELEASES(name, declared, arguments, pointer) \
	exported int name declared; \
	exported int name declared \
	{ \
		static void *_Atomic known; \
		int (*real) declared = (int (*) declared)behind_wrapper(&known, #name); \
		if (!real) \
			return NO_SUCH_FUNCTION; \
		if (!in_device && pointer) \
			put_released((const void *)(uintptr_t)pointer, CALLER); \
		in_device++; \
		int result = real arguments; \
		in_device--; \
		return result; \
	}

#define DEVICES_OF(api, asks) \
	ALLOCATES(api##Malloc, (void **p, size_t n), (p, n), p, n, current_device(asks)) \
	ALLOCATES(api##MallocManaged, (void **p, size_t n, unsigned flags), (p, n, flags), p, n, current_device(asks)) \
	ALLOCATES(api##MallocAsync, (void **p, size_t n, void *stream), (p, n, stream), p, n, current_device(asks)) \
	ALLOCATES(api##MallocPitch, (void **p, size_t *pitch, size_t width, size_t height), (p, pitch, width, height), p, *pitch * height, current_device(asks)) \
	ALLOCATES(api##HostAlloc, (void **p, size_t n, unsigned flags), (p, n, flags), p, n, 0) \
	RELEASES(api##Free, (void *p), (p), p) \
	RELEASES(api##FreeAsync, (void *p, void *stream), (p, stream), p)

DEVICES_OF(cuda, "cudaGetDevice")
ALLOCATES(cudaMallocHost, (void **p, size_t n), (p, n), p, n, 0)
RELEASES(cudaFreeHost, (void *p), (p), p)
DEVICES_OF(hip, "hipGetDevice")
ALLOCATES(hipHostMalloc, (void **p, size_t n, unsigned flags), (p, n, flags), p, n, 0)
ALLOCATES(hipExtMallocWithFlags, (void **p, size_t n, unsigned flags), (p, n, flags), p, n, current_device("hipGetDevice"))
RELEASES(hipHostFree, (void *p), (p), p)

/* The interface of the driver. */
ALLOCATES(cuMemAlloc_v2, (uint64_t *p, size_t n), (p, n), p, n, current_device("cuCtxGetDevice"))
ALLOCATES(cuMemAllocManaged, (uint64_t *p, size_t n, unsigned flags), (p, n, flags), p, n, current_device("cuCtxGetDevice"))
RELEASES(cuMemFree_v2, (uint64_t p), (p), p)
