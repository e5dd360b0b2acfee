/* What instructions_side.py asks of callgrind: a dump of the counts since the last one, with a label. */
#include <valgrind/callgrind.h>

void mark(const char *label) { CALLGRIND_DUMP_STATS_AT(label); }
