/* graph_leaf.h - nodes of a graph that refer to no others (numbers, text, bytes, data types, devices, shapes), and
 * checked access to JSON values. */
#ifndef FH_GRAPH_LEAF_H_
#define FH_GRAPH_LEAF_H_

#include "core/object/any.h"

/* The type index that stands in a graph: that of the object for short text and bytes. */
int32_t fh_graph_leaf_type(int32_t type_index);

/* The data of a value's node, owned (None for None, whose node has none): 1, 0 for a value that is no leaf, -1. */
int fh_graph_leaf_write(const TVMFFIAny *value, TVMFFIAny *data);
/* The value of a type from its node's data, which is ignored for None: 1, 0 for a type that is no leaf, -1 with a
 * TypeError for data of a wrong type, or a ValueError for other wrong data. */
int fh_graph_leaf_read(int32_t type_index, const TVMFFIAny *data, TVMFFIAny *out);

/* TypeError "Cannot convert from type `...` to `expected`". Always -1. */
int fh_graph_raise_convert(const TVMFFIAny *value, const char *expected);
/* An Int or Bool as a number; text; an owned Array, of a List what it has now. TypeError for anything else. */
int fh_graph_to_int(const TVMFFIAny *value, int64_t *out);
int fh_graph_to_text(const TVMFFIAny *value, TVMFFIByteArray *out);
int fh_graph_to_array(const TVMFFIAny *value, TVMFFIAny *out);
/* The items of an Array, borrowed. */
const TVMFFIAny *fh_graph_items(const TVMFFIAny *array, int64_t *n);

#endif /* FH_GRAPH_LEAF_H_ */
