/* Initializer: makes the native object of a new instance and sets its fields. A generated __init__ calls it. The
 * initializer does the work of the core's own constructor, with the same messages, but does not convert Python values
 * to native arguments first.
 *
 * A call makes an empty object, writes each argument into its field, and then sets the fields without argument, all by
 * the plan; only keyword arguments are looked up. The instance gets the object last, so an instance never has a partly
 * initialised object. */
#include "record.h"

#include <stdlib.h>

#include "hpy_module/context/call.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/hook.h"
#include "hpy_module/context/int32.h"
#include "hpy_module/context/messages.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/text.h"
#include "hpy_module/context/thread.h"
#include "hpy_module/context/type.h"
#include "hpy_module/error/error.h"
#include "hpy_module/object/object.h"
#include "hpy_module/object/transfer.h"
#include "init_plan.h"

HPyType_HELPERS(FbInitPlan)

/* --- initial values ----------------------------------------------------------------------------------------------- */

/* A factory may be a callable written in C that calls the class, whose calls the interpreter does not count. Therefore
 * the guard surrounds the calls of factories. */

/* Passes a default of the registry, or the result of its factory, to the setter. */
static int set_native(HPyContext *ctx, const FbInitPlan *plan, const FbInitSlot *slot, TVMFFIObject *object) {
  TVMFFIAny made = {0};
  const TVMFFIAny *value = &slot->info->default_value_or_factory;
  int rc = 0;
  if (slot->initial == FB_INITIAL_NATIVE_FACTORY) {
    if (!fb_guard_enter(ctx)) return -1;
    rc = TVMFFIFunctionCall(value->v_obj, NULL, 0, &made);
    fb_guard_leave();
    value = &made;
  }
  if (rc != 0) {
    fb_error_raise_pending(ctx, slot->field->name);
  } else {
    rc = fb_field_set(ctx, slot->field, object, value, plan->about_default);
  }
  fb_drop_any(&made, rc);
  return rc;
}

static int set_from_factory(HPyContext *ctx, const FbInitPlan *plan, const FbInitSlot *slot, TVMFFIObject *object) {
  if (!fb_guard_enter(ctx)) return -1;
  HPy factory = fb_ref_borrow(ctx, &slot->field->initial);
  HPy value = fb_call(ctx, factory, NULL, 0, HPy_NULL);
  fb_ref_return(ctx, factory);
  fb_guard_leave();
  if (HPy_IsNull(value)) return -1;
  int rc = fb_field_write(ctx, slot->field, object, value, plan->about_default);
  HPy_Close(ctx, value);
  return rc;
}

/* Sets a field without an argument. Returns 0, or -1 with an exception raised. */
static int set_initial(HPyContext *ctx, const FbInitPlan *plan, const FbInitSlot *slot, TVMFFIObject *object) {
  switch (slot->initial) {
  case FB_INITIAL_READY_VALUE: {
    /* The field gets its own reference. The field was empty, so there is nothing to release. */
    TVMFFIAny value = slot->ready;
    if (value.type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectIncRef(value.v_obj);
    fb_field_fill(slot->field, object, &value);
    return 0;
  }
  case FB_INITIAL_PYTHON_VALUE: {
    HPy value = fb_ref_borrow(ctx, &slot->field->initial);
    int rc = fb_field_write(ctx, slot->field, object, value, plan->about_default);
    fb_ref_return(ctx, value);
    return rc;
  }
  case FB_INITIAL_PYTHON_FACTORY: return set_from_factory(ctx, plan, slot, object);
  case FB_INITIAL_NATIVE_VALUE:
  case FB_INITIAL_NATIVE_FACTORY: return set_native(ctx, plan, slot, object);
  default: return 0;
  }
}

/* --- binding ------------------------------------------------------------------------------------------------------ */

/* The origin of a slot's value; 0: no value yet. The array `given` has one such byte per slot. */
typedef enum Given { BY_POSITION = 1, BY_KEYWORD } Given;

static FH_NOINLINE int too_many(HPyContext *ctx, const FbInitPlan *plan, HPy_ssize_t n_given) {
  fb_raise(ctx, ctx->h_TypeError, "%s() takes at most %d positional argument(s), but %zd were given", plan->callee,
           (int)plan->n_positional, n_given);
  return -1;
}

static FH_NOINLINE int missing_argument(HPyContext *ctx, const FbInitPlan *plan, const FbInitSlot *slot) {
  fb_raise(ctx, ctx->h_TypeError, "%s() missing required %s: '%s'", plan->callee,
           fb_init_plan_is_positional(slot) ? "argument" : "keyword-only argument", slot->field->own_name);
  return -1;
}

/* Makes a dict from the names of the slots with arguments to the origins of their values; HPy_NULL with an exception
 * raised. */
static HPy dict_of_given(HPyContext *ctx, const FbInitPlan *plan, const unsigned char *given) {
  HPy names = HPyDict_New(ctx);
  for (int32_t k = 0; !HPy_IsNull(names) && k < plan->n_slots; ++k) {
    if (!fb_init_plan_takes_argument(&plan->slots[k])) continue;
    HPy name = fb_ref_borrow(ctx, &plan->slots[k].name), how = HPyLong_FromInt32_t(ctx, given[k]);
    int rc = HPy_IsNull(how) ? -1 : HPy_SetItem(ctx, names, name, how);
    fb_ref_return(ctx, name);
    if (!HPy_IsNull(how)) HPy_Close(ctx, how);
    if (rc == 0) continue;
    HPy_Close(ctx, names);
    names = HPy_NULL;
  }
  return names;
}

/* Raises TypeError for a keyword, whose text is given, if it has no slot, or if its slot has a positional argument. */
static void refuse_keyword(HPyContext *ctx, const FbInitPlan *plan, HPy names, HPy keyword, const char *text) {
  int is_known = HPy_Contains(ctx, names, keyword);
  if (is_known < 0) return;
  if (is_known == 0) {
    char similar[128] = "";
    fb_similar_write(ctx, keyword, names, similar, sizeof(similar));
    fb_raise(ctx, ctx->h_TypeError, FB_MESSAGE_UNEXPECTED "%s", plan->callee, text, similar);
    return;
  }
  HPy how = HPy_GetItem(ctx, names, keyword);
  if (HPy_IsNull(how)) return;
  if (fb_int32_read(ctx, how) == BY_POSITION) fb_raise(ctx, ctx->h_TypeError, FB_MESSAGE_TWICE, plan->callee, text);
  HPy_Close(ctx, how);
}

/* Raises TypeError for a keyword argument without a field, or with a positional argument. Called only if some keyword
 * argument was not used, so it may be slow. Returns -1. */
static FH_NOINLINE int unexpected_keyword(HPyContext *ctx, const FbInitPlan *plan, HPy kwargs,
                                          const unsigned char *given) {
  HPy (*keys_of)(HPyContext *, HPy);
  FB_LATE(ctx, ctx_Dict_Keys, keys_of);
  HPy names = dict_of_given(ctx, plan, given);
  HPy keys = HPy_IsNull(names) ? HPy_NULL : keys_of(ctx, kwargs);
  HPy_ssize_t n = HPy_IsNull(keys) ? -1 : HPy_Length(ctx, keys);
  for (HPy_ssize_t i = 0; i < n && !HPyErr_Occurred(ctx); ++i) {
    HPy key = HPy_GetItem_i(ctx, keys, i);
    HPy_ssize_t n_bytes;
    const char *text = HPy_IsNull(key) ? NULL : fb_text_arg(ctx, key, "keyword", &n_bytes);
    char shown[256];
    if (text != NULL) refuse_keyword(ctx, plan, names, key, fb_cut_copy(shown, sizeof(shown), text, (size_t)n_bytes));
    if (!HPy_IsNull(key)) HPy_Close(ctx, key);
  }
  if (!HPy_IsNull(keys)) HPy_Close(ctx, keys);
  if (!HPy_IsNull(names)) HPy_Close(ctx, names);
  return -1;
}

/* Writes an argument. If the argument is the marker for "not given" (plan->missing), the slot stays unset. */
static int write_argument(HPyContext *ctx, const FbInitPlan *plan, int32_t k, TVMFFIObject *object, HPy value,
                          Given how, unsigned char *given) {
  HPy missing = fb_ref_borrow(ctx, &plan->missing);
  bool stands_for_none = fb_context_is_same(ctx, value, missing);
  fb_ref_return(ctx, missing);
  if (FH_UNLIKELY(stands_for_none)) return 0;
  given[k] = how;
  return fb_field_write(ctx, plan->slots[k].field, object, value, plan->about_argument);
}

static int bind_tuple(HPyContext *ctx, const FbInitPlan *plan, TVMFFIObject *object, HPy tuple, unsigned char *given) {
  HPy_ssize_t n = HPy_Length(ctx, tuple);
  if (n < 0) return -1;
  if (FH_UNLIKELY(n > plan->n_positional)) return too_many(ctx, plan, n);
  for (HPy_ssize_t i = 0; i < n; ++i) {
    HPy value = HPy_GetItem_i(ctx, tuple, i);
    if (HPy_IsNull(value)) return -1;
    int rc = write_argument(ctx, plan, plan->positional[i], object, value, BY_POSITION, given);
    HPy_Close(ctx, value);
    if (rc != 0) return -1;
  }
  return 0;
}

static int bind_array(HPyContext *ctx, const FbInitPlan *plan, TVMFFIObject *object, const HPy *args, HPy_ssize_t n,
                      unsigned char *given) {
  if (FH_UNLIKELY(n > plan->n_positional)) return too_many(ctx, plan, n);
  for (HPy_ssize_t i = 0; i < n; ++i) {
    if (write_argument(ctx, plan, plan->positional[i], object, args[i], BY_POSITION, given) != 0) return -1;
  }
  return 0;
}

/* The arguments of a call. */
typedef struct Arguments {
  HPy tuple, keywords; /* HPy_NULL: the arguments are in `array`; there are no keywords */
  const HPy *array;
  HPy_ssize_t n; /* number of positional arguments in the array; the keyword arguments follow */
  /* For each slot, the number of its keyword argument, from 1; 0: none. NULL: there are no keyword arguments. */
  const unsigned char *others;
} Arguments;

/* Looks up each slot in the dict, and not each name among the slots: the dict hashes, and the names of slots are
 * interned. Returns 0, 1 if an argument is left over, or -1 with an exception raised. */
static int bind_keywords(HPyContext *ctx, const FbInitPlan *plan, TVMFFIObject *object, HPy kwargs,
                         unsigned char *given) {
  HPy_ssize_t n = HPy_Length(ctx, kwargs), n_used = 0;
  for (int32_t k = 0; n_used < n && k < plan->n_slots; ++k) {
    if (given[k] || !fb_init_plan_takes_argument(&plan->slots[k])) continue;
    HPy name = fb_ref_borrow(ctx, &plan->slots[k].name);
    int is_there = HPy_Contains(ctx, kwargs, name);
    HPy value = is_there > 0 ? HPy_GetItem(ctx, kwargs, name) : HPy_NULL;
    fb_ref_return(ctx, name);
    if (is_there == 0) continue;
    if (HPy_IsNull(value)) return -1;
    ++n_used;
    int rc = write_argument(ctx, plan, k, object, value, BY_KEYWORD, given);
    HPy_Close(ctx, value);
    if (rc != 0) return -1;
  }
  return n_used == n ? 0 : 1;
}

/* Finds the slot of a keyword argument after n positional arguments, by the pointer of its name. Returns -1 if there is
 * none, or if the name is not interned. */
static int32_t find_slot(const FbInitPlan *plan, HPy name, HPy_ssize_t n) {
  int32_t k = 0;
  while (k < plan->n_slots && plan->slots[k].name.handle._i != name._i) ++k;
  if (k == plan->n_slots || !fb_init_plan_takes_argument(&plan->slots[k])) return -1;
  for (HPy_ssize_t i = 0; i < n; ++i) {
    if (plan->positional[i] == k) return -1;
  }
  return k;
}

/* Fills Arguments.others for a tuple of names. Returns whether each name has a slot. */
static bool match_names(const FbInitPlan *plan, HPy names, HPy_ssize_t n_names, HPy_ssize_t n, unsigned char *others) {
  for (HPy_ssize_t i = 0; i < n_names; ++i) {
    int32_t k = find_slot(plan, fb_tuple_item(names, i), n);
    if (k < 0) return false;
    others[k] = (unsigned char)(i + 1);
  }
  return true;
}

/* In the order of the slots, like bind_keywords. */
static int bind_others(HPyContext *ctx, const FbInitPlan *plan, TVMFFIObject *object, const Arguments *args,
                       unsigned char *given) {
  const HPy *others = args->array + args->n;
  for (int32_t k = 0; k < plan->n_slots; ++k) {
    int which = args->others[k];
    if (which != 0 && write_argument(ctx, plan, k, object, others[which - 1], BY_KEYWORD, given) != 0) return -1;
  }
  return 0;
}

/* Binds positional arguments, keyword arguments, and then initial values. The core's constructor uses the same order,
 * which decides the message for a wrong call. */
static int bind_all(HPyContext *ctx, const FbInitPlan *plan, TVMFFIObject *object, const Arguments *args,
                    unsigned char *given) {
  int rc = HPy_IsNull(args->tuple) ? bind_array(ctx, plan, object, args->array, args->n, given)
                                   : bind_tuple(ctx, plan, object, args->tuple, given);
  if (rc != 0) return -1;
  if (args->others != NULL && bind_others(ctx, plan, object, args, given) != 0) return -1;
  rc = HPy_IsNull(args->keywords) ? 0 : bind_keywords(ctx, plan, object, args->keywords, given);
  if (rc != 0) return rc < 0 ? -1 : unexpected_keyword(ctx, plan, args->keywords, given);
  for (int32_t k = 0; k < plan->n_slots; ++k) {
    const FbInitSlot *slot = &plan->slots[k];
    if (given[k]) continue;
    if (FH_UNLIKELY(slot->initial == FB_INITIAL_NOTHING && fb_init_plan_takes_argument(slot)))
      return missing_argument(ctx, plan, slot);
    if (FH_UNLIKELY(set_initial(ctx, plan, slot, object) != 0)) return -1;
  }
  return 0;
}

/* --- the call ----------------------------------------------------------------------------------------------------- */

/* Makes a native object with empty fields: owned; NULL with an exception raised. */
static TVMFFIObject *allocate(HPyContext *ctx, const FbInitPlan *plan) {
  TVMFFIAny made = {0};
  TVMFFIObjectHandle object = NULL;
  int rc;
  /* Calls the function's cell directly: every py_class instance takes this path. */
  if (plan->allocate != NULL) {
    rc = ((const TVMFFIFunctionCell *)(plan->allocate + 1))->safe_call(plan->allocate, fb_no_arguments, 0, &made);
    object = made.type_index >= kTVMFFIStaticObjectBegin ? made.v_obj : NULL;
    /* Any code can register __ffi_new__, so the type is checked before the fields are written at their offsets. */
    if (FH_UNLIKELY(rc == 0 && object != NULL && made.type_index != plan->type->type_index) &&
        !fb_object_derives(object, plan->type->type_index, plan->type->type_depth)) {
      TVMFFIObjectDecRef(object);
      object = NULL;
    }
  } else {
    rc = plan->type->metadata->creator(&object);
  }
  if (FH_LIKELY(rc == 0 && object != NULL)) return object;
  if (rc != 0) {
    fb_error_raise_pending(ctx, plan->callee);
  } else {
    const TVMFFIByteArray *key = &plan->type->type_key;
    fb_raise(ctx, ctx->h_TypeError, FB_MESSAGE_NOTHING_MADE, (int)key->size, key->data);
  }
  return NULL;
}

/* Types with more slots allocate memory for each call. */
enum { STACK_SLOTS = 64 };

/* Makes the object with all its fields, owned; NULL with an exception raised. An object that is only partly initialised
 * is released. */
static TVMFFIObject *make_object(HPyContext *ctx, const FbInitPlan *plan, const Arguments *args) {
  unsigned char few[STACK_SLOTS] = {0}, *given = few;
  if (FH_UNLIKELY(plan->n_slots > STACK_SLOTS)) given = calloc((size_t)plan->n_slots, 1);
  if (given == NULL) {
    HPyErr_NoMemory(ctx);
    return NULL;
  }
  TVMFFIObject *object = allocate(ctx, plan);
  if (object != NULL && bind_all(ctx, plan, object, args, given) != 0) {
    fb_drop_object(object, -1);
    object = NULL;
  }
  if (given != few) free(given);
  return object;
}

/* make_object within a thread state. */
FH_INLINE TVMFFIObject *make_object_held(HPyContext *ctx, const FbInitPlan *plan, const Arguments *args) {
  /* Setters, factories and the creator may call back. */
  FbThreadState outer;
  fb_thread_enter_held(ctx, &outer);
  TVMFFIObject *object = make_object(ctx, plan, args);
  fb_thread_leave_held(&outer);
  return object;
}

int fb_initializer_make_object(HPyContext *ctx, HPy initializer, const HPy *args, size_t n, HPy kwnames,
                               TVMFFIObject **object) {
  const FbInitPlan *plan = FbInitPlan_AsStruct(ctx, initializer);
  Arguments given = {.tuple = HPy_NULL, .keywords = HPy_NULL, .array = args, .n = (HPy_ssize_t)n};
  unsigned char others[STACK_SLOTS];
  if (FH_UNLIKELY(!HPy_IsNull(kwnames))) {
    HPy_ssize_t n_names = HPy_Length(ctx, kwnames);
    bool is_few = plan->n_slots <= STACK_SLOTS && given.n <= plan->n_positional && n_names <= plan->n_slots;
    if (fb_context_tuple_items == 0 || !is_few) return 1;
    memset(others, 0, sizeof(others));
    if (!match_names(plan, kwnames, n_names, given.n, others)) return 1;
    given.others = others;
  }
  *object = make_object_held(ctx, plan, &given);
  return *object == NULL ? -1 : 0;
}

int fb_initializer_make(HPyContext *ctx, HPy initializer, HPy instance, const HPy *args, size_t n, HPy kwnames) {
  TVMFFIObject *object;
  int rc = fb_initializer_make_object(ctx, initializer, args, n, kwnames, &object);
  return rc == 0 ? fb_transfer_put(ctx, instance, object) : rc;
}

HPyDef_SLOT(initializer_call, HPy_tp_call)
static HPy initializer_call_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs, HPy kwnames) {
  const FbInitPlan *plan = FbInitPlan_AsStruct(ctx, self);
  if (plan == NULL || plan->callee == NULL) return fb_instance_raise_unmade(ctx, self);
  if (nargs < 2 || nargs > 3 || !HPy_IsNull(kwnames) || !HPyTuple_Check(ctx, args[1])) {
    return fb_raise(ctx, ctx->h_TypeError, "an Initializer takes an instance, a tuple of arguments, a dict of others");
  }
  if (!fb_object_check(ctx, args[0])) {
    char given[128];
    return fb_raise(ctx, ctx->h_TypeError, FB_MESSAGE_NOT_AN_INSTANCE, plan->callee,
                    fb_attr_type_name(ctx, args[0], given, sizeof(given)));
  }
  if (fb_object_get(ctx, args[0]) != NULL) return HPy_Dup(ctx, ctx->h_False); /* a subclass has made it */
  Arguments given = {.tuple = args[1], .keywords = nargs == 3 ? args[2] : HPy_NULL};
  TVMFFIObject *object = make_object_held(ctx, plan, &given);
  bool is_made = object != NULL && fb_transfer_put(ctx, args[0], object) == 0;
  return is_made ? HPy_Dup(ctx, ctx->h_True) : HPy_NULL;
}

/* --- Initializer -------------------------------------------------------------------------------------------------- */

static FbRef initializer_type; /* written once during the import */

bool fb_initializer_check(HPyContext *ctx, HPy h) {
  HPy type = fb_ref_borrow(ctx, &initializer_type);
  bool is_one = HPy_TypeCheck(ctx, h, type) && FbInitPlan_AsStruct(ctx, h)->callee != NULL;
  fb_ref_return(ctx, type);
  return is_one;
}

HPyDef_SLOT(initializer_new, HPy_tp_new)
static HPy initializer_new_impl(HPyContext *ctx, HPy cls, const HPy *args, HPy_ssize_t nargs, FH_MAYBE_UNUSED HPy kw) {
  if (nargs != 2) return fb_raise(ctx, ctx->h_TypeError, "Initializer() takes index, missing");
  int32_t index = fb_int32_read(ctx, args[0]);
  if (index == -1 && HPyErr_Occurred(ctx)) return HPy_NULL;
  const TVMFFITypeInfo *type = TVMFFIGetTypeInfo(index);
  if (type == NULL) {
    fb_error_slot_clear();
    return fb_raise(ctx, ctx->h_ValueError, "no type is registered for index %d", (int)index);
  }
  void *data;
  HPy h = fb_instance_make(ctx, cls, &initializer_type, &data);
  if (HPy_IsNull(h)) return h;
  /* After a failure the destructor frees the part of the plan that exists. */
  FbInitPlan *plan = data;
  fb_ref_store(ctx, &plan->missing, args[1]);
  if (fb_init_plan_make(ctx, plan, type) == 0) {
    fb_context_keep(h); /* its class is registered, and so lives as long as the process */
    return h;
  }
  HPy_Close(ctx, h);
  return HPy_NULL;
}

HPyDef_SLOT(initializer_destroy, HPy_tp_destroy)
static void initializer_destroy_impl(void *self) { fb_init_plan_end(self); }

HPy fb_initializer_type_new(HPyContext *ctx) {
  static HPyDef *defines[] = {&initializer_new, &initializer_call, &initializer_destroy, NULL};
  static HPyType_Spec spec = FB_TYPE_SPEC(FbInitPlan, "Initializer", HPy_TPFLAGS_DEFAULT, defines,
                                          "Makes the native object of a new instance and gives its fields values.");
  return fb_type_new_root(ctx, &spec, &initializer_type);
}
