/* env.c - the environment of a call: streams and tensor allocators per thread, the host language's signals.
 *
 * A caller stores here the answers for called code: the stream to work on, the function that allocates a tensor, the
 * check whether the user has interrupted. These functions take no lock: streams and the thread's allocator belong to a
 * thread, and the rest is single pointers, which are stored with release and loaded with acquire.
 *
 * Function pointers are stored as void* because the atomic operations require that. The casts go through uintptr_t,
 * because C has no casts between pointers to functions and to objects. */
#include "env.h"

#include "core/object/backtrace.h"
#include "core/object/error.h"
#include "core/object/object.h"
#include "core/platform/atomic.h"
#include "core/platform/mem.h"
#include "core/platform/sync.h"
#include "core/platform/system.h"

/* ---- Streams: a short list per thread, freed at its end ---- */

typedef struct {
  int32_t device_type;
  int32_t device_id;
  TVMFFIStreamHandle stream;
} stream_entry;

/* A thread works with few devices, so its list is searched linearly. Entries are never removed. */
typedef struct {
  int32_t n_items;
  int32_t capacity;
  stream_entry *items;
} stream_list;

enum { FIRST_CAPACITY = 4 };

static FH_THREAD_LOCAL stream_list *streams; /* the calling thread's; NULL until one is set */
static fh_tls streams_end;                   /* frees it */

/* Runs at the end of a thread. If other clean-up code of that thread records a stream later, a new list is made and
 * this runs again. */
static void FH_TLS_CALLBACK free_streams(void *value) {
  stream_list *list = (stream_list *)value;
  if (list == NULL) return;
  streams = NULL;
  fh_mem_free(list->items);
  fh_mem_free(list);
}

static stream_entry *find_stream(int32_t device_type, int32_t device_id) {
  for (int32_t i = 0; streams != NULL && i < streams->n_items; ++i) {
    stream_entry *entry = &streams->items[i];
    if (entry->device_type == device_type && entry->device_id == device_id) return entry;
  }
  return NULL;
}

/* The calling thread's list, made at first use; NULL without memory. */
static stream_list *get_list(void) {
  if (streams != NULL) return streams;
  stream_list *list = (stream_list *)fh_mem_calloc(1, sizeof(*list));
  stream_entry *items = (stream_entry *)fh_mem_calloc(FIRST_CAPACITY, sizeof(*items));
  /* A list is used only after its clean-up is registered, so that every list is freed. */
  if (list == NULL || items == NULL || fh_tls_set(&streams_end, list) != 0) {
    fh_mem_free(items);
    fh_mem_free(list);
    return NULL;
  }
  list->items = items;
  list->capacity = FIRST_CAPACITY;
  streams = list;
  return list;
}

/* Makes an entry with a NULL stream; NULL without memory, with no error pending. */
static stream_entry *add_stream(int32_t device_type, int32_t device_id) {
  if (get_list() == NULL) return NULL;
  if (streams->n_items == streams->capacity) {
    int32_t capacity = streams->capacity * 2;
    stream_entry *items = (stream_entry *)fh_mem_realloc(streams->items, (size_t)capacity * sizeof(*items));
    if (items == NULL) return NULL;
    streams->items = items;
    streams->capacity = capacity;
  }
  stream_entry *entry = &streams->items[streams->n_items++];
  entry->device_type = device_type;
  entry->device_id = device_id;
  entry->stream = NULL;
  return entry;
}

int TVMFFIEnvSetStream(int32_t device_type, int32_t device_id, TVMFFIStreamHandle stream,
                       TVMFFIStreamHandle *opt_out_original_stream) {
  stream_entry *entry = find_stream(device_type, device_id);
  /* A device without an entry has a NULL stream, so NULL needs no entry. */
  if (entry == NULL && stream != NULL) {
    entry = add_stream(device_type, device_id);
    if (entry == NULL) return fh_error_raise_no_memory();
  }
  if (opt_out_original_stream != NULL) *opt_out_original_stream = entry != NULL ? entry->stream : NULL;
  if (entry != NULL) entry->stream = stream;
  return 0;
}

TVMFFIStreamHandle TVMFFIEnvGetStream(int32_t device_type, int32_t device_id) {
  const stream_entry *entry = find_stream(device_type, device_id);
  return entry != NULL ? entry->stream : NULL;
}

/* ---- Tensor allocators ---- */

static FH_THREAD_LOCAL DLPackManagedTensorAllocator thread_allocator;
static void *global_allocator; /* release store in Set, acquire load in Get */

/* The former allocator that a caller gets, to restore it, is the thread's, even if the global one is replaced. */
int TVMFFIEnvSetDLPackManagedTensorAllocator(DLPackManagedTensorAllocator allocator, int write_to_global_context,
                                             DLPackManagedTensorAllocator *opt_out_original_allocator) {
  if (opt_out_original_allocator != NULL) *opt_out_original_allocator = thread_allocator;
  thread_allocator = allocator;
  if (write_to_global_context != 0) {
    /* pairs with the load in Get */
    fh_atomic_store_release_ptr(&global_allocator, (void *)(uintptr_t)allocator);
  }
  return 0;
}

DLPackManagedTensorAllocator TVMFFIEnvGetDLPackManagedTensorAllocator(void) {
  if (thread_allocator != NULL) return thread_allocator;
  /* pairs with the store in Set */
  return (DLPackManagedTensorAllocator)(uintptr_t)fh_atomic_load_acquire_ptr(&global_allocator);
}

/* The callback by which a DLPack allocator reports an error; error_ctx is the caller's has_raised. */
static void raise_from_allocator(void *error_ctx, const char *kind, const char *message) {
  *(int *)error_ctx = 1;
  TVMFFIErrorSetRaisedFromCStr(kind, message);
}

int TVMFFIEnvTensorAlloc(DLTensor *prototype, TVMFFIObjectHandle *out) {
  DLPackManagedTensorAllocator allocator = TVMFFIEnvGetDLPackManagedTensorAllocator();
  DLManagedTensorVersioned *tensor = NULL;
  int has_raised = 0;
  *out = NULL;
  if (allocator == NULL) {
    return fh_error_raise(
        FH_RUNTIME_ERROR,
        "Expected a tensor allocator set by TVMFFIEnvSetDLPackManagedTensorAllocator but there is none");
  }
  fh_sync_check_unlocked("a tensor allocator");
  /* An allocator may report by the callback, or raise an error itself and only return a failure. An earlier error is
   * put aside, so that it does not look like the allocator's. */
  TVMFFIObject *before = fh_error_take();
  if (allocator(prototype, &tensor, &has_raised, raise_from_allocator) != 0 || tensor == NULL) {
    has_raised |= fh_error_is_pending();
    fh_object_release(before);
    if (has_raised) return -1;
    return fh_error_raise(FH_RUNTIME_ERROR, "The tensor allocator failed without setting an error");
  }
  if (before != NULL) fh_error_put(before);
  if (TVMFFITensorFromDLPackVersioned(tensor, 0, 0, out) == 0) return 0;
  /* The Tensor has not taken ownership of the struct, so this function frees it. */
  if (tensor->deleter != NULL) tensor->deleter(tensor);
  return -1;
}

/* ---- Signals of the host language ---- */

typedef int (*check_signals)(void);
typedef int (*gil_ensure)(void);
typedef void (*gil_release)(int state);

/* The host's functions, NULL until it registers them. RegisterCAPI stores each with release and CheckSignals loads it
 * with acquire. */
static void *py_check_signals;
static void *py_gil_ensure;
static void *py_gil_release;

int TVMFFIEnvCheckSignals(void) {
  /* the three loads pair with the stores in RegisterCAPI */
  check_signals check = (check_signals)(uintptr_t)fh_atomic_load_acquire_ptr(&py_check_signals);
  gil_ensure ensure = (gil_ensure)(uintptr_t)fh_atomic_load_acquire_ptr(&py_gil_ensure);
  gil_release release = (gil_release)(uintptr_t)fh_atomic_load_acquire_ptr(&py_gil_release);
  if (check == NULL) return 0;
  fh_sync_check_unlocked("the check for signals");
  /* PyErr_CheckSignals needs an attached thread state. If a host does not register both functions for that, its check
   * attaches the thread itself, like the check of our binding. */
  if (ensure == NULL || release == NULL) return check() != 0 ? -1 : 0;
  int state = ensure();
  int rc = check();
  release(state);
  return rc != 0 ? -1 : 0;
}

int TVMFFIEnvRegisterCAPI(const char *name, void *symbol) {
  if (name == NULL) return fh_error_raise(FH_VALUE_ERROR, "Expected the name of a function but got NULL");
  void **slot = strcmp(name, "PyErr_CheckSignals") == 0   ? &py_check_signals
                : strcmp(name, "PyGILState_Ensure") == 0  ? &py_gil_ensure
                : strcmp(name, "PyGILState_Release") == 0 ? &py_gil_release
                                                          : NULL;
  if (slot == NULL) {
    return fh_error_raise(FH_VALUE_ERROR,
                          "Expected PyErr_CheckSignals, PyGILState_Ensure or PyGILState_Release but got `%s`", name);
  }
  fh_atomic_store_release_ptr(slot, symbol); /* pairs with the loads in CheckSignals */
  /* The function belongs to the host's library, at which native backtraces end. */
  if (slot == &py_check_signals) fh_backtrace_set_boundary(symbol);
  return 0;
}

void fh_env_init(void) { (void)fh_tls_new(&streams_end, free_streams); } /* on failure fh_tls_set fails */
