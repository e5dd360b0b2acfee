/* global.c - the table of global functions: names that readers search without a lock, and that can be removed.
 *
 * A removed entry, or a replaced table, must not be freed while a reader may use it. Readers are counted, and a writer
 * waits for them before it frees: a simple form of read-copy-update. A reader never waits; a writer may wait long if
 * readers come without a pause. */
#include "global.h"

#include "core/platform/fork.h"
#include "core/platform/mem.h"
#include "core/platform/system.h"
#include "error.h"
#include "function.h"
#include "name.h"
#include "str.h"
#include "type.h"

/* One name, in one block with its strings. An entry does not change: another function for the name is another entry. */
typedef struct {
  fh_name_entry by_name;    /* first: the table returns a pointer to it */
  TVMFFIByteArray metadata; /* JSON, or empty */
  TVMFFIByteArray doc;      /* documentation, or empty */
  TVMFFIObject *func;       /* owned Function */
  char text[];              /* name, metadata and documentation, each with a NUL */
} global_entry;

FH_LOCK(global_lock, "global", FH_RANK_PLAIN);
static fh_name_table globals; /* a table of global_entry; changed under the lock */

/* ---- Readers without a lock. Between begin_reading and end_reading no foreign code may run and no error may be
 * raised, as under a lock, because a writer waits for the end. Readers are counted in several places so that threads do
 * not contend for one cache line. A writer removes an entry from the table, releases the lock, and then waits for each
 * count to be 0 once. All changes of a count are sequentially consistent read-modify-writes, so a reader either is
 * counted when the writer reads the count, or begins later and finds the table without the entry. */
typedef struct {
  uint64_t n_readers;
  char apart[120]; /* so that no two share a cache line, nor a pair of lines that is fetched together */
} reader_count;

enum { N_COUNTS = 32 };
static reader_count counts[N_COUNTS];

/* The calling thread's count. Threads get counts in turn, so that few share one. */
static uint64_t *my_count(void) {
  static uint64_t n_threads;
  static FH_THREAD_LOCAL uint64_t *mine;
  if (FH_UNLIKELY(mine == NULL)) {
    /* relaxed, pairs with nothing: any number is correct */
    mine = &counts[fh_atomic_add_relaxed_u64(&n_threads, 1) % N_COUNTS].n_readers;
  }
  return mine;
}

static void begin_reading(uint64_t *count) {
  (void)fh_atomic_add_seq_cst_u64(count, 1); /* pairs with wait_for_readers */
  fh_sync_count_section(1);
}
static void end_reading(uint64_t *count) {
  fh_sync_count_section(-1);
  (void)fh_atomic_add_seq_cst_u64(count, (uint64_t)-1); /* pairs with wait_for_readers */
}

/* The child of a fork does not have the threads that were reading, so their counts would never reach 0. The thread that
 * forks is not reading; before_fork checks that in the test build. */
static void forget_readers(void) {
  for (int i = 0; i < N_COUNTS; ++i) fh_atomic_store_seq_cst_u64(&counts[i].n_readers, 0); /* pairs with nothing */
}
FH_FORK_CHILD(forget_readers);

/* Waits without the lock, so that other writers can continue. */
static void wait_for_readers(void) {
  fh_sync_check_unlocked("waiting for readers");
  for (int i = 0; i < N_COUNTS; ++i) {
    /* pairs with begin_reading and end_reading */
    while (fh_atomic_add_seq_cst_u64(&counts[i].n_readers, 0) != 0) fh_thread_yield();
  }
}

/* For readers between begin_reading and end_reading, and under the lock. NULL if the name does not exist. */
static global_entry *find_entry(TVMFFIByteArray name) { return (global_entry *)fh_name_find(&globals, name); }

/* ---- Writing ---- */

/* Copies a string to *at in a block of zeros, and moves *at past the string and its NUL. */
static TVMFFIByteArray put_text(char **at, TVMFFIByteArray text) {
  TVMFFIByteArray copy = {*at, text.size};
  if (text.size != 0) memcpy(*at, text.data, text.size);
  *at += text.size + 1; /* the block is zeroed, so the NUL exists */
  return copy;
}

/* Makes an entry with copies of the strings and a reference to the function. NULL without memory, with no error
 * pending. */
static global_entry *entry_new(TVMFFIByteArray name, TVMFFIByteArray metadata, TVMFFIByteArray doc,
                               TVMFFIObject *func) {
  const size_t most = PTRDIFF_MAX / 4; /* the sum below does not wrap around */
  if (name.size > most || metadata.size > most || doc.size > most) return NULL;
  size_t n_text = name.size + metadata.size + doc.size + 3;
  global_entry *entry = (global_entry *)fh_mem_calloc(1, sizeof(*entry) + n_text);
  if (entry == NULL) return NULL;
  char *at = entry->text;
  entry->by_name.name = put_text(&at, name);
  entry->metadata = put_text(&at, metadata);
  entry->doc = put_text(&at, doc);
  fh_object_retain(func);
  entry->func = func;
  return entry;
}

/* Removed parts of the table, which readers may still use; each may be NULL. */
typedef struct {
  global_entry *entry;
  fh_name_slots *slots;
} leftover;

/* No lock may be held: destroying the Function may run foreign code. */
static void entry_drop(global_entry *entry) {
  if (entry == NULL) return;
  fh_object_release(entry->func);
  fh_mem_free(entry);
}

/* No lock may be held. */
static void leftover_drop(leftover old) {
  if (old.entry != NULL || old.slots != NULL) wait_for_readers();
  fh_mem_free(old.slots);
  entry_drop(old.entry);
}

typedef enum { PUT_DONE, PUT_TAKEN, PUT_NO_MEMORY } put_result;

/* Under the lock. The caller drops *old, after the lock. An existing name, or missing memory, leaves the table
 * unchanged. */
static put_result put_locked(global_entry *entry, bool can_override, leftover *old) {
  if (!can_override && find_entry(entry->by_name.name) != NULL) return PUT_TAKEN;
  if (fh_name_renew(&globals, &old->slots) != 0) return PUT_NO_MEMORY;
  old->entry = (global_entry *)fh_name_put(&globals, &entry->by_name);
  return PUT_DONE;
}

/* Registers a Function. Only inserting the entry is under the lock; the displaced entry is dropped, and an error is
 * raised, afterwards. */
static int set_function(TVMFFIByteArray name, TVMFFIByteArray metadata, TVMFFIByteArray doc, TVMFFIObjectHandle func,
                        bool can_override) {
  /* it may contain a NUL: lookups compare bytes, and only messages end there */
  if (fh_str_check_bytes("the name of a global function", name) != 0) return -1;
  if (name.size == 0)
    return fh_error_raise(FH_VALUE_ERROR, "Expected the name of a global function but got an empty text");
  if (fh_str_check_bytes("metadata", metadata) != 0) return -1;
  if (fh_str_check_bytes("documentation", doc) != 0) return -1;
  if (func == NULL || !fh_type_is_instance(fh_object_type_index(func), kTVMFFIFunction)) {
    return fh_error_raise(FH_TYPE_ERROR, "Expected `ffi.Function` for the global function `%.*s` but got `%s`",
                          FH_BYTES_ARGS(name), func == NULL ? "None" : fh_type_name(fh_object_type_index(func)));
  }
  global_entry *entry = entry_new(name, metadata, doc, (TVMFFIObject *)func);
  leftover old = {NULL, NULL};
  if (entry == NULL) return fh_error_raise_no_memory();
  fh_mutex_lock(&global_lock);
  put_result result = put_locked(entry, can_override, &old);
  fh_mutex_unlock(&global_lock);
  leftover_drop(old);
  if (result == PUT_DONE) return 0;
  entry_drop(entry);
  if (result == PUT_NO_MEMORY) return fh_error_raise_no_memory();
  return fh_error_raise(FH_RUNTIME_ERROR, "Global Function `%.*s` is already registered", FH_BYTES_ARGS(name));
}

bool fh_global_remove(TVMFFIByteArray name) {
  fh_mutex_lock(&global_lock);
  leftover old = {(global_entry *)fh_name_remove(&globals, name), NULL};
  fh_mutex_unlock(&global_lock);
  leftover_drop(old);
  return old.entry != NULL;
}

int fh_global_add(const char *name, TVMFFISafeCallType call, const char *metadata) {
  TVMFFIByteArray none = {NULL, 0};
  TVMFFIObjectHandle func;
  if (fh_function_new(NULL, call, NULL, &func) != 0) return -1;
  int result = set_function(fh_base_bytes(name), metadata != NULL ? fh_base_bytes(metadata) : none, none, func, 0);
  fh_object_release(func);
  return result;
}

/* ---- Reading ---- */

bool fh_global_find(TVMFFIByteArray name, TVMFFIObjectHandle *out) {
  *out = NULL;
  uint64_t *count = my_count();
  begin_reading(count);
  const global_entry *entry = find_entry(name); /* stays until end_reading, and so does the Function */
  if (entry != NULL) {
    *out = entry->func;
    fh_object_retain(*out);
  }
  end_reading(count);
  return *out != NULL;
}

int fh_global_ask_python(const char *operation, const TVMFFIAny *values, int32_t n_values, TVMFFIAny *out) {
  TVMFFIObjectHandle function;
  TVMFFIAny args[3] = {fh_any_none(), values[0], n_values == 2 ? values[1] : fh_any_none()};
  *out = fh_any_none();
  if (!fh_global_find(FH_LITERAL("ffi_hpy.Python"), &function)) return 0;
  args[0].type_index = kTVMFFIRawStr;
  args[0].v_c_str = operation;
  int rc = fh_function_call(function, args, n_values + 1, out);
  fh_object_release(function);
  return rc == 0 ? 1 : -1;
}

int fh_global_text(TVMFFIByteArray name, bool is_doc, TVMFFIAny *out) {
  *out = fh_any_none();
  int result = 0;
  uint64_t *count = my_count();
  begin_reading(count);
  const global_entry *entry = find_entry(name);
  bool is_there = entry != NULL; /* `entry` itself is not valid after end_reading */
  if (is_there) {
    const TVMFFIByteArray *text = is_doc ? &entry->doc : &entry->metadata;
    result = fh_str_try_new(text->data, text->size, out);
  }
  end_reading(count);
  if (result != 0) return fh_error_raise_no_memory();
  if (is_there) return 0;
  return fh_error_raise(FH_RUNTIME_ERROR, "Expected a global function `%.*s` but there is none", FH_BYTES_ARGS(name));
}

/* The maximum number of names: removed names with remaining items count, too. */
static size_t count_names(void) {
  uint64_t *count = my_count();
  begin_reading(count);
  size_t n = fh_name_walk_begin(&globals).n;
  end_reading(count);
  return n;
}

int fh_global_names(TVMFFIAny **out, int64_t *n) {
  *out = NULL;
  *n = 0;
  size_t most = count_names(); /* names that are registered later may be left out */
  TVMFFIAny *names = (TVMFFIAny *)fh_mem_calloc(most + 1, sizeof(*names)); /* 1: allocates a block even without names */
  if (names == NULL) return fh_error_raise_no_memory();
  /* The names are copied while entries cannot be freed. A failure in the loop only sets `result`: dropping and raising
   * come after end_reading. */
  size_t n_names = 0;
  int result = 0;
  uint64_t *count = my_count();
  begin_reading(count);
  fh_name_walk walk = fh_name_walk_begin(&globals);
  const fh_name_entry *entry;
  while (result == 0 && n_names < most && (entry = fh_name_walk_next(&walk)) != NULL) {
    result = fh_str_try_new(entry->name.data, entry->name.size, &names[n_names]);
    n_names += result == 0;
  }
  end_reading(count);
  if (result == 0) {
    *out = names;
    *n = (int64_t)n_names;
    return 0;
  }
  for (size_t i = 0; i < n_names; ++i) fh_any_drop(&names[i]);
  fh_mem_free(names);
  return fh_error_raise_no_memory();
}

/* ---- The ABI's functions ---- */

int TVMFFIFunctionGetGlobal(const TVMFFIByteArray *name, TVMFFIObjectHandle *out) {
  *out = NULL;
  if (fh_str_check_bytes("the name of a global function", *name) != 0) return -1;
  (void)fh_global_find(*name, out);
  return 0;
}

int TVMFFIFunctionSetGlobal(const TVMFFIByteArray *name, TVMFFIObjectHandle f, int allow_override) {
  TVMFFIByteArray none = {NULL, 0};
  return set_function(*name, none, none, f, allow_override);
}

int TVMFFIFunctionSetGlobalFromMethodInfo(const TVMFFIMethodInfo *method_info, int allow_override) {
  TVMFFIObjectHandle func = fh_any_is_object(&method_info->method) ? method_info->method.v_obj : NULL;
  return set_function(method_info->name, method_info->metadata, method_info->doc, func, allow_override);
}
