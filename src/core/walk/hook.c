/* hook.c - hooks of types, which are callbacks that read their objects.
 *
 * A type's hook gets fn, a Function that prints, compares or hashes the parts of its object. fn continues the walk that
 * has called the hook, so cycles and the limit of depth hold across hooks. Used by repr, compare, hash, and structural
 * equality and hash. */
#include "nested.h"

#include "core/object/any_own.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/type.h"
#include "core/platform/mem.h"
#include "core/platform/system.h"

int fh_hook_find(fh_reflect_attr_id id, int32_t type_index, TVMFFIObject **out) {
  const TVMFFIAny *hook = fh_reflect_attr(fh_reflect_column(id), type_index);
  *out = hook != NULL ? hook->v_obj : NULL;
  if (hook == NULL || hook->type_index == kTVMFFIFunction) return 0;
  *out = NULL;
  return fh_error_raise(FH_TYPE_ERROR, "Expected %s of `%s` to be `ffi.Function` but got `%s`",
                        fh_reflect_attr_name(id), fh_type_name(type_index), fh_type_name(hook->type_index));
}

/* The state of fn, which owns it. A hook may keep fn, so it can outlive the client. Only `thread` reads and clears
 * `client`, so that field needs no atomic access. */
typedef struct {
  fh_hook_callback back;
  int32_t n_args;
  uint64_t thread;
  void *client; /* NULL after the hook has returned; only for `thread` */
} callback;

/* The client gets owned values instead of views: the walk needs its objects alive until the callback is done. */
FH_CODE(callback_call) {
  const callback *c = (const callback *)self;
  if (c->thread != fh_thread_id() || c->client == NULL) {
    return fh_error_raise(FH_RUNTIME_ERROR,
                          "Expected a hook's callback to be called in its thread while the hook runs");
  }
  if (fh_function_check_count("a hook's callback", n_args, c->n_args) != 0) return -1;
  TVMFFIAny owned[FH_HOOK_MAX_BACK_ARGS];
  int32_t n_owned = 0;
  while (n_owned < n_args && fh_any_own(&args[n_owned], &owned[n_owned]) == 0) ++n_owned;
  int rc = n_owned == n_args ? c->back(c->client, owned, n_args, result) : -1;
  while (n_owned > 0) fh_any_drop(&owned[--n_owned]);
  return rc;
}

/* `second` is NULL for hook(obj, fn). */
static int call_with_callback(TVMFFIObject *hook, TVMFFIObject *obj, const TVMFFIAny *second, const callback *back,
                              TVMFFIAny *result) {
  TVMFFIObjectHandle fn;
  callback *c = (callback *)fh_mem_alloc(sizeof(*c));
  if (c == NULL) return fh_error_raise_no_memory();
  *c = *back;
  if (fh_function_new(c, callback_call, fh_mem_free, &fn) != 0) {
    /* On success fn owns c. */
    fh_mem_free(c);
    return -1;
  }
  /* Either obj, fn or obj, second, fn. */
  TVMFFIAny args[3] = {fh_any_object(obj), second != NULL ? *second : fh_any_object(fn), fh_any_object(fn)};
  int rc = fh_function_call(hook, args, second != NULL ? 3 : 2, result);
  /* Before fn is released: the hook may have kept a reference, and a later call of fn gets an error. */
  c->client = NULL;
  fh_object_release(fn);
  return rc;
}

/* Calls the hook while the objects (`other` may be NULL) are open as a mark. So a client that checks for cycles finds
 * them open when the hook passes them back. The mark is a level of nesting, like any frame. */
static int call_marked(fh_walk *walk, TVMFFIObject *hook, TVMFFIObject *obj, TVMFFIObject *other,
                       const TVMFFIAny *second, const callback *back, TVMFFIAny *result) {
  *result = fh_any_none();
  if (fh_walk_push_mark(walk, obj, other) != 0) return -1;
  int rc = fh_walk_enter_hook(walk);
  if (rc == 0) {
    rc = call_with_callback(hook, obj, second, back, result);
    fh_walk_leave_hook(walk);
  }
  fh_walk_pop(walk);
  return rc;
}

int fh_hook_call(fh_walk *walk, TVMFFIObject *hook, TVMFFIObject *obj, TVMFFIObject *other, fh_hook_callback back,
                 int32_t n_back_args, void *client, TVMFFIAny *result) {
  callback c = {back, n_back_args, fh_thread_id(), client};
  TVMFFIAny second = fh_any_object(other);
  return call_marked(walk, hook, obj, other, other != NULL ? &second : NULL, &c, result);
}

int fh_hook_call_value(fh_walk *walk, TVMFFIObject *hook, TVMFFIObject *obj, const TVMFFIAny *second,
                       fh_hook_callback back, int32_t n_back_args, void *client, TVMFFIAny *result) {
  callback c = {back, n_back_args, fh_thread_id(), client};
  return call_marked(walk, hook, obj, NULL, second, &c, result);
}

int fh_hook_raise_result(fh_reflect_attr_id id, const TVMFFIObject *obj, const char *expected, const TVMFFIAny *got) {
  return fh_error_raise(FH_TYPE_ERROR, "Expected %s of `%s` to return `%s` but got `%s`", fh_reflect_attr_name(id),
                        fh_type_name(obj->type_index), expected, fh_type_name(got->type_index));
}
