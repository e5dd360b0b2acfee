/* mutator.h - ffi.StructuralMutator: an object of any library that makes changed copies of values.
 *
 * A mutator is a class of 40 bytes that C++ clients derive from. A function of its table returns a replacement,
 * ffi.Unchanged if the value stays, or an Error. A type's __s_mutate__ is such a function (a "hook"), by address or as
 * a Function: it makes a changed copy of an object by calling the mutator for the parts of the object.
 * __s_maybe_inplace_mutate__ may change the object itself. The callback is called only if the object and every object
 * on the way to it have one strong reference and no weak references of other owners. */
#pragma once

#include "core/object/any.h"

typedef struct fh_mutator_object fh_mutator_object;

/* The caller owns results; values are views. */
typedef TVMFFIAny (*fh_mutator_mutate)(fh_mutator_object *mutator, TVMFFIAny value);

typedef struct {
  fh_mutator_mutate mutate;
  fh_mutator_mutate maybe_inplace_mutate;
  fh_mutator_mutate var_remap_get; /* the replacement of an object; None if it has none */
  TVMFFIAny (*var_remap_set)(fh_mutator_object *mutator, TVMFFIAny var, TVMFFIAny mapped); /* returns None */
} fh_mutator_table;

struct fh_mutator_object {
  TVMFFIObject header;
  const fh_mutator_table *table;
  int32_t region; /* TVMFFIDefRegionKind: the region of the mutation */
};

static inline TVMFFIAny fh_mutator_unchanged(void) {
  TVMFFIAny any = fh_any_none();
  any.type_index = kTVMFFIUnchanged;
  return any;
}

/* Checks the raw result of a mutation: 0, or -1 if it is an Error, which becomes pending, and *result None. */
int fh_mutator_take_result(TVMFFIAny *result);
/* Makes a raw result: `result`, or, if rc is not 0, the pending error, which it clears. */
TVMFFIAny fh_mutator_make_result(int rc, TVMFFIAny result);
/* Whether two values are the same string, bytes or integer, which are immutable. */
bool fh_mutator_is_same_leaf(TVMFFIAny a, TVMFFIAny b);
/* Whether a result means that `value` stays. A callback in a language with its own strings and integers returns other
 * objects of equal contents, which do not count as a change. */
static inline bool fh_mutator_keeps(const TVMFFIAny *result, const TVMFFIAny *value) {
  return result->type_index == kTVMFFIUnchanged || fh_any_same(result, value) ||
         (result->type_index == value->type_index && fh_mutator_is_same_leaf(*result, *value));
}

/* Calls one of the functions of a mutator's table with a value; the caller owns *out; None on -1. */
int fh_mutator_call(fh_mutator_object *mutator, fh_mutator_mutate function, const TVMFFIAny *value, TVMFFIAny *out);
/* Calls var_remap_set of a mutator's table; the caller owns *out; None on -1. */
int fh_mutator_call_remap_set(fh_mutator_object *mutator, const TVMFFIAny *var, const TVMFFIAny *mapped,
                              TVMFFIAny *out);
/* Calls a type's hook (not NULL) with a mutator and a value. */
int fh_mutator_call_hook(const TVMFFIAny *hook, fh_mutator_object *mutator, const TVMFFIAny *value, TVMFFIAny *out);
/* Whether a hook is the built-in hook of containers, or the built-in hook of strings, bytes and large integers, which
 * never change. */
bool fh_mutator_is_container_hook(const TVMFFIAny *hook);
bool fh_mutator_is_leaf_hook(const TVMFFIAny *hook);

/* Makes a shallow copy of an object, whose fields the caller then changes: a new reference, NULL with an error
 * pending. */
TVMFFIObject *fh_mutator_copy(TVMFFIObject *obj);
/* Refuses a type whose objects cannot be copied: TypeError. */
int fh_mutator_check_copy(int32_t type_index);
/* Writes a field of such a copy. */
int fh_mutator_set_field(const TVMFFIFieldInfo *field, TVMFFIObject *copy, const TVMFFIAny *value);

/* Mutates the parts of a value, with any mutator, on a copy: by its type's hook, else by its reflected fields. */
int fh_mutator_default(fh_mutator_object *mutator, const TVMFFIAny *value, TVMFFIAny *out);

int32_t fh_mutator_type(void);
void fh_mutator_init(void);
