/* The same with messages of other sizes. */
#define SP
#include "bt.c"
