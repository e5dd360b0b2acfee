/* library_parts.c - parts of a library module: its context symbols, and the modules embedded in it. */
#include "library_parts.h"

#include <tvm/ffi/extra/c_env_api.h>

#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/global.h"
#include "core/object/str.h"
#include "core/object/type.h"
#include "core/platform/fork.h"
#include "core/platform/mem.h"
#include "core/platform/system.h"
#include "library.h"
#include "module.h"

/* --- context symbols ---------------------------------------------------------------------------------------------- */

/* Context symbols, by the name of an exported variable: a list that only grows.
 *
 * A library that needs a symbol of its host, without linking to it, exports a variable. The host registers an address
 * under the variable's name, and the core stores the address into each library that is loaded later. If a name is
 * registered twice, both addresses are stored, in order, so the later one remains. */

/* One registration, which is never changed or freed, so readers iterate over the list without the lock. */
typedef struct entry {
  struct entry *next; /* release store when the next one is added, acquire load when reading the list */
  void *symbol;
  char *name;
} entry;

FH_LOCK(lock, "context", FH_RANK_PLAIN); /* guards adding */
static entry *first;                  /* as entry.next */
static entry **last = &first;         /* place of the next entry; under the lock */

int TVMFFIEnvModRegisterContextSymbol(const char *name, void *symbol) {
  if (name == NULL) return fh_error_raise(FH_VALUE_ERROR, "Expected the name of a symbol but got NULL");
  entry *added = (entry *)fh_mem_calloc(1, sizeof(*added));
  char *copy = fh_mem_copy_text(name, strlen(name));
  if (added == NULL || copy == NULL) {
    fh_mem_free(added);
    fh_mem_free(copy);
    return fh_error_raise_no_memory();
  }
  /* The steps below cannot fail. The list stays reachable from `first`, so its blocks are not leaks. */
  fh_mem_keep(added);
  fh_mem_keep(copy);
  added->symbol = symbol;
  added->name = copy;
  fh_mutex_lock(&lock);
  fh_atomic_store_release_ptr((void **)(void *)last, added); /* pairs with the loads in fh_library_context_each */
  last = &added->next;
  fh_mutex_unlock(&lock);
  return 0;
}

int fh_library_context_each(int (*visit)(void *state, const char *name, void *symbol), void *state) {
  /* both loads pair with the store in TVMFFIEnvModRegisterContextSymbol */
  entry *at = (entry *)fh_atomic_load_acquire_ptr((void *const *)(const void *)&first);
  while (at != NULL) {
    int rc = visit(state, at->name, at->symbol);
    if (rc != 0) return rc;
    at = (entry *)fh_atomic_load_acquire_ptr((void *const *)(const void *)&at->next);
  }
  return 0;
}

/* The library whose variables are filled in: functions that find its symbols, and their state. */
typedef struct {
  const fh_library_symbols *symbols;
  const void *state;
} target;

static int fill_one(void *state, const char *name, void *symbol) {
  const target *to = (const target *)state;
  void **variable = (void **)to->symbols->find(to->state, name);
  if (variable != NULL) *variable = symbol;
  return 0;
}

void fh_library_context_fill(const fh_library_symbols *symbols, const void *state) {
  target to = {symbols, state};
  (void)fh_library_context_each(fill_one, &to);
}

/* --- embedded modules --------------------------------------------------------------------------------------------- */

/* Modules embedded in a library, as bytes after one of its symbols.
 *
 * Layout, with 64-bit little-endian integers: the number of bytes that follow; then two vectors (length, items),
 * `starts` and `children`, which define the imports: module i imports children[starts[i]] to children[starts[i + 1] -
 * 1]; then for each module its kind as a string (length, bytes) and, unless the kind is "_lib", its content as bytes
 * (length, bytes). "_lib" is the library itself. Module 0 is the root. */

#define LOADER_PREFIX "ffi.Module.load_from_bytes."

/* The rest of the blob. Every read is checked against `end`, because the numbers come from a file. */
typedef struct {
  const unsigned char *at, *end;
} reader;

static int raise_broken(const char *what) {
  return fh_error_raise(FH_RUNTIME_ERROR, "The modules embedded in the library are broken: %s", what);
}

/* Reads byte by byte, because a blob need not be aligned, and the machine may be big-endian. */
static uint64_t word_at(const unsigned char *p) {
  uint64_t word = 0;
  for (int i = 7; i >= 0; --i) word = word << 8 | p[i];
  return word;
}

/* A length, then that many items of item_bytes each. */
static int read_vector(reader *in, size_t item_bytes, const unsigned char **items, uint64_t *n) {
  if (in->end - in->at < 8) return raise_broken("they end within a length");
  *n = word_at(in->at);
  in->at += 8;
  /* Divides, because *n times item_bytes may overflow. */
  if (*n > (uint64_t)(in->end - in->at) / item_bytes) return raise_broken("a length is larger than the rest");
  *items = in->at;
  in->at += *n * item_bytes;
  return 0;
}

static int read_text(reader *in, TVMFFIByteArray *out) {
  const unsigned char *data;
  uint64_t n;
  if (read_vector(in, 1, &data, &n) != 0) return -1;
  out->data = (const char *)data;
  out->size = (size_t)n;
  return 0;
}

/* Makes a module by the loader of its kind, a global function whose argument is the content. The caller owns *out. A
 * kind whose name does not fit into `name` has no loader. */
static int load_by_kind(TVMFFIByteArray kind, TVMFFIByteArray content, TVMFFIAny *out) {
  char name[256];
  size_t n_prefix = sizeof(LOADER_PREFIX) - 1;
  TVMFFIObjectHandle loader = NULL;
  TVMFFIAny bytes;
  if (n_prefix + kind.size < sizeof(name)) {
    memcpy(name, LOADER_PREFIX, n_prefix);
    if (kind.size != 0) memcpy(name + n_prefix, kind.data, kind.size);
    fh_global_find((TVMFFIByteArray){name, n_prefix + kind.size}, &loader);
  }
  if (loader == NULL) {
    return fh_error_raise(FH_RUNTIME_ERROR,
                          "The library has a module of kind `%.*s` but its loader is not registered: expected a global "
                          "function " LOADER_PREFIX "%.*s",
                          FH_BYTES_ARGS(kind), FH_BYTES_ARGS(kind));
  }
  int rc = fh_bytes_new(content.data, content.size, &bytes);
  if (rc == 0) rc = fh_function_call(loader, &bytes, 1, out);
  fh_any_drop(&bytes);
  fh_object_release(loader);
  if (rc != 0 || out->type_index == kTVMFFIModule) return rc;
  int32_t returned = out->type_index;
  fh_any_drop(out);
  return fh_error_raise(FH_TYPE_ERROR, "Expected " LOADER_PREFIX "%.*s to return a Module but got `%s`",
                        FH_BYTES_ARGS(kind), fh_type_name(returned));
}

/* Makes all n modules first: an import may refer to any of them, also to a later one. */
static int load_modules(reader *in, TVMFFIObject *(*new_own)(void *), void *state, uint64_t n, fh_seq_object *modules) {
  for (uint64_t i = 0; i < n; ++i) {
    TVMFFIByteArray kind, content;
    TVMFFIAny module = fh_any_none();
    if (read_text(in, &kind) != 0) return -1;
    if (fh_span_is(kind, "_lib")) {
      module = fh_any_object(new_own(state));
      if (module.type_index == kTVMFFINone) return -1;
    } else if (read_text(in, &content) != 0 || load_by_kind(kind, content, &module) != 0) {
      return -1;
    }
    if (fh_seq_push(modules, module) != 0) return -1; /* fh_seq_push steals the module, also on failure */
  }
  return 0;
}

/* Imports each module's children. fh_module_add_import refuses a cycle. `starts` has one more word than there are
 * modules, so that each has an end. */
static int link_modules(fh_seq_object *modules, const unsigned char *starts, const unsigned char *children,
                        uint64_t n_children) {
  uint64_t n = (uint64_t)fh_seq_size(modules);
  for (uint64_t i = 0; i < n; ++i) {
    uint64_t begin = word_at(starts + 8 * i), end = word_at(starts + 8 * (i + 1));
    if (begin > end || end > n_children) return raise_broken("imports lie outside of their list");
    for (uint64_t k = begin; k < end; ++k) {
      uint64_t child = word_at(children + 8 * k);
      if (child >= n) return raise_broken("an import is not a module of the library");
      TVMFFIAny *items = fh_seq_items(modules);
      if (fh_module_add_import((fh_module_object *)items[i].v_obj, items[child].v_obj) != 0) return -1;
    }
  }
  return 0;
}

int fh_library_blob_load(const char *blob, TVMFFIObject *(*new_own)(void *state), void *state, TVMFFIAny *out) {
  const unsigned char *start = (const unsigned char *)blob, *starts, *children;
  size_t room = fh_loader_room(blob); /* the blob belongs to the library: its first number may be wrong */
  if (room < 8 || word_at(start) > room - 8) return raise_broken("they are longer than the library");
  reader in = {start + 8, start + 8 + word_at(start)};
  uint64_t n_starts, n_children;
  if (read_vector(&in, 8, &starts, &n_starts) != 0 || read_vector(&in, 8, &children, &n_children) != 0) return -1;
  /* There must be one start and one end: the root's. */
  if (n_starts < 2) return raise_broken("they name no module");
  fh_seq_object *modules = fh_seq_new_list((int64_t)n_starts - 1);
  if (modules == NULL) return -1;
  int rc = load_modules(&in, new_own, state, n_starts - 1, modules);
  if (rc == 0) rc = link_modules(modules, starts, children, n_children);
  /* The root keeps its imports; the list releases all modules. */
  if (rc == 0) fh_any_copy(&fh_seq_items(modules)[0], out);
  fh_object_release(modules);
  return rc;
}
