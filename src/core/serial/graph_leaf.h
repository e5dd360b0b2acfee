/* graph_leaf.h - nodes of a graph that refer to no others (numbers, strings, bytes, data types, devices, shapes), and
 * checked access to JSON values. */
#ifndef FH_GRAPH_LEAF_H_
#define FH_GRAPH_LEAF_H_

#include "core/object/any.h"

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

#endif /* FH_GRAPH_LEAF_H_ */
