/* graph_write.h - any value as a graph of JSON values: {"root_index": i, "nodes": [{"type": key, "data": ...}, ...]}.
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
#ifndef FH_GRAPH_WRITE_H_
#define FH_GRAPH_WRITE_H_

#include "core/object/any.h"

/* Returns an owned Map. `metadata` is stored unchanged under "metadata", unless it is None. TypeError for objects whose
 * type has neither a hook for writing nor a way to create them (no creator, no __ffi_new__), RuntimeError for values
 * that are neither JSON values nor objects, ValueError for a value that contains itself. Runs foreign code: getters and
 * hooks. */
int fh_graph_write(const TVMFFIAny *value, const TVMFFIAny *metadata, TVMFFIAny *out);

#endif /* FH_GRAPH_WRITE_H_ */
