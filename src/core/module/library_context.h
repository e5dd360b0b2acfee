/* library_context.h - context symbols: pointers that the core stores into variables of a library when it loads the
 * library. */
#ifndef FH_LIBRARY_CONTEXT_H_
#define FH_LIBRARY_CONTEXT_H_

#include "library_symbols.h"

/* Stores each registered context symbol into the library's variable of that name, if there is one. */
void fh_library_context_fill(const fh_library_symbols *symbols, const void *state);
/* Calls visit(state, name, symbol) for each context symbol, in order of registration; no lock is held. */
int fh_library_context_each(int (*visit)(void *state, const char *name, void *symbol), void *state);

#endif /* FH_LIBRARY_CONTEXT_H_ */
