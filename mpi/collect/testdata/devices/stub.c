/* The functions of CUDA and HIP that the program devices.c uses, without devices. */
#include <stddef.h>
#include <stdint.h>

static char memory[1 << 20];
static size_t used;
static int device;

static int take(void **p, size_t n)
{
	*p = memory + used;
	used += (n + 255) / 256 * 256;
	return used > sizeof memory;
}

int cudaSetDevice(int n) { device = n; return 0; }
int cudaGetDevice(int *n) { *n = device; return 0; }
int cudaMalloc(void **p, size_t n) { return take(p, n); }
int cudaMallocManaged(void **p, size_t n, unsigned flags) { return flags != 1 || cudaMalloc(p, n); }
int cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height)
{
	*pitch = (width + 511) / 512 * 512;
	return take(p, *pitch * height);
}
int cudaMallocHost(void **p, size_t n) { return take(p, n); }
int cudaFree(void *p)
{
	used = (size_t)((char *)p - memory);
	return 0;
}
int hipGetDevice(int *n) { *n = 2; return 0; }
int hipMalloc(void **p, size_t n) { return take(p, n); }
