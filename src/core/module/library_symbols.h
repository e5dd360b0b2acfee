/* library_symbols.h - the sources of symbols for a module of kind "library". */
#ifndef FH_LIBRARY_SYMBOLS_H_
#define FH_LIBRARY_SYMBOLS_H_

#include "core/object/any.h"

/* A kind of source, such as shared libraries. `state` is one source of that kind; the struct itself is static. */
typedef struct {
  /* Address of a symbol, NULL if there is none. */
  void *(*find)(const void *state, const char *symbol);
  /* Address of the function `name`, whose symbol is __tvm_ffi_<name>; NULL if there is none. */
  void *(*find_function)(const void *state, const char *name);
  /* Frees a state once no module uses it; NULL if there is nothing to free. */
  void (*end)(void *state);
} fh_library_symbols;

#endif /* FH_LIBRARY_SYMBOLS_H_ */
