/* The C part of an array library for tests: a DLPack C exchange API for objects of the class Array of
 * support/arrays.py.
 *
 * A State selects the step in which the library fails, and counts the library's actions. Python's C functions are
 * looked up, because PyPy has other names for them. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <dlpack/dlpack.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { STEP_NONE, STEP_MANAGED, STEP_BORROW, STEP_MAKE, STEP_STREAM, STEP_ALLOCATE };

/* One per test and thread; State in support/arrays.py has this layout. */
typedef struct State {
  int32_t fails; /* the STEP_* that fails */
  int32_t is_mute; /* whether the failing step raises no exception */
  int64_t n_alive; /* managed tensors that were not dropped */
  int64_t n_made; /* managed tensors made by any step */
  int64_t n_borrowed;
  uint64_t flags; /* for managed tensors */
  uint32_t major; /* of the version of managed tensors */
  void *stream;
} State;

static _Thread_local State *state;

EXPORT void use_state(State *new_state) { state = new_state; }

/* --- Python's C functions ----------------------------------------------------------------------------------------- */

static void *find_symbol(const char *name) {
  char other[64] = "PyPy";
  void *symbol = dlsym(RTLD_DEFAULT, name);
  /* on PyPy, Py_DecRef is PyPy_DecRef and PyErr_SetString is PyPyErr_SetString */
  strncat(other, name + 2, sizeof(other) - 5);
  return symbol != NULL ? symbol : dlsym(RTLD_DEFAULT, other);
}

#define CALL(result, name, types) ((result(*) types)(uintptr_t)find_symbol(name))

static void drop(void *object) { CALL(void, "Py_DecRef", (void *))(object); }

static int fail(int step) {
  if (state->fails != step) return 0;
  if (!state->is_mute) {
    void **error = find_symbol("PyExc_ValueError");
    CALL(void, "PyErr_SetString", (void *, const char *))(*error, "the array library fails");
  }
  return -1;
}

/* Returns the description of an Array, found at its attribute `address`. */
static const DLTensor *tensor_of(void *array) {
  void *number = CALL(void *, "PyObject_GetAttrString", (void *, const char *))(array, "address");
  if (number == NULL) return NULL;
  const DLTensor *tensor = CALL(void *, "PyLong_AsVoidPtr", (void *))(number);
  drop(number);
  return tensor;
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

static void end_managed(DLManagedTensorVersioned *self) {
  __atomic_fetch_sub(&((State *)self->manager_ctx)->n_alive, 1, __ATOMIC_SEQ_CST);
  free(self);
}

static DLManagedTensorVersioned *managed_new(const DLTensor *like) {
  DLManagedTensorVersioned *managed = calloc(1, sizeof(*managed));
  managed->version = (DLPackVersion){state->major, 0};
  managed->manager_ctx = state;
  managed->deleter = end_managed;
  managed->flags = state->flags;
  managed->dl_tensor = *like;
  __atomic_fetch_add(&state->n_alive, 1, __ATOMIC_SEQ_CST);
  state->n_made++;
  return managed;
}

static int managed_from_array(void *array, DLManagedTensorVersioned **out) {
  if (fail(STEP_MANAGED) != 0) return -1;
  const DLTensor *tensor = tensor_of(array);
  if (tensor == NULL) return -1;
  *out = managed_new(tensor);
  return 0;
}

static int borrow_from_array(void *array, DLTensor *out) {
  if (fail(STEP_BORROW) != 0) return -1;
  const DLTensor *tensor = tensor_of(array);
  if (tensor == NULL) return -1;
  *out = *tensor;
  state->n_borrowed++;
  return 0;
}

/* Calls support.arrays.made_of(managed): the array then owns the managed tensor. */
static int array_from_managed(DLManagedTensorVersioned *managed, void **out) {
  if (fail(STEP_MAKE) != 0) return -1;
  void *module = CALL(void *, "PyImport_ImportModule", (const char *))("support.arrays");
  void *make =
      module == NULL ? NULL : CALL(void *, "PyObject_GetAttrString", (void *, const char *))(module, "made_of");
  *out = make == NULL ? NULL
                      : CALL(void *, "PyObject_CallFunction",
                             (void *, const char *, ...))(make, "K", (unsigned long long)(uintptr_t)managed);
  if (make != NULL) drop(make);
  if (module != NULL) drop(module);
  return *out == NULL ? -1 : 0;
}

static int current_stream(DLDeviceType device_type, int32_t device_id, void **out) {
  (void)device_type, (void)device_id;
  if (fail(STEP_STREAM) != 0) return -1;
  *out = state->stream;
  return 0;
}

static int allocate(DLTensor *prototype, DLManagedTensorVersioned **out, void *error_ctx,
                    void (*set_error)(void *error_ctx, const char *kind, const char *message)) {
  if (state->fails == STEP_ALLOCATE) {
    if (!state->is_mute) set_error(error_ctx, "MemoryError", "the array library has no memory");
    return -1;
  }
  *out = managed_new(prototype);
  return 0;
}

EXPORT DLPackExchangeAPI exchange_table = {
    .header = {.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION}},
    .managed_tensor_allocator = allocate,
    .managed_tensor_from_py_object_no_sync = managed_from_array,
    .managed_tensor_to_py_object_no_sync = array_from_managed,
    .dltensor_from_py_object_no_sync = borrow_from_array,
    .current_work_stream = current_stream,
};

/* An exchange API without the optional entries. */
EXPORT DLPackExchangeAPI lean_table = {
    .header = {.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION}},
    .managed_tensor_from_py_object_no_sync = managed_from_array,
};

/* An exchange API of a later version, alone and with one of the current version behind it. */
EXPORT DLPackExchangeAPIHeader newer_table = {.version = {DLPACK_MAJOR_VERSION + 1, 0}};
EXPORT DLPackExchangeAPIHeader chained_table = {.version = {DLPACK_MAJOR_VERSION + 1, 0},
                                                .prev_api = &exchange_table.header};

EXPORT void drop_managed(DLManagedTensorVersioned *managed) { managed->deleter(managed); }
