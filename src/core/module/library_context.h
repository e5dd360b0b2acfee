/* library_context.h - pointers that libraries get: variables of theirs that are filled when they are loaded. */
#ifndef FH_LIBRARY_CONTEXT_H_
#define FH_LIBRARY_CONTEXT_H_

#include "library_symbols.h"

/* Stores the registered context symbols into the variables of those names. -1 without memory. */
int fh_library_context_fill(const fh_library_symbols *symbols, const void *state);
/* Calls visit(state, name, symbol) for each, in order of registration; no lock is held. */
int fh_library_context_each(int (*visit)(void *state, const char *name, void *symbol), void *state);

#endif /* FH_LIBRARY_CONTEXT_H_ */
