/* Strings and containers that last for one call of a bound library, and other arguments of such a call.
 *
 * Most such objects are short, and casters keep none. So a call takes its blocks from a small stack, and puts them back
 * unless native code has kept an object; its deleter then frees that object, as any other object. */
#include "lent.h"

#include <stdlib.h>

#include "core/platform/atomic.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/error_slot.h"
#include "hpy_module/convert/argument.h"
#include "hpy_module/convert/immediate.h"
#include "hpy_module/object/identity.h"
#include "hpy_module/object/object.h"
#include "hpy_module/object/recorded.h"
#include "hpy_module/value/value.h"

TVMFFISafeCallType fb_lent_callee;
int (*fb_lent_refuse)(const ffi_hpy_first_overload *self, const TVMFFIAny *args, TVMFFIAny *result, int rc);
uintptr_t fb_lent_first_type, fb_lent_type_span;
intptr_t fb_lent_dict_type;
TVMFFIObject *(*fb_lent_callback_new)(HPyContext *ctx, HPy callable);
void (*fb_lent_callback_end)(TVMFFIObject *function);
void (*fb_lent_callback_keep)(TVMFFIObject *function);

/* All are written before fb_lent_callee. The last is a type word. */
static int32_t list_index, set_index, dict_index;
static intptr_t set_type;

/* The room of a block that can be used again, the most of them that wait for the next call, the items of a set that are
 * read without a list, the number of bytes of a string that fit into a TVMFFIAny, and the nesting that the C stack
 * allows. */
enum { ROOM = 512, MOST_SPARE = 256, FEW = 16, SMALL_SIZE = 7, DEPTH_LIMIT = 32 };

/* The GIL guards the stack; without a GIL it stays empty. */
static FbLent *spare[MOST_SPARE];
static int n_spare;

static bool is_text(const FbLent *lent) { return lent->header.type_index == kTVMFFIStr; }

/* The deleter of an object that native code has kept: any thread may call it. */
static void lent_delete(void *self, int flags) {
  FbLent *lent = self;
  if ((flags & kTVMFFIObjectDeleterFlagBitMaskStrong) != 0 && !is_text(lent)) {
    for (int64_t i = 0; i < lent->cell.size; ++i) fb_any_drop(&lent->items[i]);
    lent->cell.size = 0;
  }
  if ((flags & kTVMFFIObjectDeleterFlagBitMaskWeak) != 0) free(lent);
}

/* Returns a block whose header is complete; NULL without memory. */
FH_INLINE FbLent *block_new(size_t n_bytes, int32_t type_index) {
  FbLent *lent;
  if (FH_LIKELY(n_bytes <= ROOM && n_spare > 0)) {
    lent = spare[--n_spare];
  } else {
    lent = malloc(sizeof(FbLent) + (n_bytes <= ROOM ? ROOM : n_bytes));
    if (lent == NULL) return NULL;
  }
  lent->header =
      (TVMFFIObject){.combined_ref_count = FB_ONLY_REFERENCE, .type_index = type_index, .deleter = lent_delete};
  return lent;
}

static void block_end(FbLent *lent, size_t n_bytes) {
  if (FH_LIKELY(n_bytes <= ROOM && n_spare < MOST_SPARE && !fb_context_free_threaded)) {
    spare[n_spare++] = lent;
  } else {
    free(lent);
  }
}

/* Whether an item is an object that a wrapper has: containers own such items, and all other objects are lent. */
FH_INLINE bool is_owned(int32_t type_index) {
  return type_index >= kTVMFFIDynObjectBegin && type_index != set_index && type_index != dict_index;
}

/* Drops the last reference to an item. An error of the call may be pending. */
static FH_COLD void drop_last(TVMFFIObject *object) {
  FbPendingError pending = fb_error_slot_take(fb_ctx);
  fb_drop_aside(object);
  fb_error_slot_put(pending);
}

FH_NOINLINE void fb_lent_end_items(const FbLent *lent) {
  for (int64_t i = 0; i < lent->cell.size; ++i) {
    TVMFFIObject *object = lent->items[i].v_obj;
    if (lent->items[i].type_index < kTVMFFIStaticObjectBegin) continue;
    if (!is_owned(lent->items[i].type_index)) {
      fb_lent_end(object);
    } else if (FH_LIKELY((uint32_t)fh_atomic_load_relaxed_u64(&object->combined_ref_count) > 1)) {
      TVMFFIObjectDecRef(object);
    } else {
      drop_last(object);
    }
  }
}

FH_INLINE void container_end(FbLent *lent) {
  if (lent->has_objects) fb_lent_end_items(lent);
  block_end(lent, (size_t)lent->cell.capacity * sizeof(TVMFFIAny));
}

void fb_lent_end(TVMFFIObject *object) {
  FbLent *lent = (FbLent *)(void *)object;
  if (object->type_index == kTVMFFIOpaquePyObject) return; /* of a member of an enum, which lasts */
  /* acquire: pairs with the release of a thread that dropped another reference */
  if (FH_UNLIKELY(fh_atomic_load_acquire_u64(&object->combined_ref_count) != FB_ONLY_REFERENCE)) {
    if (object->type_index == kTVMFFIFunction) fb_lent_callback_keep(object);
    TVMFFIObjectDecRef(object);
  } else if (is_text(lent)) {
    block_end(lent, lent->bytes.size + 1);
  } else if (object->type_index != kTVMFFIFunction) {
    container_end(lent);
  } else {
    fb_lent_callback_end(object);
  }
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* Immediate values are read only at depth 0: read_item has tried them. */
static bool read_at(HPyContext *ctx, HPy value, int depth, TVMFFIAny *out);

static FH_NOINLINE bool read_text(HPyContext *ctx, HPy value, TVMFFIAny *out) {
  HPy_ssize_t n;
  const char *data = HPyUnicode_AsUTF8AndSize(ctx, value, &n);
  if (FH_UNLIKELY(data == NULL)) return HPyErr_Clear(ctx), false;
  if (n <= SMALL_SIZE) {
    fb_put(out, kTVMFFISmallStr, 0);
    out->small_str_len = (uint32_t)n;
    memcpy(out->v_bytes, data, (size_t)n);
    return true;
  }
  FbLent *lent = block_new((size_t)n + 1, kTVMFFIStr);
  if (FH_UNLIKELY(lent == NULL)) return false;
  lent->bytes = (TVMFFIByteArray){(char *)lent->items, (size_t)n};
  memcpy(lent->items, data, (size_t)n + 1); /* with the NUL */
  fb_put_object(out, &lent->header);
  return true;
}

/* Returns a container with room for n items; NULL without memory. */
FH_INLINE FbLent *container_new(HPy_ssize_t n, int32_t type_index) {
  if (FH_UNLIKELY(n < 0 || (size_t)n > PTRDIFF_MAX / (2 * sizeof(TVMFFIAny)))) return NULL;
  FbLent *lent = block_new((size_t)n * sizeof(TVMFFIAny), type_index);
  if (FH_UNLIKELY(lent == NULL)) return NULL;
  lent->cell = (TVMFFISeqCell){.data = lent->items, .capacity = n};
  lent->has_objects = false;
  return lent;
}

/* Makes *out the container, with the first n of its items. If it is not complete, ends it. Returns is_complete. */
FH_INLINE bool container_close(FbLent *lent, HPy_ssize_t n, bool is_complete, TVMFFIAny *out) {
  lent->cell.size = n;
  fb_put_object(out, &lent->header);
  if (FH_UNLIKELY(!is_complete)) fb_lent_end(&lent->header);
  return is_complete;
}

FH_INLINE bool read_item(HPyContext *ctx, HPy value, int depth, FbLent *to, HPy_ssize_t i) {
  TVMFFIAny *item = &to->items[i];
  if (FH_LIKELY(fb_immediate_read(value, item))) return true;
  if (FH_UNLIKELY(!read_at(ctx, value, depth, item))) return false;
  to->has_objects |= item->type_index >= kTVMFFIStaticObjectBegin;
  return true;
}

/* Reads the ints of one digit at the front, as fb_immediate_int does, whose constants are in memory: this loop has them
 * in registers. Readers of containers load the words of an item one by one, so no item needs the single store of
 * fb_put. Returns how many there are. */
FH_INLINE HPy_ssize_t read_ints(const HPy *items, HPy_ssize_t n, TVMFFIAny *out) {
  const intptr_t int_type = fb_immediate.int_type;
  const ptrdiff_t type_offset = fb_context_type_offset, word_offset = fb_immediate.values.int_word;
  const uint64_t bias = fb_immediate.values.int_bias, last = fb_immediate.values.int_last;
  const int8_t *const signs = fb_immediate.values.int_sign;
  HPy_ssize_t i = 0;
  for (; i < n; ++i) {
    const char *object = (const char *)items[i]._i;
    intptr_t type;
    uint64_t word;
    uint32_t digit;
    memcpy(&type, object + type_offset, sizeof(type));
    if (type != int_type) break;
    memcpy(&word, object + word_offset, sizeof(word));
    memcpy(&digit, object + word_offset + sizeof(word), sizeof(digit));
    word += bias;
    if (word > last) break;
    out[i] = (TVMFFIAny){.type_index = kTVMFFIInt, .v_int64 = (int64_t)signs[word] * digit};
  }
  return i;
}

/* The items of a list or a tuple, in place: they are read without running code that could change the list. */
typedef struct {
  const HPy *items;
  HPy_ssize_t n;
} Items;

/* Returns false if the layout of lists is unknown. */
FH_INLINE bool list_items(HPy list, Items *out) {
  if (FH_UNLIKELY(fb_context_list_items == 0)) return false;
  memcpy(&out->n, (const char *)list._i + fb_context_list_items - (ptrdiff_t)sizeof(out->n), sizeof(out->n));
  memcpy(&out->items, (const char *)list._i + fb_context_list_items, sizeof(out->items));
  return true;
}

/* As list_items; the number of items is in the header of both lists and tuples. */
FH_INLINE bool tuple_items(HPyContext *ctx, HPy tuple, Items *out) {
  if (FH_UNLIKELY(fb_context_tuple_items == 0)) return false;
  out->items = (const HPy *)(const void *)((const char *)tuple._i + fb_context_tuple_items);
  if (FH_UNLIKELY(fb_context_list_items == 0)) {
    out->n = HPy_Length(ctx, tuple);
  } else {
    memcpy(&out->n, (const char *)tuple._i + fb_context_list_items - (ptrdiff_t)sizeof(out->n), sizeof(out->n));
  }
  return true;
}

/* Registers the wrapper of an item. Returns false if that has run code that has changed the list. */
static FH_NOINLINE bool share_item(HPyContext *ctx, HPy owner, const Items *in, HPy_ssize_t i, FbHandleCell *cell) {
  Items now = *in;
  HPy item = in->items[i], kept = HPy_Dup(ctx, item);
  fb_identity_share_slow(ctx, item, cell);
  bool is_shared = fb_handle_cell_listing(cell) != FB_UNLISTED;
  HPy_Close(ctx, kept);
  if (fb_type_tag_type(owner) == ctx->h_ListType._i && !list_items(owner, &now)) return false;
  return is_shared && now.items == in->items && now.n == in->n && now.items[i]._i == item._i;
}

/* Reads the items from *at on that are objects of one class with wrappers, and sets *at to the next item. Returns false
 * if the next item cannot be read. Without a GIL another thread could move an object away. */
static FH_NOINLINE bool read_objects(HPyContext *ctx, HPy owner, const Items *in, FbLent *to, HPy_ssize_t *at) {
  const intptr_t type = fb_type_tag_type(in->items[*at]);
  const FbTypeTagEntry *entry = fb_type_tag_find_type(type);
  if (entry == NULL || entry->kind != FB_TYPE_KIND_OBJECT || fb_context_free_threaded) return false;
  for (; *at < in->n && fb_type_tag_type(in->items[*at]) == type; ++*at) {
    FbHandleCell *cell = fb_object_cell(ctx, in->items[*at]);
    bool is_plain = cell->handle != NULL && cell->n_uses >= 0 && cell->table == 0;
    if (FH_UNLIKELY(!is_plain)) return false;
    if (cell->listing == FB_UNLISTED && !share_item(ctx, owner, in, *at, cell)) return false;
    TVMFFIObject *object = cell->handle; /* the cell is that of the same object */
    if (FH_UNLIKELY(object == NULL || !is_owned(object->type_index))) return false;
    (void)fh_atomic_add_relaxed_u64(&object->combined_ref_count, 1);
    fb_put_object(&to->items[*at], object);
    to->has_objects = true;
  }
  return true;
}

/* Reads the items from `i` on. Returns the number of the first item that cannot be read, or else of items. `owner`: the
 * list or tuple, an argument itself; HPy_NULL: only plain values are read. */
FH_INLINE HPy_ssize_t read_each(HPyContext *ctx, HPy owner, const Items *in, int depth, FbLent *to) {
  HPy_ssize_t i = read_ints(in->items, in->n, to->items);
  while (i < in->n) {
    if (FH_LIKELY(read_item(ctx, in->items[i], depth, to, i))) {
      ++i;
    } else if (HPy_IsNull(owner) || !read_objects(ctx, owner, in, to, &i)) {
      break;
    }
  }
  return i;
}

static FH_NOINLINE bool read_items(HPyContext *ctx, HPy owner, const Items *in, int32_t type_index, int depth,
                                   TVMFFIAny *out) {
  FbLent *lent = container_new(in->n, type_index);
  if (FH_UNLIKELY(lent == NULL)) return false;
  HPy_ssize_t i = read_each(ctx, owner, in, depth, lent);
  return container_close(lent, i, i == in->n, out);
}

/* An outer list might drop an inner one while objects are registered. */
FH_INLINE HPy owner_at(HPy container, int depth) { return depth == 1 ? container : HPy_NULL; }

static FH_NOINLINE bool read_list(HPyContext *ctx, HPy list, int32_t type_index, int depth, TVMFFIAny *out) {
  Items in;
  return list_items(list, &in) && read_items(ctx, owner_at(list, depth), &in, type_index, depth, out);
}

static FH_NOINLINE bool read_tuple(HPyContext *ctx, HPy tuple, int depth, TVMFFIAny *out) {
  Items in;
  if (FH_UNLIKELY(!tuple_items(ctx, tuple, &in))) return false;
  if (FH_UNLIKELY(!read_items(ctx, owner_at(tuple, depth), &in, kTVMFFIArray, depth, out))) return false;
  out->v_obj->__padding = FFI_HPY_MADE_OF_TUPLE;
  return true;
}

static FH_NOINLINE bool read_dict(HPyContext *ctx, HPy dict, int depth, TVMFFIAny *out) {
  if (FH_UNLIKELY(!FHPY_EXTENSION_HAS(fb_ext, dict_next) || fb_ext->dict_next == NULL)) return false;
  HPy_ssize_t n = 2 * HPy_Length(ctx, dict), i = 0, position = 0;
  FbLent *lent = container_new(n, dict_index);
  if (FH_UNLIKELY(lent == NULL)) return false;
  for (HPy pair[2]; i < n && fb_ext->dict_next(dict, &position, &pair[0], &pair[1]); i += 2) {
    for (int k = 0; k < 2; ++k) {
      if (!read_item(ctx, pair[k], depth, lent, i + k)) return container_close(lent, i + k, false, out);
    }
  }
  return container_close(lent, i, true, out);
}

/* Lists the items first, which may run a collection and with it Python code: only for an argument itself. */
static FH_NOINLINE bool read_set(HPyContext *ctx, HPy set, TVMFFIAny *out) {
  HPy few[FEW];
  bool has_items = FHPY_EXTENSION_HAS(fb_ext, set_items) && fb_ext->set_items != NULL;
  HPy_ssize_t n = has_items ? fb_ext->set_items(set, few, FEW) : -1;
  if (FH_LIKELY(n >= 0)) return read_items(ctx, HPy_NULL, &(Items){few, n}, set_index, 1, out);
  HPy list = fb_call_one(ctx, ctx->h_ListType, set);
  if (FH_UNLIKELY(HPy_IsNull(list))) return HPyErr_Clear(ctx), false;
  bool is_read = read_list(ctx, list, set_index, 1, out);
  HPy_Close(ctx, list);
  return is_read;
}

bool fb_lent_read_callable(HPyContext *ctx, HPy value, const FbTypeTagEntry *entry, TVMFFIAny *out) {
  if (fb_argument_replacement(entry) == NULL || fb_recorded_is_on()) return false;
  TVMFFIObject *function = fb_lent_callback_new(ctx, value);
  if (FH_UNLIKELY(function == NULL)) return HPyErr_Clear(ctx), false;
  fb_put_object(out, function);
  return true;
}

bool fb_lent_read_known(HPyContext *ctx, HPy value, const FbTypeTagEntry *entry, TVMFFIAny *out) {
  if (entry->kind != FB_TYPE_KIND_MEMBER) return fb_lent_read_callable(ctx, value, entry, out);
  TVMFFIObject *native = fb_member_find(value);
  if (native != NULL) fb_put_object(out, native);
  return native != NULL;
}

/* Reads an argument itself of another type. */
static FH_NOINLINE bool read_other(HPyContext *ctx, HPy value, intptr_t type, TVMFFIAny *out) {
  if (fb_immediate_read(value, out)) return true;
  if (type == set_type) return read_set(ctx, value, out);
  const FbTypeTagEntry *entry = fb_type_tag_find_type(type);
  return FH_LIKELY(entry != NULL) && fb_lent_read_known(ctx, value, entry, out);
}

/* Needs no stack frame: each path ends with the call of one function. */
static bool read_at(HPyContext *ctx, HPy value, int depth, TVMFFIAny *out) {
  intptr_t type = fb_type_tag_type(value);
  if (type == ctx->h_UnicodeType._i) return read_text(ctx, value, out);
  if (FH_UNLIKELY(depth >= DEPTH_LIMIT)) return false;
  if (type == ctx->h_ListType._i) return read_list(ctx, value, list_index, depth + 1, out);
  if (type == ctx->h_TupleType._i) return read_tuple(ctx, value, depth + 1, out);
  if (type == fb_lent_dict_type) return read_dict(ctx, value, depth + 1, out);
  return depth == 0 && read_other(ctx, value, type, out);
}

bool fb_lent_read(HPyContext *ctx, HPy value, TVMFFIAny *out) { return read_at(ctx, value, 0, out); }

/* No callee releases the object. */
FH_INLINE FbLent *room_begin(FbLentRoom *room, int32_t type_index, uint32_t origin, TVMFFIAny *out) {
  FbLent *lent = &room->lent;
  lent->header =
      (TVMFFIObject){.combined_ref_count = FFI_HPY_LENT_COUNT, .type_index = type_index, .__padding = origin};
  lent->has_objects = false;
  fb_put(out, type_index, (int64_t)(intptr_t)lent);
  return lent;
}

static FH_NOINLINE bool read_items_into(HPyContext *ctx, HPy owner, const Items *in, uint32_t origin, FbLentRoom *room,
                                        TVMFFIAny *out) {
  HPy_ssize_t n = in->n, i;
  if (FH_UNLIKELY(n > FB_LENT_ITEMS)) return false;
  FbLent *lent = room_begin(room, kTVMFFIArray, origin, out);
  i = read_each(ctx, owner, in, 1, lent);
  lent->cell = (TVMFFISeqCell){.data = lent->items, .size = i, .capacity = i};
  if (FH_UNLIKELY(i != n)) fb_lent_room_end(room);
  return i == n;
}

bool fb_lent_read_into(HPyContext *ctx, HPy value, FbLentRoom *room, TVMFFIAny *out) {
  intptr_t type = fb_type_tag_type(value);
  Items in;
  if (type == ctx->h_TupleType._i) {
    return tuple_items(ctx, value, &in) && read_items_into(ctx, value, &in, FFI_HPY_MADE_OF_TUPLE, room, out);
  }
  return type == ctx->h_ListType._i && list_items(value, &in) && read_items_into(ctx, value, &in, 0, room, out);
}

int fb_lent_enable(HPyContext *ctx, const ffi_hpy_bind_api *api, const int32_t *types, HPy set_class) {
  fh_atomic_store_relaxed(&fb_args_bound_callee, api->function_call);
  if (fb_ext == NULL) return 0; /* nothing is read in place */
  HPy dict = HPyDict_New(ctx);
  if (HPy_IsNull(dict)) return -1;
  fb_lent_dict_type = fb_type_tag_type(dict);
  HPy_Close(ctx, dict);
  set_type = set_class._i;
  const intptr_t builtin[] = {ctx->h_UnicodeType._i, ctx->h_ListType._i, ctx->h_TupleType._i, fb_lent_dict_type};
  uintptr_t first = UINTPTR_MAX, last = 0;
  for (size_t i = 0; i < sizeof(builtin) / sizeof(builtin[0]); ++i) {
    if ((uintptr_t)builtin[i] < first) first = (uintptr_t)builtin[i];
    if ((uintptr_t)builtin[i] > last) last = (uintptr_t)builtin[i];
  }
  fb_lent_first_type = first;
  fb_lent_type_span = last - first;
  list_index = kTVMFFIArray;
  set_index = types[kFfiHpySet];
  dict_index = types[kFfiHpyDict];
  fb_lent_refuse = api->function_refuse;
  fh_atomic_store_release(&fb_lent_callee, api->function_call);
  return 0;
}
