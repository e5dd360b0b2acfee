/* graph.h - any value as a graph of JSON values: {"root_index": i, "nodes": [{"type": key, "data": ...}, ...]}.
 *
 * Every distinct value (by fh_any_hash and fh_any_equal) is one node, after the nodes that it refers to. The data of a
 * node:
 *   None            has no data
 *   bool, int, float, ffi.String    the value
 *   DataType        its name; Device: [type, id]; ffi.Bytes: base64; ffi.BigInt: decimal string; ffi.Shape: [n, ...]
 *   ffi.Array, ffi.List             [node, ...]
 *   ffi.Map, ffi.Dict               [node of key, node of value, ...]
 *   an enum         the integer of an ffi.IntEnum, the string of any other ffi.Enum
 *   another object  the result of its type's __data_to_json__(object), or {field: ...}: the value itself if the field's
 *                   static type is None, bool, int, float or DataType, otherwise a node */
#pragma once

#include "core/object/any.h"
#include "core/object/reflect.h"

/* Returns an owned Map. `metadata` is stored unchanged under "metadata", unless it is None. TypeError for objects whose
 * type has neither a hook for writing nor a way to create them (no creator, no __ffi_new__), RuntimeError for values
 * that are neither JSON values nor objects, ValueError for a value that contains itself. Runs foreign code: getters and
 * hooks. */
int fh_graph_write(const TVMFFIAny *value, const TVMFFIAny *metadata, TVMFFIAny *out);

/* --- reading ----------------------------------------------------------------------------------------------------- */

/* The value of a graph; graph.h describes graphs. */

/* Returns an owned value. Only nodes that the root needs are read, each once, in any order. The function makes an
 * object by __data_from_json__(data) of its type, or makes an empty one and sets it field by field; missing fields get
 * their default. ValueError or TypeError for a malformed graph, for types that cannot be created, and for nodes that
 * refer to themselves; errors of setters, creators and hooks are passed on. Runs foreign code. */
int fh_graph_read(const TVMFFIAny *graph, TVMFFIAny *out);

/* --- leaves ------------------------------------------------------------------------------------------------------ */

/* Nodes of a graph that refer to no others (numbers, strings, bytes, data types, devices, shapes), and
 * checked access to JSON values. */

/* The type index in a graph: for short strings and bytes the index of the object type. */
int32_t fh_graph_leaf_type(int32_t type_index);

/* Makes the data of a value's node, owned (None for None, whose node has no data): 1, 0 for a value that is not a leaf,
 * -1. */
int fh_graph_leaf_write(const TVMFFIAny *value, TVMFFIAny *data);
/* Makes the value of a type from its node's data, which is ignored for None: 1, 0 for a type that is not a leaf, -1
 * with a TypeError for data of a wrong type, or a ValueError for other wrong data. */
int fh_graph_leaf_read(int32_t type_index, const TVMFFIAny *data, TVMFFIAny *out);

/* Raises TypeError "Cannot convert from type `...` to `expected`". Always -1. */
int fh_graph_raise_convert(const TVMFFIAny *value, const char *expected);
/* Convert an Int or Bool to a number, a string to borrowed bytes, an Array or the current items of a List to an owned
 * Array. TypeError for anything else. */
int fh_graph_to_int(const TVMFFIAny *value, int64_t *out);
int fh_graph_to_text(const TVMFFIAny *value, TVMFFIByteArray *out);
int fh_graph_to_array(const TVMFFIAny *value, TVMFFIAny *out);
/* The items of an Array, borrowed. */
const TVMFFIAny *fh_graph_items(const TVMFFIAny *array, int64_t *n);

/* --- types ------------------------------------------------------------------------------------------------------- */

/* Types and their hooks, for the writer and the reader of graphs. */

typedef enum {
  FH_GRAPH_FIELDS,   /* an object as its fields */
  FH_GRAPH_HOOK,     /* an object in the form that its type's hook defines */
  FH_GRAPH_PYTHON,   /* an object without fields and hook, in the form of the Python package */
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

/* Writes a value of a type of the form FH_GRAPH_PYTHON, or reads the data of one. 1 with an owned *out, 0 if the
 * package is not loaded, -1 with an error pending. */
int fh_graph_ask_python(const TVMFFITypeInfo *info, bool writes, const TVMFFIAny *value, TVMFFIAny *out);

/* Whether the value of a field is written in place and not as a separate node. The static type of the field decides:
 * None, bool, int, float and DataType are written in place. */
bool fh_graph_is_inline(const TVMFFIFieldInfo *field);

/* The integer and the string of an ffi.Enum: at offset 24 an int, at offset 32 a cell. */
TVMFFIAny fh_graph_enum_int(const TVMFFIObject *obj);
TVMFFIAny fh_graph_enum_str(const TVMFFIObject *obj); /* owned */
/* Finds the singleton of an enum type with that integer or string: a new reference; ValueError if there is none. */
int fh_graph_enum_find(const TVMFFITypeInfo *info, const TVMFFIAny *index, TVMFFIAny *out);
