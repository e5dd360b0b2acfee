/* The references that a native object has to other native objects. */
#pragma once

#include "hpy_module/object/class_table.h"

/* Visits the references of an object that no thread changes, each as often as the object has it. Targets are borrowed.
 * May run while all other threads are stopped. Calls getters of libraries. */
void fb_edges_visit(TVMFFIObject *object, FbHolderKind kind, const FbReferenceVisitor *to);
/* Visits the references of a value that std::shared_ptr share. */
void fb_edges_visit_shared(const ffi_hpy_shared *shared, const FbReferenceVisitor *to);
/* Removes the references of an object that only garbage refers to: empties a List or Dict, sets fields to None, lets
 * members of C++ lose theirs. Runs destructors, and setters of libraries, which may leave a native error pending. */
void fb_edges_cut(TVMFFIObject *object, FbHolderKind kind);
void fb_edges_cut_shared(const ffi_hpy_shared *shared);
