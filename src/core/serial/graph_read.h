/* graph_read.h - the value of a graph; graph_write.h describes graphs. */
#ifndef FH_GRAPH_READ_H_
#define FH_GRAPH_READ_H_

#include "core/object/any.h"

/* Returns an owned value. Only nodes that the root needs are read, each once, in any order. The function makes an
 * object by __data_from_json__(data) of its type, or makes an empty one and sets it field by field; missing fields get
 * their default. ValueError or TypeError for a malformed graph, for types that cannot be created, and for nodes that
 * refer to themselves; errors of setters, creators and hooks are passed on. Runs foreign code. */
int fh_graph_read(const TVMFFIAny *graph, TVMFFIAny *out);

#endif /* FH_GRAPH_READ_H_ */
