/* overload.c - calls of functions with overloads, names and defaults.
 *
 * The overloads of a Function are a list that only grows, at its end. A call reads it without a lock. The first pass
 * takes the first overload that accepts the arguments as they are, the second pass the first that converts them. A
 * single overload needs only the second pass.
 *
 * Arguments by name, if the function assigns them itself, follow the object KWARGS: a name and a value in turn. KWARGS
 * without names says that the caller is an operator of Python: instead of a TypeError about arguments that do not fit,
 * whose message takes long, the call returns MISSING. */
#include "overload.h"

#include "core/container/seq.h"
#include "core/object/any.h"
#include "core/object/any_own.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/global.h"
#include "core/object/opaque.h"
#include "core/object/str.h"
#include "core/platform/fork.h"
#include "core/platform/mem.h"
#include "sequence.h"
#include "signature.h"

enum { N_ON_STACK = 16 };

/* An overload, in one block with its parameters and their names. */
typedef struct overload {
  ffi_hpy_overload head;
  int32_t n_alone; /* of the only overload: n_direct; of others: -1. Atomic. With `head` an ffi_hpy_first_overload */
  int32_t borrows; /* of the first overload: whether all overloads borrow their arguments. Atomic */
  struct overload *next; /* release store, acquire load */
  void (*free_capture)(void **capture);
  int (*explain)(uint32_t param, const TVMFFIAny *arg, uint32_t flags, ffi_hpy_reason *out); /* NULL: without */
  char *signature;
  uint32_t n_required;   /* parameters up to the last one without a default */
  uint32_t n_positional; /* parameters that an argument by position can be for */
  /* The number of parameters, if a call with that number of arguments passes them on unchanged: the callable itself
   * refuses a missing argument, or no argument may be missing. Otherwise UINT32_MAX. */
  uint32_t n_direct;
  bool is_operator; /* of the first overload: NotImplemented is the result for arguments that do not fit */
  bool is_simple; /* neither *args nor **kwargs nor parameters by name only */
  bool is_late; /* keeps arguments, and was added to overloads that borrow them: calls may have begun without it */
  ffi_hpy_param params[];
} overload;
FH_STATIC_ASSERT(offsetof(overload, n_alone) == offsetof(ffi_hpy_first_overload, n_alone), "see c_bind.h");
FH_STATIC_ASSERT(offsetof(overload, borrows) == offsetof(ffi_hpy_first_overload, borrows), "see c_bind.h");

/* Guards adding to the list of any Function. */
FH_LOCK(adding_lock, "overloads", FH_RANK_PLAIN);

FH_INLINE const overload *next_of(const overload *each) {
  /* acquire: pairs with the release in add_last */
  return (const overload *)fh_atomic_load_acquire_ptr((void *const *)(const void *)&each->next);
}

/* --- the arguments of a call -------------------------------------------------------------------------------------- */

/* Whether an argument says that the caller leaves it out: names allow that in the middle. */
FH_INLINE bool is_left_out(const TVMFFIAny *arg) {
  return arg->type_index == kTVMFFIObject && arg->v_obj == fh_sentinel_missing();
}

/* The arguments of a call: by position, then n_named pairs of a name and a value. */
typedef struct {
  const TVMFFIAny *given, *named;
  uint32_t n_given, n_named;
} arguments;

static arguments split(const TVMFFIAny *args, uint32_t n_args) {
  arguments all = {args, NULL, n_args, 0};
  for (uint32_t i = 0; i < n_args; ++i) {
    if (args[i].type_index != kTVMFFIObject || args[i].v_obj != fh_sentinel_kwargs()) continue;
    all.n_given = i;
    all.named = &args[i + 1];
    all.n_named = (n_args - i - 1) / 2;
  }
  return all;
}

static bool is_name(const TVMFFIAny *value, const char *name) {
  TVMFFIByteArray text;
  return fh_str_content(value, &text) && text.size == strlen(name) && memcmp(text.data, name, text.size) == 0;
}

/* The value that a call passes by name; NULL if there is none. */
static const TVMFFIAny *find_named(const arguments *all, const char *name) {
  for (uint32_t i = 0; name != NULL && i < all->n_named; ++i) {
    if (is_name(&all->named[2 * i], name)) return &all->named[2 * i + 1];
  }
  return NULL;
}

/* The names and values without a parameter, as an Array; NULL with an error pending. */
static TVMFFIObject *other_named(const overload *self, const arguments *all) {
  fh_seq_object *made = fh_seq_new_array(2 * (int64_t)all->n_named);
  if (made == NULL) return NULL;
  for (uint32_t i = 0; i < all->n_named; ++i) {
    bool has_param = false;
    for (uint32_t k = 0; k < self->head.n_params; ++k) {
      has_param |= self->params[k].name != NULL &&
                   (self->params[k].flags & (kFfiHpyParamArgs | kFfiHpyParamKwargs)) == 0 &&
                   is_name(&all->named[2 * i], self->params[k].name);
    }
    for (uint32_t k = 0; !has_param && k < 2; ++k) {
      TVMFFIAny owned;
      if (fh_any_own(&all->named[2 * i + k], &owned) != 0) {
        fh_object_release(made);
        return NULL;
      }
      (void)fh_seq_push(made, owned); /* there is room */
    }
  }
  return (TVMFFIObject *)made;
}

/* Writes all arguments of an overload: the given ones, and defaults. The Arrays of *args and **kwargs are new
 * references, also where the result is not 0. Returns 0, FFI_HPY_NEXT_OVERLOAD, or -1 with an error pending. */
static int complete(const overload *self, const arguments *call, TVMFFIAny *all, TVMFFIObject *rest[2]) {
  uint32_t n_used = 0, n_by_position = self->n_positional;
  bool has_args = false, has_kwargs = false;
  for (uint32_t i = 0; i < self->head.n_params; ++i) {
    const ffi_hpy_param *param = &self->params[i];
    if (param->flags & kFfiHpyParamArgs) {
      uint32_t n = call->n_given > n_by_position ? call->n_given - n_by_position : 0;
      rest[0] = (TVMFFIObject *)fh_seq_from_views(kTVMFFIArray, call->given + (call->n_given - n), n);
      if (rest[0] == NULL) return -1;
      all[i] = fh_any_object(rest[0]);
      has_args = true;
      continue;
    }
    if (param->flags & kFfiHpyParamKwargs) {
      rest[1] = other_named(self, call);
      if (rest[1] == NULL) return -1;
      all[i] = fh_any_object(rest[1]);
      has_kwargs = true;
      continue;
    }
    const TVMFFIAny *named = find_named(call, param->name);
    bool is_given = i < n_by_position && i < call->n_given && !is_left_out(&call->given[i]);
    if (named != NULL) {
      if (is_given) return FFI_HPY_NEXT_OVERLOAD; /* the argument is passed twice */
      all[i] = *named;
      ++n_used;
    } else if (is_given) {
      all[i] = call->given[i];
    } else if (param->flags & kFfiHpyParamHasDefault) {
      all[i] = param->default_value;
    } else {
      return FFI_HPY_NEXT_OVERLOAD;
    }
  }
  bool has_more = (call->n_given > n_by_position && !has_args) || (n_used < call->n_named && !has_kwargs);
  return has_more ? FFI_HPY_NEXT_OVERLOAD : 0;
}

static FH_NOINLINE int call_completed(const overload *self, const TVMFFIAny *args, uint32_t n_args, uint32_t flags,
                                      TVMFFIAny *result) {
  TVMFFIAny on_stack[N_ON_STACK], *all = on_stack;
  if (self->head.n_params > N_ON_STACK) {
    all = (TVMFFIAny *)fh_mem_alloc(self->head.n_params * sizeof(*all));
    if (all == NULL) return fh_error_raise_no_memory();
  }
  arguments call = split(args, n_args);
  TVMFFIObject *rest[2] = {NULL, NULL};
  int rc = complete(self, &call, all, rest);
  if (rc == 0) rc = self->head.call(&self->head, all, flags, result);
  for (int i = 0; i < 2; ++i) fh_object_release(rest[i]);
  if (all != on_stack) fh_mem_free(all);
  return rc;
}

/* Whether the call passes exactly the arguments of the callable. */
FH_INLINE bool is_whole(const overload *self, const TVMFFIAny *args, uint32_t n_args) {
  if (n_args != self->head.n_params || !self->is_simple) return false;
  for (uint32_t i = self->n_required; i < n_args; ++i) {
    if (is_left_out(&args[i])) return false;
  }
  return true;
}

FH_INLINE int call_one(const overload *self, const TVMFFIAny *args, uint32_t n_args, uint32_t flags,
                       TVMFFIAny *result) {
  if (FH_LIKELY(n_args == self->n_direct)) {
    int rc = self->head.call(&self->head, args, flags, result);
    if (FH_LIKELY(rc <= 0) || is_whole(self, args, n_args)) return rc;
  } else if (is_whole(self, args, n_args)) {
    return self->head.call(&self->head, args, flags, result);
  }
  return call_completed(self, args, n_args, flags, result);
}

/* --- the error of a call that no overload accepts ----------------------------------------------------------------- */

/* A message, and where it names classes: FFI_HPY_CLASS_PLACES. */
typedef struct {
  fh_text text, places;
  const TVMFFIAny *args;
} message;

/* Adds the class of a value: of an argument, or of the value to which items of the argument lead. */
static int add_class(message *to, const TVMFFIAny *value, const TVMFFIAny *arg, const TVMFFIAny *items) {
  TVMFFIByteArray path = fh_base_bytes("");
  size_t begin = to->text.n_bytes;
  int rc = fh_argument_class_add(&to->text, value);
  if (items->type_index == kTVMFFIBytes) path = *TVMFFIBytesGetByteArrayPtr(items->v_obj);
  int64_t place[] = {(int64_t)begin, (int64_t)(to->text.n_bytes - begin), 1 + (int64_t)(path.size / sizeof(int64_t)),
                     arg - to->args};
  rc |= fh_text_add(&to->places, (const char *)place, sizeof(place));
  return rc | fh_text_add(&to->places, path.data, path.size);
}

/* Adds the line for a parameter: its position, counted from 0 as in messages of the C++ headers, its name, where in the
 * argument the value is, and why the value does not fit. */
static int add_line(message *to, const overload *self, uint32_t number, uint32_t i, const TVMFFIAny *arg,
                    const ffi_hpy_reason *reason) {
  fh_text *text = &to->text;
  const ffi_hpy_param inner = {.flags = fh_range_flags(reason->type_flags)};
  TVMFFIByteArray place = fh_base_bytes("");
  (void)fh_str_content(&reason->place, &place);
  int rc = fh_text_add_format(text, "\n    %u. argument #%u `", (unsigned)number, (unsigned)i);
  rc |= fh_signature_add_name(text, self->params, self->head.n_params, i);
  rc |= fh_text_add_cstr(text, "`");
  rc |= fh_text_add(text, place.data, place.size);
  if (!reason->has_value) return rc;
  if (fh_range_excludes(&inner, &reason->value)) {
    rc |= fh_text_add_cstr(text, " is ");
    return rc | fh_range_add_text(text, &inner, &reason->value);
  }
  if (fh_range_is_of_enum(&inner, &reason->value)) {
    rc |= fh_text_add_cstr(text, " is ");
    return rc | fh_range_add_number(text, &reason->value) | fh_text_add_cstr(text, ", which is not a member");
  }
  rc |= fh_text_add_cstr(text, " has the type ");
  return rc | add_class(to, &reason->value, arg, &reason->items);
}

/* Makes *out the int of a Python object with __index__, owned, if the parameter is a number and the int is outside its
 * range; false for another argument. */
static bool find_index_outside(const ffi_hpy_param *param, const TVMFFIAny *arg, TVMFFIAny *out) {
  TVMFFIObjectHandle function;
  if (arg->type_index != kTVMFFIOpaquePyObject || !fh_range_is_number(param)) return false;
  if (!fh_global_find(fh_base_bytes("ffi_hpy.bind_index"), &function)) return false;
  *out = fh_any_none();
  if (fh_function_call(function, arg, 1, out) != 0) fh_error_clear();
  fh_object_release(function);
  if (fh_range_excludes(param, out)) return true;
  fh_any_drop(out);
  return false;
}

/* Adds a line for each argument whose class fits, but not its value or a value inside; and, if there are several
 * arguments, for parameter number `refused`, counted from 1, which refuses its argument. */
static int add_reasons(message *to, const overload *self, uint32_t number, const arguments *call, uint32_t refused) {
  int rc = 0;
  for (uint32_t i = 0; i < self->head.n_params; ++i) {
    const ffi_hpy_param *param = &self->params[i];
    const TVMFFIAny *arg = find_named(call, param->name);
    if (arg == NULL && i < self->n_positional && i < call->n_given) arg = &call->given[i];
    if (arg == NULL) continue;
    ffi_hpy_reason reason = {.place = fh_any_none(), .value = *arg, .has_value = FFI_HPY_REASON_TAKES_ITEMS};
    TVMFFIAny index;
    bool has_index = find_index_outside(param, arg, &index);
    if (has_index) reason.value = index;
    if (fh_range_excludes(param, &reason.value)) {
      reason.type_flags = fh_range_type_flags(param);
      rc |= add_line(to, self, number, i, arg, &reason);
    } else if (self->explain != NULL && self->explain(i, arg, param->flags, &reason) != 0) {
      rc |= add_line(to, self, number, i, arg, &reason);
      fh_any_drop(&reason.place);
      fh_any_drop(&reason.items);
      if (reason.has_value) fh_any_drop(&reason.value);
    } else if (i + 1 == refused && (call->n_given + call->n_named > 1 || fh_range_is_of_enum(param, arg))) {
      if ((param->flags & kFfiHpyCastConvert) != 0) reason.type_flags = fh_range_type_flags(param);
      rc |= add_line(to, self, number, i, arg, &reason);
    }
    if (has_index) fh_any_drop(&index);
  }
  return rc;
}

/* Adds the classes of the arguments: those by position, then those by name. An argument after an omitted one was passed
 * by name. */
static int add_classes(message *to, const overload *first, const arguments *call) {
  const TVMFFIAny no_items = fh_any_none();
  fh_text *text = &to->text;
  int rc = 0;
  uint32_t n_added = 0, n_named = 0;
  bool is_left = false;
  for (uint32_t i = 0; i < call->n_given + call->n_named; ++i) {
    bool is_given = i < call->n_given;
    const TVMFFIAny *arg = is_given ? &call->given[i] : &call->named[2 * (i - call->n_given) + 1];
    TVMFFIByteArray name = fh_base_bytes("?");
    if (is_given && is_left_out(arg)) {
      is_left = true;
      continue;
    }
    if (!is_given) {
      (void)fh_str_content(arg - 1, &name);
    } else if (is_left && i < first->head.n_params && first->params[i].name != NULL) {
      name = fh_base_bytes(first->params[i].name);
    }
    rc |= fh_text_add_cstr(text, n_added++ == 0 ? "" : ", ");
    if (!is_given || is_left) {
      rc |= fh_text_add_cstr(text, n_named++ == 0 ? "kwargs = { " : "");
      rc |= fh_text_add(text, name.data, name.size);
      rc |= fh_text_add_cstr(text, ": ");
    }
    rc |= add_class(to, arg, arg, &no_items);
  }
  return n_named == 0 ? rc : rc | fh_text_add_cstr(text, " }");
}

/* Adds the error that was raised while an argument was read. */
static int add_reason(fh_text *text, TVMFFIObject *reason) {
  if (reason == NULL) return 0;
  const TVMFFIErrorCell *cell = TVMFFIErrorGetCellPtr(reason);
  int rc = fh_text_add_cstr(text, "\n\nReading an argument raised ");
  rc |= fh_text_add(text, cell->kind.data, cell->kind.size);
  rc |= fh_text_add_cstr(text, ": ");
  rc |= fh_text_add(text, cell->message.data, cell->message.size);
  fh_object_release(reason);
  return rc;
}

/* The numbers of the parameters that refused their arguments, for the first overloads; 0: unknown. */
typedef struct {
  uint32_t n, params[N_ON_STACK];
} refusals;

FH_INLINE bool is_unreadable(int rc) { return (rc & ((1 << FFI_HPY_REFUSED_SHIFT) - 1)) == FFI_HPY_UNREADABLE; }

/* Adds the signature of an overload. A constructor is shown as the method that Python calls, which gets the object. */
static int add_named(fh_text *text, const char *signature) {
  static const char init[] = "__init__(", result[] = " -> object";
  const char *rest = signature + sizeof(init) - 1;
  if (strncmp(signature, init, sizeof(init) - 1) != 0 || strncmp(rest, "self", sizeof("self") - 1) == 0) {
    return fh_text_add_cstr(text, signature);
  }
  size_t n_rest = strlen(rest), n_result = sizeof(result) - 1;
  bool has_result = n_rest >= n_result && strcmp(rest + n_rest - n_result, result) == 0;
  int rc = fh_text_add_cstr(text, *rest == ')' ? "__init__(self" : "__init__(self, ");
  rc |= fh_text_add(text, rest, has_result ? n_rest - n_result : n_rest);
  return rc | fh_text_add_cstr(text, has_result ? " -> None" : "");
}

/* As add_named. The package replaces the marks of classes that were not bound when the function was defined. */
static int add_signature(fh_text *text, const char *signature) {
  TVMFFIObjectHandle function;
  if (strstr(signature, FFI_HPY_NAME_MARK) == NULL) return add_named(text, signature);
  if (!fh_global_find(fh_base_bytes("ffi_hpy.bind_names"), &function)) return add_named(text, signature);
  TVMFFIAny given = fh_any_none(), named = fh_any_none();
  TVMFFIByteArray bytes = fh_base_bytes(signature);
  int rc = TVMFFIStringFromByteArray(&bytes, &given);
  if (rc == 0) rc = fh_function_call(function, &given, 1, &named);
  if (rc == 0) rc = fh_function_arg_str("ffi_hpy.bind_names", &named, 0, &bytes);
  if (rc == 0) signature = bytes.data; /* valid as long as `named` */
  if (rc != 0) fh_error_clear();
  rc = add_named(text, signature);
  fh_any_drop(&named);
  fh_any_drop(&given);
  fh_object_release(function);
  return rc;
}

/* Raises a TypeError with the message. Always returns -1. */
static int raise_message(message *from) {
  TVMFFIByteArray text = {from->text.data, from->text.n_bytes};
  int64_t last[] = {(int64_t)(uintptr_t)from->args, (int64_t)text.size};
  if (fh_text_add(&from->places, (const char *)last, sizeof(last)) != 0) return -1;
  TVMFFIByteArray places = {from->places.data, from->places.n_bytes};
  TVMFFIAny context;
  if (TVMFFIBytesFromByteArray(&places, &context) != 0) return -1;
  context.v_obj->__padding = FFI_HPY_CLASS_PLACES;
  TVMFFIObject *error = fh_error_new(fh_base_bytes(FH_TYPE_ERROR), text, fh_base_bytes(""), NULL, context.v_obj);
  fh_any_drop(&context);
  if (error == NULL) return fh_error_raise_no_memory();
  fh_error_put(error);
  return -1;
}

/* Returns NotImplemented of Python, for a function that the author calls an operator. */
static int return_not_implemented(bool has_error, TVMFFIAny *result) {
  TVMFFIAny made = fh_any_none();
  if (has_error) fh_error_clear();
  if (fh_sequence_ask("ffi_hpy.bind_not_implemented", NULL, 0, &made) != 0) return -1;
  *result = made;
  return 0;
}

static FH_COLD int refuse(const overload *first, const TVMFFIAny *args, uint32_t n_args, bool has_error,
                          const refusals *refused, TVMFFIAny *result) {
  if (first->is_operator) return return_not_implemented(has_error, result);
  message made = {.args = args};
  fh_text *text = &made.text;
  TVMFFIObject *reason = has_error ? fh_error_take() : NULL; /* before further calls of Python */
  const char *name = first->signature;
  size_t n_name = strcspn(name, "(");
  int rc = fh_text_add(text, name, n_name);
  rc |= fh_text_add_cstr(text, "(): incompatible function arguments. The following argument types are supported:");
  uint32_t number = 1;
  for (const overload *each = first; each != NULL; each = next_of(each), ++number) {
    rc |= fh_text_add_format(text, "\n    %u. ", (unsigned)number);
    rc |= add_signature(text, each->signature);
  }
  rc |= fh_text_add_cstr(text, "\n\nInvoked with types: ");
  arguments call = split(args, n_args);
  rc |= add_classes(&made, first, &call);
  number = 1;
  for (const overload *each = first; each != NULL; each = next_of(each)) {
    rc |= add_reasons(&made, each, number, &call, number <= refused->n ? refused->params[number - 1] : 0);
    ++number;
  }
  rc |= add_reason(text, reason);
  if (rc == 0) rc = raise_message(&made);
  fh_text_free(text);
  fh_text_free(&made.places);
  return rc;
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

/* Whether an argument is neither a number nor None, and its parameter is a number: no caster accepts that without a
 * conversion. */
FH_INLINE bool excludes(const overload *self, const TVMFFIAny *args, uint32_t n) {
  if (n != self->n_direct) return false;
  for (uint32_t i = 0; i < n; ++i) {
    if (args[i].type_index <= kTVMFFIFloat || self->params[i].flags >> FFI_HPY_PARAM_SIZE_SHIFT == 0) continue;
    if (args[i].type_index != kTVMFFIBigInt && !is_left_out(&args[i])) return true;
  }
  return false;
}

/* Whether an argument ends with the call. */
static FH_NOINLINE bool has_lent(const TVMFFIAny *args, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) {
    if (args[i].type_index < kTVMFFIStaticObjectBegin) continue;
    uint64_t count = fh_atomic_load_relaxed_u64(&args[i].v_obj->combined_ref_count);
    if ((count & UINT32_MAX) >= (FFI_HPY_LENT_COUNT & UINT32_MAX) / 2) return true;
  }
  return false;
}

/* Whether the caller is an operator. */
FH_INLINE bool is_operator(const TVMFFIAny *args, uint32_t n) {
  return n != 0 && args[n - 1].type_index == kTVMFFIObject && args[n - 1].v_obj == fh_sentinel_kwargs();
}

/* Tells an operator that the arguments do not fit. */
static int return_missing(bool has_error, TVMFFIAny *result) {
  if (has_error) fh_error_clear();
  fh_object_retain(fh_sentinel_missing());
  *result = fh_any_object(fh_sentinel_missing());
  return 0;
}

/* The cases of a call that call_alone does not have: several overloads, omitted arguments, an operator. */
static FH_NOINLINE int call_any(const overload *first, const TVMFFIAny *args, uint32_t n, TVMFFIAny *result) {
  bool has_error = false; /* an Error is pending, of the first argument that could not be read */
  bool is_asked = is_operator(args, n);
  if (is_asked) --n;
  refusals refused;
  uint32_t flags = next_of(first) == NULL ? UINT32_MAX : ~(uint32_t)kFfiHpyCastConvert;
  for (;; flags = UINT32_MAX) {
    uint32_t i = 0;
    for (const overload *each = first; each != NULL; each = next_of(each)) {
      if (flags != UINT32_MAX && excludes(each, args, n)) continue;
      if (FH_UNLIKELY(each->is_late) && has_lent(args, n)) continue;
      int rc = call_one(each, args, n, flags, result);
      if (FH_LIKELY(rc <= 0)) {
        if (rc == 0 && has_error) fh_error_clear(); /* it concerns another overload */
        return rc;
      }
      has_error |= is_unreadable(rc);
      if (i < N_ON_STACK) refused.params[i++] = (uint32_t)rc >> FFI_HPY_REFUSED_SHIFT;
    }
    refused.n = i;
    if (flags == UINT32_MAX && is_asked) return return_missing(has_error, result);
    if (flags == UINT32_MAX) return refuse(first, args, n, has_error, &refused, result);
  }
}

/* The callable of a single overload has refused the arguments. */
FH_COLD int fh_overload_refuse(const ffi_hpy_first_overload *self, const TVMFFIAny *args, TVMFFIAny *result, int rc) {
  const overload *first = (const overload *)(const void *)self;
  uint32_t n = first->n_direct;
  refusals all = {1, {(uint32_t)rc >> FFI_HPY_REFUSED_SHIFT}};
  if (!is_whole(first, args, n)) return call_any(first, args, n, result);
  return refuse(first, args, n, is_unreadable(rc), &all, result);
}

/* A call with the arguments of the only overload. */
static FH_NOINLINE int call_alone(const ffi_hpy_first_overload *first, const TVMFFIAny *args, TVMFFIAny *result) {
  int rc = first->head.call(&first->head, args, UINT32_MAX, result);
  return FH_LIKELY(rc <= 0) ? rc : fh_overload_refuse(first, args, result, rc);
}

/* Calls a Function, whose result may be a container of sequence.h. */
FH_INLINE int call(void *handle, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  const ffi_hpy_first_overload *first = (const ffi_hpy_first_overload *)fh_function_self_in(handle);
  /* relaxed, pairs with nothing: a call that comes before the next overload is valid, too */
  bool is_whole_call = n_args == fh_atomic_load_relaxed_i32(&first->n_alone) && !is_operator(args, (uint32_t)n_args);
  if (FH_LIKELY(is_whole_call)) return call_alone(first, args, result);
  return call_any((const overload *)(const void *)first, args, (uint32_t)n_args, result);
}

/* A call from another language than Python, which gets an Array or a Map. */
static FH_NOINLINE int call_native(void *handle, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  int rc = call(handle, args, n_args, result);
  return rc == 0 ? fh_sequence_make_native(result) : rc;
}

/* Needs no stack frame: both paths end with the call of one function. */
int fh_overload_call(void *handle, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  if (FH_UNLIKELY(result->zero_padding != FFI_HPY_TAKES_CONTAINERS)) return call_native(handle, args, n_args, result);
  return call(handle, args, n_args, result);
}

/* --- definitions -------------------------------------------------------------------------------------------------- */

static void destroy(overload *self) {
  if (self->free_capture != NULL) self->free_capture(self->head.capture);
  for (uint32_t i = 0; i < self->head.n_params; ++i) fh_any_drop(&self->params[i].default_value);
  fh_mem_free(self->signature);
  fh_mem_free(self);
}

static void destroy_all(void *self) {
  for (overload *each = (overload *)self; each != NULL;) {
    overload *next = each->next;
    destroy(each);
    each = next;
  }
}

/* Whether none of the parameters has a name, or each has one. The object of a method needs none. */
static int check_names(const ffi_hpy_function_spec *spec, uint32_t *n_hidden) {
  bool is_method = (spec->flags & kFfiHpyFunctionIsMethod) != 0 && spec->n_params != 0;
  *n_hidden = is_method && spec->n_named + 1 == spec->n_params ? 1 : 0;
  if (spec->n_named == 0 || spec->n_named + *n_hidden == spec->n_params) return 0;
  return fh_error_raise(FH_TYPE_ERROR, "`%s` has %u parameters, but %u have a name", spec->name,
                        (unsigned)spec->n_params, (unsigned)spec->n_named);
}

/* Refuses defaults that are outside the range of their parameters. */
static int check_defaults(const overload *self, const char *name) {
  for (uint32_t i = 0; i < self->head.n_params; ++i) {
    if (fh_range_check_default(name, &self->params[i]) != 0) return -1;
  }
  return 0;
}

static const char *copy_text(const char *text, char **to) {
  if (text == NULL) return NULL;
  size_t n_bytes = strlen(text) + 1;
  char *copy = (char *)memcpy(*to, text, n_bytes);
  *to += n_bytes;
  return copy;
}

/* Fills in a parameter: its flags, and the author's description, if any. */
static void set_param(ffi_hpy_param *param, const ffi_hpy_param *said, uint8_t type_flags, bool refuses_none,
                      char **names) {
  *param = (ffi_hpy_param){.default_value = fh_any_none(), .flags = kFfiHpyCastConvert};
  if (said != NULL) {
    *param = *said;
    fh_any_copy(&said->default_value, &param->default_value);
    param->name = copy_text(said->name, names);
    param->shown = copy_text(said->shown, names);
  }
  if (type_flags & kFfiHpyTypeAcceptsNone) param->flags |= kFfiHpyCastAcceptsNone;
  if (type_flags & kFfiHpyTypeArgs) param->flags |= kFfiHpyParamArgs;
  if (type_flags & kFfiHpyTypeKwargs) param->flags |= kFfiHpyParamKwargs;
  param->flags |= fh_range_flags(type_flags);
  if (refuses_none && (param->flags & kFfiHpyCastAcceptsNone) == 0) param->flags |= kFfiHpyParamRefusesNone;
}

/* Fills in the parameters, and the numbers that follow from them. */
static void set_params(overload *self, const ffi_hpy_function_spec *spec, uint32_t n_hidden, char *names) {
  static const ffi_hpy_param object = {.name = "self"};
  bool is_by_name = false, refuses_missing = true;
  self->is_simple = true;
  self->n_positional = 0;
  for (uint32_t i = 0; i < spec->n_params; ++i) {
    const ffi_hpy_param *said = i == 0 && (spec->flags & kFfiHpyFunctionIsMethod) != 0 ? &object : NULL;
    if (spec->n_named != 0 && i >= n_hidden) said = &spec->params[i - n_hidden];
    ffi_hpy_param *param = &self->params[i];
    bool refuses_none = said != NULL || (spec->flags & kFfiHpyFunctionRefusesNone) != 0;
    set_param(param, said, spec->type_flags[i], refuses_none, &names);
    is_by_name |= spec->n_positional != UINT32_MAX && i >= n_hidden && i - n_hidden >= spec->n_positional;
    bool is_rest = (param->flags & (kFfiHpyParamArgs | kFfiHpyParamKwargs)) != 0;
    if (is_by_name && !is_rest) param->flags |= kFfiHpyParamByNameOnly;
    if (param->flags & kFfiHpyParamArgs) is_by_name = true;
    if (is_by_name || is_rest) self->is_simple = false;
    if (!is_by_name && !is_rest) self->n_positional = i + 1;
    if ((param->flags & kFfiHpyParamHasDefault) == 0 && !is_rest) {
      self->n_required = i + 1;
    } else if (spec->type_flags[i] >> FFI_HPY_TYPE_SIZE_SHIFT == 0) { /* not an integer */
      refuses_missing = false;
    }
  }
  self->n_direct = self->is_simple && refuses_missing ? spec->n_params : UINT32_MAX;
  self->n_alone = (int32_t)self->n_direct;
}

static overload *new_overload(const ffi_hpy_function_spec *spec, uint32_t n_hidden) {
  size_t n_bytes = sizeof(overload) + spec->n_params * sizeof(ffi_hpy_param), n_names = sizeof("self");
  for (uint32_t i = 0; i < spec->n_named; ++i) {
    n_names += spec->params[i].name != NULL ? strlen(spec->params[i].name) + 1 : 0;
    n_names += spec->params[i].shown != NULL ? strlen(spec->params[i].shown) + 1 : 0;
  }
  overload *made = (overload *)fh_mem_calloc(1, n_bytes + n_names);
  if (made == NULL) return NULL;
  set_params(made, spec, n_hidden, (char *)made + n_bytes);
  made->head.call = spec->call;
  if ((spec->flags & kFfiHpyFunctionExplains) != 0) made->explain = spec->explain;
  made->head.params = made->params;
  made->head.n_params = spec->n_params;
  made->head.policy = spec->policy;
  made->borrows = (spec->flags & kFfiHpyFunctionBorrows) != 0;
  /* the package answers for the operators of Python */
  made->is_operator = (spec->flags & kFfiHpyFunctionIsOperator) != 0 && strncmp(spec->name, "__", 2) != 0;
  return made;
}

static int describe(overload *self, const ffi_hpy_function_spec *spec, TVMFFIAny *metadata) {
  fh_text text = {0}, about = {0};
  int rc = fh_signature_add_text(&text, spec, self->params) | fh_text_add(&text, "", 1);
  if (rc == 0) rc = fh_signature_add_metadata(&about, spec, self->params, text.data);
  if (rc == 0) {
    self->signature = text.data;
    text.data = NULL;
    TVMFFIByteArray bytes = {about.data, about.n_bytes};
    rc = TVMFFIStringFromByteArray(&bytes, metadata);
  }
  fh_text_free(&text);
  fh_text_free(&about);
  return rc == 0 ? 0 : -1;
}

static void add_last(overload *last, overload *made) {
  fh_mutex_lock(&adding_lock);
  fh_atomic_store_relaxed_i32(&last->n_alone, -1); /* as fh_overload_call reads it */
  made->is_late = last->borrows && !made->borrows;
  if (made->is_late) fh_atomic_store_relaxed_i32(&last->borrows, 0);
  while (last->next != NULL) last = last->next;
  /* release: pairs with next_of */
  fh_atomic_store_release_ptr((void **)(void *)&last->next, made);
  fh_mutex_unlock(&adding_lock);
}

/* A new overload without its callable; NULL with an error pending. */
static overload *make(const ffi_hpy_function_spec *spec, TVMFFIObjectHandle known, TVMFFIAny *metadata) {
  uint32_t n_hidden;
  if (known != NULL && fh_function_self(known, fh_overload_call) == NULL) {
    fh_error_raise(FH_TYPE_ERROR, "Expected a function of bind.h but got another one");
    return NULL;
  }
  if (check_names(spec, &n_hidden) != 0) return NULL;
  overload *made = new_overload(spec, n_hidden);
  if (made == NULL) {
    fh_error_raise_no_memory();
    return NULL;
  }
  if (check_defaults(made, spec->name) == 0 && describe(made, spec, metadata) == 0) return made;
  destroy(made);
  return NULL;
}

int fh_overload_define(const ffi_hpy_function_spec *spec, TVMFFIObjectHandle known, TVMFFIObjectHandle *out,
                       TVMFFIAny *metadata) {
  overload *made = make(spec, known, metadata);
  if (made != NULL && known == NULL && fh_function_new_direct(made, fh_overload_call, destroy_all, out) != 0) {
    destroy(made);
    made = NULL;
    fh_any_drop(metadata);
  }
  if (made == NULL) {
    void *capture[FFI_HPY_CAPTURE_WORDS];
    memcpy(capture, spec->capture, sizeof(capture));
    if (spec->free_capture != NULL) spec->free_capture(capture);
    return -1;
  }
  memcpy(made->head.capture, spec->capture, sizeof(spec->capture));
  made->free_capture = spec->free_capture;
  if (known != NULL) {
    add_last((overload *)fh_function_self(known, fh_overload_call), made);
    fh_object_retain(known);
    *out = known;
  }
  return 0;
}
