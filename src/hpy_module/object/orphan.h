/* Orphans: objects of which a wrapper ended while native code still had references. They may be part of a cycle of
 * native objects, to which no wrapper leads any more. A full collection looks at them (collect/). */
#ifndef FFI_HPY_OBJECT_ORPHAN_H_
#define FFI_HPY_OBJECT_ORPHAN_H_

#include <stdbool.h>
#include <stdint.h>
#include <tvm/ffi/c_api.h>

/* Remembers an object by a weak reference. The caller has a strong one. Without memory it is not remembered. */
void fb_orphan_note(TVMFFIObject *object);

/* Takes all orphans, each with a weak reference that fb_orphan_release gives back, in an array from malloc. Returns how
 * many there are; 0 with *out NULL also without memory. */
uint32_t fb_orphan_take(TVMFFIObject ***out);
/* Takes a strong reference. Returns false if the object has ended. */
bool fb_orphan_lock(TVMFFIObject *object);
/* Releases the weak reference. */
void fb_orphan_release(TVMFFIObject *object);

#endif /* FFI_HPY_OBJECT_ORPHAN_H_ */
