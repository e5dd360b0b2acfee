/* The references that a native object has to other native objects. */
#ifndef FFI_HPY_COLLECT_EDGES_H_
#define FFI_HPY_COLLECT_EDGES_H_

#include "hpy_module/object/holder.h"

/* Called for each reference, as often as the object has it. The target is borrowed. */
typedef void (*FbEdgesVisit)(void *arg, TVMFFIObject *target);

/* Visits the references of an object that no thread changes. May run while all other threads are stopped. Calls
 * getters of libraries. */
void fb_edges_visit(TVMFFIObject *object, FbHolderKind kind, FbEdgesVisit visit, void *arg);
/* Removes the references of an object that only garbage refers to: empties a List or Dict, sets fields to None. Runs
 * destructors, and setters of libraries, which may leave a native error pending. */
void fb_edges_cut(TVMFFIObject *object, FbHolderKind kind);

#endif /* FFI_HPY_COLLECT_EDGES_H_ */
