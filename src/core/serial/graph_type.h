/* graph_type.h - types and their hooks, for the writer and the reader of graphs. */
#ifndef FH_GRAPH_TYPE_H_
#define FH_GRAPH_TYPE_H_

#include "core/object/any.h"
#include "core/object/reflect.h"

typedef enum {
  FH_GRAPH_FIELDS,   /* an object as its fields */
  FH_GRAPH_HOOK,     /* an object in the form that its type's hook defines */
  FH_GRAPH_INT_ENUM, /* as its integer */
  FH_GRAPH_STR_ENUM, /* as its string */
  FH_GRAPH_UNABLE    /* no creator, no __ffi_new__, no hook */
} fh_graph_form;

/* How objects of exactly this type are written or read; `hooks` is the column of that direction. *hook is borrowed,
 * NULL unless FH_GRAPH_HOOK. */
fh_graph_form fh_graph_form_of(const TVMFFITypeInfo *info, fh_reflect_attr_id hooks, const TVMFFIAny **hook);

/* Calls a hook with one argument. A hook is a Function, or the address of a native function that takes a view and
 * returns an owned value, which is an Error if the hook fails. TypeError for a hook that is neither. */
int fh_graph_call_hook(const TVMFFIAny *hook, const char *name, const TVMFFIAny *arg, TVMFFIAny *out);

/* Whether the value of a field is written in place and not as a separate node. The static type of the field decides:
 * None, bool, int, float and DataType are written in place. */
int fh_graph_is_inline(const TVMFFIFieldInfo *field);

/* The integer and the string of an ffi.Enum: at offset 24 an int, at offset 32 a cell. */
TVMFFIAny fh_graph_enum_int(const TVMFFIObject *obj);
TVMFFIAny fh_graph_enum_str(const TVMFFIObject *obj); /* owned */
/* Finds the singleton of an enum type with that integer or string: a new reference; ValueError if there is none. */
int fh_graph_enum_find(const TVMFFITypeInfo *info, const TVMFFIAny *index, TVMFFIAny *out);

#endif /* FH_GRAPH_TYPE_H_ */
