/* globals_entry.h - how the ffi.* functions are defined; each globals_*.c contributes a group.
 *
 * All have the signature of a Function's code. The arguments are unchecked views, so each function first checks their
 * number and types (function.h), under its own name, which the messages contain. *result is None on entry, and a
 * function without a result leaves it so. In the comments `ffi.ListPop(list, i) -> item` names the parameters and the
 * result of a function. */
#pragma once

#include "core/object/function.h"

typedef struct {
  const char *name;
  TVMFFISafeCallType call; /* checks its arguments itself */
  const char *schema; /* its type, as `int(ffi.Map<Any, Any>, bool)`, or NULL; "ffi.Function" accepts any arguments */
} fh_globals_entry;
typedef const fh_globals_entry *fh_globals_item;

/* The heads below define an entry. `name` in the body that follows is global_name. */
#define FH_BODY(function, more)                                                  \
  FH_INLINE int function(FH_MAYBE_UNUSED const char *name, FH_MAYBE_UNUSED more, \
                         FH_MAYBE_UNUSED const TVMFFIAny *args, FH_MAYBE_UNUSED TVMFFIAny *result)

/* A function with any number of arguments: n_args. */
#define FH_GLOBAL_OPEN(function, global_name, type)                                       \
  FH_BODY(function##_open, int32_t n_args);                                               \
  FH_CODE(function##_call) { return function##_open(global_name, n_args, args, result); } \
  static const fh_globals_entry function = {global_name, function##_call, type};          \
  FH_BODY(function##_open, int32_t n_args)

/* A function with n_expected arguments. */
#define FH_GLOBAL(function, global_name, n_expected, type)                 \
  FH_BODY(function##_counted, int32_t n_args);                             \
  FH_GLOBAL_OPEN(function, global_name, type) {                            \
    if (fh_function_check_count(name, n_args, n_expected) != 0) return -1; \
    return function##_counted(name, n_args, args, result);                 \
  }                                                                        \
  FH_BODY(function##_counted, int32_t n_args)

/* A function with n_expected arguments, of which the first is an object of a type: `object` in the body. */
#define FH_GLOBAL_OF(layout, object, type_index, function, global_name, n_expected, type) \
  FH_BODY(function##_of, layout *object);                                                 \
  FH_GLOBAL(function, global_name, n_expected, type) {                                    \
    TVMFFIObject *first;                                                                  \
    if (fh_function_arg_object(name, args, 0, type_index, &first) != 0) return -1;        \
    return function##_of(name, (layout *)(void *)first, args, result);                    \
  }                                                                                       \
  FH_BODY(function##_of, layout *object)

/* The groups; each array ends with NULL. */
extern const fh_globals_item fh_globals_seq[];      /* globals_seq.c: Array, List */
extern const fh_globals_item fh_globals_map[];      /* globals_map.c: Map, Dict */
extern const fh_globals_item fh_globals_value[];    /* globals_value.c: String, Bytes, Shape, sentinels, ReprPrint */
extern const fh_globals_item fh_globals_nested[]; /* globals_object.c: copy, equality, order, hash, device */
extern const fh_globals_item fh_globals_registry[]; /* globals_registry.c: functions, types */
extern const fh_globals_item fh_globals_create[]; /* globals_object.c: objects from arguments */
extern const fh_globals_item fh_globals_cxx[]; /* globals_binding.c: for libtvm_ffi_cxx.so */
extern const fh_globals_item fh_globals_binding[]; /* globals_binding.c: tables for a binding of this project */
extern const fh_globals_item fh_globals_module[]; /* globals_module.c */
extern const fh_globals_item fh_globals_structural[]; /* globals_structural.c: equality, hash, keys */
extern const fh_globals_item fh_globals_visit[]; /* globals_structural.c: visits, visitors, contexts of errors */
extern const fh_globals_item fh_globals_mutate[]; /* globals_structural.c: mutations, mutators */
extern const fh_globals_item fh_globals_json[]; /* globals_value.c: JSON, and values as graphs of JSON */
