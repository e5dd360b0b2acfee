/* Preservation: a wrapper with state stays the wrapper of its native object as long as the object lives.
 *
 * A wrapper has state if its class is not the class of the object's type (a Python subclass), or if the class gives it
 * attributes, slots, weak references or __del__. When Python drops its last reference to such a wrapper while native
 * code still holds the object, the roles are reversed: the object owns the wrapper, and the wrapper's native reference
 * is released. The wrapper is then PRESERVED:
 *
 *   - the entry of the instance map (identity.h) leads from the object to an FbPreserved;
 *   - the object's header has fb_identity_deleter in place of its deleter, and a weak reference more;
 *   - the cell has the state FB_HANDLE_PRESERVED and the listing FB_PRESERVED.
 *
 * A preserved wrapper becomes an ordinary wrapper again when native code hands the object out, when Python code uses it
 * (it may get it from a weak reference), and when native code releases the last reference. In the last case our deleter
 * first takes that reference back, for the wrapper, and then releases the wrapper, which ends like any other wrapper:
 * __del__ and the callbacks of weak references find a whole object. If the interpreter is finalizing, object and
 * wrapper leak.
 *
 * Debug modes, PyPy and interpreters without the functions of the extension preserve nothing here. */
#pragma once

#include <stdint.h>
#include <tvm/ffi/c_api.h>

#include "identity.h"

/* --- orphans ------------------------------------------------------------------------------------------------------ */

/* Orphans: objects of which a wrapper ended while native code still had references. An orphan may be part of a cycle of
 * native objects, to which no wrapper leads any more. A full collection looks at them (collect/). */

/* Remembers an object by a weak reference. The caller has a strong one. Without memory it is not remembered, nor if it
 * would end with the weak reference. */
void fb_orphan_note(TVMFFIObject *object);

/* Takes all orphans, each with a weak reference that belongs to the caller, in an array from malloc. Returns how many
 * there are; 0 with *out NULL also without memory. */
uint32_t fb_orphan_take(TVMFFIObject ***out);

/* Whether a std::shared_ptr is an owner of an object (stl_memory.h), which then ends with its last weak reference. */
FH_INLINE bool fb_object_is_shared_ptrs(const TVMFFIObject *object) {
  return object->__padding == FFI_HPY_OWNED_BY_SHARED || object->__padding == FFI_HPY_OWNED_BY_SEVERAL;
}

/* --- wrappers with state ------------------------------------------------------------------------------------------ */

/* Called after fb_identity_init. */
void fb_preserve_init(void);

/* Watches the end of instances of a class made in Python. only_with_state: the class is the class of a type, so that an
 * instance without state may be made again. */
void fb_preserve_watch(HPy cls, bool only_with_state);

/* Returns the wrapper of an object that owns it, and gives it the caller's reference. HPy_NULL if there is none: then
 * the caller keeps its reference. */
HPy fb_preserve_trade(TVMFFIObject *handle);

/* Prepares a wrapper whose cell is claimed for a call that may consume the handle. If it has state, the wrapper stays
 * the object's: it gets the handle again when native code hands the object out, also during the call, and lives until
 * then. Returns the offer, which fb_identity_end_offer ends, or NULL for other wrappers. */
FbPreserved *fb_preserve_offer(HPyContext *ctx, HPy self, FbHandleCell *cell);

/* Whether the finalization of a wrapper is watched, because a new wrapper would differ from it. */
bool fb_preserve_has_state(HPy self);

/* Returns how many references to the wrapper belong to the native object: one if the object owns the wrapper, and one
 * if a collection in progress holds the wrapper for it. Both are there after __del__ of a wrapper that is held. */
FH_INLINE uint8_t fb_preserve_n_references(FbHandleCell *cell) {
  bool is_held = (fh_atomic_load_relaxed(&cell->flags) & FB_CELL_HELD) != 0;
  return (uint8_t)((fb_handle_cell_listing(cell) == FB_PRESERVED) + is_held);
}

/* Asked before a wrapper is preserved: whether the collector has proven that all native references to its object belong
 * to garbage. NULL: never. */
typedef enum FbGarbage {
  FB_NO_GARBAGE,
  FB_GARBAGE_FOUND, /* __del__ of any object of the garbage may still give the object to other code */
  FB_GARBAGE_CLEARED, /* no code can get the object any more */
} FbGarbage;
extern FB_HIDDEN FbGarbage (*fb_preserve_garbage)(FbHandleCell *cell);
