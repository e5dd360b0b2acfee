/* graph_read.h - the value of a graph that graph_write.h describes. */
#ifndef FH_GRAPH_READ_H_
#define FH_GRAPH_READ_H_

#include "core/object/any.h"

/* An owned value. Only nodes that the root needs are looked at, each once, in any order. Objects are made by
 * __data_from_json__(data) of their type, or empty and then field by field; fields that are missing get their default.
 * ValueError or TypeError for anything that is no such graph, for types that cannot be made, and for nodes that refer
 * to themselves; errors of setters, creators and hooks are handed on. Runs foreign code. */
int fh_graph_read(const TVMFFIAny *graph, TVMFFIAny *out);

#endif /* FH_GRAPH_READ_H_ */
