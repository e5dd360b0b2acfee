/* global.c - the table of global functions. */
#include "global.h"

#include "error.h"
#include "function.h"
#include "mem.h"
#include "name.h"
#include "str.h"
#include "sync.h"
#include "type.h"

/* An entry never changes once it is in the table, except that removal empties `func`. */
typedef struct {
  fh_name_entry by_name; /* first: the table finds the entry by it */
  TVMFFIByteArray doc, metadata;
  int64_t flags;         /* TVMFFIFieldFlagBitMask */
  void *func;            /* owned Function; NULL when the name was removed */
  char text[];           /* name, doc and metadata, each with a NUL */
} global_entry;

static fh_mutex global_lock = FH_MUTEX_INIT;
static fh_name_table globals;

/* ---- Readers without a lock. Between enter and leave no foreign code may run, as under a lock: a writer waits.
 * They are counted, in many places so that threads do not slow each other down. A writer first takes an entry out of
 * the table and then waits, count after count, for a moment without readers there: each read-modify-write of a count
 * orders the two, so a reader either is counted when the writer looks, or sees the table without the entry. */
typedef struct {
  uint64_t n_readers;
  char apart[120]; /* so that no two share a cache line, nor a pair of lines that is fetched together */
} reader_count;

enum { N_COUNTS = 32 };
static reader_count counts[N_COUNTS];

/* The calling thread's count. Threads get them in turn, so that few share one. */
static uint64_t *my_count(void) {
  static uint64_t n_threads;
  static FH_THREAD_LOCAL uint64_t *mine;
  if (FH_UNLIKELY(mine == NULL)) {
    /* relaxed, pairs with nothing: any number will do */
    mine = &counts[fh_atomic_add_relaxed_u64(&n_threads, 1) % N_COUNTS].n_readers;
  }
  return mine;
}

static void enter(uint64_t *count) { (void)fh_atomic_add_seq_cst_u64(count, 1); /* pairs with wait_for_readers */ }
static void leave(uint64_t *count) {
  (void)fh_atomic_add_seq_cst_u64(count, (uint64_t)-1); /* pairs with wait_for_readers */
}

static void wait_for_readers(void) {
  for (int i = 0; i < N_COUNTS; ++i) {
    while (fh_atomic_add_seq_cst_u64(&counts[i].n_readers, 0) != 0) fh_thread_yield(); /* pairs with enter and leave */
  }
}

/* Between enter and leave, or under the lock. NULL when there is no such name, or no longer. */
static global_entry *find(TVMFFIByteArray name) {
  global_entry *entry = (global_entry *)fh_name_find(&globals, name);
  /* acquire: pairs with the exchange in fh_global_remove */
  return entry != NULL && fh_atomic_load_acquire_ptr(&entry->func) != NULL ? entry : NULL;
}

/* ---- Writing ---- */

static TVMFFIByteArray put_text(char **at, TVMFFIByteArray text) {
  TVMFFIByteArray copy = {*at, text.size};
  if (text.size != 0) memcpy(*at, text.data, text.size);
  *at += text.size + 1; /* the block is zeroed: the NUL is there */
  return copy;
}

static global_entry *entry_new(TVMFFIByteArray name, TVMFFIByteArray doc, TVMFFIByteArray metadata, int64_t flags,
                               TVMFFIObject *func) {
  const size_t most = PTRDIFF_MAX / 4;
  if (name.size > most || doc.size > most || metadata.size > most) return NULL;
  size_t n_text = name.size + doc.size + metadata.size + 3;
  global_entry *entry = (global_entry *)fh_mem_calloc(1, sizeof *entry + n_text);
  if (entry == NULL) return NULL;
  char *at = entry->text;
  entry->by_name.name = put_text(&at, name);
  entry->doc = put_text(&at, doc);
  entry->metadata = put_text(&at, metadata);
  entry->flags = flags;
  fh_object_retain(func);
  entry->func = func;
  return entry;
}

/* No lock may be held: the Function may run foreign code when it ends. */
static void entry_drop(global_entry *entry) {
  if (entry == NULL) return;
  fh_object_release(entry->func);
  fh_mem_free(entry);
}

typedef enum { PUT_DONE, PUT_TAKEN, PUT_NO_MEMORY } put_result;

/* Under the lock. What the caller has to drop afterwards goes to *old. */
static put_result put_locked(global_entry *entry, int can_override, global_entry **old) {
  *old = entry;
  if (!can_override && find(entry->by_name.name) != NULL) return PUT_TAKEN;
  if (fh_name_reserve(&globals) != 0) return PUT_NO_MEMORY;
  *old = (global_entry *)fh_name_put(&globals, &entry->by_name);
  if (*old != NULL) wait_for_readers();
  return PUT_DONE;
}

static int set(TVMFFIByteArray name, TVMFFIByteArray doc, TVMFFIByteArray metadata, int64_t flags,
               TVMFFIObjectHandle func, int can_override) {
  /* a NUL may be in it: nothing reads it as a C string */
  if (fh_str_check_bytes("the name of a global function", name) != 0) return -1;
  if (name.size == 0)
    return fh_error_raise(FH_VALUE_ERROR, "Expected the name of a global function but got an empty text");
  if (fh_str_check_bytes("documentation", doc) != 0 || fh_str_check_bytes("metadata", metadata) != 0) return -1;
  if (func == NULL || !fh_type_is_instance(fh_object_type_index(func), kTVMFFIFunction)) {
    return fh_error_raise(FH_TYPE_ERROR, "Expected `ffi.Function` for the global function `%.*s` but got `%s`",
                          FH_BYTES_ARGS(name), func == NULL ? "None" : fh_type_name(fh_object_type_index(func)));
  }
  global_entry *entry = entry_new(name, doc, metadata, flags, (TVMFFIObject *)func);
  global_entry *old = NULL;
  if (entry == NULL) return fh_error_raise_no_memory();
  fh_mutex_lock(&global_lock);
  put_result result = put_locked(entry, can_override, &old);
  fh_mutex_unlock(&global_lock);
  entry_drop(old);
  if (result == PUT_DONE) return 0;
  if (result == PUT_NO_MEMORY) return fh_error_raise_no_memory();
  return fh_error_raise(FH_RUNTIME_ERROR, "Global Function `%.*s` is already registered", FH_BYTES_ARGS(name));
}

int fh_global_set(TVMFFIByteArray name, TVMFFIObjectHandle func, int can_override) {
  TVMFFIByteArray none = {NULL, 0};
  return set(name, none, none, kTVMFFIFieldFlagBitMaskIsStaticMethod, func, can_override);
}

int fh_global_remove(TVMFFIByteArray name) {
  void *func = NULL;
  fh_mutex_lock(&global_lock);
  global_entry *entry = find(name);
  if (entry != NULL) {
    func = fh_atomic_exchange_acq_rel_ptr(&entry->func, NULL); /* pairs with find and fh_global_find */
    wait_for_readers();
  }
  fh_mutex_unlock(&global_lock);
  fh_object_release(func);
  return func != NULL;
}

int fh_global_add(const char *name, TVMFFISafeCallType call, const char *metadata) {
  TVMFFIByteArray none = {NULL, 0};
  TVMFFIObjectHandle func;
  if (fh_function_new(NULL, call, NULL, &func) != 0) return -1;
  int result = set(fh_base_bytes(name), none, metadata != NULL ? fh_base_bytes(metadata) : none,
                   kTVMFFIFieldFlagBitMaskIsStaticMethod, func, 0);
  fh_object_release(func);
  return result;
}

/* ---- Reading ---- */

int fh_global_find(TVMFFIByteArray name, TVMFFIObjectHandle *out) {
  *out = NULL;
  uint64_t *count = my_count();
  enter(count);
  global_entry *entry = (global_entry *)fh_name_find(&globals, name);
  /* acquire: pairs with the exchange in fh_global_remove. Once read, the Function lives until leave. */
  if (entry != NULL) *out = fh_atomic_load_acquire_ptr(&entry->func);
  if (*out != NULL) fh_object_retain(*out);
  leave(count);
  return *out != NULL;
}

/* Puts back what was pending before a section that raised nothing. */
static void restore_error(TVMFFIObject *before, int result) {
  if (result == 0) {
    fh_error_put(before);
  } else {
    fh_object_release(before);
  }
}

typedef enum { TEXT_DOC, TEXT_METADATA } text_id;

static int get_text(TVMFFIByteArray name, text_id id, TVMFFIAny *out) {
  *out = fh_any_none();
  int result = 0;
  TVMFFIObject *before = fh_error_take(); /* an error raised below must not end it, and with it foreign code */
  uint64_t *count = my_count();
  enter(count);
  global_entry *entry = find(name);
  if (entry != NULL) result = fh_str_from_bytes(id == TEXT_DOC ? entry->doc : entry->metadata, out);
  leave(count);
  restore_error(before, result);
  if (entry != NULL) return result;
  return fh_error_raise(FH_RUNTIME_ERROR, "Expected a global function `%.*s` but there is none", FH_BYTES_ARGS(name));
}

int fh_global_metadata(TVMFFIByteArray name, TVMFFIAny *out) { return get_text(name, TEXT_METADATA, out); }
int fh_global_doc(TVMFFIByteArray name, TVMFFIAny *out) { return get_text(name, TEXT_DOC, out); }

int fh_global_names(TVMFFIAny **out, int64_t *n) {
  *out = NULL;
  *n = 0;
  size_t n_entries = fh_name_count(&globals);
  TVMFFIAny *names = (TVMFFIAny *)fh_mem_calloc(n_entries + 1, sizeof *names); /* never empty, so never NULL */
  if (names == NULL) return fh_error_raise_no_memory();
  int64_t n_names = 0;
  int result = 0;
  TVMFFIObject *before = fh_error_take(); /* as in get_text */
  uint64_t *count = my_count();
  enter(count);
  for (size_t i = 0; i < n_entries && result == 0; ++i) {
    global_entry *entry = (global_entry *)fh_name_at(&globals, i);
    if (fh_atomic_load_acquire_ptr(&entry->func) == NULL) continue; /* pairs with fh_global_remove */
    result = fh_str_from_bytes(entry->by_name.name, &names[n_names]);
    n_names += result == 0;
  }
  leave(count);
  restore_error(before, result);
  if (result == 0) {
    *out = names;
    *n = n_names;
    return 0;
  }
  for (int64_t i = 0; i < n_names; ++i) fh_any_drop(&names[i]);
  fh_mem_free(names);
  return -1;
}

/* ---- The ABI's functions ---- */

int TVMFFIFunctionGetGlobal(const TVMFFIByteArray *name, TVMFFIObjectHandle *out) {
  *out = NULL;
  if (fh_str_check_bytes("the name of a global function", *name) != 0) return -1;
  (void)fh_global_find(*name, out);
  return 0;
}

int TVMFFIFunctionSetGlobal(const TVMFFIByteArray *name, TVMFFIObjectHandle f, int allow_override) {
  return fh_global_set(*name, f, allow_override);
}

int TVMFFIFunctionSetGlobalFromMethodInfo(const TVMFFIMethodInfo *method_info, int allow_override) {
  TVMFFIObjectHandle func = fh_any_is_object(&method_info->method) ? method_info->method.v_obj : NULL;
  return set(method_info->name, method_info->doc, method_info->metadata, method_info->flags, func, allow_override);
}
