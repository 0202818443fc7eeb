#include <stdlib.h>

static void fail(int status)
{
	if (status < 0)
		abort();
	exit(1);
}

int steps(double r, double tolerance, int n, int ready)
{
	int i = 0;
	while (r > tolerance && i < n) {
		if (!ready)
			break;
		if (r < 0 || i == 3)
			return 4;
		i++;
	}
	do {
		r /= 2;
	} while (r > tolerance);
	if (i > n)
		fail(i);
	else
		i = ready ? n / 2 : n + 1;
	if (i == 100)
		exit(0);
	for (; r < 1; r *= 2)
		i++;
	return i;
}
