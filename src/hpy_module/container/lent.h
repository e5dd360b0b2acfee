/* Arguments of Functions of bound libraries (ffi_hpy/bind.h), for the duration of a call.
 *
 * The casters of such a library only read strings and containers while the call lasts. An argument that consists of
 * plain values therefore becomes a native object in a block that the next call uses again. */
#pragma once

#include <ffi_hpy/c_bind.h>

#include "hpy_module/convert/args.h"
#include "hpy_module/object/type_tag.h"

/* The function behind each Function of a bound library; NULL until the first of them is imported. Set once, with
 * release. */
extern FB_HIDDEN TVMFFISafeCallType fb_lent_callee;

/* ffi_hpy_bind_api.function_refuse. Set before fb_lent_callee. */
extern FB_HIDDEN int (*fb_lent_refuse)(const ffi_hpy_first_overload *self, const TVMFFIAny *args, TVMFFIAny *result,
                                       int rc);

/* Sets fb_lent_callee, fb_lent_refuse, the type indices of containers by kFfiHpy*, and the class set. Called once.
 * Returns 0, or -1 with an exception raised. */
int fb_lent_enable(HPyContext *ctx, const ffi_hpy_bind_api *api, const int32_t *types, HPy set_class);

/* Makes *out the value of a member of an enum, of a callable, or of a str, list, tuple, dict or set of plain values:
 * None, bools, numbers, and such strings and containers again. With a GIL a list or tuple itself may also have objects
 * with wrappers, of which the container owns references. Returns false without an exception for every other value and
 * without memory. If *out is an object, the caller releases it by fb_lent_end. Requires the extension. */
bool fb_lent_read(HPyContext *ctx, HPy value, TVMFFIAny *out);
/* Like fb_lent_read, for a member of an enum, or a callable, which becomes a Function. `entry`: the entry of its
 * type. */
bool fb_lent_read_known(HPyContext *ctx, HPy value, const FbTypeTagEntry *entry, TVMFFIAny *out);
bool fb_lent_read_callable(HPyContext *ctx, HPy value, const FbTypeTagEntry *entry, TVMFFIAny *out);

/* A string or a container of the ABI; the items of a container follow. */
typedef struct FbLent {
  TVMFFIObject header;
  union {
    TVMFFIByteArray bytes;
    TVMFFISeqCell cell;
  };
  bool has_objects; /* of a container: whether some of its items are objects; of a string: false */
  TVMFFIAny items[];
} FbLent;

/* Room for such an object on the C stack, for a Function that borrows its arguments (c_bind.h). */
enum { FB_LENT_ITEMS = 16 };
typedef union FbLentRoom {
  FbLent lent;
  char bytes[sizeof(FbLent) + FB_LENT_ITEMS * sizeof(TVMFFIAny)];
} FbLentRoom;

/* Like fb_lent_read for a list or tuple, whose object is made in `room`, and ended by fb_lent_room_end; also returns
 * false if there are more than FB_LENT_ITEMS items. */
bool fb_lent_read_into(HPyContext *ctx, HPy value, FbLentRoom *room, TVMFFIAny *out);
void fb_lent_end_items(const FbLent *lent);
FH_INLINE void fb_lent_room_end(const FbLentRoom *room) {
  if (FH_UNLIKELY(room->lent.has_objects)) fb_lent_end_items(&room->lent);
}

/* The least type word of str, list, tuple and dict, and the distance to the largest. Set like fb_lent_callee. */
extern FB_HIDDEN uintptr_t fb_lent_first_type, fb_lent_type_span;
extern FB_HIDDEN intptr_t fb_lent_dict_type;

/* Whether a value is a str, list, tuple or dict itself. The structs of an interpreter's own classes lie together, and
 * classes on the heap lie elsewhere, so the first comparison suffices for most other values. */
FH_INLINE bool fb_lent_is_builtin(HPyContext *ctx, HPy value) {
  intptr_t type = fb_type_tag_type(value);
  return (uintptr_t)type - fb_lent_first_type <= fb_lent_type_span &&
         (type == ctx->h_UnicodeType._i || type == ctx->h_TupleType._i || type == ctx->h_ListType._i ||
          type == fb_lent_dict_type);
}

/* A str as an object on the C stack, for a Function that borrows its arguments: the text stays in the Python object. */
typedef struct FbLentText {
  TVMFFIObject header;
  TVMFFIByteArray bytes;
} FbLentText;
/* Returns false without an exception for half of a surrogate pair. */
FH_INLINE bool fb_lent_read_text(HPyContext *ctx, HPy value, FbLentText *text, TVMFFIAny *out) {
  HPy_ssize_t n;
  text->bytes.data = HPyUnicode_AsUTF8AndSize(ctx, value, &n);
  if (FH_UNLIKELY(text->bytes.data == NULL)) return HPyErr_Clear(ctx), false;
  text->bytes.size = (size_t)n;
  text->header = (TVMFFIObject){.combined_ref_count = FFI_HPY_LENT_COUNT, .type_index = kTVMFFIStr};
  fb_put(out, kTVMFFIStr, (int64_t)(intptr_t)text);
  return true;
}

/* Makes a Function of a callable; NULL with an exception raised. While the caller still has the callable, one of the
 * other two functions follows: `end` destroys the Function if native code has kept no reference; otherwise `keep` lets
 * the Function outlive the call. Written once during the import. */
extern FB_HIDDEN TVMFFIObject *(*fb_lent_callback_new)(HPyContext *ctx, HPy callable);
extern FB_HIDDEN void (*fb_lent_callback_end)(TVMFFIObject *function);
extern FB_HIDDEN void (*fb_lent_callback_keep)(TVMFFIObject *function);

/* Destroys an object, while the caller still has the argument that the object was read from. An error may be pending,
 * and stays so. */
void fb_lent_end(TVMFFIObject *object);
