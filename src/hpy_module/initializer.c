/* Initializer: makes the native object of a new instance and gives its fields values.
 *
 * What the fields of a type ask for is read from the registry once, when the Initializer is made. A call then binds
 * arguments and writes fields; nothing is looked up but keyword arguments. */
#include "initializer.h"

#include <stdlib.h>

#include "convert.h"
#include "error.h"
#include "field.h"
#include "object.h"
#include "text.h"

/* What a field is given that no argument is for. */
typedef enum Initial {
  NOTHING,        /* an argument is required; without init=True the field stays empty */
  READY_VALUE,    /* `ready`, which is plain data or text: the same for every object */
  PYTHON_VALUE,   /* field->initial, converted for each object: what becomes of it may be mutable */
  PYTHON_FACTORY, /* the value that field->initial() returns */
  NATIVE_VALUE,   /* the registry's, through the setter */
  NATIVE_FACTORY
} Initial;

typedef struct Slot {
  const FbField *field;
  const TVMFFIFieldInfo *info;
  FbCell name; /* a str */
  TVMFFIAny ready;
  Initial initial;
} Slot;

/* Constant once it is made. */
typedef struct Initializer {
  const TVMFFITypeInfo *type;
  TVMFFIObject *allocate; /* __ffi_new__; owned; NULL: the type has a creator */
  int32_t n_slots;
  int32_t n_positional;
  Slot *slots; /* of all fields, the root's first; a name that is defined again counts for the last one only */
  int32_t *positional; /* slots in the order of positional arguments: those without default first */
  char *callee; /* "key.__ffi_init__", as the native constructor calls itself in messages */
  char *about_argument, *about_default; /* what begins the message about a field; in the same block */
  FbCell missing; /* an argument that stands for none */
} Initializer;

HPyType_HELPERS(Initializer)

static bool has_flag(const Slot *slot, int64_t flag) { return (slot->info->flags & flag) != 0; }
static bool takes_argument(const Slot *slot) { return !has_flag(slot, kTVMFFIFieldFlagBitMaskInitOff); }
static bool is_positional(const Slot *slot) {
  return takes_argument(slot) && !has_flag(slot, kTVMFFIFieldFlagBitMaskKwOnly);
}

/* --- giving fields values ------------------------------------------------------------------------------------------------- */

static int set_native(HPyContext *ctx, const Slot *slot, TVMFFIObject *object) {
  TVMFFIAny made = {0};
  const TVMFFIAny *value = &slot->info->default_value_or_factory;
  int rc = 0;
  if (slot->initial == NATIVE_FACTORY) {
    rc = TVMFFIFunctionCall(value->v_obj, NULL, 0, &made);
    value = &made;
  }
  if (rc == 0) rc = fb_field_set(slot->field, object, value);
  if (rc != 0) fb_error_raise_pending(ctx, slot->field->name);
  if (made.type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(made.v_obj);
  return rc;
}

static int set_from_factory(HPyContext *ctx, const Initializer *init, const Slot *slot, TVMFFIObject *object) {
  HPy factory = fb_cell_borrow(ctx, &slot->field->initial);
  HPy value = fb_call(ctx, factory, NULL, 0, HPy_NULL);
  fb_cell_return(ctx, factory);
  if (HPy_IsNull(value)) return -1;
  int rc = fb_field_write(ctx, slot->field, object, value, init->about_default);
  HPy_Close(ctx, value);
  return rc;
}

static int set_initial(HPyContext *ctx, const Initializer *init, const Slot *slot, TVMFFIObject *object) {
  switch (slot->initial) {
  case READY_VALUE: {
    TVMFFIAny value = slot->ready;
    if (value.type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectIncRef(value.v_obj);
    fb_field_put(slot->field, object, &value);
    return 0;
  }
  case PYTHON_VALUE: {
    HPy value = fb_cell_borrow(ctx, &slot->field->initial);
    int rc = fb_field_write(ctx, slot->field, object, value, init->about_default);
    fb_cell_return(ctx, value);
    return rc;
  }
  case PYTHON_FACTORY: return set_from_factory(ctx, init, slot, object);
  case NATIVE_VALUE:
  case NATIVE_FACTORY: return set_native(ctx, slot, object);
  default: return 0;
  }
}

/* --- binding -------------------------------------------------------------------------------------------------------------- */

/* How a slot came by its value; 0: not yet. */
typedef enum Given { BY_POSITION = 1, BY_KEYWORD } Given;

static FB_NOINLINE int too_many(HPyContext *ctx, const Initializer *init, HPy_ssize_t n_given) {
  fb_raise(ctx, ctx->h_TypeError, "%s() takes at most %d positional argument(s), but %zd were given", init->callee,
           (int)init->n_positional, n_given);
  return -1;
}

static FB_NOINLINE int missing_argument(HPyContext *ctx, const Initializer *init, const Slot *slot) {
  fb_raise(ctx, ctx->h_TypeError, "%s() missing required %s: '%s'", init->callee,
           is_positional(slot) ? "argument" : "keyword-only argument", fb_field_own_name(slot->field));
  return -1;
}

/* Says which keyword argument is for no field, or for one that a positional argument was for. */
static FB_NOINLINE int unexpected_keyword(HPyContext *ctx, const Initializer *init, HPy kwargs,
                                          const unsigned char *given) {
  HPy (*keys_of)(HPyContext *, HPy);
  FB_LATE(ctx, ctx_Dict_Keys, keys_of);
  HPy keys = keys_of(ctx, kwargs);
  HPy_ssize_t n = HPy_IsNull(keys) ? -1 : HPy_Length(ctx, keys);
  for (HPy_ssize_t i = 0; i < n && !HPyErr_Occurred(ctx); i++) {
    HPy key = HPy_GetItem_i(ctx, keys, i);
    HPy_ssize_t n_bytes;
    const char *text = HPy_IsNull(key) ? NULL : fb_text_arg(ctx, key, "keyword", &n_bytes);
    const char *wrong = text == NULL ? NULL : "got an unexpected keyword argument";
    for (int32_t k = 0; text != NULL && k < init->n_slots; k++) {
      const Slot *slot = &init->slots[k];
      if (!takes_argument(slot) || strcmp(fb_field_own_name(slot->field), text) != 0) continue;
      wrong = given[k] == BY_POSITION ? "got multiple values for argument" : NULL;
    }
    if (wrong != NULL) fb_raise(ctx, ctx->h_TypeError, "%s() %s '%s'", init->callee, wrong, text);
    if (!HPy_IsNull(key)) HPy_Close(ctx, key);
  }
  if (!HPy_IsNull(keys)) HPy_Close(ctx, keys);
  return -1;
}

static int write_argument(HPyContext *ctx, const Initializer *init, int32_t k, TVMFFIObject *object, HPy value,
                          Given how, unsigned char *given) {
  HPy missing = fb_cell_borrow(ctx, &init->missing);
  bool stands_for_none = fb_is(ctx, value, missing);
  fb_cell_return(ctx, missing);
  if (FB_UNLIKELY(stands_for_none)) return 0;
  given[k] = how;
  return fb_field_write(ctx, init->slots[k].field, object, value, init->about_argument);
}

static int bind_positional(HPyContext *ctx, const Initializer *init, TVMFFIObject *object, HPy args,
                           unsigned char *given) {
  HPy_ssize_t n = HPy_Length(ctx, args);
  if (n < 0) return -1;
  if (FB_UNLIKELY(n > init->n_positional)) return too_many(ctx, init, n);
  for (HPy_ssize_t i = 0; i < n; i++) {
    HPy value = HPy_GetItem_i(ctx, args, i);
    if (HPy_IsNull(value)) return -1;
    int rc = write_argument(ctx, init, init->positional[i], object, value, BY_POSITION, given);
    HPy_Close(ctx, value);
    if (rc != 0) return -1;
  }
  return 0;
}

static int bind_keywords(HPyContext *ctx, const Initializer *init, TVMFFIObject *object, HPy kwargs,
                         unsigned char *given) {
  HPy_ssize_t n = HPy_Length(ctx, kwargs), n_used = 0;
  for (int32_t k = 0; n_used < n && k < init->n_slots; k++) {
    if (given[k] || !takes_argument(&init->slots[k])) continue;
    HPy name = fb_cell_borrow(ctx, &init->slots[k].name);
    int is_there = HPy_Contains(ctx, kwargs, name);
    HPy value = is_there > 0 ? HPy_GetItem(ctx, kwargs, name) : HPy_NULL;
    fb_cell_return(ctx, name);
    if (is_there == 0) continue;
    if (HPy_IsNull(value)) return -1;
    n_used++;
    int rc = write_argument(ctx, init, k, object, value, BY_KEYWORD, given);
    HPy_Close(ctx, value);
    if (rc != 0) return -1;
  }
  return n_used == n ? 0 : 1;
}

static int bind_all(HPyContext *ctx, const Initializer *init, TVMFFIObject *object, HPy args, HPy kwargs,
                    unsigned char *given) {
  if (bind_positional(ctx, init, object, args, given) != 0) return -1;
  int rc = HPy_IsNull(kwargs) ? 0 : bind_keywords(ctx, init, object, kwargs, given);
  if (rc != 0) return rc < 0 ? -1 : unexpected_keyword(ctx, init, kwargs, given);
  for (int32_t k = 0; k < init->n_slots; k++) {
    const Slot *slot = &init->slots[k];
    if (given[k]) continue;
    if (FB_UNLIKELY(slot->initial == NOTHING && takes_argument(slot))) return missing_argument(ctx, init, slot);
    if (FB_UNLIKELY(set_initial(ctx, init, slot, object) != 0)) return -1;
  }
  return 0;
}

/* --- the call ------------------------------------------------------------------------------------------------------------- */

/* A new native object with all its fields empty: owned; NULL with an exception raised. */
static TVMFFIObject *allocate(HPyContext *ctx, const Initializer *init) {
  TVMFFIAny made = {0};
  TVMFFIObjectHandle object = NULL;
  int rc;
  if (init->allocate != NULL) {
    rc = ((const TVMFFIFunctionCell *)(init->allocate + 1))->safe_call(init->allocate, NULL, 0, &made);
    object = made.type_index >= kTVMFFIStaticObjectBegin ? made.v_obj : NULL;
  } else {
    rc = init->type->metadata->creator(&object);
  }
  if (FB_LIKELY(rc == 0 && object != NULL)) return object;
  if (rc != 0) {
    fb_error_raise_pending(ctx, init->callee);
  } else {
    fb_raise(ctx, ctx->h_TypeError, "__ffi_new__ of %.*s made no object", (int)init->type->type_key.size,
             init->type->type_key.data);
  }
  return NULL;
}

enum { STACK_SLOTS = 64 };

static TVMFFIObject *make_object(HPyContext *ctx, const Initializer *init, HPy args, HPy kwargs) {
  unsigned char few[STACK_SLOTS] = {0}, *given = few;
  if (FB_UNLIKELY(init->n_slots > STACK_SLOTS)) given = calloc((size_t)init->n_slots, 1);
  if (given == NULL) {
    HPyErr_NoMemory(ctx);
    return NULL;
  }
  TVMFFIObject *object = allocate(ctx, init);
  if (object != NULL && bind_all(ctx, init, object, args, kwargs, given) != 0) {
    TVMFFIObjectDecRef(object);
    object = NULL;
  }
  if (given != few) free(given);
  return object;
}

HPyDef_SLOT(initializer_call, HPy_tp_call)
static HPy initializer_call_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs, HPy kwnames) {
  const Initializer *init = Initializer_AsStruct(ctx, self);
  if (nargs < 2 || nargs > 3 || !HPy_IsNull(kwnames) || !HPyTuple_Check(ctx, args[1])) {
    return fb_raise(ctx, ctx->h_TypeError, "an Initializer takes an instance, a tuple of arguments, a dict of others");
  }
  if (!fb_object_check(ctx, args[0])) {
    char given[128];
    return fb_raise(ctx, ctx->h_TypeError, "%s() is for instances of its class, not of %s", init->callee,
                    fb_type_name(ctx, args[0], given, sizeof(given)));
  }
  if (fb_object_get(ctx, args[0]) != NULL) return HPy_Dup(ctx, ctx->h_False); /* a subclass has made it */
  FbCallState outer;
  fb_call_enter_held(ctx, &outer);
  TVMFFIObject *object = make_object(ctx, init, args[1], nargs == 3 ? args[2] : HPy_NULL);
  fb_call_leave_held(&outer);
  if (object == NULL || fb_object_put(ctx, args[0], object) != 0) return HPy_NULL;
  return HPy_Dup(ctx, ctx->h_True);
}

/* --- making them ---------------------------------------------------------------------------------------------------------- */

/* Whether a default is the same value for every object: then it is converted once. */
static bool is_constant(HPyContext *ctx, HPy value) {
  HPy type = HPy_Type(ctx, value);
  if (HPy_IsNull(type)) return false;
  bool is_plain = HPy_Is(ctx, type, ctx->h_LongType) || HPy_Is(ctx, type, ctx->h_FloatType) ||
                  HPy_Is(ctx, type, ctx->h_BoolType) || HPy_Is(ctx, type, ctx->h_UnicodeType) ||
                  HPy_Is(ctx, type, ctx->h_BytesType) || HPy_Is(ctx, value, ctx->h_None);
  HPy_Close(ctx, type);
  return is_plain;
}

static bool is_ready(const TVMFFIAny *value) {
  return value->type_index < kTVMFFIStaticObjectBegin || value->type_index == kTVMFFIStr ||
         value->type_index == kTVMFFIBytes;
}

static void settle_initial(HPyContext *ctx, Slot *slot) {
  bool is_factory = has_flag(slot, kTVMFFIFieldFlagBitMaskDefaultFromFactory);
  slot->initial = NOTHING;
  if (!has_flag(slot, kTVMFFIFieldFlagBitMaskHasDefault)) return;
  if (HPy_IsNull(slot->field->initial.handle)) {
    slot->initial = is_factory ? NATIVE_FACTORY : NATIVE_VALUE;
    return;
  }
  slot->initial = is_factory ? PYTHON_FACTORY : PYTHON_VALUE;
  if (is_factory) return;
  HPy value = fb_cell_borrow(ctx, &slot->field->initial);
  TVMFFIAny converted;
  if (is_constant(ctx, value)) {
    if (fb_field_convert(ctx, slot->field, value, NULL, &converted) != 0) {
      HPyErr_Clear(ctx); /* whoever relies on the default is told */
    } else if (is_ready(&converted)) {
      slot->initial = READY_VALUE;
      slot->ready = converted;
    } else {
      TVMFFIObjectDecRef(converted.v_obj);
    }
  }
  fb_cell_return(ctx, value);
}

static int add_slot(HPyContext *ctx, Initializer *init, const TVMFFITypeInfo *type, int32_t which) {
  const TVMFFIFieldInfo *info = &type->fields[which];
  const FbField *field = fb_field_find(ctx, type, which, NULL);
  if (field == NULL) return -1;
  int32_t k = 0;
  while (k < init->n_slots && strcmp(fb_field_own_name(init->slots[k].field), fb_field_own_name(field)) != 0) k++;
  Slot *slot = &init->slots[k];
  if (k == init->n_slots) {
    HPy name = HPyUnicode_FromString(ctx, fb_field_own_name(field));
    if (HPy_IsNull(name)) return -1;
    fb_cell_store(ctx, &slot->name, name);
    HPy_Close(ctx, name);
    init->n_slots++;
  }
  slot->field = field;
  slot->info = info;
  settle_initial(ctx, slot);
  return 0;
}

static void add_positional(Initializer *init, bool with_default) {
  for (int32_t k = 0; k < init->n_slots; k++) {
    const Slot *slot = &init->slots[k];
    if (!is_positional(slot) || has_flag(slot, kTVMFFIFieldFlagBitMaskHasDefault) != with_default) continue;
    init->positional[init->n_positional++] = k;
  }
}

static int add_slots(HPyContext *ctx, Initializer *init) {
  const TVMFFITypeInfo *type = init->type;
  int32_t n = type->num_fields;
  for (int32_t depth = 0; depth < type->type_depth; depth++) n += type->type_ancestors[depth]->num_fields;
  init->slots = calloc((size_t)n + 1, sizeof(*init->slots));
  init->positional = calloc((size_t)n + 1, sizeof(*init->positional));
  if (init->slots == NULL || init->positional == NULL) {
    HPyErr_NoMemory(ctx);
    return -1;
  }
  for (int32_t depth = 0; depth <= type->type_depth; depth++) {
    const TVMFFITypeInfo *owner = depth < type->type_depth ? type->type_ancestors[depth] : type;
    for (int32_t i = 0; i < owner->num_fields; i++) {
      if (add_slot(ctx, init, owner, i) != 0) return -1;
    }
  }
  add_positional(init, false);
  add_positional(init, true);
  return 0;
}

/* How objects of the type are made. */
static int find_allocator(HPyContext *ctx, Initializer *init) {
  if (init->type->metadata != NULL && init->type->metadata->creator != NULL) return 0;
  TVMFFIByteArray name = {"__ffi_new__", strlen("__ffi_new__")};
  const TVMFFITypeAttrColumn *column = TVMFFIGetTypeAttrColumn(&name);
  int64_t row = column == NULL ? -1 : (int64_t)init->type->type_index - column->begin_index;
  if (row >= 0 && row < column->size && column->data[row].type_index == kTVMFFIFunction) {
    init->allocate = column->data[row].v_obj;
    TVMFFIObjectIncRef(init->allocate);
    return 0;
  }
  fb_raise(ctx, ctx->h_TypeError, "type %.*s has no allocator", (int)init->type->type_key.size,
           init->type->type_key.data);
  return -1;
}

static int make_texts(HPyContext *ctx, Initializer *init) {
  static const char *const formats[] = {"%.*s.__ffi_init__", "%.*s.__ffi_init__() field",
                                        "%.*s.__ffi_init__() default for field"};
  char **const texts[] = {&init->callee, &init->about_argument, &init->about_default};
  size_t size = init->type->type_key.size + strlen(formats[2]);
  char *block = malloc(3 * size);
  for (size_t i = 0; block != NULL && i < 3; i++) {
    *texts[i] = block + i * size;
    snprintf(*texts[i], size, formats[i], (int)init->type->type_key.size, init->type->type_key.data);
  }
  if (block == NULL) HPyErr_NoMemory(ctx);
  return block == NULL ? -1 : 0;
}

HPyDef_SLOT(initializer_new, HPy_tp_new)
static HPy initializer_new_impl(HPyContext *ctx, HPy cls, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  (void)kw;
  if (nargs != 2) return fb_raise(ctx, ctx->h_TypeError, "Initializer() takes index, missing");
  int32_t index = HPyLong_AsInt32_t(ctx, args[0]);
  if (index == -1 && HPyErr_Occurred(ctx)) return HPy_NULL;
  const TVMFFITypeInfo *type = TVMFFIGetTypeInfo(index);
  if (type == NULL) {
    fb_error_discard();
    return fb_raise(ctx, ctx->h_ValueError, "no type is registered for index %d", (int)index);
  }
  Initializer *init;
  HPy h = HPy_New(ctx, cls, &init);
  if (HPy_IsNull(h)) return h;
  init->type = type;
  fb_cell_store(ctx, &init->missing, args[1]);
  if (make_texts(ctx, init) == 0 && find_allocator(ctx, init) == 0 && add_slots(ctx, init) == 0) return h;
  HPy_Close(ctx, h);
  return HPy_NULL;
}

/* The cells stay: nothing of the interpreter's may be called here. An Initializer belongs to a class, and classes of native
 * types live as long as the process. */
HPyDef_SLOT(initializer_destroy, HPy_tp_destroy)
static void initializer_destroy_impl(void *self) {
  Initializer *init = self;
  for (int32_t k = 0; k < init->n_slots; k++) {
    if (init->slots[k].ready.type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(init->slots[k].ready.v_obj);
  }
  if (init->allocate != NULL) TVMFFIObjectDecRef(init->allocate);
  free(init->slots);
  free(init->positional);
  free(init->callee);
}

HPy fb_initializer_type_new(HPyContext *ctx) {
  static HPyDef *defines[] = {&initializer_new, &initializer_call, &initializer_destroy, NULL};
  static HPyType_Spec spec = {
      .name = "ffi_hpy._core.Initializer",
      .basicsize = sizeof(Initializer),
      .flags = HPy_TPFLAGS_DEFAULT,
      .builtin_shape = SHAPE(Initializer),
      .defines = defines,
      .doc = "Makes the native object of a new instance and gives its fields values.",
  };
  return HPyType_FromSpec(ctx, &spec, NULL);
}
