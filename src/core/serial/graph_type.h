/* graph_type.h - what the writer and the reader of graphs know about types, and the hooks. */
#ifndef FH_GRAPH_TYPE_H_
#define FH_GRAPH_TYPE_H_

#include "core/object/any.h"
#include "core/object/reflect.h"

typedef enum {
  FH_GRAPH_FIELDS,   /* an object as its fields */
  FH_GRAPH_HOOK,     /* an object as its type's hook has it */
  FH_GRAPH_INT_ENUM, /* as its integer */
  FH_GRAPH_STR_ENUM, /* as its text */
  FH_GRAPH_UNABLE    /* no creator, no __ffi_new__, no hook */
} fh_graph_form;

/* How objects of exactly this type are written or read; `hooks` is the column of that direction. *hook is borrowed,
 * NULL unless FH_GRAPH_HOOK. */
fh_graph_form fh_graph_form_of(const TVMFFITypeInfo *info, fh_reflect_attr_id hooks, const TVMFFIAny **hook);

/* Calls a hook with one argument: a Function, or the address of a native function that takes a view and returns an
 * owned value, which is an Error when it fails. TypeError for a hook that is neither. */
int fh_graph_call_hook(const TVMFFIAny *hook, const char *name, const TVMFFIAny *arg, TVMFFIAny *out);

/* Whether the value of a field is written in place and not as a node of its own. Its static type decides: None, bool,
 * int, float and DataType are. */
int fh_graph_is_inline(const TVMFFIFieldInfo *field);

/* The integer and the text of an ffi.Enum: 32 bytes, then a cell of text. */
TVMFFIAny fh_graph_enum_int(const TVMFFIObject *obj);
TVMFFIAny fh_graph_enum_str(const TVMFFIObject *obj); /* owned */
/* The singleton of an enum type with that integer or text: a new reference; ValueError if there is none. */
int fh_graph_enum_find(const TVMFFITypeInfo *info, const TVMFFIAny *index, TVMFFIAny *out);

#endif /* FH_GRAPH_TYPE_H_ */
