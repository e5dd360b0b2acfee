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

/* A registered symbol, which may be registered again with another address while other threads read it. */
typedef struct {
  fh_name_entry entry;
  void *address; /* release store when it is registered again, acquire load in find */
} symbol_entry;

/* One module per prefix, never freed. */
typedef struct {
  fh_name_entry entry;
  TVMFFIObject *module;
} module_entry;

static fh_name_table symbols;
static fh_name_table modules;

/* ---- Symbols ---- */

int TVMFFIEnvModRegisterSystemLibSymbol(const char *name, void *symbol) {
  if (name == NULL) return fh_error_raise(FH_VALUE_ERROR, "Expected the name of a symbol but got NULL");
  TVMFFIByteArray text = fh_base_bytes(name);
  /* Made before the lock. They are freed after it if they are not used, because the symbol exists or the table has no
   * room. */
  symbol_entry *added = (symbol_entry *)fh_mem_calloc(1, sizeof(*added));
  char *copy = fh_mem_copy_text(text.data, text.size);
  int rc = added == NULL || copy == NULL ? -1 : 0;
  if (rc == 0) {
    added->entry.name = (TVMFFIByteArray){copy, text.size};
    added->address = symbol;
    fh_mutex_lock(&lock);
    symbol_entry *present = (symbol_entry *)(void *)fh_name_find(&symbols, text);
    if (present != NULL) {
      fh_atomic_store_release_ptr(&present->address, symbol); /* pairs with the load in find */
    } else if ((rc = fh_name_reserve(&symbols)) == 0) {
      fh_name_put(&symbols, &added->entry);
      fh_mem_keep(added);
      fh_mem_keep(copy);
      added = NULL;
      copy = NULL;
    }
    fh_mutex_unlock(&lock);
  }
  fh_mem_free(added);
  fh_mem_free(copy);
  return rc == 0 ? 0 : fh_error_raise_no_memory();
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
  const symbol_entry *entry = (const symbol_entry *)(void *)fh_name_find(&symbols, (TVMFFIByteArray){text, n});
  if (text != few) fh_mem_free(text);
  /* pairs with the store in TVMFFIEnvModRegisterSystemLibSymbol */
  return entry != NULL ? fh_atomic_load_acquire_ptr(&entry->address) : NULL;
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
  const module_entry *entry = (const module_entry *)(void *)fh_name_find(&modules, prefix);
  return entry != NULL ? entry->module : NULL;
}

/* Registers a module (borrowed) unless another thread has registered one for that prefix. Returns the registered one,
 * borrowed; NULL without memory. */
static TVMFFIObject *put_module(TVMFFIByteArray prefix, TVMFFIObject *module) {
  module_entry *added = (module_entry *)fh_mem_calloc(1, sizeof(*added));
  char *copy = fh_mem_copy_text(prefix.data, prefix.size);
  TVMFFIObject *chosen = NULL;
  if (added != NULL && copy != NULL) {
    added->entry.name = (TVMFFIByteArray){copy, prefix.size};
    added->module = module;
    fh_mutex_lock(&lock);
    chosen = find_module(prefix);
    if (chosen == NULL && fh_name_reserve(&modules) == 0) {
      fh_name_put(&modules, &added->entry);
      fh_object_retain(module); /* for ever */
      chosen = module;
      fh_mem_keep(added);
      fh_mem_keep(copy);
      added = NULL;
      copy = NULL;
    }
    fh_mutex_unlock(&lock);
  }
  fh_mem_free(added);
  fh_mem_free(copy);
  return chosen;
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
