/* error.c - error objects and the thread's pending error.
 *
 * Each thread has one pending error. A second error replaces the first, which is dropped. */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/platform/mem.h"
#include "core/platform/sync.h"
#include "core/platform/system.h"
#include "error_deferred.h"

/* kind and message follow the struct; they never change. The backtrace has a separate block, because it grows as the
 * error passes from function to function. */
typedef struct {
  TVMFFIObject header;
  TVMFFIErrorCell cell;
  char *backtrace_block; /* NULL while the backtrace is empty */
  size_t backtrace_capacity;
  char text[];
} error_object;

FH_STATIC_ASSERT(offsetof(error_object, cell) == 24, "the cell follows the header");
FH_STATIC_ASSERT(offsetof(error_object, backtrace_block) == 96, "the ABI's part comes first");

/* ---- Error objects ---- */

static void end_error(void *self) {
  error_object *error = (error_object *)self;
  fh_object_release(error->cell.cause_chain);
  fh_object_release(error->cell.extra_context);
  fh_mem_free(error->backtrace_block);
  error->cell.cause_chain = error->cell.extra_context = error->backtrace_block = NULL;
}

static void error_delete(void *self, int flags);
static const fh_object_owner owner = {error_delete, end_error};
static void error_delete(void *self, int flags) {
  const TVMFFIErrorCell *cell = &((const error_object *)self)->cell;
  fh_object_delete_owner(&owner, self, flags, cell->cause_chain != NULL || cell->extra_context != NULL);
}

/* Makes the block of the backtrace at least n_bytes long: 1, or 0 without memory, with the error unchanged. */
static bool backtrace_reserve(error_object *error, size_t n_bytes) {
  if (n_bytes <= error->backtrace_capacity) return true;
  char *block = (char *)fh_mem_realloc(error->backtrace_block, n_bytes);
  if (block == NULL) return false;
  error->backtrace_block = block;
  error->backtrace_capacity = n_bytes;
  error->cell.backtrace.data = block;
  return true;
}

/* The ABI's function of the cell. The function cannot fail: without memory the old backtrace stays. */
static void update_backtrace(TVMFFIObjectHandle self, const TVMFFIByteArray *added, int32_t update_mode) {
  error_object *error = (error_object *)self;
  size_t n_kept = update_mode == kTVMFFIBacktraceUpdateModeAppend ? error->cell.backtrace.size : 0;
  /* `added` may be the error's own backtrace, whose block backtrace_reserve moves and whose size changes below. */
  bool is_own = added->data == error->cell.backtrace.data;
  size_t n_added = added->size;
  if (n_added > SIZE_MAX - n_kept - 1 || !backtrace_reserve(error, n_kept + n_added + 1)) return;
  if (n_added != 0) memmove(error->backtrace_block + n_kept, is_own ? error->backtrace_block : added->data, n_added);
  error->backtrace_block[n_kept + n_added] = '\0';
  error->cell.backtrace.size = n_kept + n_added;
}

/* Copies a string and a NUL to *at, and moves *at past the NUL. */
static TVMFFIByteArray put_text(char **at, TVMFFIByteArray text) {
  TVMFFIByteArray copy = {*at, text.size};
  if (text.size != 0) memcpy(*at, text.data, text.size);
  (*at)[text.size] = '\0';
  *at += text.size + 1;
  return copy;
}

TVMFFIObject *fh_error_new(TVMFFIByteArray kind, TVMFFIByteArray message, TVMFFIByteArray backtrace,
                           TVMFFIObject *cause_chain, TVMFFIObject *extra_context) {
  /* so that the size of the block below does not wrap around */
  size_t max_text = (SIZE_MAX - sizeof(error_object)) / 2 - 1;
  if (kind.size > max_text || message.size > max_text) return NULL;
  error_object *error = (error_object *)fh_mem_calloc(1, sizeof(*error) + kind.size + message.size + 2);
  if (error == NULL) return NULL;
  char *at = error->text;
  error->cell.kind = put_text(&at, kind);
  error->cell.message = put_text(&at, message);
  error->cell.backtrace.data = "";
  error->cell.update_backtrace = update_backtrace;
  if (backtrace.size != 0) {
    update_backtrace(error, &backtrace, kTVMFFIBacktraceUpdateModeReplace);
    if (error->backtrace_block == NULL) { /* the ABI's function has no result: this shows its failure */
      fh_mem_free(error);
      return NULL;
    }
  }
  /* retained last, when no step can fail any more */
  if (cause_chain != NULL) fh_object_retain(cause_chain);
  if (extra_context != NULL) fh_object_retain(extra_context);
  error->cell.cause_chain = cause_chain;
  error->cell.extra_context = extra_context;
  fh_object_init(&error->header, kTVMFFIError, error_delete);
  return &error->header;
}

/* ---- The error for missing memory. The error is static and shared by all threads, so only its count may change: its
 * function for the backtrace leaves the backtrace empty. ---- */

static void keep_backtrace(FH_MAYBE_UNUSED TVMFFIObjectHandle self, FH_MAYBE_UNUSED const TVMFFIByteArray *added,
                           FH_MAYBE_UNUSED int32_t update_mode) {}

#define NO_MEMORY_TEXT "Out of memory"
static struct {
  TVMFFIObject header;
  TVMFFIErrorCell cell;
} no_memory = {
    /* the reference that is never dropped */
    {FH_OBJECT_BOTH_ONE, kTVMFFIError, 0, {NULL}},
    {{FH_MEMORY_ERROR, sizeof(FH_MEMORY_ERROR) - 1},
     {NO_MEMORY_TEXT, sizeof(NO_MEMORY_TEXT) - 1},
     {"", 0},
     keep_backtrace,
     NULL,
     NULL},
};

/* ---- The thread's pending error ---- */

/* At most one of the two exists: an error object, or a payload (error_deferred.h). */
static FH_THREAD_LOCAL TVMFFIObject *pending;
static FH_THREAD_LOCAL struct {
  void *data;
  const fh_error_payload_operations *operations; /* NULL: none */
} payload;
static FH_THREAD_LOCAL bool is_end_set; /* whether this thread runs drop_pending when it ends */
static fh_tls pending_end; /* makes drop_pending run; its value is not used */

static void FH_TLS_CALLBACK drop_pending(FH_MAYBE_UNUSED void *unused) {
  is_end_set = false; /* first: the release may run code that raises again, and then this function has to run again */
  fh_error_clear();
}

void fh_error_init(void) { (void)fh_tls_new(&pending_end, drop_pending); } /* on failure see `replace` */

bool fh_error_is_pending(void) { return pending != NULL || payload.operations != NULL; }

/* Converts a payload, which is consumed, to an object: an owned reference, to the static MemoryError without memory. */
static TVMFFIObject *object_of(const fh_error_payload_operations *operations, void *data) {
  TVMFFIObject *error = operations->make(data);
  if (error != NULL) return error;
  fh_object_retain(&no_memory.header);
  return &no_memory.header;
}

TVMFFIObject *fh_error_take(void) {
  const fh_error_payload_operations *operations = payload.operations;
  TVMFFIObject *error = pending;
  if (FH_UNLIKELY(operations != NULL)) {
    payload.operations = NULL; /* first: `make` requires that no error is pending */
    return object_of(operations, payload.data);
  }
  pending = NULL;
  return error;
}

/* Makes an error or a payload the pending one. The former one is dropped last, because its deleter may be foreign code
 * that reads the pending error. */
static void replace(TVMFFIObject *error, const fh_error_payload_operations *operations, void *data) {
  TVMFFIObject *before = pending;
  const fh_error_payload_operations *operations_before = payload.operations;
  void *data_before = payload.data;
  fh_sync_check_unlocked("putting an error up");
  pending = error;
  payload.operations = operations;
  payload.data = data;
  /* Without memory or a key for this, the error that is pending when the thread ends is leaked; the next error tries
   * again. */
  if ((error != NULL || operations != NULL) && !is_end_set) is_end_set = fh_tls_set(&pending_end, &pending_end) == 0;
  fh_object_release(before);
  if (FH_UNLIKELY(operations_before != NULL)) operations_before->drop(data_before);
}

void fh_error_put(TVMFFIObject *error) { replace(error, NULL, NULL); }

static void payload_set(void *data, const fh_error_payload_operations *operations) { replace(NULL, operations, data); }

/* ---- Held errors: a payload in an object, and the payload that a restored one is ---- */

typedef struct {
  TVMFFIObject header;
  const fh_error_payload_operations *operations; /* NULL: the payload was taken from the only reference */
  void *data;
  void *made; /* the error object, or NULL; written once */
} held_error;

static void held_delete(void *self, int flags) {
  held_error *held = (held_error *)self;
  if ((flags & kTVMFFIObjectDeleterFlagBitMaskStrong) != 0) {
    if (held->operations != NULL) held->operations->drop(held->data);
    fh_object_release(held->made);
  }
  if ((flags & kTVMFFIObjectDeleterFlagBitMaskWeak) != 0) fh_mem_free(held);
}

static bool is_held(const TVMFFIObject *error) { return error->deleter == held_delete; }

/* Makes the error object. No error may be pending while a payload makes one. */
static TVMFFIObject *make_error(const held_error *held) {
  TVMFFIObject *pending_before = pending;
  const fh_error_payload_operations *operations_before = payload.operations;
  void *data_before = payload.data;
  pending = NULL;
  payload.operations = NULL;
  void *copy = held->operations->copy(held->data);
  TVMFFIObject *error = copy == NULL ? NULL : held->operations->make(copy);
  if (error == NULL) {
    fh_object_retain(&no_memory.header);
    error = &no_memory.header;
  }
  replace(pending_before, operations_before, data_before);
  return error;
}

TVMFFIObjectHandle fh_error_of_held(TVMFFIObjectHandle object) {
  held_error *held = (held_error *)object;
  if (!is_held(&held->header)) return object;
  void *made = fh_atomic_load_acquire_ptr(&held->made); /* pairs with the store below */
  if (made != NULL) return made;
  TVMFFIObject *error = make_error(held);
  if (fh_atomic_cas_seq_cst_ptr(&held->made, &made, error)) return error;
  fh_object_release(error); /* another thread was faster */
  return made;
}

static TVMFFIObject *held_make(void *data) {
  TVMFFIObject *error = (TVMFFIObject *)fh_error_of_held(data);
  fh_object_retain(error);
  fh_object_release((TVMFFIObject *)data);
  return error;
}
static void held_drop(void *data) { fh_object_release((TVMFFIObject *)data); }
static const fh_error_payload_operations held_operations = {held_make, held_drop, NULL};

void fh_error_hold(TVMFFIObjectHandle *out) {
  const fh_error_payload_operations *operations = payload.operations;
  held_error *held = NULL;
  if (operations == &held_operations) {
    payload.operations = NULL;
    *out = payload.data;
    return;
  }
  if (operations != NULL && operations->copy != NULL) held = (held_error *)fh_mem_calloc(1, sizeof(*held));
  if (held == NULL) {
    *out = fh_error_take();
    return;
  }
  fh_object_init(&held->header, kTVMFFIObject, held_delete);
  held->operations = operations;
  held->data = payload.data;
  payload.operations = NULL;
  *out = held;
}

void fh_error_restore(TVMFFIObjectHandle object) {
  held_error *held = (held_error *)object;
  void *made = held != NULL && is_held(&held->header) ? fh_atomic_load_acquire_ptr(&held->made) : object;
  if (made != NULL) fh_object_retain((TVMFFIObject *)made);
  if (made != NULL || held == NULL) {
    fh_error_put((TVMFFIObject *)made);
    return;
  }
  fh_object_retain(&held->header);
  replace(NULL, &held_operations, held);
}

/* The payload of a held error: the held payload itself, if the caller has the only reference, or else a copy. */
static void *take_held(held_error *held, const fh_error_payload_operations *operations) {
  if (held->operations != operations || fh_atomic_load_acquire_ptr(&held->made) != NULL) return NULL;
  /* acquire: pairs with the release of a thread that dropped another reference */
  bool is_only = fh_atomic_load_acquire_u64(&held->header.combined_ref_count) == FH_OBJECT_BOTH_ONE;
  void *data = is_only ? held->data : operations->copy(held->data);
  if (is_only) held->operations = NULL;
  return data;
}

static void *payload_take(const fh_error_payload_operations *operations) {
  if (FH_UNLIKELY(payload.operations == &held_operations)) {
    held_error *held = (held_error *)payload.data;
    void *data = take_held(held, operations);
    if (data == NULL) return NULL;
    payload.operations = NULL;
    fh_object_release(&held->header);
    return data;
  }
  if (payload.operations != operations) return NULL;
  payload.operations = NULL;
  return payload.data;
}

const fh_error_deferral fh_error_deferred = {payload_set, payload_take, fh_error_is_pending};

void fh_error_clear(void) { fh_error_put(NULL); }

bool fh_error_is_memory_error(const TVMFFIObject *error) { return error == &no_memory.header; }

void fh_error_move_class_places(const TVMFFIAny *from, uintptr_t to) {
  if (pending != NULL) ffi_hpy_move_class_places(pending, from, to);
}

int fh_error_raise_no_memory(void) {
  /* fh_error_put steals a reference; this object has one more, which is never dropped */
  fh_object_retain(&no_memory.header);
  fh_error_put(&no_memory.header);
  return -1;
}

/* Raises an error with copies of the strings, or the static MemoryError. Always -1. */
static int raise_text(const char *kind, TVMFFIByteArray message, TVMFFIByteArray backtrace) {
  TVMFFIObject *error = fh_error_new(fh_base_bytes(kind), message, backtrace, NULL, NULL);
  if (error == NULL) return fh_error_raise_no_memory();
  fh_error_put(error);
  return -1;
}

int fh_error_raise(const char *kind, const char *format, ...) {
  char local[512];
  char *text = local;
  TVMFFIByteArray none = {NULL, 0};
  va_list args;
  va_start(args, format);
  int n_bytes = vsnprintf(local, sizeof(local), format, args);
  va_end(args);
  if (n_bytes < 0) n_bytes = 0;
  /* now that the length is known, formats again into a block that is long enough */
  if ((size_t)n_bytes >= sizeof(local)) {
    text = (char *)fh_mem_alloc((size_t)n_bytes + 1);
    if (text == NULL) return fh_error_raise_no_memory();
    va_start(args, format);
    vsnprintf(text, (size_t)n_bytes + 1, format, args);
    va_end(args);
  }
  TVMFFIByteArray message = {text, (size_t)n_bytes};
  raise_text(kind, message, none);
  if (text != local) fh_mem_free(text);
  return -1;
}

/* ---- The ABI's functions ---- */

void TVMFFIErrorMoveFromRaised(TVMFFIObjectHandle *result) { *result = fh_error_take(); }

void TVMFFIErrorSetRaised(TVMFFIObjectHandle error) {
  if (error != NULL) fh_object_retain(error);
  fh_error_put((TVMFFIObject *)error);
}

void TVMFFIErrorSetRaisedFromCStr(const char *kind, const char *message) {
  TVMFFIErrorSetRaisedFromCStrParts(kind, &message, 1);
}

void TVMFFIErrorSetRaisedFromCStrParts(const char *kind, const char **message_parts, int32_t num_parts) {
  size_t n_bytes = 0;
  for (int32_t i = 0; i < num_parts; ++i) n_bytes += message_parts[i] != NULL ? strlen(message_parts[i]) : 0;
  char *text = (char *)fh_mem_alloc(n_bytes + 1);
  if (text == NULL) {
    fh_error_raise_no_memory();
    return;
  }
  char *at = text;
  for (int32_t i = 0; i < num_parts; ++i) {
    size_t n_part = message_parts[i] != NULL ? strlen(message_parts[i]) : 0;
    if (n_part != 0) memcpy(at, message_parts[i], n_part);
    at += n_part;
  }
  TVMFFIByteArray message = {text, n_bytes};
  raise_text(kind != NULL ? kind : FH_RUNTIME_ERROR, message, *TVMFFIBacktrace(NULL, 0, NULL, 0));
  fh_mem_free(text);
}

int TVMFFIErrorCreate(const TVMFFIByteArray *kind, const TVMFFIByteArray *message, const TVMFFIByteArray *backtrace,
                      TVMFFIObjectHandle *out) {
  return TVMFFIErrorCreateWithCauseAndExtraContext(kind, message, backtrace, NULL, NULL, out);
}

int TVMFFIErrorCreateWithCauseAndExtraContext(const TVMFFIByteArray *kind, const TVMFFIByteArray *message,
                                              const TVMFFIByteArray *backtrace, TVMFFIObjectHandle cause_chain,
                                              TVMFFIObjectHandle extra_context, TVMFFIObjectHandle *out) {
  const TVMFFIByteArray none = {NULL, 0};
  /* a length without data is read as an empty string: this function can only fail without memory */
  *out = fh_error_new(kind->data != NULL ? *kind : none, message->data != NULL ? *message : none,
                      backtrace->data != NULL ? *backtrace : none, (TVMFFIObject *)cause_chain,
                      (TVMFFIObject *)extra_context);
  return *out != NULL ? 0 : -1;
}
