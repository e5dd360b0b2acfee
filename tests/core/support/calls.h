/* calls.h - values and calls of global functions, for tests. */
#ifndef TEST_CALLS_H_
#define TEST_CALLS_H_

#include "core/object/any.h"
#include "core/object/global.h"
#include "core/object/str.h"

#include "support/harness.h"

static inline TVMFFIAny i64(int64_t value) { return fh_any_int(value); }
static inline TVMFFIAny obj(void *object) { return fh_any_object(object); }
/* A view of a string; a call makes an owned string of such an argument. */
static inline TVMFFIAny raw(const char *text) {
  TVMFFIAny any = fh_any_none();
  any.type_index = kTVMFFIRawStr;
  any.v_c_str = text;
  return any;
}

/* Sets *result to None, calls a global function and returns its status. */
static inline int call_n(const char *name, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  TVMFFIObjectHandle func;
  *result = fh_any_none();
  if (!fh_global_find(fh_base_bytes(name), &func)) test_fail(__FILE__, __LINE__, "%s does not exist", name);
  TEST_PENDING_HERE;
  int rc = TVMFFIFunctionGetCellPtr(func)->safe_call(func, args, n, result);
  fh_object_release(func);
  return rc;
}

#define ARGS(...) ((TVMFFIAny[]){__VA_ARGS__}), (int32_t)(sizeof((TVMFFIAny[]){__VA_ARGS__}) / sizeof(TVMFFIAny))

/* A call that must succeed. The caller drops the result. */
static inline TVMFFIAny call_ok(const char *name, const TVMFFIAny *args, int32_t n) {
  TVMFFIAny result;
  if (call_n(name, args, n, &result) != 0) {
    TVMFFIObjectHandle error;
    TVMFFIErrorMoveFromRaised(&error);
    test_fail(__FILE__, __LINE__, "%s failed: %s", name, TVMFFIErrorGetCellPtr(error)->message.data);
  }
  return result;
}
/* A call that must succeed. Returns its result as an integer, which is meaningless if the result is an object. */
static inline int64_t call_int(const char *name, const TVMFFIAny *args, int32_t n) {
  TVMFFIAny result = call_ok(name, args, n);
  int64_t value = result.v_int64;
  fh_any_drop(&result);
  return value;
}

/* A call that must fail with an error of that `kind` whose message contains `part`. */
#define expect_call_raises(kind, part, name, ...)        \
  do {                                                   \
    TVMFFIAny refused;                                   \
    expect_int(call_n(name, __VA_ARGS__, &refused), -1); \
    expect(!fh_any_is_object(&refused));                 \
    expect_raised(kind, part);                           \
  } while (0)
#define NO_ARGS NULL, 0

/* Expects that a value is this string, and drops the value. */
static inline void expect_str_at(int line, TVMFFIAny value, const char *wanted) {
  TVMFFIByteArray content;
  if (!fh_str_content(&value, &content)) test_fail(__FILE__, line, "no text but type %d", (int)value.type_index);
  test_text_at(__FILE__, line, content, wanted);
  fh_any_drop(&value);
}
#define expect_str(value, wanted) expect_str_at(__LINE__, value, wanted)

/* Expects this readable form of a value. */
#define expect_repr(value, wanted) expect_str(call_ok("ffi.ReprPrint", ARGS(value)), wanted)

#endif /* TEST_CALLS_H_ */
