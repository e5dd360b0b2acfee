/* The request of instructions_side.py to callgrind: dump the counts since the last dump, with a label. */
#include <valgrind/callgrind.h>

void mark(const char *label) { CALLGRIND_DUMP_STATS_AT(label); }
