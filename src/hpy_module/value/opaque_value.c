/* Conversion of Python objects to an ffi.OpaquePyObject: a native object that owns the Python object. Native code can
 * keep and pass it, but not read it; the binding that made it returns the Python object inside. */
#include "value.h"

#include <stdlib.h>

#include "core/platform/atomic.h"
#include "core/platform/fork.h"
#include "hpy_module/convert/args.h"
#include "hpy_module/convert/argument.h"
#include "hpy_module/error/error.h"
#include "hpy_module/object/object.h"
#include "hpy_module/object/type_tag.h"

TVMFFIObject *fb_opaque_value_new(HPyContext *ctx, HPy value) {
  TVMFFIObject *made = fb_opaque_new(ctx, value);
  if (made == NULL && !HPyErr_Occurred(ctx)) fb_error_raise_pending(ctx, "OpaquePyObject");
  return made;
}

int fb_opaque_value_argument(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  TVMFFIObject *object = fb_opaque_value_new(ctx, value);
  if (object == NULL) return -1;
  int rc = fb_args_view(args, object, out);
  if (FH_LIKELY(fb_ext != NULL)) args->temps[args->n_temps - 1].tagged += FB_TEMP_OPAQUE;
  return rc;
}

void fb_opaque_value_init(void) { fb_argument_set_conversion(FB_TYPE_KIND_OPAQUE, fb_opaque_value_argument); }

FB_METHOD_O(fb_opaque_value_hold, "opaque_new", arg,
            "The pointer to a new native object that owns a Python object. The caller owns the reference.") {
  TVMFFIObject *made = fb_opaque_value_new(ctx, arg);
  return made == NULL ? HPy_NULL : HPyLong_FromInt64_t(ctx, (int64_t)(intptr_t)made);
}

/* --- members of enums --------------------------------------------------------------------------------------------- */

/* Members of enums that a library binds with ffi_hpy/bind.h: each has one ffi.OpaquePyObject, made when the enum is
 * made, so that the library recognises a member by the pointer.
 *
 * A table leads from the member to its native object: open addressing with linear probing. The key is the address of
 * the member, which its native object keeps alive as long as the process. Without the extension, handles are not
 * addresses, and each call makes a native object, as for other Python objects. */

enum { FIRST_SLOTS = 256 };

/* One slot. The native object is stored last and never changes; NULL: the slot is empty. */
typedef struct Slot {
  intptr_t member;
  TVMFFIObject *native;
} Slot;

typedef struct Table {
  size_t mask; /* slots - 1; at least half of them are empty */
  Slot slots[];
} Table;

/* Guards writing. Replaced tables are kept for readers; all together are as large as the newest. */
FH_LOCK(writing, "members of enums", FH_RANK_PLAIN);
static Table *table;
static size_t n_members;

/* Returns the slot of a member, or the empty slot at its place. */
static Slot *probe(Table *in, intptr_t member) {
  for (size_t i = fb_type_tag_hash(member);; ++i) {
    Slot *slot = &in->slots[i & in->mask];
    /* acquire: pairs with put() */
    if (fh_atomic_load_acquire(&slot->native) == NULL || slot->member == member) return slot;
  }
}

/* Under the lock. Does nothing if the member is there already. */
static void put(Table *in, intptr_t member, TVMFFIObject *native) {
  Slot *slot = probe(in, member);
  if (slot->native != NULL) return;
  slot->member = member;
  fh_atomic_store_release(&slot->native, native); /* pairs with probe() */
}

/* Makes room for one more member, under the lock. Returns NULL if memory is exhausted. */
static Table *grown(void) {
  Table *old = fh_atomic_load_relaxed(&table);
  if (old != NULL && 2 * (n_members + 1) <= old->mask + 1) return old;
  size_t n_slots = old == NULL ? FIRST_SLOTS : 2 * (old->mask + 1);
  Table *larger = calloc(1, sizeof(*larger) + n_slots * sizeof(Slot));
  if (larger == NULL) return NULL;
  larger->mask = n_slots - 1;
  for (size_t i = 0; old != NULL && i <= old->mask; ++i) {
    if (old->slots[i].native != NULL) put(larger, old->slots[i].member, old->slots[i].native);
  }
  fh_atomic_store_release(&table, larger); /* pairs with member_argument() */
  return larger;
}

FH_INLINE TVMFFIObject *find(HPy value) {
  Table *in = fb_ext == NULL ? NULL : fh_atomic_load_acquire(&table); /* see grown() */
  return in == NULL ? NULL : fh_atomic_load_relaxed(&probe(in, value._i)->native);
}

TVMFFIObject *fb_member_find(HPy value) { return find(value); }

/* The FbConversion of members. */
static int member_argument(HPyContext *ctx, HPy value, TVMFFIAny *out, FbArgs *args) {
  TVMFFIObject *native = find(value);
  if (FH_UNLIKELY(native == NULL)) return fb_opaque_value_argument(ctx, value, out, args); /* a combination of flags */
  fb_put_object(out, native);
  return 0;
}

void fb_member_init(void) { fb_argument_set_conversion(FB_TYPE_KIND_MEMBER, member_argument); }

FB_METHOD_O(fb_member_register, "member_register", member,
            "Pass a member of a bound enum as the same native object each time.") {
  if (fb_ext == NULL) return HPy_Dup(ctx, ctx->h_None);
  TVMFFIObject *native = fb_opaque_value_new(ctx, member);
  if (native == NULL) return HPy_NULL;
  fh_mutex_lock(&writing);
  Table *in = grown();
  if (in != NULL) {
    put(in, member._i, native);
    ++n_members;
  }
  fh_mutex_unlock(&writing);
  if (in == NULL) {
    TVMFFIObjectDecRef(native);
    return HPyErr_NoMemory(ctx);
  }
  fb_context_keep(member);
  return HPy_Dup(ctx, ctx->h_None);
}
