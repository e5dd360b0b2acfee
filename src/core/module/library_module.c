/* library_module.c - the module of kind "library": functions found as symbols of a library.
 *
 * Such a module has two interfaces. The core calls it by a table of operations in C. C++ code calls it by a virtual
 * table, whose functions are written in C here and do the same. A fh_library_symbols provides the symbols: of a shared
 * library below, or those that the program registered (library_system.c).
 *
 * A library finds its module, to look up imports, through an exported variable __tvm_ffi__library_ctx, which holds the
 * module's address while the module lives. Functions keep their module alive; the library itself is never closed. */
#include "library_module.h"

#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/global.h"
#include "core/object/object.h"
#include "core/object/str.h"
#include "core/object/type.h"
#include "core/platform/mem.h"
#include "core/platform/system.h"
#include "library.h"
#include "library_parts.h"
#include "module.h"
#include "module_virtual.h"

/* Names of the ABI: the prefixes of the symbols of a function, and of the functions that return its metadata and
 * documentation; and the symbols of the context variable and of the embedded modules. */
#define FUNCTION_PREFIX "__tvm_ffi_"
#define METADATA_PREFIX "__tvm_ffi__metadata_"
#define DOC_PREFIX "__tvm_ffi__doc_"
#define CONTEXT_SYMBOL "__tvm_ffi__library_ctx"
#define BLOB_SYMBOL "__tvm_ffi__library_bin"

/* ---- Symbols, shared by the modules of one library ---- */

/* One per call of fh_library_module_new. The users of the struct are that function while it runs, and the modules that
 * it has made: several if embedded modules refer to the library more than once. */
typedef struct {
  uint64_t n_users; /* atomic */
  const fh_library_symbols *symbols;
  void *state;
} library_shared;

static void release_shared(library_shared *shared) {
  /* release: pairs with the fence of the thread that is the last user, so that `end` sees the writes of the other
   * users */
  if (fh_atomic_sub_release_u64(&shared->n_users, 1) != 1) return;
  fh_atomic_fence_acquire_after_u64(&shared->n_users);
  if (shared->symbols->end != NULL) shared->symbols->end(shared->state);
  fh_mem_free(shared);
}

/* ---- The object: the pointer to the table, then the part that the handle points to ---- */

typedef struct {
  fh_module_code const *slots;
  fh_module_object base;
  library_shared *shared;
} library_module;

FH_STATIC_ASSERT(offsetof(library_module, base) == FH_MODULE_OFFSET, "the handle is 8 bytes behind the object");

/* The object of a handle; removes the const because handles in the ABI have none. */
static library_module *of_handle(const void *handle) { return (library_module *)fh_module_this((void *)handle); }

/* Modules that refer to one another in a long chain do so by Arrays of imports and Maps of Functions, whose destruction
 * is queued beyond a depth (fh_object_owner). So a module needs no queue. */
static void delete_module(void *handle, int flags) {
  library_module *module = of_handle(handle);
  if (flags & kTVMFFIObjectDeleterFlagBitMaskStrong) {
    /* The library's variable must not keep the address of a dead module. The address of a later module of the library
     * stays. */
    void **context = (void **)module->shared->symbols->find(module->shared->state, CONTEXT_SYMBOL);
    if (context != NULL && *context == module) *context = NULL;
    fh_object_release(module->base.imports);
    fh_object_release(module->base.lookup_cache);
    release_shared(module->shared);
  }
  if (flags & kTVMFFIObjectDeleterFlagBitMaskWeak) fh_mem_free(module);
}

/* ---- Functions ---- */

/* The closure of a Function: the library's code, and a reference to the module, through which the code may look up
 * imports. */
typedef struct {
  TVMFFISafeCallType code;
  TVMFFIObject *module;
} library_function;

/* A function that a library exports has no closure, so it gets NULL instead. */
FH_CODE(call_function) { return ((const library_function *)self)->code(NULL, args, n_args, result); }

static void end_function(void *self) {
  fh_object_release(((library_function *)self)->module);
  fh_mem_free(self);
}

static int new_function(TVMFFIObject *module, TVMFFISafeCallType code, TVMFFIAny *out) {
  TVMFFIObjectHandle handle;
  library_function *function = (library_function *)fh_mem_alloc(sizeof(*function));
  if (function == NULL) return fh_error_raise_no_memory();
  function->code = code;
  function->module = module;
  if (fh_function_new(function, call_function, end_function, &handle) != 0) {
    fh_mem_free(function);
    return -1;
  }
  /* Last: on failure nothing must be released. */
  fh_object_retain(module);
  *out = fh_any_object(handle);
  return 0;
}

/* *address becomes the address of the library's symbol prefix + name, or of the function with that name; NULL if there
 * is none. */
static int find_named(const library_module *module, const char *prefix, const TVMFFIAny *name, bool is_function,
                      void **address) {
  TVMFFIByteArray text;
  *address = NULL;
  if (!fh_str_content(name, &text)) return 0;
  if (text.size != 0 && memchr(text.data, '\0', text.size) != NULL) return 0; /* no symbol has a NUL in its name */
  /* The symbol as a C string: on the stack, unless it is long. */
  size_t n_prefix = strlen(prefix);
  char few[256], *symbol = few;
  if (n_prefix + text.size >= sizeof(few) && (symbol = (char *)fh_mem_alloc(n_prefix + text.size + 1)) == NULL) {
    return fh_error_raise_no_memory();
  }
  memcpy(symbol, prefix, n_prefix);
  if (text.size != 0) memcpy(symbol + n_prefix, text.data, text.size);
  symbol[n_prefix + text.size] = '\0';
  const library_shared *shared = module->shared;
  *address = (is_function ? shared->symbols->find_function : shared->symbols->find)(shared->state, symbol);
  if (symbol != few) fh_mem_free(symbol);
  return 0;
}

static int find_function(TVMFFIObject *handle, const TVMFFIAny *name, TVMFFIAny *out) {
  void *address;
  *out = fh_any_none();
  if (find_named(of_handle(handle), "", name, 1, &address) != 0) return -1;
  return address == NULL ? 0 : new_function(handle, (TVMFFISafeCallType)(uintptr_t)address, out);
}

static int implements(TVMFFIObject *handle, const TVMFFIAny *name, int *out) {
  void *address;
  int rc = find_named(of_handle(handle), "", name, 1, &address);
  *out = address != NULL;
  return rc;
}

/* Metadata and documentation: the string that a function of the library returns; None if the function does not
 * exist. */
static int get_text(TVMFFIObject *handle, const char *prefix, const TVMFFIAny *name, TVMFFIAny *out) {
  void *address;
  TVMFFIByteArray content;
  *out = fh_any_none();
  if (find_named(of_handle(handle), prefix, name, 0, &address) != 0) return -1;
  if (address == NULL) return 0;
  fh_sync_check_unlocked("a library's function");
  if (((TVMFFISafeCallType)(uintptr_t)address)(NULL, fh_no_arguments, 0, out) != 0) return -1;
  if (fh_str_content(out, &content)) return 0;
  fh_any_drop(out);
  return fh_error_raise(FH_TYPE_ERROR, "Expected a text from the library's symbol %s<name>", prefix);
}

static int get_doc(TVMFFIObject *handle, const TVMFFIAny *name, TVMFFIAny *out) {
  return get_text(handle, DOC_PREFIX, name, out);
}
static int get_metadata(TVMFFIObject *handle, const TVMFFIAny *name, TVMFFIAny *out) {
  return get_text(handle, METADATA_PREFIX, name, out);
}

/* ---- The operations, for the core ---- */

#define KIND "library"
#define PROPERTY_MASK (FH_MODULE_SERIALIZABLE | FH_MODULE_RUNNABLE)

static int get_kind(TVMFFIObject *handle, TVMFFIAny *out) { return (void)handle, fh_str_from_cstr(KIND, out); }

static int get_property_mask(FH_MAYBE_UNUSED TVMFFIObject *handle, int64_t *out) {
  *out = PROPERTY_MASK;
  return 0;
}

static int refuse_write(FH_MAYBE_UNUSED TVMFFIObject *handle, FH_MAYBE_UNUSED const TVMFFIAny *file,
                        FH_MAYBE_UNUSED const TVMFFIAny *format) {
  return fh_error_raise(FH_RUNTIME_ERROR, "Module[library] does not support WriteToFile");
}

static int get_write_formats(FH_MAYBE_UNUSED TVMFFIObject *handle, TVMFFIAny *out) {
  fh_seq_object *none = fh_seq_new_array(0);
  if (none == NULL) return -1;
  *out = fh_any_object(none);
  return 0;
}

static int get_source(FH_MAYBE_UNUSED TVMFFIObject *handle, FH_MAYBE_UNUSED const TVMFFIAny *format, TVMFFIAny *out) {
  return fh_str_new("", 0, out);
}

static int import_module(TVMFFIObject *handle, TVMFFIObject *other) {
  return fh_module_add_import(&of_handle(handle)->base, other);
}

static int clear_imports(TVMFFIObject *handle) { return fh_module_drop_imports(&of_handle(handle)->base); }

static const fh_module_operations operations = {
    get_kind,     get_property_mask, find_function, implements,    get_doc,       get_metadata,
    refuse_write, get_write_formats, get_source,    import_module, clear_imports,
};

/* ---- The functions of the virtual table, for C++ code ---- */

/* Throws the pending error as a C++ exception. Set with the table's type_info while libtvm_ffi_cxx.so is loaded, before
 * any C++ code that could call the table. */
static void (*throw_pending)(void);

/* C cannot throw. Without libtvm_ffi_cxx.so a function of the table that fails returns an empty value; void functions,
 * SaveToBytes and GetWriteFormats leave the error pending. */
static void throw_if_possible(void) {
  if (throw_pending != NULL) throw_pending();
}

static const char *slot_kind(FH_MAYBE_UNUSED void *self) { return KIND; }

static int slot_property_mask(FH_MAYBE_UNUSED void *self) { return PROPERTY_MASK; }

/* An operation above that returns a value by name. */
typedef int (*getter)(TVMFFIObject *handle, const TVMFFIAny *name, TVMFFIAny *out);

/* Returns the result of such an operation to a C++ caller. A failure is thrown; if throwing is impossible the error is
 * dropped, and the result is None. */
static TVMFFIAny get_or_none(getter get, void *self, const void *name) {
  TVMFFIAny value;
  if (get(fh_module_handle(self), (const TVMFFIAny *)name, &value) == 0) return value;
  throw_if_possible();
  fh_error_clear();
  return fh_any_none();
}

FH_RETURNING(slot_get_function, self, ret, name) {
  /* The C++ result, Optional<Function>, is one pointer, which gets the reference. */
  TVMFFIAny value = get_or_none(find_function, self, name);
  memcpy(ret, &value.v_obj, sizeof(value.v_obj));
  FH_RETURNING_END(ret);
}

FH_RETURNING(slot_doc, self, ret, name) {
  TVMFFIAny value = get_or_none(get_doc, self, name);
  memcpy(ret, &value, sizeof(value));
  FH_RETURNING_END(ret);
}

FH_RETURNING(slot_metadata, self, ret, name) {
  TVMFFIAny value = get_or_none(get_metadata, self, name);
  memcpy(ret, &value, sizeof(value));
  FH_RETURNING_END(ret);
}

FH_RETURNING(slot_write_formats, self, ret, nothing) {
  TVMFFIAny formats = fh_any_none();
  if (get_write_formats(fh_module_handle(self), &formats) != 0) {
    throw_if_possible();
    fh_error_clear();
  }
  memcpy(ret, &formats.v_obj, sizeof(formats.v_obj));
  FH_RETURNING_END(ret);
}

/* Fails, although the property mask says that the module can be serialised: a module of this kind that is embedded in a
 * library is stored there as "_lib", without bytes. */
FH_RETURNING(slot_save_to_bytes, self, ret, nothing) {
  TVMFFIAny empty;
  fh_bytes_new("", 0, &empty);
  fh_error_raise(FH_RUNTIME_ERROR, "Module[library] does not support SaveToBytes");
  throw_if_possible();
  memcpy(ret, &empty, sizeof(empty));
  FH_RETURNING_END(ret);
}

FH_RETURNING(slot_source, self, ret, format) {
  TVMFFIAny empty;
  fh_str_new("", 0, &empty);
  memcpy(ret, &empty, sizeof(empty));
  FH_RETURNING_END(ret);
}

static _Bool slot_implements(void *self, const void *name) {
  void *address;
  if (find_named((const library_module *)self, "", (const TVMFFIAny *)name, 1, &address) != 0) {
    throw_if_possible();
    fh_error_clear();
  }
  return address != NULL;
}

static void slot_write(void *self, const void *file, const void *format) {
  refuse_write(fh_module_handle(self), (const TVMFFIAny *)file, (const TVMFFIAny *)format);
  throw_if_possible();
}

static void slot_import(void *self, const void *other) {
  if (fh_module_add_import(&((library_module *)self)->base, *(TVMFFIObject *const *)other) != 0) throw_if_possible();
}

static void slot_clear_imports(void *self) {
  if (fh_module_drop_imports(&((library_module *)self)->base) != 0) throw_if_possible();
}

/* The virtual table of this library's modules. Not const: fh_library_module_attach_cxx writes the type information. */
static fh_module_table table = {
    0,
    NULL,
    {(fh_module_code)slot_kind, (fh_module_code)slot_property_mask, (fh_module_code)slot_get_function,
     (fh_module_code)slot_implements, (fh_module_code)slot_doc, (fh_module_code)slot_metadata,
     (fh_module_code)slot_write, (fh_module_code)slot_write_formats, (fh_module_code)slot_save_to_bytes,
     (fh_module_code)slot_source, (fh_module_code)slot_import, (fh_module_code)slot_clear_imports},
};

void fh_library_module_attach_cxx(const void *type_info, void (*thrower)(void)) {
  table.type_info = type_info;
  throw_pending = thrower;
}

void fh_library_module_init(void) { fh_module_set_operations(table.slots, &operations); }

/* ---- Creation ---- */

/* Makes a module that uses `state`, a library_shared; NULL with an error pending. The library's context variable
 * becomes the address of the module. */
static TVMFFIObject *new_module(void *state) {
  library_shared *shared = (library_shared *)state;
  library_module *module = (library_module *)fh_mem_calloc(1, sizeof(*module));
  if (module == NULL) {
    fh_error_raise_no_memory();
    return NULL;
  }
  module->slots = table.slots;
  fh_object_init(&module->base.header, kTVMFFIModule, delete_module);
  module->shared = shared;
  (void)fh_atomic_add_relaxed_u64(&shared->n_users, 1); /* pairs with nothing: the caller is a user */
  module->base.imports = fh_seq_new_array(0);           /* not NULL: C++ code reads both */
  module->base.lookup_cache = fh_hashmap_new(kTVMFFIMap, 0);
  if (module->base.imports == NULL || module->base.lookup_cache == NULL) {
    fh_object_release(&module->base);
    return NULL;
  }
  void **context = (void **)shared->symbols->find(shared->state, CONTEXT_SYMBOL);
  if (context != NULL) *context = module;
  return &module->base.header;
}

int fh_library_module_new(const fh_library_symbols *symbols, void *state, TVMFFIAny *out) {
  library_shared *shared = (library_shared *)fh_mem_alloc(sizeof(*shared));
  *out = fh_any_none();
  if (shared == NULL) {
    if (symbols->end != NULL) symbols->end(state);
    return fh_error_raise_no_memory();
  }
  /* This function's own use, released at its end: if no module was made, that frees `state`. */
  shared->n_users = 1;
  shared->symbols = symbols;
  shared->state = state;
  int rc = 0;
  fh_library_context_fill(symbols, state); /* before any code of the library is called through its symbols */
  const char *blob = (const char *)symbols->find(state, BLOB_SYMBOL);
  if (blob != NULL) {
    rc = fh_library_blob_load(blob, new_module, shared, out);
  } else {
    *out = fh_any_object(new_module(shared));
    rc = out->type_index == kTVMFFINone ? -1 : 0;
  }
  release_shared(shared);
  return rc;
}

/* ---- Shared libraries ---- */

static void *find_in_library(const void *state, const char *symbol) { return fh_loader_find((void *)state, symbol); }

/* NULL also without memory for a long symbol. */
static void *find_function_in_library(const void *state, const char *name) {
  char few[256], *symbol = few;
  size_t n = strlen(name) + sizeof(FUNCTION_PREFIX);
  if (n > sizeof(few) && (symbol = (char *)fh_mem_alloc(n)) == NULL) return NULL;
  memcpy(symbol, FUNCTION_PREFIX, sizeof(FUNCTION_PREFIX) - 1);
  memcpy(symbol + sizeof(FUNCTION_PREFIX) - 1, name, n - sizeof(FUNCTION_PREFIX) + 1);
  void *address = fh_loader_find((void *)state, symbol);
  if (symbol != few) fh_mem_free(symbol);
  return address;
}

/* The state is the system's handle of a library, which is never closed. */
static const fh_library_symbols shared_library = {find_in_library, find_function_in_library, NULL};

int fh_library_module_open(TVMFFIByteArray path, TVMFFIAny *out) {
  char *text = fh_mem_copy_text(path.data, path.size);
  if (text == NULL) return fh_error_raise_no_memory();
  void *library = fh_library_load(text);
  fh_mem_free(text);
  return library == NULL ? -1 : fh_library_module_new(&shared_library, library, out);
}

/* ---- Loading by extension ---- */

#define LOADER_PREFIX "ffi.Module.load_from_file."

int fh_library_module_load(TVMFFIByteArray path, TVMFFIAny *out) {
  /* The extension selects the loader. The extensions of shared libraries on any system are treated as "so". */
  size_t dot = path.size;
  while (dot > 0 && path.data[dot - 1] != '.') --dot;
  TVMFFIByteArray format = {path.data + dot, path.size - dot};
  if (dot == 0)
    return fh_error_raise(FH_RUNTIME_ERROR, "Expected a file name with an extension but got %.*s", FH_BYTES_ARGS(path));
  if (fh_span_is(format, "dll") || fh_span_is(format, "dylib") || fh_span_is(format, "dso")) format = FH_LITERAL("so");
  char loader_name[128];
  size_t n_name = sizeof(LOADER_PREFIX) - 1 + format.size;
  TVMFFIObjectHandle loader = NULL;
  if (n_name < sizeof(loader_name)) {
    memcpy(loader_name, LOADER_PREFIX, sizeof(LOADER_PREFIX) - 1);
    memcpy(loader_name + sizeof(LOADER_PREFIX) - 1, format.data, format.size);
    fh_global_find((TVMFFIByteArray){loader_name, n_name}, &loader);
  }
  if (loader == NULL) {
    return fh_error_raise(
        FH_RUNTIME_ERROR,
        "cannot load `%.*s`: no loader for `.%.*s` files is registered: expected a global function " LOADER_PREFIX
        "%.*s. Load the library that registers it first",
        FH_BYTES_ARGS(path), FH_BYTES_ARGS(format), FH_BYTES_ARGS(format));
  }
  /* Owned values, because a view of a string would have to end in a NUL, which `path` need not have. */
  TVMFFIAny args[2] = {fh_any_none(), fh_any_none()};
  int rc = fh_str_from_bytes(path, &args[0]);
  if (rc == 0) rc = fh_str_from_bytes(format, &args[1]);
  if (rc == 0) rc = fh_function_call(loader, args, 2, out);
  fh_any_drop(&args[0]);
  fh_any_drop(&args[1]);
  fh_object_release(loader);
  if (rc != 0 || out->type_index == kTVMFFIModule) return rc;
  int32_t returned = out->type_index;
  fh_any_drop(out);
  return fh_error_raise(FH_TYPE_ERROR, "Expected " LOADER_PREFIX "%.*s to return a Module but got `%s`",
                        FH_BYTES_ARGS(format), fh_type_name(returned));
}
