/* globals_registry.c - ffi.* functions for global functions and type keys. */
#include "core/container/seq.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/global.h"
#include "core/object/str.h"
#include "core/object/type.h"
#include "core/platform/mem.h"
#include "globals_entry.h"

/* ---- Names of global functions ---- */

/* Function(i) -> the i-th name, or for a negative i the number of names. The closure is an Array of the names, a
 * consistent copy. IndexError. */
FH_CODE(names_call) {
  const char *name = "ffi.FunctionListGlobalNamesFunctor.<names>";
  const fh_seq_object *names = (const fh_seq_object *)self;
  int64_t i;
  if (fh_function_check_count(name, n_args, 1) != 0 || fh_function_arg_int(name, args, 0, &i) != 0) return -1;
  if (i < 0) {
    *result = fh_any_int(fh_seq_size(names));
    return 0;
  }
  if (fh_seq_check_index(names, i) != 0) return -1;
  fh_any_copy(&fh_seq_items(names)[i], result);
  return 0;
}

/* ffi.FunctionListGlobalNamesFunctor() -> Function(i). A Function and not an Array, as in the reference. */
FH_GLOBAL(list_names, "ffi.FunctionListGlobalNamesFunctor", 0, "ffi.Function()") {
  TVMFFIAny *names;
  int64_t n;
  TVMFFIObjectHandle func;
  if (fh_global_names(&names, &n) != 0) return -1;
  fh_seq_object *array = fh_seq_from_views(kTVMFFIArray, names, n);
  fh_seq_drop_items(names, n);
  if (array == NULL) return -1;
  if (fh_function_new(array, names_call, fh_object_release, &func) != 0) {
    fh_object_release(array);
    return -1;
  }
  *result = fh_any_object(func);
  return 0;
}

/* ffi.FunctionRemoveGlobal(name) -> whether there was one */
FH_GLOBAL(remove_global, "ffi.FunctionRemoveGlobal", 1, "bool(ffi.String)") {
  TVMFFIByteArray removed;
  if (fh_function_arg_str(name, args, 0, &removed) != 0) return -1;
  *result = fh_any_bool(fh_global_remove(removed));
  return 0;
}

/* Returns the documentation, or the metadata, of a function. */
static int get_text(const char *getter, const TVMFFIAny *args, bool is_doc, TVMFFIAny *result) {
  TVMFFIByteArray name;
  return fh_function_arg_str(getter, args, 0, &name) != 0 ? -1 : fh_global_text(name, is_doc, result);
}

/* ffi.GetGlobalFuncMetadata(name) -> JSON. RuntimeError. */
FH_GLOBAL(get_metadata, "ffi.GetGlobalFuncMetadata", 1, "ffi.String(ffi.String)") {
  return get_text(name, args, false, result);
}

/* ffi_hpy.GetGlobalFuncDoc(name) -> str. RuntimeError. */
FH_GLOBAL(get_doc, "ffi_hpy.GetGlobalFuncDoc", 1, "ffi.String(ffi.String)") {
  return get_text(name, args, true, result);
}

/* ffi.FunctionFromExternC(closure, code, deleter) -> Function: TVMFFIFunctionCreate, with pointers as values. The
 * deleter may be None. */
FH_GLOBAL(from_extern_c, "ffi.FunctionFromExternC", 3, "ffi.Function(void*, void*, void*)") {
  void *closure, *call, *deleter;
  TVMFFIObjectHandle func;
  if (fh_function_arg_ptr(name, args, 0, &closure) != 0 || fh_function_arg_ptr(name, args, 1, &call) != 0 ||
      fh_function_arg_ptr(name, args, 2, &deleter) != 0) {
    return -1;
  }
  if (fh_function_new(closure, (TVMFFISafeCallType)(uintptr_t)call, (void (*)(void *))(uintptr_t)deleter, &func) != 0) {
    return -1;
  }
  *result = fh_any_object(func);
  return 0;
}

/* ---- Types ---- */

/* ffi.GetRegisteredTypeKeys() -> Array, in order of type indices */
FH_GLOBAL(get_type_keys, "ffi.GetRegisteredTypeKeys", 0, "ffi.Array<ffi.String>()") {
  int32_t end = fh_type_end(); /* leaves out a type that gets an index from `end` on during the loop */
  fh_seq_object *keys = fh_seq_new_array(end);
  if (keys == NULL) return -1;
  for (int32_t i = 0; i < end; ++i) {
    const TVMFFITypeInfo *info = fh_type_find(i);
    TVMFFIAny key;
    if (info == NULL) continue;
    if (fh_str_from_bytes(info->type_key, &key) != 0 || fh_seq_push(keys, key) != 0) {
      fh_object_release(keys);
      return -1;
    }
  }
  *result = fh_any_object(keys);
  return 0;
}

const fh_globals_item fh_globals_registry[] = {&list_names,    &remove_global, &get_metadata, &get_doc,
                                               &from_extern_c, &get_type_keys, NULL};
