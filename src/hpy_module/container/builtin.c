/* Containers of bound libraries (core/bind/sequence.h) as lists, tuples, sets and dicts, and the items of iterables for
 * such libraries. The package enables both when the first bound library is imported. */
#include "builtin.h"

#include <ffi_hpy/c_bind.h>
#include <stdlib.h>

#include "hpy_module/context/call.h"
#include "hpy_module/context/context.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/messages.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/text.h"
#include "hpy_module/context/thread.h"
#include "hpy_module/convert/argument.h"
#include "hpy_module/convert/immediate.h"
#include "hpy_module/convert/result.h"
#include "hpy_module/error/error.h"
#include "hpy_module/error/translate.h"
#include "hpy_module/object/class_table.h"
#include "hpy_module/object/identity.h"
#include "hpy_module/object/object.h"
#include "hpy_module/object/type_tag.h"
#include "hpy_module/object/wrap.h"
#include "iterate.h"
#include "lent.h"

/* Both are written before fb_wrap_other is set. */
static int32_t types[kFfiHpyNumContainers];
static FbRef set_class;

int32_t fb_builtin_first_type = INT32_MAX;

/* For larger containers the values are on the heap. */
enum { FEW = 16 };

/* Converts the small ints at the front, as fb_immediate_int_new does. Returns how many there are. */
FH_INLINE int64_t convert_ints(const TVMFFIAny *items, int64_t n, bool is_counted, HPy *values) {
  const HPy *const small = fb_immediate_small_ints;
  int64_t i = 0;
  for (; i < n; ++i) {
    uint64_t which = items[i].v_uint64 - FB_IMMEDIATE_SMALLEST;
    if (items[i].type_index != kTVMFFIInt || which > FB_IMMEDIATE_LARGEST - FB_IMMEDIATE_SMALLEST) break;
    HPy value = small[which];
    values[i] = value;
    if (is_counted) ++*(intptr_t *)value._i;
  }
  return i;
}

/* Converts n items. If `takes`, the items are stolen and become None. Returns the number of values, which is smaller
 * than n with an exception raised. */
FH_INLINE int64_t convert_each(HPyContext *ctx, TVMFFIAny *items, int64_t n, bool takes, HPy *values) {
  int64_t i = 0;
  if (FH_LIKELY(fb_immediate.has_small_ints)) {
    if (fb_immediate.values.constants_are_counted) {
      i = convert_ints(items, n, true, values);
    } else if (fb_immediate.values.constants_are_immortal) {
      i = convert_ints(items, n, false, values);
    }
  }
  for (; i < n; ++i) {
    if (items[i].type_index == FFI_HPY_PYTHON_VALUE) {
      values[i] = (HPy){(intptr_t)items[i].v_int64};
    } else if (items[i].type_index < kTVMFFIStaticObjectBegin) {
      values[i] = fb_result_make(ctx, &items[i]);
    } else if (takes) {
      TVMFFIAny taken = items[i];
      items[i] = (TVMFFIAny){0};
      values[i] = fb_result_make(ctx, &taken);
    } else {
      values[i] = fb_iterate_copy(ctx, &items[i], NULL);
    }
    if (FH_UNLIKELY(HPy_IsNull(values[i]))) return i;
  }
  return n;
}

static void close_each(HPyContext *ctx, const HPy *values, int64_t n) {
  for (int64_t i = 0; i < n; ++i) HPy_Close(ctx, values[i]);
}

/* The functions below steal n values, also on failure. */

static HPy list_of(HPyContext *ctx, const HPy *values, int64_t n) {
  HPy made = HPyList_New(ctx, 0);
  for (int64_t i = 0; i < n && !HPy_IsNull(made); ++i) {
    if (HPyList_Append(ctx, made, values[i]) == 0) continue;
    HPy_Close(ctx, made);
    made = HPy_NULL;
  }
  close_each(ctx, values, n);
  return made;
}

static HPy tuple_of(HPyContext *ctx, const HPy *values, int64_t n) {
  HPy made = HPyTuple_FromArray(ctx, (HPy *)values, (HPy_ssize_t)n);
  close_each(ctx, values, n);
  return made;
}

static HPy set_of(HPyContext *ctx, const HPy *values, int64_t n) {
  HPy tuple = tuple_of(ctx, values, n), made = HPy_NULL;
  if (HPy_IsNull(tuple)) return tuple;
  HPy cls = fb_ref_borrow(ctx, &set_class);
  made = fb_call_one(ctx, cls, tuple);
  fb_ref_return(ctx, cls);
  HPy_Close(ctx, tuple);
  return made;
}

static HPy dict_of(HPyContext *ctx, const HPy *values, int64_t n) {
  HPy dict = HPyDict_New(ctx);
  int rc = HPy_IsNull(dict) ? -1 : 0;
  for (int64_t i = 0; rc == 0 && i < n; i += 2) rc = HPy_SetItem(ctx, dict, values[i], values[i + 1]);
  close_each(ctx, values, n);
  if (rc == 0 || HPy_IsNull(dict)) return dict;
  HPy_Close(ctx, dict);
  return HPy_NULL;
}

static HPy make(HPyContext *ctx, int kind, const HPy *values, int64_t n) {
  if (FH_LIKELY(fb_ext != NULL && FHPY_EXTENSION_HAS(fb_ext, container_take))) {
    return fb_ext->container_take(kind, values, (HPy_ssize_t)n);
  }
  switch (kind) {
  case kFfiHpyTuple: return tuple_of(ctx, values, n);
  case kFfiHpySet: return set_of(ctx, values, n);
  case kFfiHpyDict: return dict_of(ctx, values, n);
  default: return list_of(ctx, values, n);
  }
}

/* Returns a container of the items of an object, borrowed. If there are no other users, the items move. */
static HPy container_of(HPyContext *ctx, int kind, TVMFFIObject *handle) {
  TVMFFISeqCell *cell = (TVMFFISeqCell *)(handle + 1);
  bool takes = !fb_identity_is_shared(handle);
  HPy few[FEW], *values = cell->size <= FEW ? few : malloc((size_t)cell->size * sizeof(HPy));
  if (values == NULL) return HPyErr_NoMemory(ctx);
  int64_t n = convert_each(ctx, cell->data, cell->size, takes, values);
  HPy made = HPy_NULL;
  if (FH_LIKELY(n == cell->size)) {
    if (takes) cell->size = 0;
    made = make(ctx, kind, values, n);
  } else {
    close_each(ctx, values, n);
  }
  if (values != few) free(values);
  return made;
}

bool fb_builtin_unwrap(HPyContext *ctx, TVMFFIObject *handle, HPy *out) {
  int kind = 0;
  while (kind < kFfiHpyNumContainers && types[kind] != handle->type_index) ++kind;
  if (kind == kFfiHpyNumContainers) return false;
  *out = container_of(ctx, kind, handle);
  fb_drop_object(handle, HPy_IsNull(*out) ? -1 : 0);
  return true;
}

/* --- results ------------------------------------------------------------------------------------------------------ */

/* Passes the object to the function of a bound library, or the raised exception. */
static int pass(HPy made, uint64_t began, TVMFFIAny *out) {
  if (FH_UNLIKELY(HPy_IsNull(made))) return fb_translate_raised(fb_ctx, began);
  *out = (TVMFFIAny){.type_index = FFI_HPY_PYTHON_VALUE, .v_int64 = made._i};
  return 0;
}

static int values_new_str(const TVMFFIByteArray *text, TVMFFIAny *out) {
  uint64_t began = fb_error_moment();
  return pass(fb_text_new(fb_ctx, text->data, text->size), began, out);
}

static void values_drop(TVMFFIAny *items, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    if (items[i].type_index == FFI_HPY_PYTHON_VALUE) {
      HPy_Close(fb_ctx, (HPy){(intptr_t)items[i].v_int64});
    } else {
      fb_drop_any(&items[i], FB_DROP_UNKNOWN); /* an exception may be raised */
    }
  }
}

/* The values take the place of the items: a value is shorter, so it never reaches an item that is not converted. */
static int values_new_container(uint32_t kind, TVMFFIAny *items, size_t n, TVMFFIAny *out) {
  uint64_t began = fb_error_moment();
  HPy *values = (HPy *)(void *)items, made = HPy_NULL;
  int64_t n_made = convert_each(fb_ctx, items, (int64_t)n, true, values);
  if (FH_LIKELY(n_made == (int64_t)n)) {
    made = fb_ext->container_take((int)kind, values, n_made);
  } else {
    close_each(fb_ctx, values, n_made);
    values_drop(&items[n_made + 1], n - (size_t)n_made - 1);
  }
  return pass(made, began, out);
}

/* The memory of the text inside the object, which PyPy frees with the last handle. */
static bool find_text(HPyContext *ctx, HPy value, bool is_bytes, TVMFFIByteArray *out) {
  HPy_ssize_t n = 0;
  if (fb_context_is_pypy || !(is_bytes ? HPyBytes_Check(ctx, value) : HPyUnicode_Check(ctx, value))) return false;
  const char *data = is_bytes ? HPyBytes_AsString(ctx, value) : HPyUnicode_AsUTF8AndSize(ctx, value, &n);
  if (data == NULL) return HPyErr_Clear(ctx), false; /* half of a surrogate pair */
  *out = (TVMFFIByteArray){data, (size_t)(is_bytes ? HPyBytes_Size(ctx, value) : n)};
  return true;
}

static int values_read_text(const TVMFFIAny *value, int is_bytes, TVMFFIByteArray *out) {
  FbThread attach;
  if (fb_thread_attach(&attach) != 0) return 0;
  FbRaised raised;
  fb_raised_take(&raised);
  HPy found = fb_opaque_unwrap(attach.ctx, value->v_obj);
  bool is_found = !HPy_IsNull(found) && find_text(attach.ctx, found, is_bytes != 0, out);
  if (!HPy_IsNull(found)) HPy_Close(attach.ctx, found); /* its owner has another reference */
  fb_raised_put(&raised);
  fb_thread_detach(&attach);
  return is_found;
}

/* --- iterables ---------------------------------------------------------------------------------------------------- */

/* Whether the class of a value has a method. -1 with an exception raised. */
static int has_method(HPyContext *ctx, HPy value, const char *name) {
  HPy type = HPy_Type(ctx, value);
  if (HPy_IsNull(type)) return -1;
  HPy method = fb_attr_find(ctx, type, name);
  HPy_Close(ctx, type);
  if (HPy_IsNull(method)) return HPyErr_Occurred(ctx) ? -1 : 0;
  HPy_Close(ctx, method);
  return 1;
}

bool fb_builtin_is_list_or_tuple(HPyContext *ctx, HPy value) {
  intptr_t type = fb_immediate_type(value);
  return type == ctx->h_ListType._i || type == ctx->h_TupleType._i;
}

/* A list of the items, or a list or tuple itself: a new handle. None for strings, mappings and values that are not
 * iterable. */
static HPy items_of(HPyContext *ctx, HPy value) {
  unsigned protocols;
  if (fb_ext != NULL && fb_builtin_is_list_or_tuple(ctx, value)) return HPy_Dup(ctx, value);
  if (fb_type_tag_with_protocols(ctx, value, &protocols) == FB_TYPE_KIND_UNKNOWN) return HPy_NULL;
  bool is_other = (protocols & FB_PROTOCOL_MAPPING) || HPyUnicode_Check(ctx, value) || HPyBytes_Check(ctx, value);
  if (is_other) return HPy_Dup(ctx, ctx->h_None);
  int is_iterable = has_method(ctx, value, "__iter__");
  if (is_iterable == 0) { /* an older sequence */
    is_iterable = has_method(ctx, value, "__getitem__");
    if (is_iterable == 1) is_iterable = has_method(ctx, value, "__len__");
  }
  if (is_iterable < 0) return HPy_NULL;
  if (is_iterable == 0) return HPy_Dup(ctx, ctx->h_None);
  return fb_call_one(ctx, ctx->h_ListType, value);
}

HPyDef_METH(fb_builtin_items, "items_of", HPyFunc_O,
            .doc = "The items of an iterable; None for strings, mappings, and values that are not iterable.")
static HPy fb_builtin_items_impl(HPyContext *ctx, HPy self, HPy value) {
  (void)self;
  return items_of(ctx, value);
}

static int values_read_items(const TVMFFIAny *value, TVMFFIAny *out) {
  FbThread attach;
  if (fb_thread_attach(&attach) != 0) {
    TVMFFIErrorSetRaisedFromCStr("RuntimeError",
                                 "a bound library read an iterable after the interpreter began to exit");
    return -1;
  }
  uint64_t began = fb_error_moment();
  FbRaised raised;
  fb_raised_take(&raised);
  HPy given = fb_result_of_view(attach.ctx, value), items = HPy_NULL;
  if (!HPy_IsNull(given)) items = items_of(attach.ctx, given);
  int rc = HPy_IsNull(items) ? -1 : fb_argument_convert_owned(attach.ctx, items, out, FB_MESSAGE_RETURN_VALUE);
  if (rc != 0) (void)fb_translate_raised(attach.ctx, began);
  if (!HPy_IsNull(items)) HPy_Close(attach.ctx, items);
  if (!HPy_IsNull(given)) HPy_Close(attach.ctx, given);
  fb_raised_put(&raised);
  fb_thread_detach(&attach);
  return rc;
}

/* --- the struct of functions -------------------------------------------------------------------------------------- */

ffi_hpy_python_values fb_builtin_values = {.new_str = values_new_str,
                                           .new_container = values_new_container,
                                           .drop = values_drop,
                                           .read_text = values_read_text,
                                           .read_items = values_read_items};

HPyDef_METH(fb_builtin_enable, "enable_builtins", HPyFunc_VARARGS,
            .doc = "Values of bound libraries become lists, tuples, instances of a class (set), dicts and str.")
static HPy fb_builtin_enable_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self;
  if (nargs != 2) return fb_raise(ctx, ctx->h_TypeError, "enable_builtins() takes 2 arguments, got %zu", nargs);
  const ffi_hpy_bind_api *api = HPyLong_AsVoidPtr(ctx, args[1]);
  if (api == NULL && HPyErr_Occurred(ctx)) return HPy_NULL;
  static const char *const keys[kFfiHpyNumContainers] = {"ffi_hpy.List", "ffi_hpy.Tuple", "ffi_hpy.Set",
                                                         "ffi_hpy.Dict"};
  int32_t found[kFfiHpyNumContainers];
  if (fh_atomic_load_acquire(&fb_wrap_other) != NULL) return HPy_Dup(ctx, ctx->h_None); /* as stored below */
  for (int i = 0; i < kFfiHpyNumContainers; ++i) {
    TVMFFIByteArray key = {keys[i], strlen(keys[i])};
    if (TVMFFITypeKeyToIndex(&key, &found[i]) != 0) {
      fb_error_raise_pending(ctx, "enable_builtins");
      return HPy_NULL;
    }
  }
  memcpy(types, found, sizeof(types));
  fb_ref_store(ctx, &set_class, args[0]);
  if (fb_lent_enable(ctx, api, types, args[0]) != 0) return HPy_NULL;
  fh_atomic_store_relaxed(&fb_result_str_deleter, api->str_deleter);
  if (fb_ext != NULL && FHPY_EXTENSION_HAS(fb_ext, container_take)) *api->python = &fb_builtin_values;
  int32_t first = types[0];
  for (int i = 1; i < kFfiHpyNumContainers; ++i) first = types[i] < first ? types[i] : first;
  fh_atomic_store_release(&fb_holder_bound, api);
  fh_atomic_store_release(&fb_wrap_instance_of, api->instance_of);
  fh_atomic_store_release(&fb_wrap_other, fb_builtin_unwrap);
  fh_atomic_store_release(&fb_builtin_first_type, first); /* pairs with fb_builtin_may_unwrap */
  return HPy_Dup(ctx, ctx->h_None);
}
