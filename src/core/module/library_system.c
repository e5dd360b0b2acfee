/* library_system.c - the system library: symbols that the program itself registered, as modules.
 *
 * Code that is linked into the program, whose symbols a loader cannot find by name, registers each of its functions as
 * `__tvm_ffi_<prefix><name>`. A module of such code is a view of the symbols with one prefix. Modules and symbols live
 * as long as the process, so readers search both tables without a lock. */
#include <tvm/ffi/extra/c_env_api.h>

#include "core/object/error.h"
#include "core/object/name.h"
#include "core/object/str.h"
#include "core/platform/fork.h"
#include "core/platform/mem.h"
#include "library_module.h"

#define FUNCTION_PREFIX "__tvm_ffi_"

/* Guards adding to both tables; readers need no lock (name.h). */
FH_LOCK(lock, "system", FH_RANK_PLAIN);

/* A name with a pointer; entries are never freed. The pointer of a symbol, its address, may be replaced while other
 * threads read it. The pointer of a prefix is its module. */
typedef struct {
  fh_name_entry entry;
  void *pointer; /* of a symbol: release store when it is registered again, acquire load in find_joined */
} system_entry;

static fh_name_table symbols;
static fh_name_table modules;

/* Adds an entry unless the table has one of that name. Returns the entry of the name; NULL without memory. */
static system_entry *put_entry(fh_name_table *table, TVMFFIByteArray name, void *pointer, bool *is_new) {
  /* Both blocks are made before the lock, and freed after it if the entry exists or the table has no room. */
  system_entry *added = (system_entry *)fh_mem_calloc(1, sizeof(*added));
  char *copy = fh_mem_copy_text(name.data, name.size);
  system_entry *found = NULL;
  *is_new = false;
  if (added != NULL && copy != NULL) {
    added->entry.name = (TVMFFIByteArray){copy, name.size};
    added->pointer = pointer;
    fh_mutex_lock(&lock);
    found = (system_entry *)(void *)fh_name_find(table, name);
    if (found == NULL && fh_name_reserve(table) == 0) {
      fh_name_put(table, &added->entry);
      fh_mem_keep(added);
      fh_mem_keep(copy);
      found = added;
      added = NULL;
      copy = NULL;
      *is_new = true;
    }
    fh_mutex_unlock(&lock);
  }
  fh_mem_free(added);
  fh_mem_free(copy);
  return found;
}

/* ---- Symbols ---- */

int TVMFFIEnvModRegisterSystemLibSymbol(const char *name, void *symbol) {
  if (name == NULL) return fh_error_raise(FH_VALUE_ERROR, "Expected the name of a symbol but got NULL");
  bool is_new;
  system_entry *entry = put_entry(&symbols, fh_base_bytes(name), symbol, &is_new);
  if (entry == NULL) return fh_error_raise_no_memory();
  if (!is_new) fh_atomic_store_release_ptr(&entry->pointer, symbol); /* pairs with the load in find_joined */
  return 0;
}

/* The address of a + b + c, or NULL, also without memory. */
static void *find_joined(const char *a, const char *b, const char *c) {
  size_t n_a = strlen(a), n_b = strlen(b), n_c = strlen(c), n = n_a + n_b + n_c;
  /* Names are short, so this rarely allocates. */
  char few[256], *text = few;
  if (n > sizeof(few) && (text = (char *)fh_mem_alloc(n)) == NULL) return NULL;
  memcpy(text, a, n_a);
  memcpy(text + n_a, b, n_b);
  memcpy(text + n_a + n_b, c, n_c);
  const system_entry *entry = (const system_entry *)(void *)fh_name_find(&symbols, (TVMFFIByteArray){text, n});
  if (text != few) fh_mem_free(text);
  /* pairs with the store in TVMFFIEnvModRegisterSystemLibSymbol */
  return entry != NULL ? fh_atomic_load_acquire_ptr(&entry->pointer) : NULL;
}

/* A module's state is its prefix. A name may begin with the prefix already, so it is also looked up unchanged. */
static void *find_symbol(const void *prefix, const char *symbol) {
  void *address = find_joined((const char *)prefix, symbol, "");
  return address != NULL ? address : find_joined(symbol, "", "");
}

static void *find_function(const void *prefix, const char *name) {
  void *address = find_joined(FUNCTION_PREFIX, (const char *)prefix, name);
  return address != NULL ? address : find_joined(FUNCTION_PREFIX, name, "");
}

static const fh_library_symbols system_symbols = {find_symbol, find_function, fh_mem_free};

/* ---- Modules ---- */

static TVMFFIObject *find_module(TVMFFIByteArray prefix) {
  const system_entry *entry = (const system_entry *)(void *)fh_name_find(&modules, prefix);
  return entry != NULL ? (TVMFFIObject *)entry->pointer : NULL;
}

/* Registers a module (borrowed) unless another thread has registered one for that prefix. Returns the registered one,
 * borrowed; NULL without memory. */
static TVMFFIObject *put_module(TVMFFIByteArray prefix, TVMFFIObject *module) {
  bool is_new;
  system_entry *entry = put_entry(&modules, prefix, module, &is_new);
  if (entry == NULL) return NULL;
  if (is_new) fh_object_retain(module); /* forever; the caller's reference keeps the module until here */
  return (TVMFFIObject *)entry->pointer;
}

int fh_library_module_system(TVMFFIByteArray prefix, TVMFFIAny *out) {
  if (prefix.size != 0 && fh_str_check_name("a prefix of symbols", prefix) != 0) return -1;
  TVMFFIObject *module = find_module(prefix);
  TVMFFIAny fresh = fh_any_none();
  /* Two threads may make a module for one prefix; put_module chooses one of the two, and the other is dropped. */
  if (module == NULL) {
    char *state = fh_mem_copy_text(prefix.data, prefix.size);
    if (state == NULL) return fh_error_raise_no_memory();
    if (fh_library_module_new(&system_symbols, state, &fresh) != 0) return -1;
    module = put_module(prefix, fresh.v_obj);
  }
  if (module != NULL) {
    TVMFFIAny chosen = fh_any_object(module);
    fh_any_copy(&chosen, out);
  }
  fh_any_drop(&fresh);
  return module != NULL ? 0 : fh_error_raise_no_memory();
}
