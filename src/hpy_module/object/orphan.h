/* Orphans: objects of which a wrapper ended while native code still had references. They may be part of a cycle of
 * native objects, to which no wrapper leads any more. A full collection looks at them (collect/). */
#ifndef FFI_HPY_OBJECT_ORPHAN_H_
#define FFI_HPY_OBJECT_ORPHAN_H_

#include <stdint.h>
#include <tvm/ffi/c_api.h>

/* Remembers an object by a weak reference. The caller has a strong one. Without memory it is not remembered. */
void fb_orphan_note(TVMFFIObject *object);

/* Takes all orphans, each with a weak reference that belongs to the caller, in an array from malloc. Returns how many
 * there are; 0 with *out NULL also without memory. */
uint32_t fb_orphan_take(TVMFFIObject ***out);

#endif /* FFI_HPY_OBJECT_ORPHAN_H_ */
