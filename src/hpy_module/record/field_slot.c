/* FieldSlot: a reflected field as a Python object, a descriptor where possible.
 *
 * The package derives FFIProperty from it and sets one as a class attribute per field. With the extension it has the
 * interpreter's slots __get__ and __set__, so that a field is read without Python code; elsewhere the package makes a
 * property of its methods `get` and `set`. */
#include "record.h"

#include "field.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/capsule.h"
#include "hpy_module/context/error_slot.h"
#include "hpy_module/context/int32.h"
#include "hpy_module/context/messages.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/text.h"
#include "hpy_module/context/thread.h"
#include "hpy_module/context/type.h"
#include "hpy_module/object/object.h"
#include "hpy_module/object/type_tag.h"
#include "hpy_module/schema/schema_type.h"

/* Written by __new__ and constant afterwards. `field` is NULL in an instance that another __new__ made. */
typedef struct FieldSlot {
  const FbField *field;
  bool is_frozen; /* assignment is refused; set() is not */
} FieldSlot;

HPyType_HELPERS(FieldSlot)

/* Returns the struct of an object that is known to be a FieldSlot. */
FH_INLINE FieldSlot *slot_struct(HPyContext *ctx, HPy h) {
  if (FH_LIKELY(fb_ext != NULL)) return (FieldSlot *)((char *)h._i + fb_context_data_offset);
  return FieldSlot_AsStruct(ctx, h);
}

/* NULL with TypeError raised if the field is missing. */
FH_INLINE const FbField *field_of(HPyContext *ctx, HPy h) {
  const FieldSlot *slot = slot_struct(ctx, h);
  if (FH_LIKELY(slot != NULL && slot->field != NULL)) return slot->field;
  fb_instance_raise_unmade(ctx, h);
  return NULL;
}

/* --- access ------------------------------------------------------------------------------------------------------- */

/* Whether self is a CObject; raises TypeError if not. Classifies the type, so that begin() finds it in the table of
 * kinds from now on. */
static FH_NOINLINE bool is_object(HPyContext *ctx, const FbField *field, HPy self) {
  if (fb_object_check(ctx, self)) {
    if (fb_ext != NULL) fb_type_tag_learn(ctx, self);
    return true;
  }
  char given[128];
  fb_raise(ctx, ctx->h_TypeError, FB_MESSAGE_OTHER_CLASS, field->own_name,
           fb_attr_type_name(ctx, self, given, sizeof(given)));
  return false;
}

/* Begins a use of the native object of self. NULL with TypeError raised if self is not of the field's type: a
 * descriptor can be called with any object. The use protects the object while a conversion runs Python code, which
 * might move the handle away. */
FH_INLINE FbHandleCell *begin(HPyContext *ctx, const FbField *field, HPy self) {
  const FbTypeTagEntry *entry = FH_LIKELY(fb_ext != NULL) ? fb_type_tag_find(self) : NULL;
  bool is_known = FH_LIKELY(entry != NULL) && FH_LIKELY(entry->kind == FB_TYPE_KIND_OBJECT);
  if (!is_known && !is_object(ctx, field, self)) return NULL;
  return fb_object_begin(ctx, self, field->type_index, field->type_depth);
}

FH_INLINE HPy read_field(HPyContext *ctx, const FbField *field, HPy self) {
  FbHandleCell *cell = begin(ctx, field, self);
  if (FH_UNLIKELY(cell == NULL)) return HPy_NULL;
  HPy value = fb_field_read(ctx, field, cell->handle);
  fb_handle_cell_unuse(cell);
  return value;
}

static FH_NOINLINE int write_field(HPyContext *ctx, const FbField *field, HPy self, HPy value) {
  if (HPy_IsNull(value)) {
    fb_raise(ctx, ctx->h_AttributeError, FB_MESSAGE_NOT_DELETED, field->name);
    return -1;
  }
  FbHandleCell *cell = begin(ctx, field, self);
  if (FH_UNLIKELY(cell == NULL)) return -1;
  /* A setter may call back. */
  FbThreadState outer;
  fb_thread_enter_held(ctx, &outer);
  int rc = fb_field_write(ctx, field, cell->handle, value, NULL);
  fb_thread_leave_held(&outer);
  fb_handle_cell_unuse(cell);
  return rc;
}

static FH_NOINLINE int refuse_assignment(HPyContext *ctx, const FbField *field) {
  fb_raise(ctx, ctx->h_AttributeError, FB_MESSAGE_FROZEN, field->name, field->own_name);
  return -1;
}

/* The descriptor slots with the interpreter's signatures. The functions exist only where a handle is the object
 * pointer, so the arguments are borrowed handles (see extension.h). */

FH_INLINE const FieldSlot *descr_struct(cpy_PyObject *slot) {
  return (const FieldSlot *)((const char *)slot + fb_context_data_offset);
}

static FH_NOINLINE void raise_unmade(cpy_PyObject *slot) { fb_instance_raise_unmade(fb_ctx, (HPy){(intptr_t)slot}); }

static cpy_PyObject *slot_descr_get(cpy_PyObject *self, cpy_PyObject *object, FH_MAYBE_UNUSED cpy_PyObject *type) {
  /* Read through the class: returns the slot itself, like a property. */
  if (object == NULL) return (cpy_PyObject *)HPy_Dup(fb_ctx, (HPy){(intptr_t)self})._i;
  const FbField *field = descr_struct(self)->field;
  if (FH_LIKELY(field != NULL)) return (cpy_PyObject *)read_field(fb_ctx, field, (HPy){(intptr_t)object})._i;
  raise_unmade(self);
  return NULL;
}

/* Whether an object is one of a class derived from CObject. False also if this is not quick to determine. */
FH_INLINE bool has_cell(HPy object) {
  const FbTypeTagEntry *entry = fb_type_tag_find(object);
  return FH_LIKELY(entry != NULL) && entry->kind == FB_TYPE_KIND_OBJECT;
}

/* Writes a field of such an object. Where no use of the object can begin here, write_field writes the field, and begins
 * a use of its own. */
FH_INLINE int write_cell(const FbField *field, HPy object, HPy value) {
  FbHandleCell *cell = &((FbObject *)((char *)object._i + fb_context_data_offset))->cell;
  if (FH_UNLIKELY(!fb_handle_cell_use(cell))) return write_field(fb_ctx, field, object, value);
  TVMFFIObject *handle = fb_handle_cell_get(cell);
  bool fits = FH_LIKELY(handle != NULL && (handle->type_index == field->type_index ||
                                           fb_object_derives(handle, field->type_index, field->type_depth)));
  int rc = fits ? fb_field_write(fb_ctx, field, handle, value, NULL) : 0;
  fb_handle_cell_unuse(cell);
  return fits ? rc : write_field(fb_ctx, field, object, value);
}

static int slot_descr_set(cpy_PyObject *self, cpy_PyObject *object, cpy_PyObject *value) {
  const FieldSlot *slot = descr_struct(self);
  if (FH_UNLIKELY(slot->field == NULL)) {
    raise_unmade(self);
    return -1;
  }
  if (FH_UNLIKELY(slot->is_frozen)) return refuse_assignment(fb_ctx, slot->field);
  HPy self_h = {(intptr_t)object}, value_h = {(intptr_t)value};
  if (FH_UNLIKELY(value == NULL || !has_cell(self_h) || fb_thread_has_cffi_backend))
    return write_field(fb_ctx, slot->field, self_h, value_h);
  return write_cell(slot->field, self_h, value_h);
}

/* --- FieldSlot ---------------------------------------------------------------------------------------------------- */

FB_METHOD_O(slot_get, "get", object, "Value of the field of an object.") {
  const FbField *field = field_of(ctx, self);
  return field == NULL ? HPy_NULL : read_field(ctx, field, object);
}

FB_METHOD(slot_set, "set", "Set the field of an object, also a frozen one.") {
  if (nargs != 2) return fb_raise(ctx, ctx->h_TypeError, "set() takes 2 arguments, got %zu", nargs);
  const FbField *field = field_of(ctx, self);
  if (field == NULL || write_field(ctx, field, args[0], args[1]) != 0) return HPy_NULL;
  return HPy_Dup(ctx, ctx->h_None);
}

HPyDef_GET(slot_frozen, "frozen", .doc = "Whether assignment is refused.")
static HPy slot_frozen_get(HPyContext *ctx, HPy self, FH_MAYBE_UNUSED void *closure) {
  if (field_of(ctx, self) == NULL) return HPy_NULL;
  return HPy_Dup(ctx, slot_struct(ctx, self)->is_frozen ? ctx->h_True : ctx->h_False);
}

/* --- for the cffi backend ----------------------------------------------------------------------------------------- */

HPyDef_GET(slot_native, "_native",
           .doc = "Addresses for calls from elsewhere: the field, fb_field_copy, fb_field_put, fb_field_set_native.")
static HPy slot_native_get(HPyContext *ctx, HPy self, FH_MAYBE_UNUSED void *closure) {
  const FbField *field = field_of(ctx, self);
  if (field == NULL) return HPy_NULL;
  int64_t addresses[FB_FIELD_N_ADDRESSES];
  fb_field_lend(field, addresses);
  return fb_tuple_of_ints(ctx, addresses, FB_FIELD_N_ADDRESSES);
}

/* args: value, pointer, and the beginning of the message, None for an assignment. */
FB_METHOD(slot_convert, "_convert",
          "Convert a value for a struct field into the TVMFFIAny at a pointer, which owns the value then.") {
  if (nargs != 3) return fb_raise(ctx, ctx->h_TypeError, "_convert() takes 3 arguments, got %zu", nargs);
  const FbField *field = field_of(ctx, self);
  if (field == NULL) return HPy_NULL;
  TVMFFIAny *out = fb_lent_arg(ctx, args[1], "_convert()");
  if (out == NULL) return HPy_NULL;
  HPy_ssize_t n;
  bool is_assigned = fb_context_is_same(ctx, args[2], ctx->h_None);
  const char *what = is_assigned ? NULL : fb_text_arg(ctx, args[2], "_convert() argument 3", &n);
  if (!is_assigned && what == NULL) return HPy_NULL;
  FbThreadState outer;
  fb_thread_enter_held(ctx, &outer);
  int rc = fb_field_convert(ctx, field, args[0], what, out);
  fb_thread_leave_held(&outer);
  return rc == 0 ? HPy_Dup(ctx, ctx->h_None) : HPy_NULL;
}

/* --- construction ------------------------------------------------------------------------------------------------- */

/* Finds the field for the arguments index, which, frozen, schema. NULL with an exception raised. */
static const FbField *find_field(HPyContext *ctx, const HPy *args, HPy_ssize_t nargs) {
  const FbSchema *schema = NULL;
  if (nargs > 3 && !fb_context_is_same(ctx, args[3], ctx->h_None) &&
      (schema = fb_schema_type_get(ctx, args[3])) == NULL)
    return NULL;
  int32_t index = fb_int32_read(ctx, args[0]);
  if (index == -1 && HPyErr_Occurred(ctx)) return NULL;
  int32_t which = fb_int32_read(ctx, args[1]);
  if (which == -1 && HPyErr_Occurred(ctx)) return NULL;
  const TVMFFITypeInfo *type = TVMFFIGetTypeInfo(index);
  if (type == NULL) {
    fb_error_slot_clear();
    fb_raise(ctx, ctx->h_ValueError, "no type is registered for index %d", (int)index);
  } else if (which < 0 || which >= type->num_fields) {
    fb_raise(ctx, ctx->h_IndexError, "type %.*s has %d fields of its own, got index %d", (int)type->type_key.size,
             type->type_key.data, (int)type->num_fields, (int)which);
  } else {
    return fb_field_find(ctx, type, which, schema);
  }
  return NULL;
}

static FbRef field_slot_type; /* written once during the import */

HPyDef_SLOT(slot_new, HPy_tp_new)
static HPy slot_new_impl(HPyContext *ctx, HPy type, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  (void)kw; /* further arguments are for the __init__ of a subclass, too */
  if (nargs < 3) return fb_raise(ctx, ctx->h_TypeError, "FieldSlot() takes index, field, frozen[, schema]");
  int is_frozen = HPy_IsTrue(ctx, args[2]);
  const FbField *field = is_frozen < 0 ? NULL : find_field(ctx, args, nargs);
  if (field == NULL) return HPy_NULL;
  void *data;
  HPy h = fb_instance_make(ctx, type, &field_slot_type, &data);
  if (HPy_IsNull(h)) return h;
  *(FieldSlot *)data = (FieldSlot){.field = field, .is_frozen = is_frozen};
  /* Threads that read a field share its descriptor, which lives as long as its class. For a plain FieldSlot, which is
   * not GC-tracked, the interpreter refuses to defer reference counts. */
  if (fb_context_defers_refcounts) fb_ext->refcount_defer(ctx, h);
  return h;
}

/* Slots that HPy lacks; our context accepts them, see extension.h. The functions are set only if the context is
 * ours. */
static HPyDef descr_get = {.kind = HPyDef_Kind_Slot, .slot = {.slot = (HPySlot_Slot)FHPY_TP_DESCR_GET}};
static HPyDef descr_set = {.kind = HPyDef_Kind_Slot, .slot = {.slot = (HPySlot_Slot)FHPY_TP_DESCR_SET}};

HPy fb_field_slot_type_new(HPyContext *ctx) {
  static HPyDef *defines[] = {&slot_new,     &slot_get, &slot_set, &slot_frozen, &slot_native,
                              &slot_convert, NULL,      NULL,      NULL};
  enum { FIRST_FREE = 6 };
  static HPyType_Spec spec =
      FB_TYPE_SPEC(FieldSlot, "FieldSlot", HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_BASETYPE, defines, "A reflected field.");
  if (fb_ext != NULL) {
    descr_get.slot.cpy_trampoline = (cpy_PyCFunction)(void (*)(void))slot_descr_get;
    descr_set.slot.cpy_trampoline = (cpy_PyCFunction)(void (*)(void))slot_descr_set;
    defines[FIRST_FREE] = &descr_get;
    defines[FIRST_FREE + 1] = &descr_set;
  }
  return fb_type_new_root(ctx, &spec, &field_slot_type);
}
