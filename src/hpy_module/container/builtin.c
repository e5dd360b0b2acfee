/* Containers of bound libraries (core/bind/sequence.h) as lists, tuples, sets and dicts, and the items of iterables for
 * such libraries. The package enables both when the first bound library is imported. */
#include "builtin.h"

#include "hpy_module/context/call.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/ref.h"
#include "hpy_module/error/error.h"
#include "hpy_module/object/type_tag.h"
#include "hpy_module/object/wrap.h"
#include "iterate.h"

/* The order of kFfiHpyList, ... in ffi_hpy/c_bind.h. */
enum { LIST, TUPLE, SET, DICT, N_KINDS };

/* Both are written before fb_wrap_other is set. */
static int32_t types[N_KINDS];
static FbRef set_class;

/* Larger tuples are made from a list. */
enum { FEW = 16 };

static HPy tuple_of_few(HPyContext *ctx, const TVMFFIAny *items, int64_t n) {
  HPy values[FEW], made = HPy_NULL;
  int64_t n_made = 0;
  while (n_made < n && !HPy_IsNull(values[n_made] = fb_iterate_copy(ctx, &items[n_made], NULL))) ++n_made;
  if (n_made == n) made = HPyTuple_FromArray(ctx, values, (HPy_ssize_t)n);
  while (n_made > 0) HPy_Close(ctx, values[--n_made]);
  return made;
}

/* Returns the result of calling a class with a list of the items. */
static HPy by_class(HPyContext *ctx, HPy cls, const TVMFFIAny *items, int64_t n) {
  HPy list = fb_iterate_list(ctx, items, n, NULL);
  if (HPy_IsNull(list)) return list;
  HPy made = fb_call_one(ctx, cls, list);
  HPy_Close(ctx, list);
  return made;
}

static HPy set_of(HPyContext *ctx, const TVMFFIAny *items, int64_t n) {
  HPy cls = fb_ref_borrow(ctx, &set_class);
  HPy made = by_class(ctx, cls, items, n);
  fb_ref_return(ctx, cls);
  return made;
}

static HPy dict_of(HPyContext *ctx, const TVMFFIAny *items, int64_t n) {
  HPy dict = HPyDict_New(ctx);
  int rc = HPy_IsNull(dict) ? -1 : 0;
  for (int64_t i = 0; rc == 0 && i < n; i += 2) {
    HPy key = fb_iterate_copy(ctx, &items[i], NULL);
    HPy value = HPy_IsNull(key) ? HPy_NULL : fb_iterate_copy(ctx, &items[i + 1], NULL);
    rc = HPy_IsNull(value) ? -1 : HPy_SetItem(ctx, dict, key, value);
    if (!HPy_IsNull(key)) HPy_Close(ctx, key);
    if (!HPy_IsNull(value)) HPy_Close(ctx, value);
  }
  if (rc == 0 || HPy_IsNull(dict)) return dict;
  HPy_Close(ctx, dict);
  return HPy_NULL;
}

static HPy make(HPyContext *ctx, int kind, const TVMFFIAny *items, int64_t n) {
  switch (kind) {
  case LIST: return fb_iterate_list(ctx, items, n, NULL);
  case TUPLE: return n <= FEW ? tuple_of_few(ctx, items, n) : by_class(ctx, ctx->h_TupleType, items, n);
  case SET: return set_of(ctx, items, n);
  default: return dict_of(ctx, items, n);
  }
}

/* The fb_wrap_other. */
static bool unwrap(HPyContext *ctx, TVMFFIObject *handle, HPy *out) {
  int kind = 0;
  while (kind < N_KINDS && types[kind] != handle->type_index) ++kind;
  if (kind == N_KINDS) return false;
  const TVMFFISeqCell *cell = (const TVMFFISeqCell *)(handle + 1);
  *out = make(ctx, kind, cell->data, cell->size);
  fb_drop_object(handle, HPy_IsNull(*out) ? -1 : 0);
  return true;
}

HPyDef_METH(fb_builtin_enable, "enable_containers", HPyFunc_O,
            .doc = "Containers of bound libraries become lists, tuples, instances of a class (set) and dicts.")
static HPy fb_builtin_enable_impl(HPyContext *ctx, HPy self, HPy cls) {
  (void)self;
  static const char *const keys[N_KINDS] = {"ffi_hpy.List", "ffi_hpy.Tuple", "ffi_hpy.Set", "ffi_hpy.Dict"};
  int32_t found[N_KINDS];
  if (fh_atomic_load_acquire(&fb_wrap_other) != NULL) return HPy_Dup(ctx, ctx->h_None); /* as stored below */
  for (int i = 0; i < N_KINDS; ++i) {
    TVMFFIByteArray key = {keys[i], strlen(keys[i])};
    if (TVMFFITypeKeyToIndex(&key, &found[i]) != 0) {
      fb_error_raise_pending(ctx, "enable_containers");
      return HPy_NULL;
    }
  }
  memcpy(types, found, sizeof(types));
  fb_ref_store(ctx, &set_class, cls);
  fh_atomic_store_release(&fb_wrap_other, unwrap);
  return HPy_Dup(ctx, ctx->h_None);
}

/* --- iterables ---------------------------------------------------------------------------------------------------- */

HPyDef_METH(fb_builtin_items, "items_of", HPyFunc_O,
            .doc = "A list of the items of an iterable; None for strings, mappings, and values that are not iterable.")
static HPy fb_builtin_items_impl(HPyContext *ctx, HPy self, HPy value) {
  (void)self;
  unsigned protocols;
  if (fb_type_tag_with_protocols(ctx, value, &protocols) == FB_TYPE_KIND_UNKNOWN) return HPy_NULL;
  bool is_other = (protocols & FB_PROTOCOL_MAPPING) || HPyUnicode_Check(ctx, value) || HPyBytes_Check(ctx, value);
  if (is_other) return HPy_Dup(ctx, ctx->h_None);
  HPy type = HPy_Type(ctx, value);
  if (HPy_IsNull(type)) return type;
  HPy method = fb_attr_find(ctx, type, "__iter__");
  HPy_Close(ctx, type);
  if (HPy_IsNull(method)) return HPyErr_Occurred(ctx) ? HPy_NULL : HPy_Dup(ctx, ctx->h_None);
  HPy_Close(ctx, method);
  return fb_call_one(ctx, ctx->h_ListType, value);
}
