/* library_symbols.h - where the symbols of a module of kind "library" come from. */
#ifndef FH_LIBRARY_SYMBOLS_H_
#define FH_LIBRARY_SYMBOLS_H_

#include "core/object/any.h"

/* Where a module's symbols come from; lives as long as the process. */
typedef struct {
  /* Address of a symbol, NULL if there is none. */
  void *(*find)(const void *state, const char *symbol);
  /* Address of the function `name`, whose symbol is __tvm_ffi_<name>. */
  void *(*find_function)(const void *state, const char *name);
  /* Ends a state that a module owned. */
  void (*end)(void *state);
} fh_library_symbols;

#endif /* FH_LIBRARY_SYMBOLS_H_ */
