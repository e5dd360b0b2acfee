/* module.c - the operations on modules of any library: queries that include imports, and importing.
 *
 * A module is a C++ object with a virtual table (module_virtual.h). The address of that table identifies the
 * implementation: modules of this library have a table of operations in C, and the modules of all other libraries are
 * called through their virtual table. This file adds imports: a module imports others, without cycles, and they get the
 * queries that the module cannot answer itself.
 *
 * The list of imports is an immutable Array that is replaced as a whole. So a reader takes a reference to it under the
 * lock and reads it without the lock. */
#include "module.h"

#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/global.h"
#include "core/object/reflect.h"
#include "core/object/str.h"
#include "core/platform/fork.h"
#include "module_virtual.h"

#include <tvm/ffi/extra/c_env_api.h>

FH_STATIC_ASSERT(offsetof(fh_module_object, imports) == 24, "ABI");
FH_STATIC_ASSERT(offsetof(fh_module_object, lookup_cache) == 32, "ABI");

/* Guards every module's `imports` and `lookup_cache`: one lock for all, because the ABI's layout has no room for one
 * per module. */
FH_LOCK(lock, "module", FH_RANK_PLAIN);

/* ---- The operations of a module ---- */

static const void *known_table; /* written while the library is loaded */
static const fh_module_operations *known_operations;

void fh_module_set_operations(const void *virtual_table, const fh_module_operations *operations) {
  known_table = virtual_table;
  known_operations = operations;
}

/* No lock: both variables are written by the load-time constructor. */
static const fh_module_operations *operations_of(TVMFFIObject *module) {
  return fh_module_slots(module) == known_table ? known_operations : &fh_module_virtual;
}

int fh_module_kind(TVMFFIObject *module, TVMFFIAny *out) { return operations_of(module)->kind(module, out); }
int fh_module_property_mask(TVMFFIObject *module, int64_t *out) {
  return operations_of(module)->property_mask(module, out);
}
int fh_module_source(TVMFFIObject *module, const TVMFFIAny *format, TVMFFIAny *out) {
  return operations_of(module)->source(module, format, out);
}
int fh_module_write_formats(TVMFFIObject *module, TVMFFIAny *out) {
  return operations_of(module)->write_formats(module, out);
}
int fh_module_write(TVMFFIObject *module, const TVMFFIAny *file, const TVMFFIAny *format) {
  return operations_of(module)->write(module, file, format);
}

/* ---- Queries that imported modules answer, too ---- */

fh_seq_object *fh_module_imports(fh_module_object *module) {
  fh_mutex_lock(&lock);
  fh_seq_object *imports = module->imports;
  if (imports != NULL) fh_object_retain(imports);
  fh_mutex_unlock(&lock);
  return imports;
}

/* Asks one module: 1 with an answer in *out, 0 without one, -1. */
typedef int (*question)(TVMFFIObject *module, const TVMFFIAny *name, TVMFFIAny *out);

static int ask_function(TVMFFIObject *module, const TVMFFIAny *name, TVMFFIAny *out) {
  return operations_of(module)->function(module, name, out) != 0 ? -1 : out->type_index != kTVMFFINone;
}
static int ask_doc(TVMFFIObject *module, const TVMFFIAny *name, TVMFFIAny *out) {
  return operations_of(module)->doc(module, name, out) != 0 ? -1 : out->type_index != kTVMFFINone;
}
static int ask_metadata(TVMFFIObject *module, const TVMFFIAny *name, TVMFFIAny *out) {
  return operations_of(module)->metadata(module, name, out) != 0 ? -1 : out->type_index != kTVMFFINone;
}
static int ask_implements(TVMFFIObject *module, const TVMFFIAny *name, FH_MAYBE_UNUSED TVMFFIAny *out) {
  int found;
  return operations_of(module)->implements(module, name, &found) != 0 ? -1 : found;
}

/* Inserts the imports of the module at `position` of `list` after it, except those that are in the list already. */
static int add_imports_at(fh_seq_object *list, int64_t position) {
  /* A scan for each import: modules are few. */
  fh_seq_object *imports = fh_module_imports((fh_module_object *)fh_seq_items(list)[position].v_obj);
  int rc = 0;
  for (int64_t i = 0; imports != NULL && i < fh_seq_size(imports) && rc == 0; ++i) {
    TVMFFIAny import;
    bool is_known = false;
    fh_any_copy(&fh_seq_items(imports)[i], &import);
    for (int64_t k = 0; k < fh_seq_size(list) && !is_known; ++k) {
      is_known = fh_any_same(&fh_seq_items(list)[k], &import);
    }
    /* A C++ implementation may have put any values into this Array, so its items are checked. */
    bool is_new = import.type_index == kTVMFFIModule && !is_known;
    if (is_new) {
      rc = fh_list_insert(list, ++position, import);
    } else {
      fh_any_drop(&import);
    }
  }
  fh_object_release(imports);
  return rc;
}

/* The module and all its direct and indirect imports, each once: a module before its imports, the imports of its first
 * import before its second one. */
static fh_seq_object *reachable(TVMFFIObject *module) {
  TVMFFIAny root = fh_any_object(module);
  fh_seq_object *list = fh_seq_from_views(kTVMFFIList, &root, 1);
  for (int64_t i = 0; list != NULL && i < fh_seq_size(list); ++i) {
    if (add_imports_at(list, i) == 0) continue;
    fh_object_release(list);
    return NULL;
  }
  return list;
}

/* Asks the module, and with query_imports all its imports, until one has an answer: 1, 0 or -1, the result of
 * ask_one. */
static int ask(TVMFFIObject *module, const TVMFFIAny *name, int query_imports, question ask_one, TVMFFIAny *out) {
  *out = fh_any_none();
  int found = ask_one(module, name, out);
  if (found != 0 || !query_imports) return found;
  fh_seq_object *modules = reachable(module);
  if (modules == NULL) return -1;
  /* From 1 on: number 0 is the module itself, which has no answer. */
  for (int64_t i = 1; i < fh_seq_size(modules) && found == 0; ++i) {
    found = ask_one(fh_seq_items(modules)[i].v_obj, name, out);
  }
  fh_object_release(modules);
  return found;
}

int fh_module_get_function(TVMFFIObject *module, const TVMFFIAny *name, int query_imports, TVMFFIAny *out) {
  return ask(module, name, query_imports, ask_function, out) < 0 ? -1 : 0;
}
int fh_module_doc(TVMFFIObject *module, const TVMFFIAny *name, int query_imports, TVMFFIAny *out) {
  return ask(module, name, query_imports, ask_doc, out) < 0 ? -1 : 0;
}
int fh_module_metadata(TVMFFIObject *module, const TVMFFIAny *name, int query_imports, TVMFFIAny *out) {
  return ask(module, name, query_imports, ask_metadata, out) < 0 ? -1 : 0;
}
int fh_module_implements(TVMFFIObject *module, const TVMFFIAny *name, int query_imports, int *out) {
  TVMFFIAny nothing;
  int found = ask(module, name, query_imports, ask_implements, &nothing);
  *out = found > 0;
  return found < 0 ? -1 : 0;
}

/* ---- Importing ---- */

/* The number of imports that modules have ever got; under the lock. A thread that has looked for cycles without the
 * lock compares this number to learn whether its answer may be outdated. */
static uint64_t n_imported;

static uint64_t read_n_imported(void) {
  fh_mutex_lock(&lock);
  uint64_t n = n_imported;
  fh_mutex_unlock(&lock);
  return n;
}

/* RuntimeError if `other` is the module or imports it. */
static int check_cycle(const fh_module_object *module, TVMFFIObject *other) {
  fh_seq_object *modules = reachable(other);
  if (modules == NULL) return -1;
  bool is_cyclic = false;
  for (int64_t i = 0; i < fh_seq_size(modules); ++i) {
    is_cyclic |= fh_seq_items(modules)[i].v_obj == &module->header;
  }
  fh_object_release(modules);
  if (!is_cyclic) return 0;
  return fh_error_raise(FH_RUNTIME_ERROR, "Expected a module that does not import this one but got one that does");
}

/* An Array of the imports (NULL: none) and one more; NULL with an error pending. */
static fh_seq_object *longer_imports(const fh_seq_object *imports, TVMFFIObject *other) {
  int64_t n = imports != NULL ? fh_seq_size(imports) : 0;
  fh_seq_object *longer = fh_seq_new_array(n + 1);
  for (int64_t i = 0; longer != NULL && i <= n; ++i) {
    TVMFFIAny added = fh_any_object(other), item;
    fh_any_copy(i < n ? &fh_seq_items(imports)[i] : &added, &item);
    (void)fh_seq_push(longer, item); /* there is room */
  }
  return longer;
}

/* Publishes `longer` (stolen) unless imports have changed since `seen` and `before` were read: 1, or 0. */
static bool publish_imports(fh_module_object *module, uint64_t seen, fh_seq_object *before, fh_seq_object *longer) {
  fh_mutex_lock(&lock);
  bool is_current = n_imported == seen && module->imports == before;
  if (is_current) {
    module->imports = longer;
    n_imported += 1;
  }
  fh_mutex_unlock(&lock);
  /* Either the module's reference to the replaced Array, or the Array that was not published. */
  fh_object_release(is_current ? before : longer);
  return is_current;
}

/* Optimistic concurrency. Reading, checking and copying release objects and may raise errors, so they cannot run under
 * the lock. If another thread imports during these steps, they run again: both imports together might form a cycle. Of
 * several threads one succeeds each time, so all of them end. */
int fh_module_add_import(fh_module_object *module, TVMFFIObject *other) {
  for (bool is_done = false; !is_done;) {
    uint64_t seen = read_n_imported();
    if (check_cycle(module, other) != 0) return -1;
    fh_seq_object *before = fh_module_imports(module);
    fh_seq_object *longer = longer_imports(before, other);
    if (longer != NULL) is_done = publish_imports(module, seen, before, longer);
    fh_object_release(before);
    if (longer == NULL) return -1;
  }
  return 0;
}

int fh_module_import(TVMFFIObject *module, TVMFFIObject *other) { return operations_of(module)->import(module, other); }

int fh_module_drop_imports(fh_module_object *module) {
  fh_seq_object *empty = fh_seq_new_array(0); /* not NULL: C++ code reads it */
  if (empty == NULL) return -1;
  fh_mutex_lock(&lock);
  fh_seq_object *old = module->imports;
  module->imports = empty;
  fh_mutex_unlock(&lock);
  fh_object_release(old);
  return 0;
}

int fh_module_clear_imports(TVMFFIObject *module) { return operations_of(module)->clear_imports(module); }

/* ---- Functions that a module's code looks up ---- */

/* Under the lock. The cached Function, borrowed from the cache; NULL if there is none. */
static TVMFFIObject *find_cached(fh_module_object *module, const TVMFFIAny *name) {
  fh_hashmap_pair *pair;
  if (module->lookup_cache == NULL) return NULL;
  /* strings have no hooks */
  return fh_hashmap_find(module->lookup_cache, name, FH_HASHMAP_NO_HOOKS, &pair) == 1 ? pair->value.v_obj : NULL;
}

/* Puts `func` (stolen) into the module's cache unless another thread was first. *out is the cached Function, borrowed,
 * or NULL on -1. Functions are never removed from a cache, and a name keeps its first Function, so a borrowed Function
 * lives as long as the module. */
static int put_cached(fh_module_object *module, const TVMFFIAny *name, TVMFFIAny func, TVMFFIObjectHandle *out) {
  fh_hashmap_pair pair = {fh_any_none(), func};
  fh_hashmap_rest rest = {{fh_any_none(), fh_any_none()}, FH_MEM_NONE_ASIDE};
  fh_hashmap_object *fresh = fh_hashmap_new(kTVMFFIMap, 0); /* before the lock, because a failure raises an error */
  if (fresh == NULL) {
    fh_any_drop(&func);
    return -1;
  }
  int rc = 0;
  fh_any_copy(name, &pair.key);
  fh_mutex_lock(&lock);
  if (module->lookup_cache == NULL) {
    module->lookup_cache = fresh;
    fresh = NULL;
  }
  *out = find_cached(module, name);
  bool is_first = *out == NULL;
  if (is_first) rc = fh_hashmap_set(module->lookup_cache, &pair, FH_HASHMAP_NO_HOOKS, &rest);
  if (is_first && rc == 0) *out = func.v_obj;
  fh_mutex_unlock(&lock);
  fh_object_release(fresh);
  if (!is_first || rc != 0) fh_hashmap_drop_pair(&pair);
  return fh_hashmap_finish(rc, &rest);
}

/* Finds a name that is not in the cache: in the imports, then among the global functions. The module itself is skipped:
 * its own code finds its own functions without help. */
static int lookup(fh_module_object *module, const TVMFFIAny *name, TVMFFIByteArray text, TVMFFIObjectHandle *out) {
  TVMFFIAny func = fh_any_none();
  TVMFFIObjectHandle global;
  fh_seq_object *modules = reachable(&module->header);
  if (modules == NULL) return -1;
  int found = 0;
  for (int64_t i = 1; i < fh_seq_size(modules) && found == 0; ++i) {
    found = ask_function(fh_seq_items(modules)[i].v_obj, name, &func);
  }
  fh_object_release(modules);
  if (found < 0) return -1;
  if (found == 0 && fh_global_find(text, &global)) {
    func = fh_any_object(global);
    found = 1;
  }
  if (found == 0) {
    return fh_error_raise(FH_RUNTIME_ERROR,
                          "Expected `%.*s` in an imported module or as a global function but there is none",
                          FH_BYTES_ARGS(text));
  }
  return put_cached(module, name, func, out);
}

int TVMFFIEnvModLookupFromImports(TVMFFIObjectHandle library_ctx, const char *func_name, TVMFFIObjectHandle *out) {
  *out = NULL;
  if (func_name == NULL) return fh_error_raise(FH_VALUE_ERROR, "Expected the name of a function but got NULL");
  TVMFFIByteArray text = fh_base_bytes(func_name);
  TVMFFIAny name;
  if (library_ctx == NULL) {
    return fh_error_raise(FH_RUNTIME_ERROR, "Cannot find function %s: its module is not loaded", func_name);
  }
  /* library_ctx is the value of the library's context variable: the C++ object, 8 bytes before the handle. */
  fh_module_object *module = (fh_module_object *)fh_module_handle(library_ctx);
  if (fh_str_from_bytes(text, &name) != 0) return -1;
  fh_mutex_lock(&lock);
  *out = find_cached(module, &name);
  fh_mutex_unlock(&lock);
  int rc = *out != NULL ? 0 : lookup(module, &name, text, out);
  fh_any_drop(&name);
  return rc;
}

/* ---- Reflection ---- */

/* Field getter of `imports_`. The getter takes a reference under the lock, because an import may replace the Array at
 * any time. */
static int get_imports(void *field, TVMFFIAny *out) {
  fh_module_object *module = (fh_module_object *)(void *)((char *)field - offsetof(fh_module_object, imports));
  fh_seq_object *imports = fh_module_imports(module);
  if (imports == NULL) imports = fh_seq_new_array(0);
  if (imports == NULL) return -1;
  *out = fh_any_object(&imports->header);
  return 0;
}

void fh_module_init(void) {
  TVMFFIFieldInfo imports = {
      .name = FH_LITERAL("imports_"),
      .doc = FH_LITERAL("The modules that this one imports."),
      .metadata = FH_LITERAL(FH_SCHEMA(FH_SCHEMA_GENERIC("ffi.Array", FH_SCHEMA_ANY))),
      .size = sizeof(void *),
      .alignment = sizeof(void *),
      .offset = offsetof(fh_module_object, imports),
      .getter = get_imports,
      .field_static_type_index = kTVMFFIArray,
  };
  TVMFFITypeMetadata metadata = {.total_size = sizeof(void *) + sizeof(fh_module_object), /* a vptr comes first */
                                 .structural_eq_hash_kind = kTVMFFISEqHashKindUnsupported};
  (void)TVMFFITypeRegisterMetadata(kTVMFFIModule,
                                   /* without memory the error stays pending, as in all of the load-time constructor */
                                   &metadata);
  (void)TVMFFITypeRegisterField(kTVMFFIModule, &imports);
  (void)fh_reflect_set_final(kTVMFFIModule, 1);
}
