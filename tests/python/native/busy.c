/* Threads that use the registry, containers, handles, JSON and callbacks without a pause, until they are stopped. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <tvm/ffi/c_api.h>

enum { MOST_THREADS = 8 };
static pthread_t threads[MOST_THREADS];
static int n_threads;
static atomic_int is_over;
static TVMFFIObjectHandle callback; /* a Function, or NULL */

static TVMFFIByteArray bytes_of(const char *text) { return (TVMFFIByteArray){text, strlen(text)}; }

static void drop(TVMFFIAny *value) {
  if (value->type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(value->v_obj);
  *value = (TVMFFIAny){0};
}

/* Ignores errors, because other threads use the same names. */
static TVMFFIAny call(TVMFFIObjectHandle function, const TVMFFIAny *args, int32_t n) {
  TVMFFIAny result = {0};
  if (function == NULL || TVMFFIFunctionCall(function, (TVMFFIAny *)args, n, &result) != 0) {
    TVMFFIObjectHandle error = NULL;
    TVMFFIErrorMoveFromRaised(&error);
    if (error != NULL) TVMFFIObjectDecRef(error);
    result = (TVMFFIAny){0};
  }
  return result;
}

static TVMFFIAny call_named(const char *name, const TVMFFIAny *args, int32_t n) {
  TVMFFIByteArray key = bytes_of(name);
  TVMFFIObjectHandle function = NULL;
  TVMFFIFunctionGetGlobal(&key, &function);
  TVMFFIAny result = call(function, args, n);
  if (function != NULL) TVMFFIObjectDecRef(function);
  return result;
}

static TVMFFIAny number_of(int64_t number) { return (TVMFFIAny){.type_index = kTVMFFIInt, .v_int64 = number}; }

static int echo(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self, (void)args;
  *result = number_of(n);
  return 0;
}

static void use_registry(int64_t number) {
  char name[32];
  snprintf(name, sizeof(name), "busy.%d", (int)(number % 5));
  TVMFFIByteArray key = bytes_of(name);
  TVMFFIObjectHandle function = NULL;
  if (TVMFFIFunctionCreate(NULL, echo, NULL, &function) != 0) return;
  TVMFFIFunctionSetGlobal(&key, function, 1);
  TVMFFIObjectDecRef(function);
  TVMFFIAny text = {.type_index = kTVMFFIRawStr, .v_c_str = name};
  TVMFFIAny result = call_named("ffi.FunctionRemoveGlobal", &text, 1);
  drop(&result);
}

static void use_containers(int64_t number) {
  TVMFFIAny list = call_named("ffi.List", NULL, 0), dict = call_named("ffi.Dict", NULL, 0);
  TVMFFIAny append[] = {list, number_of(number)}, set[] = {dict, number_of(number), list};
  TVMFFIAny results[] = {call_named("ffi.ListAppend", append, 2), call_named("ffi.DictSetItem", set, 3),
                         call_named("ffi.ListSize", &list, 1), call_named("ffi.json.Stringify", &list, 1)};
  for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) drop(&results[i]);
  drop(&list);
  drop(&dict);
}

static int make(void **handle) {
  *handle = &is_over;
  return 0;
}
static int end(void *handle) { return handle != &is_over; }

static void use_handle(void) {
  static void *handle;
  TVMFFIHandleInitOnce(&handle, make);
  TVMFFIHandleDeinitOnce(&handle, end);
}

static void *stay_busy(void *unused) {
  (void)unused;
  for (int64_t number = 0; !atomic_load(&is_over); number++) {
    use_registry(number);
    use_containers(number);
    use_handle();
    TVMFFIAny argument = number_of(number), result = call(callback, &argument, callback != NULL);
    drop(&result);
  }
  return NULL;
}

/* start(n: int, callback: Function | None): starts n threads. */
TVM_FFI_DLL_EXPORT int __tvm_ffi_start(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self, (void)result;
  if (n != 2 || args[0].type_index != kTVMFFIInt || args[0].v_int64 > MOST_THREADS) return -1;
  if (args[1].type_index == kTVMFFIFunction) {
    callback = args[1].v_obj;
    TVMFFIObjectIncRef(callback);
  }
  while (n_threads < args[0].v_int64 && pthread_create(&threads[n_threads], NULL, stay_busy, NULL) == 0) n_threads++;
  return 0;
}

/* stop(): stops the threads, and waits until they have ended. */
TVM_FFI_DLL_EXPORT int __tvm_ffi_stop(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self, (void)args, (void)n, (void)result;
  atomic_store(&is_over, 1);
  while (n_threads > 0) pthread_join(threads[--n_threads], NULL);
  if (callback != NULL) TVMFFIObjectDecRef(callback);
  callback = NULL;
  return 0;
}
