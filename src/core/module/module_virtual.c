/* module_virtual.c - modules of other libraries: calls through their virtual tables.
 *
 * C calls C++ member functions here, by the layout and the calling convention of the platform's C++ ABI
 * (module_virtual.h). Such a function may throw, and C can neither catch an exception nor let it pass. So if
 * libtvm_ffi_cxx.so is loaded, a function of that library makes the call and catches. */
#include "module_virtual.h"

#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/global.h"
#include "core/object/guard.h"
#include "core/object/str.h"
#include "core/platform/sync.h"

/* One call and its result. The call may run inside of a C++ function that catches exceptions, so its whole state is in
 * one struct. */
typedef struct {
  void *self;
  fh_module_slot slot;
  const void *arg, *arg2;
  fh_module_returned returned;
  const char *text;
  int number;
} virtual_call;

/* Runs the call. A C++ member function gets `this` as its first argument, so it is called as a C function with one more
 * parameter. Functions that return an object need the convention of module_virtual.h. */
static void run_virtual(void *state) {
  virtual_call *call = (virtual_call *)state;
  fh_module_code code = (*(fh_module_code const *const *)call->self)[call->slot];
  switch (call->slot) {
  case FH_SLOT_KIND: call->text = ((const char *(*)(void *))code)(call->self); break;
  case FH_SLOT_PROPERTY_MASK: call->number = ((int (*)(void *))code)(call->self); break;
  case FH_SLOT_IMPLEMENTS: call->number = ((_Bool (*)(void *, const void *))code)(call->self, call->arg); break;
  case FH_SLOT_WRITE: ((void (*)(void *, const void *, const void *))code)(call->self, call->arg, call->arg2); break;
  case FH_SLOT_IMPORT: ((void (*)(void *, const void *))code)(call->self, call->arg); break;
  case FH_SLOT_CLEAR_IMPORTS: ((void (*)(void *))code)(call->self); break;
  default: fh_module_call_returning(code, call->self, call->arg, &call->returned); break;
  }
}

/* Calls a slot: 0, or -1 with the exception as the pending error. Without a catcher no libtvm_ffi_cxx.so is loaded, and
 * a C++ exception would pass through this C code. */
static int invoke(virtual_call *call, TVMFFIObject *module, fh_module_slot slot, const void *arg) {
  TVMFFIObjectHandle catcher;
  call->self = fh_module_this(module);
  call->slot = slot;
  call->arg = arg;
  fh_sync_check_unlocked("a module's function");
  if (!fh_global_find(FH_LITERAL("ffi_hpy.catch_cxx"), &catcher)) {
    run_virtual(call);
    return 0;
  }
  TVMFFIAny args[2] = {fh_any_ptr((void *)(uintptr_t)run_virtual), fh_any_ptr(call)};
  int rc = fh_function_call_drop(catcher, args, 2);
  fh_object_release(catcher);
  return rc;
}

/* The result of a slot that returns a nullable object, which is one pointer in C++. The caller gets its reference. */
static TVMFFIAny returned_object(const virtual_call *call) {
  void *obj;
  memcpy(&obj, &call->returned, sizeof(obj));
  return fh_any_object(obj);
}

static int invoke_object(TVMFFIObject *module, fh_module_slot slot, const TVMFFIAny *arg, TVMFFIAny *out) {
  virtual_call call;
  if (invoke(&call, module, slot, arg) != 0) return -1;
  *out = returned_object(&call);
  return 0;
}

/* A slot that returns an Optional<String> or a String: the ABI has one Any cell for either. */
static int invoke_any(TVMFFIObject *module, fh_module_slot slot, const TVMFFIAny *arg, TVMFFIAny *out) {
  virtual_call call;
  if (invoke(&call, module, slot, arg) != 0) return -1;
  *out = call.returned.value;
  return 0;
}

/* ---- The operations, in the order of fh_module_operations ---- */
static int virtual_kind(TVMFFIObject *module, TVMFFIAny *out) {
  virtual_call call;
  if (invoke(&call, module, FH_SLOT_KIND, NULL) != 0) return -1;
  return fh_str_from_cstr(call.text != NULL ? call.text : "", out);
}

static int virtual_property_mask(TVMFFIObject *module, int64_t *out) {
  virtual_call call;
  if (invoke(&call, module, FH_SLOT_PROPERTY_MASK, NULL) != 0) return -1;
  *out = call.number;
  return 0;
}

/* A nullable Function is a pointer, but an Any in the headers of 0.1.13 and 0.1.13.post0: then the first word is its
 * type, which cannot be a valid pointer. Such a library also expects an Any as an argument, so it is refused. */
static int virtual_function(TVMFFIObject *module, const TVMFFIAny *name, TVMFFIAny *out) {
  virtual_call call;
  call.returned.value = fh_any_none();
  if (invoke(&call, module, FH_SLOT_GET_FUNCTION, name) != 0) return -1;
  if (call.returned.value.type_index == kTVMFFIFunction && call.returned.value.zero_padding == 0) {
    fh_any_drop(&call.returned.value);
    fh_loader_place place;
    const void *code = (const void *)(uintptr_t)fh_module_slots(module)[FH_SLOT_GET_FUNCTION];
    return fh_error_raise(FH_RUNTIME_ERROR,
                          "%s " FH_GUARD_WITHDRAWN
                          "its modules give functions in another layout" FH_GUARD_COMPILE_AGAIN,
                          fh_guard_library(code, &place));
  }
  *out = returned_object(&call);
  return 0;
}

static int virtual_implements(TVMFFIObject *module, const TVMFFIAny *name, int *out) {
  virtual_call call;
  if (invoke(&call, module, FH_SLOT_IMPLEMENTS, name) != 0) return -1;
  *out = call.number != 0;
  return 0;
}

static int virtual_doc(TVMFFIObject *module, const TVMFFIAny *name, TVMFFIAny *out) {
  return invoke_any(module, FH_SLOT_DOC, name, out);
}

static int virtual_metadata(TVMFFIObject *module, const TVMFFIAny *name, TVMFFIAny *out) {
  return invoke_any(module, FH_SLOT_METADATA, name, out);
}

static int virtual_write(TVMFFIObject *module, const TVMFFIAny *file, const TVMFFIAny *format) {
  virtual_call call;
  call.arg2 = format;
  return invoke(&call, module, FH_SLOT_WRITE, file);
}

static int virtual_write_formats(TVMFFIObject *module, TVMFFIAny *out) {
  return invoke_object(module, FH_SLOT_WRITE_FORMATS, NULL, out);
}

static int virtual_source(TVMFFIObject *module, const TVMFFIAny *format, TVMFFIAny *out) {
  return invoke_any(module, FH_SLOT_SOURCE, format, out);
}

static int virtual_import(TVMFFIObject *module, TVMFFIObject *other) {
  virtual_call call;
  TVMFFIObject *argument = other; /* a C++ Module is one pointer, passed by its address */
  return invoke(&call, module, FH_SLOT_IMPORT, &argument);
}

static int virtual_clear_imports(TVMFFIObject *module) {
  virtual_call call;
  return invoke(&call, module, FH_SLOT_CLEAR_IMPORTS, NULL);
}

const fh_module_operations fh_module_virtual = {
    virtual_kind,  virtual_property_mask, virtual_function, virtual_implements, virtual_doc,           virtual_metadata,
    virtual_write, virtual_write_formats, virtual_source,   virtual_import,     virtual_clear_imports,
};
