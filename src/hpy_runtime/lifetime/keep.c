/* Immortal objects, without a GIL.
 *
 * All bits of the owner's count are set in an immortal object; the interpreter then leaves both counts unchanged.
 * Threads that change the other count at the same time do no harm, because that count is not read any more. */
#include "keep.h"

#include "core/platform/atomic.h"
#include "watch.h"

void fhpy_keep_object(PyObject *o) {
  uint32_t *count = fhpy_watch_own_count(o);
  if (count != NULL) fh_atomic_store_relaxed_u32(count, UINT32_MAX); /* the interpreter's loads are relaxed, too */
}
