/* function.c - function objects, calls, and the argument checks of functions written in C.
 *
 * The checks need the function's name only for their messages, which are worded like those of the C++ headers
 * (function_detail.h). */
#include "function.h"

#include "core/platform/mem.h"
#include "error.h"
#include "object_new.h"
#include "str.h"
#include "type.h"

/* ---- Function objects ---- */

/* A Function of TVMFFIFunctionCreate. The part after the cell differs between libraries. */
typedef struct {
  TVMFFIObject header;
  TVMFFIFunctionCell cell;
  void *self;                  /* belongs to the client; the argument of `deleter` */
  TVMFFISafeCallType call;     /* the client's function; callers call `cell.safe_call` */
  void (*deleter)(void *self); /* may be NULL */
} closure;

FH_STATIC_ASSERT(offsetof(closure, cell) == 24, "the cell follows the header");
FH_STATIC_ASSERT(offsetof(closure, self) == 40, "the ABI's part comes first");

/* The ABI's entry point of a closure: replaces the handle by `self`. */
static int call_with_self(void *handle, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  closure *function = (closure *)handle;
  return function->call(function->self, args, n_args, result);
}

/* Only the deleter knows the objects that `self` owns, so destroying nested closures recurses. */
static void closure_delete(void *handle, int flags) {
  closure *function = (closure *)handle;
  if ((flags & kTVMFFIObjectDeleterFlagBitMaskStrong) && function->deleter != NULL) function->deleter(function->self);
  fh_object_delete_plain(handle, flags);
}

/* `entry` is the ABI's entry point. */
static int closure_new(void *self, TVMFFISafeCallType call, TVMFFISafeCallType entry, void (*deleter)(void *self),
                       TVMFFIObjectHandle *out) {
  *out = NULL;
  if (call == NULL) return fh_error_raise(FH_VALUE_ERROR, "Expected a function to call but got NULL");
  closure *function = (closure *)fh_object_new(sizeof(*function), kTVMFFIFunction, closure_delete);
  if (function == NULL) return -1;
  function->self = self;
  function->call = call;
  function->deleter = deleter;
  function->cell.safe_call = entry;
  *out = function;
  return 0;
}

int fh_function_new(void *self, TVMFFISafeCallType call, void (*deleter)(void *self), TVMFFIObjectHandle *out) {
  /* With neither, `call` gets the handle instead of `self`, as c_api.h promises: saves an indirect call. */
  return closure_new(self, call, self == NULL && deleter == NULL ? call : call_with_self, deleter, out);
}

int fh_function_new_direct(void *self, TVMFFISafeCallType call, void (*deleter)(void *self), TVMFFIObjectHandle *out) {
  return closure_new(self, call, call, deleter, out);
}

/* A Function with one of these entry points is a closure of this file: no other library makes Functions with them. */
void *fh_function_self(TVMFFIObjectHandle func, TVMFFISafeCallType call) {
  const closure *function = (const closure *)func;
  TVMFFISafeCallType entry = function->cell.safe_call;
  return entry == call || (entry == call_with_self && function->call == call) ? function->self : NULL;
}

int fh_function_call_drop(TVMFFIObjectHandle func, const TVMFFIAny *args, int32_t n_args) {
  TVMFFIAny result;
  if (fh_function_call(func, args, n_args, &result) != 0) return -1;
  fh_any_drop(&result);
  return 0;
}

int TVMFFIFunctionCreate(void *self, TVMFFISafeCallType safe_call, void (*deleter)(void *self),
                         TVMFFIObjectHandle *out) {
  return fh_function_new(self, safe_call, deleter, out);
}

const TVMFFIAny fh_no_arguments[1];

/* Not fh_function_call: here the caller has made *result None. */
int TVMFFIFunctionCall(TVMFFIObjectHandle func, TVMFFIAny *args, int32_t num_args, TVMFFIAny *result) {
  fh_sync_check_unlocked("a Function");
  return TVMFFIFunctionGetCellPtr(func)->safe_call(func, args != NULL ? args : fh_no_arguments, num_args, result);
}

/* ---- Argument checks. An Int is accepted for a Bool and a Bool for an Int, as in C++; a string for bytes ---- */

int fh_function_check_count(const char *name, int32_t n_args, int32_t n_expected) {
  if (n_args == n_expected) return 0;
  return fh_error_raise(FH_TYPE_ERROR,
                        "Mismatched number of arguments when calling: `%s`. Expected %d but got %d arguments", name,
                        (int)n_expected, (int)n_args);
}

int fh_function_raise_type(const char *name, int32_t i, const char *expected, const TVMFFIAny *got) {
  return fh_error_raise(FH_TYPE_ERROR, "Mismatched type on argument #%d when calling: `%s`. Expected `%s` but got `%s`",
                        (int)i, name, expected, fh_type_name(got->type_index));
}

int fh_function_arg_int(const char *name, const TVMFFIAny *args, int32_t i, int64_t *out) {
  if (args[i].type_index != kTVMFFIInt && args[i].type_index != kTVMFFIBool) {
    return fh_function_raise_type(name, i, "int", &args[i]);
  }
  *out = args[i].v_int64;
  return 0;
}

int fh_function_arg_bool(const char *name, const TVMFFIAny *args, int32_t i, int *out) {
  if (args[i].type_index != kTVMFFIInt && args[i].type_index != kTVMFFIBool) {
    return fh_function_raise_type(name, i, "bool", &args[i]);
  }
  *out = args[i].v_int64 != 0;
  return 0;
}

int fh_function_arg_ptr(const char *name, const TVMFFIAny *args, int32_t i, void **out) {
  switch (args[i].type_index) {
  case kTVMFFIOpaquePtr: *out = args[i].v_ptr; return 0;
  case kTVMFFINone: *out = NULL; return 0;
  default: return fh_function_raise_type(name, i, "void*", &args[i]);
  }
}

/* The referent of an argument that may be an rvalue reference: borrowed. None if its object was moved out already. */
static TVMFFIAny referent_of(const TVMFFIAny *arg) {
  return arg->type_index == kTVMFFIObjectRValueRef ? fh_any_object(*(TVMFFIObject **)arg->v_ptr) : *arg;
}

int fh_function_arg_str(const char *name, const TVMFFIAny *args, int32_t i, TVMFFIByteArray *out) {
  /* not through a copy: the bytes of a small string are in the argument itself */
  if (fh_str_content(&args[i], out)) return 0;
  TVMFFIAny referred = referent_of(&args[i]);
  if (fh_any_is_object(&referred) && fh_str_content(&referred, out)) return 0;
  return fh_function_raise_type(name, i, "str", &args[i]);
}

int fh_function_arg_bytes(const char *name, const TVMFFIAny *args, int32_t i, TVMFFIByteArray *out) {
  if (fh_bytes_content(&args[i], out) || fh_str_content(&args[i], out)) return 0;
  TVMFFIAny referred = referent_of(&args[i]);
  if (fh_any_is_object(&referred) && (fh_bytes_content(&referred, out) || fh_str_content(&referred, out))) return 0;
  return fh_function_raise_type(name, i, "bytes", &args[i]);
}

int fh_function_arg_object(const char *name, const TVMFFIAny *args, int32_t i, int32_t type_index, TVMFFIObject **out) {
  /* The frequent case. `type_index` is that of an object type, so an argument with this index is an object. */
  if (FH_LIKELY(args[i].type_index == type_index)) {
    *out = args[i].v_obj;
    return 0;
  }
  TVMFFIAny referred = referent_of(&args[i]);
  /* a message names the type of the referent */
  if (!fh_any_is_object(&referred) || !fh_type_is_instance(referred.type_index, type_index)) {
    return fh_function_raise_type(name, i, fh_type_name(type_index), &referred);
  }
  *out = referred.v_obj;
  return 0;
}
