/* library_context.c - context symbols, by the name of an exported variable: a list that only grows.
 *
 * A library that needs a symbol of its host, without linking to it, exports a variable. The host registers an address
 * under the variable's name, and the core stores the address into each library that is loaded later. If a name is
 * registered twice, both addresses are stored, in order, so the later one remains. */
#include <tvm/ffi/extra/c_env_api.h>

#include "core/object/error.h"
#include "core/platform/fork.h"
#include "core/platform/mem.h"
#include "library_context.h"

/* One registration. It is never changed or freed, so readers iterate over the list without the lock. */
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
