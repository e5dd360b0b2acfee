/* Calls of native functions from Python: the hot path of the binding.
 *
 * Where handles are object pointers, the interpreter calls vectorcall. The hottest path of a call is call_nothing,
 * call_ints or call_object, by the first argument: the function reads the arguments into TVMFFIAny on the C stack, runs
 * the native function and converts the result. The path takes no lock except the GIL, and allocates only its result.
 * Each of these functions is compiled once for each Way. A Function with the default mode, FB_GIL_DEFAULT, takes the
 * way OTHER, which releases the GIL, unless TVM_FFI_RELEASE_GIL_BY_DEFAULT=0 was set at import.
 *
 * native_call.c calls with all other arguments, and is the whole path on other contexts. */
#include "function_call.h"

#include "hpy_module/container/lent.h"
#include "hpy_module/context/call.h"
#include "hpy_module/convert/args.h"
#include "hpy_module/convert/immediate.h"
#include "hpy_module/convert/result.h"
#include "hpy_module/error/error.h"
#include "hpy_module/object/identity.h"
#include "hpy_module/object/type_tag.h"
#include "hpy_module/value/value.h"
#include "native_call.h"

/* The last FbGil for which a vectorcall must do more than the native call. One word covers both reasons: releasing the
 * GIL, and fb_thread_has_cffi_backend. Written during the import. */
static int32_t last_other = FB_GIL_DEFAULT;

void fb_function_call_settle(void) {
  last_other = fb_thread_has_cffi_backend ? FB_GIL_KEEP : fb_function_struct_last_release;
}

/* --- vectorcall --------------------------------------------------------------------------------------------------- */

/* The slot tp_call as a vectorcall (extension.h), for contexts whose handles are object pointers. The call is split
 * into several functions with a small frame each: without arguments, immediate values only (immediate.h), an object
 * alone or followed by immediate values, and any values. Immediate values need no temporary, so a call with immediate
 * values has nothing to release afterwards. The entry itself, which chooses one of these functions, has no frame.
 *
 * The macro IN_EACH_WAY compiles each function once for each Way, the first argument of the common code. Separate
 * functions avoid register spills on the plain path. */

/* Raises the error of a call, or converts a result that is neither None nor an int. The result is a value, not a
 * pointer, so that the callers need few registers. The containers of bound libraries have no wrappers to look for. */
static FH_NOINLINE cpy_PyObject *finish_other(cpy_PyObject *self, int rc, TVMFFIAny result) {
  HPy value;
  if (FH_UNLIKELY(rc != 0)) {
    fb_native_call_raise(fb_struct_at(self));
    return NULL;
  }
  if (result.type_index == FFI_HPY_PYTHON_VALUE) return (cpy_PyObject *)(intptr_t)result.v_int64;
  if (fb_builtin_may_unwrap(result.type_index) && fb_builtin_unwrap(fb_ctx, result.v_obj, &value)) {
    return (cpy_PyObject *)value._i;
  }
  if (result.type_index == kTVMFFIOpaquePyObject && !HPy_IsNull(value = fb_opaque_take(fb_ctx, result.v_obj))) {
    return (cpy_PyObject *)value._i;
  }
  return (cpy_PyObject *)fb_result_make(fb_ctx, &result)._i;
}

/* Whether a Function is one of a bound library. */
FH_INLINE bool is_bound(const TVMFFIObject *handle) {
  /* acquire: pairs with the release of fb_lent_enable */
  return ((const TVMFFIFunctionCell *)(handle + 1))->safe_call == fh_atomic_load_acquire(&fb_lent_callee);
}

/* Returns the first overload behind such a Function. */
FH_INLINE const ffi_hpy_first_overload *first_overload_of(const TVMFFIObject *handle) {
  const char *place = (const char *)handle + sizeof(TVMFFIObject) + sizeof(TVMFFIFunctionCell);
  return *(const ffi_hpy_first_overload *const *)(const void *)place;
}

/* Whether an object with the struct of a Function is one of a bound library. */
FH_INLINE bool is_of_bound(cpy_PyObject *self) {
  const TVMFFIObject *handle = fb_handle_at(self);
  return handle != NULL && is_bound(handle);
}

/* The ways of a call: one that keeps the GIL and does not save the thread state; such a call of a function of a bound
 * library, which makes values of Python itself; and all others. */
typedef enum { PLAIN, BOUND, OTHER } Way;

/* Ends the call of the only overload, which does not accept the arguments. */
static FH_NOINLINE int refuse(cpy_PyObject *self, const TVMFFIAny *views, size_t n, TVMFFIAny *result, int rc) {
  bool is_operator = fh_atomic_load_relaxed(&fb_struct_at(self)->is_operator) && n >= 2;
  if (!is_operator) return fb_lent_refuse(first_overload_of(fb_handle_at(self)), views, result, rc);
  fb_error_slot_clear(); /* an argument that could not be read has left its error */
  *result = fb_native_call_not_implemented(fb_ctx);
  return 0;
}

/* A call of a Function with several overloads, or without some of the arguments. */
static FH_NOINLINE int run_any(cpy_PyObject *self, TVMFFIObject *handle, const TVMFFIAny *views, size_t n,
                               TVMFFIAny *result) {
  bool is_operator = fh_atomic_load_relaxed(&fb_struct_at(self)->is_operator);
  if (is_operator) return fb_native_call_operator(fb_ctx, handle, views, n, false, result);
  return fb_native_call_kept(handle, views, n, result);
}

/* Calls a Function of a bound library as its safe_call does, one call less deep. */
FH_INLINE int run_bound(cpy_PyObject *self, TVMFFIObject *handle, const TVMFFIAny *views, size_t n, TVMFFIAny *result) {
  const ffi_hpy_first_overload *first = first_overload_of(handle);
  if (FH_UNLIKELY((int32_t)n != fh_atomic_load_relaxed(&first->n_alone)))
    return run_any(self, handle, views, n, result);
  int rc = first->head.call(&first->head, views, UINT32_MAX, result);
  if (FH_LIKELY(rc == 0)) return 0; /* so the callers test rc once */
  return rc < 0 ? rc : refuse(self, views, n, result, rc);
}

/* The native call. *result is owned if it returns 0. */
FH_INLINE int run_short(Way way, cpy_PyObject *self, TVMFFIObject *handle, const TVMFFIAny *views, size_t n,
                        TVMFFIAny *result) {
  if (way == OTHER) {
    FbFunction *function = fb_struct_at(self);
    return fb_native_call_function(fb_ctx, function, handle, views, n, fb_function_struct_releases_gil(function),
                                   result);
  }
  *result = fb_native_call_no_result;
  if (way == PLAIN) return fb_native_call_kept(handle, views, n, result);
  result->v_ptr = (void *)&fb_builtin_values;
  return run_bound(self, handle, views, n, result);
}

/* Converts the result, or raises the error of the call. */
FH_INLINE cpy_PyObject *finish_short(cpy_PyObject *self, int rc, const TVMFFIAny *result) {
  if (FH_LIKELY(rc == 0)) {
    if (result->type_index == kTVMFFINone) {
      return (cpy_PyObject *)fb_immediate_constant(fb_ctx, fb_immediate.none)._i;
    }
    if (result->type_index == kTVMFFIInt) return (cpy_PyObject *)fb_immediate_int_new(fb_ctx, result->v_int64)._i;
  }
  return finish_other(self, rc, *result);
}

FH_INLINE cpy_PyObject *run_immediate(Way way, cpy_PyObject *self, TVMFFIObject *handle, const TVMFFIAny *views,
                                      size_t n) {
  TVMFFIAny result;
  int rc = run_short(way, self, handle, views, n, &result);
  return finish_short(self, rc, &result);
}

/* Begins a use of an argument that is an ordinary object, and makes *view its value. Returns the object's cell; NULL,
 * and begins nothing, for every other argument. */
FH_INLINE FbHandleCell *use_argument(cpy_PyObject *object, TVMFFIAny *view) {
  HPy h = {(intptr_t)object};
  const FbTypeTagEntry *entry = fb_type_tag_find(h);
  if (entry == NULL || entry->kind != FB_TYPE_KIND_OBJECT) return NULL;
  FbHandleCell *cell = fb_cell_at(object);
  if (FH_UNLIKELY(!fb_handle_cell_use(cell))) return NULL;
  fb_identity_share(fb_ctx, h, cell);
  TVMFFIObject *handle = fb_handle_cell_get(cell);
  if (FH_UNLIKELY(handle == NULL || fb_exchange_number_find(cell) != NULL)) {
    fb_handle_cell_unuse(cell);
    return NULL;
  }
  fb_put_object(view, handle);
  return cell;
}

/* Ends n arguments of a bound call. cells[i] is the cell of an ordinary object, else NULL. */
FH_INLINE void end_arguments(const TVMFFIAny *views, FbHandleCell *const *cells, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    if (cells[i] != NULL) {
      fb_handle_cell_unuse(cells[i]);
    } else if (views[i].type_index >= kTVMFFIStaticObjectBegin) {
      fb_lent_end(views[i].v_obj);
    }
  }
}

/* Raises the error of a bound call, and ends its arguments. Native code only knows the classes of values that are not
 * objects. Returns NULL. */
static FH_NOINLINE cpy_PyObject *raise_with_arguments(cpy_PyObject *self, cpy_PyObject *const *args,
                                                      const TVMFFIAny *views, FbHandleCell *const *cells, size_t n) {
  FbPendingError error = fb_error_slot_take_pending(fb_ctx);
  fb_error_name_classes(fb_ctx, &error.error, views, (const HPy *)args, n);
  end_arguments(views, cells, n);
  fb_error_raise(fb_ctx, error, fb_function_struct_name(fb_struct_at(self)));
  return NULL;
}

/* Handles a call that returned its argument, like a method that returns self. fb_wrap_object would look up the
 * argument's registered wrapper; here the wrapper is at hand, and its use prevents a move of its handle. Replaces the
 * native reference by a new reference to the wrapper, and ends the use. The native reference is released first: where
 * threads share the object, the callee has just written its count. Returns false and changes nothing if another wrapper
 * is registered. */
FH_INLINE bool give_back(HPy object, FbHandleCell *cell, TVMFFIObject *handle) {
  if (FH_UNLIKELY(fb_handle_cell_listing(cell) != FB_LISTED || !fb_handle_cell_give_again(cell, handle))) return false;
  TVMFFIObjectDecRef(handle);
  HPy_Dup(fb_ctx, object);
  fb_handle_cell_unuse(cell);
  return true;
}

/* Whether the result of a call is the object of a cell that the call uses. */
FH_INLINE bool is_object_of(FbHandleCell *cell, const TVMFFIAny *result) {
  return result->type_index >= kTVMFFIDynObjectBegin && result->v_obj == fb_handle_cell_get(cell);
}

/* Reads arguments of a bound call: immediate values, ordinary objects, and values that last as long as the call
 * (lent.h). Returns false, with nothing left to end, if an argument is a value of another kind. */
FH_INLINE bool read_arguments(cpy_PyObject *const *args, size_t n, TVMFFIAny *views, FbHandleCell **cells) {
  for (size_t i = 0; i < n; ++i) {
    HPy value = {(intptr_t)args[i]};
    cells[i] = NULL;
    if (fb_immediate_read(value, &views[i])) continue;
    if (!fb_lent_is_builtin(fb_ctx, value) && (cells[i] = use_argument(args[i], &views[i])) != NULL) continue;
    if (FH_LIKELY(fb_lent_read(fb_ctx, value, &views[i]))) continue;
    end_arguments(views, cells, i);
    return false;
  }
  return true;
}

/* Calls a Function of a bound library with any arguments. */
FH_INLINE cpy_PyObject *call_bound_in(Way way, cpy_PyObject *self, cpy_PyObject *const *args, size_t n) {
  TVMFFIAny views[FB_STACK_ARGS], result;
  FbHandleCell *cells[FB_STACK_ARGS];
  bool is_short = n <= FB_STACK_ARGS && read_arguments(args, n, views, cells);
  if (FH_UNLIKELY(!is_short)) return fb_native_call_any(self, args, n, NULL);
  int rc = run_short(way, self, fb_handle_at(self), views, n, &result);
  if (FH_UNLIKELY(rc != 0)) return raise_with_arguments(self, args, views, cells, n);
  bool is_back = n != 0 && cells[0] != NULL && is_object_of(cells[0], &result) &&
                 give_back((HPy){(intptr_t)args[0]}, cells[0], result.v_obj);
  end_arguments(views + is_back, cells + is_back, n - is_back);
  return is_back ? args[0] : finish_short(self, 0, &result);
}
static FH_NOINLINE cpy_PyObject *call_bound(cpy_PyObject *self, cpy_PyObject *const *args, size_t n) {
  return call_bound_in(BOUND, self, args, n);
}
/* Most calls have one argument: without the loops the compiler keeps all in registers. If the Function borrows its
 * arguments, nothing is left to end. */
static FH_NOINLINE cpy_PyObject *call_keeping(cpy_PyObject *self, cpy_PyObject *const *args) {
  return call_bound_in(BOUND, self, args, 1);
}
/* Whether a Function borrows its arguments. */
FH_INLINE bool borrows(const TVMFFIObject *handle) {
  return fh_atomic_load_relaxed(&first_overload_of(handle)->borrows) != 0;
}
/* As finish_short, for a result that in most cases is an object of Python. */
FH_INLINE cpy_PyObject *finish_value(cpy_PyObject *self, int rc, const TVMFFIAny *result) {
  bool is_value = rc == 0 && result->type_index == FFI_HPY_PYTHON_VALUE;
  return FH_LIKELY(is_value) ? (cpy_PyObject *)(intptr_t)result->v_int64 : finish_short(self, rc, result);
}
static FH_NOINLINE cpy_PyObject *call_text(cpy_PyObject *self, cpy_PyObject *const *args) {
  FbLentText text;
  TVMFFIAny view, result;
  TVMFFIObject *handle = fb_handle_at(self);
  bool is_short = borrows(handle) && fb_lent_read_text(fb_ctx, (HPy){(intptr_t)args[0]}, &text, &view);
  if (FH_UNLIKELY(!is_short)) return call_keeping(self, args);
  return finish_value(self, run_short(BOUND, self, handle, &view, 1, &result), &result);
}
static FH_NOINLINE cpy_PyObject *call_items(cpy_PyObject *self, cpy_PyObject *const *args) {
  FbLentRoom room;
  TVMFFIAny view, result;
  TVMFFIObject *handle = fb_handle_at(self);
  bool is_short = borrows(handle) && fb_lent_read_into(fb_ctx, (HPy){(intptr_t)args[0]}, &room, &view);
  if (FH_UNLIKELY(!is_short)) return call_keeping(self, args);
  int rc = run_short(BOUND, self, handle, &view, 1, &result);
  fb_lent_room_end(&room);
  return finish_value(self, rc, &result);
}
FH_INLINE cpy_PyObject *call_bound_one(cpy_PyObject *self, cpy_PyObject *const *args) {
  bool is_text = fb_type_tag_type((HPy){(intptr_t)args[0]}) == fb_ctx->h_UnicodeType._i;
  return is_text ? call_text(self, args) : call_items(self, args);
}
static FH_NOINLINE cpy_PyObject *call_bound_other(cpy_PyObject *self, cpy_PyObject *const *args, size_t n) {
  return call_bound_in(OTHER, self, args, n);
}

/* A call of a Function in the way BOUND. */
FH_INLINE cpy_PyObject *call_bound_any(cpy_PyObject *self, cpy_PyObject *const *args, size_t nargsf) {
  return fb_call_n_args(nargsf) == 1 ? call_bound_one(self, args) : call_bound(self, args, fb_call_n_args(nargsf));
}

static cpy_PyObject *call_any(cpy_PyObject *self, cpy_PyObject *const *args, size_t nargsf, cpy_PyObject *kwnames) {
  const TVMFFIObject *handle = fb_handle_at(self);
  if (handle == NULL || kwnames != NULL || !is_bound(handle)) return fb_native_call_any(self, args, nargsf, kwnames);
  int32_t gil = fh_atomic_load_relaxed(&fb_struct_at(self)->gil);
  if (FH_UNLIKELY(gil == FB_GIL_KEEP_FOR_PYTHON)) return fb_native_call_any(self, args, nargsf, NULL);
  size_t n = fb_call_n_args(nargsf);
  if (FH_UNLIKELY(gil <= last_other)) return call_bound_other(self, args, n);
  return n == 1 ? call_keeping(self, args) : call_bound(self, args, n);
}

/* Defines a function for each way of a call from the common code `body`, and `name`, which chooses. All names are
 * written out, so that a search finds them. */
#define IN_ONE_WAY(name, body, way)                                                                     \
  static FH_NOINLINE cpy_PyObject *name(cpy_PyObject *self, cpy_PyObject *const *args, size_t nargsf) { \
    return body(way, self, args, nargsf);                                                               \
  }
#define IN_EACH_WAY(name, body, plain, of_bound, other)                                                 \
  IN_ONE_WAY(plain, body, PLAIN)                                                                        \
  IN_ONE_WAY(of_bound, body, BOUND)                                                                     \
  IN_ONE_WAY(other, body, OTHER)                                                                        \
  FH_INLINE cpy_PyObject *name(Way way, cpy_PyObject *self, cpy_PyObject *const *args, size_t nargsf) { \
    if (way == BOUND) return of_bound(self, args, nargsf);                                              \
    return way == PLAIN ? plain(self, args, nargsf) : other(self, args, nargsf);                        \
  }

/* At least one argument. call_ints repeats this function's loop so that an all-int call has a smaller frame. */
FH_INLINE cpy_PyObject *call_immediates_in(Way way, cpy_PyObject *self, cpy_PyObject *const *args, size_t nargsf) {
  size_t n = fb_call_n_args(nargsf);
  TVMFFIAny views[FB_STACK_ARGS];
  TVMFFIObject *handle = fb_handle_at(self);
  bool is_short = n <= FB_STACK_ARGS && handle != NULL && fb_native_call_read(args, 0, n, views);
  if (FH_UNLIKELY(!is_short)) return call_any(self, args, nargsf, NULL);
  return run_immediate(way, self, handle, views, n);
}
IN_EACH_WAY(call_immediates, call_immediates_in, call_immediates_plain, call_immediates_of_bound, call_immediates_other)

FH_INLINE cpy_PyObject *call_ints_in(Way way, cpy_PyObject *self, cpy_PyObject *const *args, size_t nargsf) {
  size_t n = fb_call_n_args(nargsf), i = 0;
  TVMFFIAny views[FB_STACK_ARGS];
  if (FH_UNLIKELY(n > FB_STACK_ARGS)) return call_any(self, args, nargsf, NULL);
#pragma GCC unroll 1
  do {
    HPy value = {(intptr_t)args[i]};
    if (FH_UNLIKELY(!fb_immediate_int(value, &views[i]))) return call_immediates(way, self, args, nargsf);
  } while (++i < n);
  TVMFFIObject *handle = fb_handle_at(self);
  if (FH_UNLIKELY(handle == NULL)) return call_any(self, args, nargsf, NULL);
  return run_immediate(way, self, handle, views, n);
}
IN_EACH_WAY(call_ints, call_ints_in, call_ints_plain, call_ints_of_bound, call_ints_other)

/* raise_with_arguments for a call whose other arguments are immediate values. */
static FH_NOINLINE cpy_PyObject *raise_with_object(cpy_PyObject *self, FbHandleCell *cell, const TVMFFIAny *views) {
  cpy_PyObject *object = (cpy_PyObject *)fb_identity_wrapper(cell)._i;
  return raise_with_arguments(self, &object, views, &cell, 1);
}

/* Calls with an ordinary object, the first of n arguments, and the views of the others. Native code runs during a use
 * of the object, as with fb_argument_convert. */
FH_INLINE cpy_PyObject *call_with_object(Way way, cpy_PyObject *self, cpy_PyObject *const *args, size_t n,
                                         TVMFFIAny *views) {
  HPy h = {(intptr_t)args[0]};
  TVMFFIAny result;
  FbHandleCell *cell = fb_cell_at(args[0]);
  if (FH_UNLIKELY(!fb_handle_cell_use(cell))) return call_any(self, args, n, NULL);
  fb_identity_share(fb_ctx, h, cell); /* before the handles are read, so that no register has to keep them */
  TVMFFIObject *handle = fb_handle_at(self), *argument = fb_handle_cell_get(cell);
  if (FH_UNLIKELY(handle == NULL || argument == NULL || fb_exchange_number_find(cell) != NULL)) {
    fb_handle_cell_unuse(cell);
    return call_any(self, args, n, NULL);
  }
  fb_put_object(&views[0], argument);
  int rc = run_short(way, self, handle, views, n, &result);
  if (FH_UNLIKELY(rc != 0)) return raise_with_object(self, cell, views);
  /* the use keeps the handle of the argument */
  if (is_object_of(cell, &result) && give_back(fb_identity_wrapper(cell), cell, result.v_obj)) {
    return (cpy_PyObject *)fb_identity_wrapper(cell)._i;
  }
  fb_handle_cell_unuse(cell);
  return finish_short(self, 0, &result);
}

/* The only argument is an ordinary object: in most cases a method without further arguments. */
FH_INLINE cpy_PyObject *call_object_alone_in(Way way, cpy_PyObject *self, cpy_PyObject *const *args, size_t nargsf) {
  (void)nargsf;
  TVMFFIAny view;
  return call_with_object(way, self, args, 1, &view);
}
IN_EACH_WAY(call_object_alone, call_object_alone_in, call_object_alone_plain, call_object_alone_of_bound,
            call_object_alone_other)

/* The first argument is an ordinary object and immediate values follow. */
FH_INLINE cpy_PyObject *call_object_in(Way way, cpy_PyObject *self, cpy_PyObject *const *args, size_t nargsf) {
  size_t n = fb_call_n_args(nargsf);
  TVMFFIAny views[FB_STACK_ARGS];
  bool is_short = n <= FB_STACK_ARGS && fb_native_call_read(args, 1, n, views);
  if (FH_LIKELY(is_short)) return call_with_object(way, self, args, n, views);
  return way == BOUND ? call_bound(self, args, n) : call_any(self, args, nargsf, NULL);
}
IN_EACH_WAY(call_object, call_object_in, call_object_plain, call_object_of_bound, call_object_other)

/* The first argument of a bound call is a member of an enum or a callable, and immediate values follow. The three
 * functions differ in the arguments that they read. */

static FH_NOINLINE cpy_PyObject *call_known(cpy_PyObject *self, cpy_PyObject *const *args, size_t n,
                                            const FbTypeTagEntry *entry) {
  TVMFFIAny views[FB_STACK_ARGS], result;
  bool is_short = n <= FB_STACK_ARGS && fb_native_call_read(args, 1, n, views) &&
                  fb_lent_read_known(fb_ctx, (HPy){(intptr_t)args[0]}, entry, &views[0]);
  if (FH_UNLIKELY(!is_short)) return call_bound(self, args, n);
  int rc = run_short(BOUND, self, fb_handle_at(self), views, n, &result);
  fb_lent_end(views[0].v_obj);
  return finish_short(self, rc, &result);
}
static FH_NOINLINE cpy_PyObject *call_callable_alone(cpy_PyObject *self, cpy_PyObject *const *args,
                                                     const FbTypeTagEntry *entry) {
  TVMFFIAny view, result;
  bool is_short = fb_lent_read_callable(fb_ctx, (HPy){(intptr_t)args[0]}, entry, &view);
  if (FH_UNLIKELY(!is_short)) return call_bound(self, args, 1);
  int rc = run_short(BOUND, self, fb_handle_at(self), &view, 1, &result);
  fb_lent_end(view.v_obj);
  return finish_short(self, rc, &result);
}
/* The native object of a member lasts. */
static FH_NOINLINE cpy_PyObject *call_member_alone(cpy_PyObject *self, cpy_PyObject *const *args) {
  TVMFFIAny view, result;
  TVMFFIObject *member = fb_member_find((HPy){(intptr_t)args[0]});
  if (FH_UNLIKELY(member == NULL)) return call_bound(self, args, 1);
  fb_put_object(&view, member);
  int rc = run_short(BOUND, self, fb_handle_at(self), &view, 1, &result);
  return finish_short(self, rc, &result);
}

/* The first argument is not an int. The kind of the argument is checked here, before a frame exists that values of
 * other kinds do not need. */
FH_INLINE cpy_PyObject *call_rest_in(Way way, cpy_PyObject *self, cpy_PyObject *const *args, size_t nargsf) {
  if (way == BOUND && fb_lent_is_builtin(fb_ctx, (HPy){(intptr_t)args[0]})) return call_bound_any(self, args, nargsf);
  const FbTypeTagEntry *entry = fb_type_tag_find((HPy){(intptr_t)args[0]});
  FbTypeTag kind = entry == NULL ? FB_TYPE_KIND_UNKNOWN : entry->kind;
  if (FH_LIKELY(kind == FB_TYPE_KIND_OBJECT)) {
    return fb_call_n_args(nargsf) == 1 ? call_object_alone(way, self, args, nargsf)
                                       : call_object(way, self, args, nargsf);
  }
  if (kind == FB_TYPE_KIND_FLOAT || kind == FB_TYPE_KIND_NONE || kind == FB_TYPE_KIND_BOOL)
    return call_immediates(way, self, args, nargsf);
  if (way == BOUND && (kind == FB_TYPE_KIND_MEMBER || kind == FB_TYPE_KIND_CONVERTER)) {
    size_t n = fb_call_n_args(nargsf);
    if (n != 1) return call_known(self, args, n, entry);
    return kind == FB_TYPE_KIND_MEMBER ? call_member_alone(self, args) : call_callable_alone(self, args, entry);
  }
  return call_any(self, args, nargsf, NULL);
}
IN_EACH_WAY(call_rest, call_rest_in, call_rest_plain, call_rest_of_bound, call_rest_other)

FH_INLINE cpy_PyObject *call_nothing_in(Way way, cpy_PyObject *self, cpy_PyObject *const *args, size_t nargsf) {
  TVMFFIObject *handle = fb_handle_at(self);
  if (FH_UNLIKELY(handle == NULL)) return call_any(self, args, nargsf, NULL);
  return run_immediate(way, self, handle, fb_no_arguments, 0);
}
IN_EACH_WAY(call_nothing, call_nothing_in, call_nothing_plain, call_nothing_of_bound, call_nothing_other)

FH_INLINE cpy_PyObject *call_in(Way way, cpy_PyObject *self, cpy_PyObject *const *args, size_t nargsf) {
  if (fb_call_n_args(nargsf) == 0) return call_nothing(way, self, args, nargsf);
  if (fb_immediate_type((HPy){(intptr_t)args[0]}) == fb_immediate.int_type) return call_ints(way, self, args, nargsf);
  return call_rest(way, self, args, nargsf);
}
static FH_NOINLINE cpy_PyObject *call_other(cpy_PyObject *self, cpy_PyObject *const *args, size_t nargsf) {
  return call_in(OTHER, self, args, nargsf);
}

static cpy_PyObject *vectorcall(cpy_PyObject *self, cpy_PyObject *const *args, size_t nargsf, cpy_PyObject *kwnames) {
  if (FH_UNLIKELY(kwnames != NULL)) return call_any(self, args, nargsf, kwnames);
  if (fh_atomic_load_relaxed(&fb_struct_at(self)->gil) <= last_other) return call_other(self, args, nargsf);
  return call_in(PLAIN, self, args, nargsf);
}

/* vectorcall for a Function of a bound library that keeps the GIL. */
static cpy_PyObject *vectorcall_of_bound(cpy_PyObject *self, cpy_PyObject *const *args, size_t nargsf,
                                         cpy_PyObject *kwnames) {
  if (FH_UNLIKELY(kwnames != NULL)) return call_any(self, args, nargsf, kwnames);
  if (FH_UNLIKELY(fh_atomic_load_relaxed(&fb_struct_at(self)->gil) != FB_GIL_KEEP)) {
    return vectorcall(self, args, nargsf, NULL);
  }
  return call_in(BOUND, self, args, nargsf);
}

HPy fb_function_call_object(HPy function, HPy object) {
  cpy_PyObject *self = (cpy_PyObject *)function._i, *args[] = {(cpy_PyObject *)object._i};
  int32_t gil = fh_atomic_load_relaxed(&fb_struct_at(self)->gil);
  bool is_short = is_of_bound(self) && gil == FB_GIL_KEEP && gil > last_other;
  return (HPy){
      (intptr_t)(FH_LIKELY(is_short) ? call_object_alone_of_bound(self, args, 1) : vectorcall(self, args, 1, NULL))};
}

int fb_function_call_keep(HPyContext *ctx, HPy self, FbFunction *function) {
  static HPyCallFunction of_bound = {.cpy_trampoline = vectorcall_of_bound};
  int32_t before = fh_atomic_exchange_acq_rel(&function->gil, FB_GIL_KEEP);
  const TVMFFIObject *handle = fb_object_get(ctx, self);
  /* threads may call a Function that is not new, or its calls are counted */
  if (before != FB_GIL_DEFAULT || function->n_calls_counted != 0 || FB_GIL_KEEP <= last_other || fb_ext == NULL)
    return 0;
  if (handle == NULL || !is_bound(handle)) return 0;
  return HPy_SetCallFunction(ctx, self, &of_bound);
}

/* After this many calls, references to a Function are no longer counted where the interpreter offers deferred reference
 * counting: such a Function is long-lived, and threads may share it. A deferred Function, and with it the callable of a
 * callback, is freed only by the garbage collector. Therefore a Function that is looked up for a few calls stays
 * counted. */
enum { COUNTED_CALLS = 16 };

void fb_function_call_count(FbFunction *function) { function->n_calls_counted = COUNTED_CALLS; }

/* Concurrent calls may count one call for both, or both find the last one; both are harmless. */
static FH_NOINLINE void count_call(cpy_PyObject *self, FbFunction *function, uint8_t n) {
  fh_atomic_store_relaxed(&function->n_calls_counted, (uint8_t)(n - 1));
  if (n == 1) fb_ext->refcount_defer(fb_ctx, (HPy){(intptr_t)self});
}

/* vectorcall for interpreters with deferred reference counting. */
static cpy_PyObject *vectorcall_counted(cpy_PyObject *self, cpy_PyObject *const *args, size_t nargsf,
                                        cpy_PyObject *kwnames) {
  uint8_t n = fh_atomic_load_relaxed(&fb_struct_at(self)->n_calls_counted);
  if (FH_UNLIKELY(n != 0)) count_call(self, fb_struct_at(self), n);
  return vectorcall(self, args, nargsf, kwnames);
}

static FH_NOINLINE int raise_raw(cpy_PyObject *self) {
  fb_native_call_raise(fb_struct_at(self));
  return -1;
}

/* call_raw_bound with values that are not immediate. */
static FH_NOINLINE int call_raw_mixed(cpy_PyObject *self, cpy_PyObject *const *args, size_t n, TVMFFIAny *result) {
  TVMFFIAny views[FB_STACK_ARGS];
  FbHandleCell *cells[FB_STACK_ARGS];
  bool for_python = fh_atomic_load_relaxed(&fb_struct_at(self)->gil) == FB_GIL_KEEP_FOR_PYTHON;
  if (FH_UNLIKELY(for_python || !read_arguments(args, n, views, cells)))
    return fb_native_call_raw(fb_ctx, (HPy){(intptr_t)self}, (const HPy *)args, n, result);
  *result = fb_native_call_no_result;
  if (FH_UNLIKELY(run_bound(self, fb_handle_at(self), views, n, result) != 0)) {
    raise_with_arguments(self, args, views, cells, n);
    return -1;
  }
  end_arguments(views, cells, n);
  fb_native_call_settle(0, result);
  return 0;
}

/* fb_native_call_raw for a Function of a bound library: in most cases a constructor, whose arguments are numbers. */
static FH_NOINLINE int call_raw_bound(HPyContext *ctx, HPy function, const HPy *args, size_t nargs, TVMFFIAny *result) {
  TVMFFIAny views[FB_STACK_ARGS];
  cpy_PyObject *self = (cpy_PyObject *)function._i;
  if (FH_UNLIKELY(nargs > FB_STACK_ARGS || FB_GIL_KEEP <= last_other))
    return fb_native_call_raw(ctx, function, args, nargs, result);
  size_t i = 0;
  while (i < nargs && fb_immediate_int(args[i], &views[i])) ++i;
  bool is_short = i == nargs || fb_native_call_read((cpy_PyObject *const *)args, i, nargs, views);
  if (FH_UNLIKELY(!is_short)) return call_raw_mixed(self, (cpy_PyObject *const *)args, nargs, result);
  *result = fb_native_call_no_result;
  if (FH_UNLIKELY(run_bound(self, fb_handle_at(self), views, nargs, result) != 0)) return raise_raw(self);
  fb_native_call_settle(0, result);
  return 0;
}

/* Needs no stack frame. fb_lent_callee is set only where a handle is an object pointer. */
int fb_function_call_raw(HPyContext *ctx, HPy function, const HPy *args, size_t nargs, TVMFFIAny *result) {
  TVMFFISafeCallType bound = fh_atomic_load_acquire(&fb_lent_callee); /* pairs with the release of fb_lent_enable */
  if (bound != NULL && is_of_bound((cpy_PyObject *)function._i)) {
    return call_raw_bound(ctx, function, args, nargs, result);
  }
  return fb_native_call_raw(ctx, function, args, nargs, result);
}

void fb_function_call_set_vectorcall(void) {
  /* Our runtime stores this function in the instance's vectorcall word, in place of HPy's trampoline. */
  if (fb_ext == NULL) return;
  fb_native_call_slot.slot.cpy_trampoline =
      (cpy_PyCFunction)(fb_context_defers_refcounts ? vectorcall_counted : vectorcall);
}
