/* The initialisation plan of a type, read from the registry when the class is made, so that a call looks nothing up.
 *
 * Slots and arguments have the order of the core's own constructor (src/core/fields/create.c): fields from the
 * root down, positional arguments without default before those with a default. */
#include "init_plan.h"

#include <stdio.h>
#include <stdlib.h>

#include "hpy_module/context/drop.h"
#include "hpy_module/context/keywords.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/text.h"
#include "hpy_module/object/class_table.h"

/* --- defaults ----------------------------------------------------------------------------------------------------- */

/* Whether a default is immutable, by its exact type: it is then converted once, and all objects may share the result.
 * An instance of a subclass may convert to a different value each time. */
static bool is_constant(HPyContext *ctx, HPy value) {
  HPy type = HPy_Type(ctx, value);
  if (HPy_IsNull(type)) return false;
  bool is_plain = HPy_Is(ctx, type, ctx->h_LongType) || HPy_Is(ctx, type, ctx->h_FloatType) ||
                  HPy_Is(ctx, type, ctx->h_BoolType) || HPy_Is(ctx, type, ctx->h_UnicodeType) ||
                  HPy_Is(ctx, type, ctx->h_BytesType) || HPy_Is(ctx, value, ctx->h_None);
  HPy_Close(ctx, type);
  return is_plain;
}

/* Whether a converted default may be shared. A schema may have converted it to an object, which could be mutable. */
static bool is_ready(const TVMFFIAny *value) {
  return value->type_index < kTVMFFIStaticObjectBegin || value->type_index == kTVMFFIStr ||
         value->type_index == kTVMFFIBytes;
}

/* Determines the initial value of a slot without an argument. A field that Python code did not define has no `initial`:
 * its default is only in the registry. */
static void fix_initial(HPyContext *ctx, FbInitSlot *slot) {
  bool is_factory = fb_init_plan_has_flag(slot, kTVMFFIFieldFlagBitMaskDefaultFromFactory);
  slot->initial = FB_INITIAL_NOTHING;
  if (!fb_init_plan_has_flag(slot, kTVMFFIFieldFlagBitMaskHasDefault)) return;
  if (HPy_IsNull(slot->field->initial.handle)) {
    slot->initial = is_factory ? FB_INITIAL_NATIVE_FACTORY : FB_INITIAL_NATIVE_VALUE;
    return;
  }
  slot->initial = is_factory ? FB_INITIAL_PYTHON_FACTORY : FB_INITIAL_PYTHON_VALUE;
  if (is_factory) return;
  HPy value = fb_ref_borrow(ctx, &slot->field->initial);
  TVMFFIAny converted;
  if (is_constant(ctx, value)) {
    if (fb_field_convert(ctx, slot->field, value, NULL, &converted) != 0) {
      HPyErr_Clear(ctx); /* a call that needs the default converts it again and raises */
    } else if (is_ready(&converted)) {
      slot->initial = FB_INITIAL_READY_VALUE;
      slot->ready = converted;
    } else {
      TVMFFIObjectDecRef(converted.v_obj);
    }
  }
  fb_ref_return(ctx, value);
}

/* --- fields ------------------------------------------------------------------------------------------------------- */

/* The slots by name during the construction of a plan: open addressing with linear probing. */
typedef struct Index {
  size_t mask;     /* places - 1; at least half of the places stay empty */
  int32_t *places; /* index of a slot + 1, or 0 */
} Index;

/* Returns the place of a name; the place is empty if no slot has the name. */
static int32_t *index_find(const Index *index, const FbInitPlan *plan, const TVMFFIByteArray *name) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
  for (size_t i = 0; i < name->size; ++i) hash = (hash ^ (unsigned char)name->data[i]) * UINT64_C(0x100000001b3);
  for (size_t i = (size_t)(hash ^ hash >> 32);; ++i) {
    int32_t *place = &index->places[i & index->mask];
    if (*place == 0 || fb_init_plan_is_named(&plan->slots[*place - 1], name->data, name->size)) return place;
  }
}

/* Adds a field. A field with the name of an ancestor's field replaces that field, so that the position of the argument
 * stays. Returns 0, or -1 with an exception raised. */
static int add_slot(HPyContext *ctx, FbInitPlan *plan, const Index *index, const TVMFFITypeInfo *type, int32_t which) {
  const TVMFFIFieldInfo *info = &type->fields[which];
  const FbField *field = fb_field_find(ctx, type, which, NULL);
  if (field == NULL) return -1;
  int32_t *place = index_find(index, plan, &info->name);
  bool is_new = *place == 0;
  FbInitSlot *slot = &plan->slots[is_new ? plan->n_slots : *place - 1];
  if (is_new) {
    HPy name = fb_text_new(ctx, info->name.data, info->name.size);
    if (HPy_IsNull(name)) return -1;
    int rc = fb_keywords_intern_name(ctx, name, &slot->name);
    HPy_Close(ctx, name);
    if (rc != 0) return -1;
    *place = ++plan->n_slots;
  } else if (slot->ready.type_index >= kTVMFFIStaticObjectBegin) {
    TVMFFIObjectDecRef(slot->ready.v_obj);
  }
  slot->ready = (TVMFFIAny){0};
  slot->field = field;
  slot->info = info;
  fix_initial(ctx, slot);
  return 0;
}

/* Appends the positional slots with a default, or those without. */
static void add_positional(FbInitPlan *plan, bool with_default) {
  for (int32_t k = 0; k < plan->n_slots; ++k) {
    const FbInitSlot *slot = &plan->slots[k];
    if (!fb_init_plan_is_positional(slot) ||
        fb_init_plan_has_flag(slot, kTVMFFIFieldFlagBitMaskHasDefault) != with_default)
      continue;
    plan->positional[plan->n_positional++] = k;
  }
}

/* Adds the slots of all fields, ancestors first. Returns 0, or -1 with an exception raised. */
static int add_each(HPyContext *ctx, FbInitPlan *plan, const Index *index) {
  const TVMFFITypeInfo *type = plan->type;
  for (int32_t depth = 0; depth <= type->type_depth; ++depth) {
    const TVMFFITypeInfo *owner = depth < type->type_depth ? type->type_ancestors[depth] : type;
    for (int32_t i = 0; i < owner->num_fields; ++i) {
      if (add_slot(ctx, plan, index, owner, i) != 0) return -1;
    }
  }
  return 0;
}

/* The arrays have room for every field, although a redefined field needs no slot, and for one more, because calloc(0,
 * ...) may return NULL. */
static int add_slots(HPyContext *ctx, FbInitPlan *plan) {
  const TVMFFITypeInfo *type = plan->type;
  size_t n = (size_t)type->num_fields, n_places = 8;
  for (int32_t depth = 0; depth < type->type_depth; ++depth) n += (size_t)type->type_ancestors[depth]->num_fields;
  while (n_places < 2 * n) n_places *= 2;
  Index index = {n_places - 1, calloc(n_places, sizeof(*index.places))};
  plan->slots = calloc(n + 1, sizeof(*plan->slots));
  plan->positional = calloc(n + 1, sizeof(*plan->positional));
  int rc = -1;
  if (index.places == NULL || plan->slots == NULL || plan->positional == NULL) {
    HPyErr_NoMemory(ctx);
  } else {
    rc = add_each(ctx, plan, &index);
  }
  free(index.places);
  if (rc != 0) return -1;
  add_positional(plan, false);
  add_positional(plan, true);
  return 0;
}

/* Finds the allocator of a type: the creator in its metadata (native types), otherwise its attribute __ffi_new__.
 * Returns 0, or -1 with TypeError raised. */
static int find_allocator(HPyContext *ctx, FbInitPlan *plan) {
  if (plan->type->metadata != NULL && plan->type->metadata->creator != NULL) return 0;
  static const TVMFFIByteArray name = {"__ffi_new__", sizeof("__ffi_new__") - 1};
  const TVMFFIAny *function = fb_type_attr_find(plan->type->type_index, &name);
  if (function != NULL && function->type_index == kTVMFFIFunction) {
    plan->allocate = function->v_obj;
    TVMFFIObjectIncRef(plan->allocate);
    return 0;
  }
  fb_raise(ctx, ctx->h_TypeError, "type %.*s has no allocator", (int)plan->type->type_key.size,
           plan->type->type_key.data);
  return -1;
}

/* Makes the beginnings of messages, in one block that starts at plan->callee. */
static int make_texts(HPyContext *ctx, FbInitPlan *plan) {
  static const char *const formats[] = {"%.*s.__ffi_init__", "%.*s.__ffi_init__() field",
                                        "%.*s.__ffi_init__() default for field"};
  char **const texts[] = {&plan->callee, &plan->about_argument, &plan->about_default};
  /* Enough for the longest message, and so for each: the key replaces "%.*s", whose 4 characters leave room for the
   * NUL. */
  size_t size = plan->type->type_key.size + strlen(formats[2]);
  char *block = malloc(3 * size);
  for (size_t i = 0; block != NULL && i < 3; ++i) {
    *texts[i] = block + i * size;
    snprintf(*texts[i], size, formats[i], (int)plan->type->type_key.size, plan->type->type_key.data);
  }
  if (block == NULL) HPyErr_NoMemory(ctx);
  return block == NULL ? -1 : 0;
}

int fb_init_plan_make(HPyContext *ctx, FbInitPlan *plan, const TVMFFITypeInfo *type) {
  plan->type = type;
  if (make_texts(ctx, plan) != 0 || find_allocator(ctx, plan) != 0) return -1;
  return add_slots(ctx, plan);
}

void fb_init_plan_end(FbInitPlan *plan) {
  for (int32_t k = 0; k < plan->n_slots; ++k) {
    fb_drop_any(&plan->slots[k].ready, FB_DROP_UNKNOWN);
  }
  fb_drop_object(plan->allocate, FB_DROP_UNKNOWN);
  free(plan->slots);
  free(plan->positional);
  free(plan->callee);
}
