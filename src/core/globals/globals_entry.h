/* globals_entry.h - the table of the ffi.* functions; each globals_*.c contributes a group.
 *
 * All have the signature of a Function's code. The arguments are unchecked views, so each function first checks their
 * number and types (function.h), under its own name, which the messages contain. *result is None on entry, and a
 * function without a result leaves it so. In the comments `ffi.ListPop(list, i) -> item` names the parameters and the
 * result of a function. */
#ifndef FH_GLOBALS_ENTRY_H_
#define FH_GLOBALS_ENTRY_H_

#include "core/object/any.h"

/* The head of such a function. */
#define FH_GLOBAL(name)                                                                                              \
  static int name(FH_MAYBE_UNUSED void *self, FH_MAYBE_UNUSED const TVMFFIAny *args, FH_MAYBE_UNUSED int32_t n_args, \
                  FH_MAYBE_UNUSED TVMFFIAny *result)

typedef struct {
  const char *name;
  TVMFFISafeCallType call; /* checks its arguments itself */
  const char *schema; /* its type, as `int(ffi.Map<Any, Any>, bool)`, or NULL; "ffi.Function" accepts any arguments */
} fh_globals_entry;

/* The groups; each array ends with a name of NULL. */
extern const fh_globals_entry fh_globals_seq[];      /* globals_seq.c: Array, List */
extern const fh_globals_entry fh_globals_map[];      /* globals_map.c: Map, Dict */
extern const fh_globals_entry fh_globals_value[];    /* globals_value.c: String, Bytes, Shape, sentinels, ReprPrint */
extern const fh_globals_entry fh_globals_nested[];   /* globals_object.c: copy, equality, order, hash, device */
extern const fh_globals_entry fh_globals_registry[]; /* globals_registry.c: functions, types */
extern const fh_globals_entry fh_globals_create[];   /* globals_object.c: objects from arguments */
extern const fh_globals_entry fh_globals_cxx[];      /* globals_binding.c: for libtvm_ffi_cxx.so */
extern const fh_globals_entry fh_globals_binding[];  /* globals_binding.c: tables for a binding of this project */
extern const fh_globals_entry fh_globals_module[];   /* globals_module.c */
extern const fh_globals_entry fh_globals_structural[]; /* globals_structural.c: equality, hash, keys */
extern const fh_globals_entry fh_globals_visit[]; /* globals_structural.c: visits, visitors, contexts of errors */
extern const fh_globals_entry fh_globals_mutate[]; /* globals_structural.c: mutations, mutators */
extern const fh_globals_entry fh_globals_json[]; /* globals_value.c: JSON, and values as graphs of JSON */

#endif /* FH_GLOBALS_ENTRY_H_ */
