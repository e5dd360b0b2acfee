/* The fields of types that Python code defined: a lock-free hash table of lists by type index. Type indices are
 * assigned in sequence, so the remainder distributes them evenly. */
#include "field.h"

#include <stddef.h>
#include <stdlib.h>

#include "core/object/field_memory.h"
#include "core/platform/atomic.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/messages.h"
#include "hpy_module/context/py_owner.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/thread.h"
#include "hpy_module/convert/argument.h"
#include "hpy_module/convert/core_function.h"
#include "hpy_module/convert/immediate.h"
#include "hpy_module/convert/result.h"
#include "hpy_module/error/error.h"
#include "hpy_module/object/class_table.h"
#include "hpy_module/schema/convert.h"

enum { N_BUCKETS = 1024 };
static FbFieldTable *buckets[N_BUCKETS]; /* lists that only grow, at their heads */

/* Returns the which'th field of a type; NULL if the type was not defined in Python. */
static const struct FbField *find_in_table(int32_t type_index, int32_t which) {
  /* Acquire: pairs with fb_field_table_publish. */
  const FbFieldTable *table = fh_atomic_load_acquire(&buckets[(uint32_t)type_index % N_BUCKETS]);
  while (table != NULL && table->type_index != type_index) table = table->next;
  return table != NULL && which < table->n_fields ? table->fields[which] : NULL;
}

void fb_field_table_publish(FbFieldTable *table) {
  FbFieldTable **bucket = &buckets[(uint32_t)table->type_index % N_BUCKETS];
  table->next = fh_atomic_load_relaxed(bucket);
  /* Release: pairs with find_in_table. A failed exchange has loaded the new head into table->next. */
  while (!fh_atomic_cas_release(bucket, &table->next, table)) {
  }
}

/* --- fields ------------------------------------------------------------------------------------------------------ */

/* Reading and writing reflected fields.
 *
 * There are two kinds. An inline field (`is_laid_out`) belongs to a type that Python code defined: a value is converted
 * by the schema and then exchanged with the value in memory. Any other field is read and written by the functions that
 * its library registered; if the package has a schema for the field, the schema converts the value first. The core
 * synchronises threads (core/object/field_access.h). A thread that holds the GIL reads without synchronisation, because
 * all other threads write with the GIL held. */

/* --- access ------------------------------------------------------------------------------------------------------- */

/* For a core without the table of access functions. */
static int get_plainly(TVMFFIFieldGetter getter, TVMFFIObject *object, int64_t offset, TVMFFIAny *out) {
  return getter((char *)object + offset, out);
}
static int set_plainly(TVMFFIFieldSetter setter, TVMFFIObject *object, int64_t offset, const TVMFFIAny *value) {
  return setter((char *)object + offset, value);
}
static int never_inside(void) { return 0; }
static int copy_plainly(TVMFFIObject *function, TVMFFIObject *object, TVMFFIAny *out) {
  TVMFFIAny view = fb_core_function_object(object);
  return fb_core_function_call_handle(function, &view, 1, out);
}
static const fh_field_access plain_access = {
    .getter = fh_field_memory_getter,
    .exchange = fh_field_memory_exchange,
    .get = get_plainly,
    .set = set_plainly,
    .copy = copy_plainly,
    .is_inside = never_inside,
};

const fh_field_access *fb_field_access = &plain_access;

/* Releases the GIL while a thread waits for another thread that is inside a library's getter or setter. */
static void *begin_waiting(void) {
  void *state;
  return fb_ext->thread_state(&state) == FHPY_THREAD_ATTACHED ? fb_ext->leave() : NULL;
}
static void end_waiting(void *state) { fb_ext->reenter(state); }
static const fh_field_guard_waiting waiting = {begin_waiting, end_waiting};

void fb_field_init(void) {
  static FbCoreFunction find = {.name = "ffi_hpy.field_access"};
  TVMFFIObject *function = fb_core_function_find(&find);
  TVMFFIAny table;
  if (function == NULL || fb_core_function_call_handle(function, NULL, 0, &table) != 0) return;
  fb_field_access = table.v_ptr;
  fh_atomic_store_relaxed(&fb_holder_any_getter, fb_field_access->getter(kTVMFFIAny));
  fb_py_owner_must_wait = fb_field_access->is_inside; /* a destructor of a former value may drop Python objects */
  fb_field_access->set_waiting(fb_ext == NULL ? NULL : &waiting);
}

/* Whether the cffi backend has the pointers of the functions below, and calls them without the GIL (PyPy). Written
 * under the GIL. */
static bool is_lent;

FH_INLINE bool threads_meet(void) { return fb_context_free_threaded || is_lent; }

void fb_field_lend(const FbField *field, int64_t addresses[FB_FIELD_N_ADDRESSES]) {
  is_lent = true;
  addresses[0] = (int64_t)(uintptr_t)field;
  addresses[1] = (int64_t)(uintptr_t)fb_field_copy;
  addresses[2] = (int64_t)(uintptr_t)fb_field_put;
  addresses[3] = (int64_t)(uintptr_t)fb_field_set_native;
}

/* --- inline fields ------------------------------------------------------------------------------------------------ */

void fb_field_put(const FbField *field, TVMFFIObject *object, TVMFFIAny *value) {
  fb_field_access->exchange((char *)object + field->offset, field->static_index, value);
}

void fb_field_fill(const FbField *field, TVMFFIObject *object, TVMFFIAny *value) {
  fh_field_memory_exchange_alone((char *)object + field->offset, field->static_index, value);
}

/* Reads a number inline, without a call. Returns false for other fields. */
FH_INLINE bool copy_number(const FbField *field, const void *address, TVMFFIAny *out) {
  switch (field->static_index) {
  case kTVMFFIInt:
  case kTVMFFIFloat: out->v_int64 = fh_atomic_load_relaxed((const int64_t *)address); break;
  case kTVMFFIBool: out->v_int64 = fh_atomic_load_relaxed((const uint8_t *)address) != 0; break;
  default: return false;
  }
  out->type_index = field->static_index;
  return true;
}
FH_INLINE bool put_number(const FbField *field, void *address, const TVMFFIAny *value) {
  switch (field->static_index) {
  case kTVMFFIInt:
  case kTVMFFIFloat: fh_atomic_store_relaxed((int64_t *)address, value->v_int64); return true;
  case kTVMFFIBool: fh_atomic_store_relaxed((uint8_t *)address, value->v_int64 != 0); return true;
  default: return false;
  }
}

/* Raises an exception, usually TypeError, for a value that does not match. An assignment says "key.field: why"; a
 * constructor passes `what`, and the message then has the lines of the core's own constructor. If memory is exhausted,
 * the message only names the field. */
static FH_NOINLINE void refuse(HPyContext *ctx, const FbField *field, const char *what, HPy cls, FbMismatch *mismatch) {
  if (what == NULL) {
    fb_mismatch_prefix(mismatch, "%s: ", field->name);
  } else {
    FbMismatch whole = {0};
    fb_mismatch_set(&whole, "%s '%s'", what, field->own_name);
    if (mismatch->text != NULL) fb_mismatch_append(&whole, ":\n", "  ", mismatch->text, strlen(mismatch->text));
    fb_mismatch_end(mismatch);
    *mismatch = whole;
  }
  fb_raise(ctx, cls, "%s", mismatch->text == NULL ? field->name : mismatch->text);
}

int fb_field_convert(HPyContext *ctx, const FbField *field, HPy value, const char *what, TVMFFIAny *out) {
  FbMismatch mismatch = {0};
  FbConverted converted = fb_convert_python_value(ctx, field->schema, value, out, &mismatch);
  if (FH_UNLIKELY(converted == FB_MISMATCH))
    refuse(ctx, field, what, mismatch.is_outside_range ? ctx->h_OverflowError : ctx->h_TypeError, &mismatch);
  fb_mismatch_end(&mismatch);
  return converted == FB_CONVERTED ? 0 : -1;
}

/* --- any field ---------------------------------------------------------------------------------------------------- */

int fb_field_copy(const FbField *field, TVMFFIObject *object, TVMFFIAny *out) {
  void *address = (char *)object + field->offset;
  if (!field->is_laid_out) {
    if (FH_LIKELY(!field->is_guarded || !threads_meet())) return field->getter(address, out);
    return fb_field_access->get(field->getter, object, field->offset, out);
  }
  if (copy_number(field, address, out)) return 0;
  if (FH_UNLIKELY(threads_meet())) return field->getter(address, out);
  fh_field_memory_read_alone(address, field->static_index, out);
  return 0;
}

HPy fb_field_read(HPyContext *ctx, const FbField *field, TVMFFIObject *object) {
  TVMFFIAny value = {.zero_padding = FFI_HPY_TAKES_CONTAINERS}; /* as in a call */
  if (FH_UNLIKELY(fb_field_copy(field, object, &value) != 0)) return fb_error_raise_pending(ctx, field->name);
  return fb_result_make(ctx, &value);
}

/* For a field without a C setter. A setter Function gets the pointer of the field and the value. */
static FH_NOINLINE int call_setter(const FbField *field, char *address, const TVMFFIAny *value) {
  if (field->setter_function == NULL) {
    const char *parts[] = {"Field `", field->own_name, "` cannot be written"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", parts, 3);
    return -1;
  }
  TVMFFIAny args[2] = {{.type_index = kTVMFFIOpaquePtr}, *value}, result = {0};
  args[0].v_ptr = address;
  int rc = TVMFFIFunctionCall(field->setter_function, args, 2, &result);
  if (rc == 0) fb_any_drop(&result);
  return rc;
}

FH_INLINE int set_native(const FbField *field, TVMFFIObject *object, const TVMFFIAny *value) {
  char *address = (char *)object + field->offset;
  if (FH_UNLIKELY(field->setter_function != NULL) || FH_UNLIKELY(field->setter == NULL)) {
    return call_setter(field, address, value);
  }
  return field->is_guarded ? fb_field_access->set(field->setter, object, field->offset, value)
                           : field->setter(address, value);
}

int fb_field_set_native(const FbField *field, TVMFFIObject *object, const TVMFFIAny *value) {
  return set_native(field, object, value);
}

/* How a setter refused a value. */
typedef enum { OTHER_ERROR, MISMATCH, OUTSIDE_RANGE } Refusal;

/* Returns the refusal of an error. In a constructor every failure except an interruption is about the field. For an
 * assignment, the error of a setter Function is raised unchanged; a C setter reports a mismatch by a TypeError, and a
 * number outside the range of the field by an OverflowError. */
static FH_NOINLINE Refusal refusal_of(const FbField *field, TVMFFIObjectHandle error, const char *what) {
  bool is_c = error != NULL && field->setter_function == NULL;
  if (is_c && fb_error_is_kind(error, "OverflowError")) return OUTSIDE_RANGE;
  return what != NULL || (is_c && fb_error_is_kind(error, "TypeError")) ? MISMATCH : OTHER_ERROR;
}

/* Raises the pending native error of a setter. A mismatch becomes part of a message about the field; any other error is
 * raised unchanged. Returns -1. */
static FH_NOINLINE int refuse_as_setter(HPyContext *ctx, const FbField *field, Refusal refusal, const char *what) {
  FbMismatch mismatch = {0};
  /* Empty but not NULL: nothing is appended to a NULL string. */
  fb_mismatch_set(&mismatch, "%s", "");
  if (refusal != OTHER_ERROR && fb_mismatch_take_native(ctx, &mismatch, "", "") == FB_MISMATCH) {
    refuse(ctx, field, what, refusal == OUTSIDE_RANGE ? ctx->h_OverflowError : ctx->h_TypeError, &mismatch);
  } else {
    fb_error_raise_pending(ctx, field->name);
  }
  fb_mismatch_end(&mismatch);
  return -1;
}

/* Raises the pending error of a setter. Returns -1. */
static FH_NOINLINE int refuse_pending(HPyContext *ctx, const FbField *field, const char *what) {
  TVMFFIObjectHandle error = fb_error_slot_take_object();
  Refusal refusal = refusal_of(field, error, what);
  fb_error_slot_put_object(error);
  return refuse_as_setter(ctx, field, refusal, what);
}

int fb_field_set(HPyContext *ctx, const FbField *field, TVMFFIObject *object, const TVMFFIAny *value,
                 const char *what) {
  return FH_LIKELY(set_native(field, object, value) == 0) ? 0 : refuse_pending(ctx, field, what);
}

/* Converts the value by the schema, or like an argument without a schema, and passes it to the setter. */
static int write_by_setter(HPyContext *ctx, const FbField *field, TVMFFIObject *object, HPy value, const char *what) {
  FbTemp temp;
  FbArgs args = {.temps = &temp, .position = -1, .callee = field->name};
  TVMFFIAny pair[2], *view = &pair[1]; /* of a property, the value is the second argument of a function */
  int rc;
  if (field->schema == NULL) {
    bool is_int = fb_ext != NULL && fb_immediate_int(value, view); /* the most common value */
    rc = is_int ? 0 : fb_argument_convert(ctx, value, view, &args);
    if (FH_UNLIKELY(rc != 0)) rc = fb_argument_convert_refused(ctx, HPy_NULL, value, view, &args);
  } else if ((rc = fb_field_convert(ctx, field, value, what, view)) == 0 &&
             view->type_index >= kTVMFFIStaticObjectBegin) {
    args.temps[args.n_temps++].object = view->v_obj;
  }
  /* The error is taken out of the slot, because releasing temporaries may run code that uses the slot. */
  bool is_refused = rc == 0 && set_native(field, object, view) != 0;
  TVMFFIObjectHandle error = is_refused ? fb_error_slot_take_object() : NULL;
  if (rc == 0) fb_py_owner_drain(ctx); /* the former value */
  fb_args_end(&args, is_refused ? FB_DROP_UNKNOWN : rc);
  if (!is_refused) return rc;
  fb_error_name_classes(ctx, &error, pair, (HPy[]){ctx->h_None, value}, 2);
  Refusal refusal = refusal_of(field, error, what);
  fb_error_slot_put_object(error);
  return refuse_as_setter(ctx, field, refusal, what);
}

/* Writes a number of exactly the class that the schema names, which needs no conversion. Returns false for every other
 * value. */
FH_INLINE bool write_number(const FbField *field, TVMFFIObject *object, HPy value) {
  TVMFFIAny view;
  FbSchemaOp op = fb_ext == NULL ? FB_SCHEMA_ANY : field->schema->op;
  bool is_read = (op == FB_SCHEMA_INT && fb_immediate_int(value, &view)) ||
                 (op == FB_SCHEMA_FLOAT && fb_immediate_float(value, &view));
  return is_read && view.type_index == field->static_index && put_number(field, (char *)object + field->offset, &view);
}

/* fb_field_write, in a separate function, so that an immediate value needs a small frame only. */
static FH_NOINLINE int write_other(HPyContext *ctx, const FbField *field, TVMFFIObject *object, HPy value,
                                   const char *what) {
  if (!field->is_laid_out) {
    /* In a constructor a missing setter is reported like any other field that cannot get its value. */
    if (field->setter != NULL || field->setter_function != NULL || what != NULL)
      return write_by_setter(ctx, field, object, value, what);
    fb_raise(ctx, ctx->h_AttributeError, FB_MESSAGE_NOT_SET, field->name);
    return -1;
  }
  if (write_number(field, object, value)) return 0;
  TVMFFIAny owned;
  if (fb_field_convert(ctx, field, value, what, &owned) != 0) return -1;
  if (put_number(field, (char *)object + field->offset, &owned)) return 0;
  if (what != NULL) {
    fb_field_fill(field, object, &owned);
  } else {
    fb_field_put(field, object, &owned);
  }
  fb_any_drop(&owned);
  return 0;
}

int fb_field_write(HPyContext *ctx, const FbField *field, TVMFFIObject *object, HPy value, const char *what) {
  TVMFFIAny view;
  bool is_immediate = !field->is_laid_out && field->schema == NULL && field->setter != NULL && fb_ext != NULL &&
                      fb_immediate_read(value, &view);
  if (!is_immediate) return write_other(ctx, field, object, value, what);
  if (FH_UNLIKELY(set_native(field, object, &view) != 0)) return refuse_pending(ctx, field, what);
  fb_py_owner_drain(ctx); /* the former value */
  return 0;
}

/* --- construction ------------------------------------------------------------------------------------------------- */

/* One block has the field and its name. */
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
  field->is_guarded = fh_field_guard_is_for(info);
  /* The registry has one word for both kinds of setter; a flag distinguishes them. */
  if (info->setter != NULL && (info->flags & kTVMFFIFieldFlagBitSetterIsFunctionObj) != 0) {
    TVMFFIObjectIncRef(info->setter);
    field->setter_function = info->setter;
  } else if (info->setter != NULL) {
    memcpy(&field->setter, &info->setter, sizeof(field->setter));
  }
  return field;
}

const FbField *fb_field_find(HPyContext *ctx, const TVMFFITypeInfo *type, int32_t which, const FbSchema *schema) {
  const FbField *defined = find_in_table(type->type_index, which);
  return defined != NULL ? defined : field_from_registry(ctx, type, &type->fields[which], schema);
}
