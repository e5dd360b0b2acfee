/* Reading and writing reflected fields.
 *
 * There are two kinds. A laid out field belongs to a type that Python code defined: a value is converted by the schema
 * and then exchanged with what is in the memory, under a lock. Any other field is read and written by the functions
 * that its library registered, and a schema, if the package has one for it, converts the value before. */
#include "field.h"

#include <stdlib.h>

#include "core/platform/shared.h"
#include "field_table.h"
#include "hpy_module/context/any.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/convert/argument.h"
#include "hpy_module/convert/result.h"
#include "hpy_module/error/error.h"
#include "hpy_module/schema/fit_python.h"

/* --- laid out fields ---------------------------------------------------------------------------------------------- */

/* Numbers and truth values are single words, which are read and written atomically: any value that a field has had
 * meanwhile is right. As for the rest, where threads run at the same time, all laid out fields of one object have one
 * of these locks, by the object's address. It is held for a few instructions, in which nothing of the interpreter is
 * called. What a field held before is dropped after it. */
FH_SHARED_LOCKS(locks, FH_N_LOCKS_BY_ADDRESS, "fields");

FH_INLINE fh_shared *lock_of(const TVMFFIObject *object) { return fh_shared_of(locks, object); }

/* Whether Python code has the addresses of fb_field_copy and fb_field_put, and calls them without the GIL (PyPy).
 * Written under the GIL, which is not given up while a lock is held. */
static bool is_lent;

FH_INLINE bool threads_meet(void) { return fb_context_free_threaded || is_lent; }

FH_INLINE void lock(const TVMFFIObject *object) {
  if (FH_UNLIKELY(threads_meet())) fh_shared_write(lock_of(object));
}

FH_INLINE void unlock(const TVMFFIObject *object) {
  if (FH_UNLIKELY(threads_meet())) fh_shared_write_end(lock_of(object));
}

/* False for a field that is no single word. */
FH_INLINE bool put_word(const FbField *field, void *address, const TVMFFIAny *value) {
  double number = value->v_float64;
  switch (field->static_index) {
  case kTVMFFIInt: fh_atomic_store_relaxed((int64_t *)address, value->v_int64); return true;
  case kTVMFFIFloat: __atomic_store((double *)address, &number, __ATOMIC_RELAXED); return true;
  case kTVMFFIBool: fh_atomic_store_relaxed((uint8_t *)address, value->v_int64 != 0); return true;
  default: return false;
  }
}
FH_INLINE bool copy_word(const FbField *field, const void *address, TVMFFIAny *out) {
  switch (field->static_index) {
  case kTVMFFIInt: out->v_int64 = fh_atomic_load_relaxed((const int64_t *)address); break;
  case kTVMFFIFloat: __atomic_load((const double *)address, &out->v_float64, __ATOMIC_RELAXED); break;
  case kTVMFFIBool: out->v_int64 = fh_atomic_load_relaxed((const uint8_t *)address) != 0; break;
  default: return false;
  }
  out->type_index = field->static_index;
  return true;
}

void fb_field_put(const FbField *field, TVMFFIObject *object, TVMFFIAny *value) {
  void *address = (char *)object + field->offset;
  TVMFFIAny old = {0};
  if (put_word(field, address, value)) {
    *value = old;
    return;
  }
  lock(object);
  switch (field->static_index) {
  /* None is NULL, here and for an object. */
  case kTVMFFIOpaquePtr: *(void **)address = value->type_index == kTVMFFINone ? NULL : value->v_ptr; break;
  case kTVMFFIDataType: *(DLDataType *)address = value->v_dtype; break;
  case kTVMFFIDevice: *(DLDevice *)address = value->v_device; break;
  case kTVMFFIAny:
    old = *(TVMFFIAny *)address;
    *(TVMFFIAny *)address = *value;
    break;
  default: /* an object type: a pointer */
    old.v_obj = *(TVMFFIObject **)address;
    old.type_index = old.v_obj == NULL ? kTVMFFINone : old.v_obj->type_index;
    *(TVMFFIObject **)address = value->type_index == kTVMFFINone ? NULL : value->v_obj;
  }
  unlock(object);
  *value = old;
}

void fb_field_lend(const FbField *field, int64_t addresses[3]) {
  is_lent = true;
  addresses[0] = (int64_t)(uintptr_t)field;
  addresses[1] = (int64_t)(uintptr_t)fb_field_copy;
  addresses[2] = (int64_t)(uintptr_t)fb_field_put;
}

/* Raises TypeError for a value that does not fit. An assignment says "key.field: why"; a constructor passes `what`, and
 * then the text has the lines of the core's own constructor. Without memory for the text the exception names the field
 * alone. */
static FH_NOINLINE void refuse(HPyContext *ctx, const FbField *field, const char *what, FbMismatch *mismatch) {
  if (what == NULL) {
    fb_mismatch_prefix(mismatch, "%s: ", field->name);
  } else {
    FbMismatch whole = {0};
    fb_mismatch_set(&whole, "%s '%s'", what, field->own_name);
    if (mismatch->text != NULL) fb_mismatch_append(&whole, ":\n", "  ", mismatch->text, strlen(mismatch->text));
    fb_mismatch_end(mismatch);
    *mismatch = whole;
  }
  fb_raise(ctx, ctx->h_TypeError, "%s", mismatch->text == NULL ? field->name : mismatch->text);
}

int fb_field_convert(HPyContext *ctx, const FbField *field, HPy value, const char *what, TVMFFIAny *out) {
  FbMismatch mismatch = {0};
  FbFit fit = fb_fit_python_value(ctx, field->schema, value, out, &mismatch);
  if (FH_UNLIKELY(fit == FB_MISFIT)) refuse(ctx, field, what, &mismatch);
  fb_mismatch_end(&mismatch);
  return fit == FB_FIT ? 0 : -1;
}

/* --- any field ---------------------------------------------------------------------------------------------------- */

int fb_field_copy(const FbField *field, TVMFFIObject *object, TVMFFIAny *out) {
  void *address = (char *)object + field->offset;
  if (!field->is_laid_out) return field->getter(address, out);
  if (copy_word(field, address, out)) return 0;
  if (FH_LIKELY(!threads_meet())) return field->getter(address, out);
  int is_held = fh_shared_read(lock_of(object));
  int rc = field->getter(address, out); /* of the core: it copies the value and runs no foreign code */
  fh_shared_read_end(lock_of(object), is_held);
  return rc;
}

HPy fb_field_read(HPyContext *ctx, const FbField *field, TVMFFIObject *object) {
  TVMFFIAny value = {0};
  if (FH_UNLIKELY(fb_field_copy(field, object, &value) != 0)) return fb_error_raise_pending(ctx, field->name);
  return fb_result_make(ctx, &value);
}

/* Passes a value to the setter. Returns 0, or -1 with a native error pending. The error of a field without a setter is
 * in the core's words. */
static int set(const FbField *field, TVMFFIObject *object, const TVMFFIAny *value) {
  char *address = (char *)object + field->offset;
  if (field->setter_function == NULL && field->setter != NULL) return field->setter(address, value);
  if (field->setter_function == NULL) {
    const char *parts[] = {"Field `", field->own_name, "` cannot be written"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", parts, 3);
    return -1;
  }
  /* A setter that is a Function gets the address of the field and the value. */
  TVMFFIAny args[2] = {{.type_index = kTVMFFIOpaquePtr}, *value}, result = {0};
  args[0].v_ptr = address;
  int rc = TVMFFIFunctionCall(field->setter_function, args, 2, &result);
  if (rc == 0) fb_any_drop(&result);
  return rc;
}

/* Raises the native error that a setter has left. The message of a misfit becomes part of a message about the field;
 * any other error is raised as it is. Returns -1. */
static FH_NOINLINE int refuse_as_setter(HPyContext *ctx, const FbField *field, bool is_misfit, const char *what) {
  FbMismatch mismatch = {0};
  /* Empty, but there: nothing is appended to a text that is NULL. */
  fb_mismatch_set(&mismatch, "%s", "");
  if (is_misfit && fb_mismatch_take_native(ctx, &mismatch, "", "") == FB_MISFIT) {
    refuse(ctx, field, what, &mismatch);
  } else {
    fb_error_raise_pending(ctx, field->name);
  }
  fb_mismatch_end(&mismatch);
  return -1;
}

int fb_field_set(HPyContext *ctx, const FbField *field, TVMFFIObject *object, const TVMFFIAny *value,
                 const char *what) {
  return FH_LIKELY(set(field, object, value) == 0) ? 0 : refuse_as_setter(ctx, field, true, what);
}

/* The value is converted by the schema, or as an argument of a call where there is none, and passed to the setter. */
static int write_by_setter(HPyContext *ctx, const FbField *field, TVMFFIObject *object, HPy value, const char *what) {
  FbTemp temp;
  FbArgs args = {.temps = &temp, .position = -1, .callee = field->name};
  TVMFFIAny view;
  int rc;
  if (field->schema == NULL) {
    rc = fb_argument_convert(ctx, value, &view, &args);
  } else if ((rc = fb_field_convert(ctx, field, value, what, &view)) == 0 &&
             view.type_index >= kTVMFFIStaticObjectBegin) {
    args.temps[args.n_temps++].object = view.v_obj;
  }
  /* The error is put aside: temporaries that end may run code that uses the slot. */
  bool is_refused = rc == 0 && set(field, object, &view) != 0;
  TVMFFIObjectHandle error = is_refused ? fb_error_slot_take_object() : NULL;
  fb_args_end(&args, is_refused ? FB_DROP_UNKNOWN : rc);
  if (!is_refused) return rc;
  /* In a constructor every failure but an interruption is about the field. At an assignment a setter that is a Function
   * speaks for itself; of a C setter only a TypeError is a misfit. */
  bool is_misfit =
      what != NULL || (error != NULL && field->setter_function == NULL && fb_error_is_kind(error, "TypeError"));
  fb_error_slot_put_object(error);
  return refuse_as_setter(ctx, field, is_misfit, what);
}

int fb_field_write(HPyContext *ctx, const FbField *field, TVMFFIObject *object, HPy value, const char *what) {
  if (!field->is_laid_out) {
    /* In a constructor the lack of a setter is refused like any other field that cannot get its value. */
    if (field->setter != NULL || field->setter_function != NULL || what != NULL)
      return write_by_setter(ctx, field, object, value, what);
    fb_raise(ctx, ctx->h_AttributeError, "%s cannot be set", field->name);
    return -1;
  }
  TVMFFIAny owned;
  if (fb_field_convert(ctx, field, value, what, &owned) != 0) return -1;
  fb_field_put(field, object, &owned);
  fb_any_drop(&owned);
  return 0;
}

/* --- making them -------------------------------------------------------------------------------------------------- */

/* One block: the field and its name. */
FbField *fb_field_new(HPyContext *ctx, const TVMFFITypeInfo *type, const TVMFFIByteArray *name) {
  const TVMFFIByteArray *key = &type->type_key;
  FbField *field = calloc(1, sizeof(*field) + key->size + name->size + 2);
  if (field == NULL) {
    HPyErr_NoMemory(ctx);
    return NULL;
  }
  field->type_index = type->type_index;
  field->type_depth = type->type_depth;
  field->name = (char *)(field + 1);
  memcpy(field->name, key->data, key->size);
  field->name[key->size] = '.';
  field->own_name = memcpy(field->name + key->size + 1, name->data, name->size);
  return field;
}

static const FbField *field_from_registry(HPyContext *ctx, const TVMFFITypeInfo *type, const TVMFFIFieldInfo *info,
                                          const FbSchema *schema) {
  FbField *field = fb_field_new(ctx, type, &info->name);
  if (field == NULL) return NULL;
  field->schema = schema;
  field->offset = info->offset;
  field->static_index = info->field_static_type_index;
  field->getter = info->getter;
  /* The registry has one word for both kinds of setter; a flag says which one it is. */
  if (info->setter != NULL && (info->flags & kTVMFFIFieldFlagBitSetterIsFunctionObj) != 0) {
    TVMFFIObjectIncRef(info->setter);
    field->setter_function = info->setter;
  } else if (info->setter != NULL) {
    memcpy(&field->setter, &info->setter, sizeof(field->setter));
  }
  return field;
}

const FbField *fb_field_find(HPyContext *ctx, const TVMFFITypeInfo *type, int32_t which, const FbSchema *schema) {
  const FbField *defined = fb_field_table_find(type->type_index, which);
  return defined != NULL ? defined : field_from_registry(ctx, type, &type->fields[which], schema);
}
