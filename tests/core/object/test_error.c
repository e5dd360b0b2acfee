/* test_error.c - error objects, the thread's pending error, backtraces. */
#include "core/object/error.h"

#include <pthread.h>

#include "core/object/backtrace.h"
#include "core/object/error_deferred.h"
#include "core/platform/mem.h"
#include "core/platform/system.h"
#include "support/harness.h"
#include "support/system.h"

static TVMFFIErrorCell *cell_of(TVMFFIObjectHandle error) { return TVMFFIErrorGetCellPtr(error); }

static TVMFFIObjectHandle error_of(const char *kind, const char *message, const char *backtrace) {
  TVMFFIByteArray kind_text = text_of(kind), message_text = text_of(message), backtrace_text = text_of(backtrace);
  TVMFFIObjectHandle error;
  expect_int(TVMFFIErrorCreate(&kind_text, &message_text, &backtrace_text, &error), 0);
  return error;
}

TEST(an_error_keeps_its_arguments) {
  TVMFFIObjectHandle error = error_of("ValueError", "what", "  File \"f\", line 1, in g\n");
  expect_int(TVMFFIObjectGetTypeIndex(error), kTVMFFIError);
  expect_text(cell_of(error)->kind, "ValueError");
  expect_text(cell_of(error)->message, "what");
  expect_text(cell_of(error)->backtrace, "  File \"f\", line 1, in g\n");
  expect(cell_of(error)->cause_chain == NULL);
  expect(cell_of(error)->extra_context == NULL);
  expect(!fh_error_is_pending());
  fh_object_release(error);
}

TEST(an_error_of_nothing_has_empty_texts) {
  TVMFFIByteArray none = {NULL, 0};
  TVMFFIObjectHandle error;
  expect_int(TVMFFIErrorCreate(&none, &none, &none, &error), 0);
  expect_text(cell_of(error)->kind, "");
  expect_text(cell_of(error)->message, "");
  expect_text(cell_of(error)->backtrace, "");
  fh_object_release(error);
}

TEST(cause_and_context_live_as_long_as_the_error) {
  int ends = 0;
  TVMFFIByteArray kind = text_of("RuntimeError"), message = text_of("second"), none = {NULL, 0};
  TVMFFIObjectHandle context = test_object_new(&ends), cause = error_of("ValueError", "first", ""), error;
  expect_int(TVMFFIErrorCreateWithCauseAndExtraContext(&kind, &message, &none, cause, context, &error), 0);
  expect(cell_of(error)->cause_chain == cause);
  expect(cell_of(error)->extra_context == context);
  fh_object_release(cause);
  fh_object_release(context);
  expect_int(ends, 0);
  expect_text(cell_of(cause)->message, "first");
  fh_object_release(error);
  expect_int(ends, 1);
}

static void update(TVMFFIObjectHandle error, const char *text, int32_t mode) {
  TVMFFIByteArray added = text_of(text);
  cell_of(error)->update_backtrace(error, &added, mode);
}

TEST(a_backtrace_can_be_replaced_and_appended_to) {
  TVMFFIObjectHandle error = error_of("ValueError", "what", "");
  update(error, "one\n", kTVMFFIBacktraceUpdateModeAppend);
  expect_text(cell_of(error)->backtrace, "one\n");
  update(error, "two\n", kTVMFFIBacktraceUpdateModeAppend);
  expect_text(cell_of(error)->backtrace, "one\ntwo\n");
  update(error, "3\n", kTVMFFIBacktraceUpdateModeReplace);
  expect_text(cell_of(error)->backtrace, "3\n");
  update(error, "", kTVMFFIBacktraceUpdateModeReplace);
  expect_text(cell_of(error)->backtrace, "");
  fh_object_release(error);
}

TEST(a_backtrace_can_be_appended_to_itself) {
  TVMFFIObjectHandle error = error_of("ValueError", "what", "one\n");
  cell_of(error)->update_backtrace(error, &cell_of(error)->backtrace, kTVMFFIBacktraceUpdateModeAppend);
  expect_text(cell_of(error)->backtrace, "one\none\n");
  fh_object_release(error);
}

TEST(a_backtrace_without_memory_stays_as_it_is) {
  TVMFFIObjectHandle error = error_of("ValueError", "what", "one\n");
  fh_mem_fail_nth(1);
  update(error, "a much longer text\n", kTVMFFIBacktraceUpdateModeAppend);
  fh_mem_fail_nth(0);
  expect_text(cell_of(error)->backtrace, "one\n");
  fh_object_release(error);
}

/* ---- The pending error ---- */

TEST(nothing_is_pending_at_first) {
  TVMFFIObjectHandle error = &error;
  TVMFFIErrorMoveFromRaised(&error);
  expect(error == NULL);
}

TEST(a_raised_error_is_taken_once) {
  TVMFFIObjectHandle error = error_of("ValueError", "what", ""), taken;
  TVMFFIErrorSetRaised(error);
  expect_int(fh_object_use_count(error), 2);
  TVMFFIErrorMoveFromRaised(&taken);
  expect(taken == error);
  expect_int(fh_object_use_count(error), 2);
  expect(!fh_error_is_pending());
  fh_object_release(taken);
  fh_object_release(error);
}

TEST(a_second_error_replaces_the_first) {
  TVMFFIErrorSetRaisedFromCStr("ValueError", "first");
  TVMFFIErrorSetRaisedFromCStr("TypeError", "second");
  expect_raised("TypeError", "second");
}

TEST(setting_null_clears) {
  TVMFFIErrorSetRaisedFromCStr("ValueError", "first");
  TVMFFIErrorSetRaised(NULL);
  expect(!fh_error_is_pending());
}

TEST(a_message_may_come_in_parts_with_gaps) {
  const char *parts[] = {"one", NULL, " two", ""};
  TVMFFIErrorSetRaisedFromCStrParts("KeyError", parts, 4);
  expect_raised("KeyError", "one two");
  TVMFFIErrorSetRaisedFromCStrParts("KeyError", NULL, 0);
  expect_raised("KeyError", "");
}

TEST(missing_kind_and_message_are_allowed) {
  TVMFFIErrorSetRaisedFromCStr(NULL, NULL);
  expect_raised("RuntimeError", "");
}

TEST(a_raised_message_is_formatted_whatever_its_length) {
  char text[3000];
  memset(text, 'x', sizeof(text) - 1);
  text[sizeof(text) - 1] = '\0';
  expect_int(fh_error_raise(FH_VALUE_ERROR, "%d%s!", 7, text), -1);
  TVMFFIObjectHandle error = fh_error_take();
  expect_int(cell_of(error)->message.size, sizeof(text) + 1);
  expect(cell_of(error)->message.data[sizeof(text)] == '!');
  fh_object_release(error);
}

/* A string without a NUL, followed by inaccessible memory, with a length that does not fit into an int. */
TEST(a_message_reads_no_text_beyond_its_end_if_that_is_beyond_2_gib) {
  size_t n_bytes = 1 << 16, n_guard = 1 << 16;
  char *data = (char *)fh_shield_new(n_bytes + n_guard);
  expect(data != NULL);
  memset(data, 'x', n_bytes);
  fh_shield_no_access(data + n_bytes, n_guard);
  TVMFFIByteArray text = {data, (size_t)INT32_MAX + 6}, missing = {NULL, 0};
  fh_error_raise(FH_VALUE_ERROR, "<%.*s|%.*s>", FH_BYTES_ARGS(text), FH_BYTES_ARGS(missing));
  TVMFFIObject *error = fh_error_take();
  expect_text(cell_of(error)->message, "<xxxxx|>");
  fh_object_release(error);
  fh_shield_free(data, n_bytes + n_guard);
}

static int make_error(void *unused) {
  (void)unused;
  int result = fh_error_raise(FH_VALUE_ERROR, "text");
  TVMFFIObjectHandle error = fh_error_take();
  int is_mine = strcmp(cell_of(error)->kind.data, "ValueError") == 0;
  if (!is_mine) fh_error_put((TVMFFIObject *)error);
  if (is_mine) fh_object_release(error);
  expect_int(result, -1);
  return is_mine ? 0 : -1;
}

TEST(an_error_that_finds_no_memory_is_a_memory_error) { test_sweep(make_error, NULL); }

static int make_error_parts(void *unused) {
  (void)unused;
  const char *parts[] = {"some", " text"};
  TVMFFIErrorSetRaisedFromCStrParts("ValueError", parts, 2);
  TVMFFIObjectHandle error = fh_error_take();
  int is_mine = strcmp(cell_of(error)->kind.data, "ValueError") == 0;
  if (!is_mine) fh_error_put((TVMFFIObject *)error);
  if (is_mine) fh_object_release(error);
  return is_mine ? 0 : -1;
}

TEST(an_error_from_parts_that_finds_no_memory_is_a_memory_error) { test_sweep(make_error_parts, NULL); }

TEST(creating_an_error_without_memory_raises_nothing) {
  TVMFFIByteArray text = text_of("text");
  TVMFFIObjectHandle error;
  for (int n = 1; n <= 2; ++n) {
    fh_mem_fail_nth(n);
    expect_int(TVMFFIErrorCreate(&text, &text, &text, &error), -1);
    fh_mem_fail_nth(0);
    expect(error == NULL);
    expect(!fh_error_is_pending());
  }
}

TEST(the_memory_error_takes_no_backtrace_and_never_ends) {
  for (int i = 0; i < 3; ++i) {
    expect_int(fh_error_raise_no_memory(), -1);
    TVMFFIObjectHandle error = fh_error_take();
    update(error, "some text", kTVMFFIBacktraceUpdateModeAppend);
    expect_int(cell_of(error)->backtrace.size, 0);
    fh_object_release(error);
  }
}

static void raise_own(void *raw, int i) {
  char text[16];
  (void)raw;
  for (int round = 0; round < 1000; ++round) {
    snprintf(text, sizeof(text), "thread %d", i);
    TVMFFIErrorSetRaisedFromCStr("ValueError", text);
    expect_raised("ValueError", text);
    fh_error_raise_no_memory();
    expect_raised("MemoryError", "Out of memory");
  }
  fh_error_raise(FH_VALUE_ERROR, "left pending: ends with the thread");
}

TEST(every_thread_has_its_own_pending_error) { test_threads(4, raise_own, NULL); }

/* ---- Backtraces ---- */

TEST(a_backtrace_starts_with_the_given_frame) {
  test_setenv("TVM_TRACEBACK_LIMIT", NULL);
  expect_text(*TVMFFIBacktrace("f.c", 12, "g", 0), "  File \"f.c\", line 12, in g\n");
  expect_text(*TVMFFIBacktrace(NULL, 0, NULL, 0), "");
  expect_text(*TVMFFIBacktrace("f.c", 0, NULL, 1), "");
}

TEST(a_frame_of_call_glue_is_left_out) {
  expect_text(*TVMFFIBacktrace("/a/include/tvm/ffi/function_detail.h", 12, "g", 0), "");
  expect_text(*TVMFFIBacktrace("/usr/include/c++/12/any", 12, "g", 0), "");
}

TEST(a_frame_may_be_long) {
  char name[3000];
  memset(name, 'n', sizeof(name) - 1);
  name[sizeof(name) - 1] = '\0';
  expect_int(TVMFFIBacktrace(name, 1, name, 0)->size, 2 * (sizeof(name) - 1) + strlen("  File \"\", line 1, in \n"));
}

TEST(the_frame_limit_is_honoured_and_nonsense_ignored) {
  static const char *const nonsense[] = {"", "many", "-1", "3x", "99999999999999999999"};
  test_setenv("TVM_TRACEBACK_LIMIT", "0");
  expect_text(*TVMFFIBacktrace("f.c", 12, "g", 0), "");
  test_setenv("TVM_TRACEBACK_LIMIT", "1");
  expect_int(TVMFFIBacktrace("f.c", 12, "g", 0)->size, 28);
  for (size_t i = 0; i < FH_COUNT_OF(nonsense); ++i) {
    test_setenv("TVM_TRACEBACK_LIMIT", nonsense[i]);
    expect_int(TVMFFIBacktrace("f.c", 12, "g", 0)->size, 28);
  }
  test_setenv("TVM_TRACEBACK_LIMIT", NULL);
}

static int count_lines(const TVMFFIByteArray *text) {
  int n = 0;
  for (size_t i = 0; i < text->size; ++i) n += text->data[i] == '\n';
  return n;
}

static FH_NOINLINE int count_frames(void) { return count_lines(TVMFFIBacktrace("f.c", 12, "g", 1)); }

/* A frame whose name the loader knows; only such frames appear in a backtrace. */
FH_EXPORT int test_error_visible_frame(void);
FH_NOINLINE int test_error_visible_frame(void) { return count_frames() - 1; }

TEST(native_frames_follow_when_asked_for) {
  test_setenv("TVM_FFI_NATIVE_BACKTRACE", "1");
  expect(test_error_visible_frame() > 0);
  test_setenv("TVM_TRACEBACK_LIMIT", "2");
  expect_int(test_error_visible_frame(), 1);
  test_setenv("TVM_TRACEBACK_LIMIT", NULL);
  test_setenv("TVM_FFI_NATIVE_BACKTRACE", NULL);
}

static char traced[10000];

/* Called by the C library, so frames of another library are between this function and its caller. */
static int trace_from_library(const void *a, const void *b) {
  const TVMFFIByteArray *text = TVMFFIBacktrace(NULL, 0, NULL, 0);
  snprintf(traced, sizeof(traced), "%.*s", (int)text->size, text->data);
  return *(const int *)a - *(const int *)b;
}

TEST(native_frames_end_at_the_library_of_the_host) {
  int pair[] = {2, 1};
  test_setenv("TVM_FFI_NATIVE_BACKTRACE", "1");
  fh_backtrace_set_boundary((void *)(uintptr_t)trace_from_library);
  qsort(pair, 2, sizeof(pair[0]), trace_from_library);
  fh_backtrace_set_boundary(NULL);
  expect(strstr(traced, "qsort") != NULL);
  expect(strstr(traced, "main") == NULL);
  expect(strstr(traced, "trace_from_library") == NULL);
  test_setenv("TVM_FFI_NATIVE_BACKTRACE", NULL);
}

TEST(a_backtrace_without_memory_is_shorter) {
  char name[20000]; /* longer than the thread's buffer */
  memset(name, 'n', sizeof(name) - 1);
  name[sizeof(name) - 1] = '\0';
  fh_mem_fail_nth(1);
  expect_text(*TVMFFIBacktrace(name, 1, "g", 0), "");
  fh_mem_fail_nth(0);
}

static void trace_own(void *raw, int i) {
  (void)raw;
  for (int round = 0; round < 200; ++round) {
    char wanted[64];
    snprintf(wanted, sizeof(wanted), "  File \"f.c\", line %d, in g\n", i);
    expect_text(*TVMFFIBacktrace("f.c", i, "g", 0), wanted);
  }
}

TEST(every_thread_has_its_own_backtrace) { test_threads(4, trace_own, NULL); }

TEST(the_version_is_that_of_the_header) {
  TVMFFIVersion version;
  TVMFFIGetVersion(&version);
  expect_int(version.major, TVM_FFI_VERSION_MAJOR);
  expect_int(version.minor, TVM_FFI_VERSION_MINOR);
  expect_int(version.patch, TVM_FFI_VERSION_PATCH);
}

/* ---- Payloads ---- */

static int n_made, n_dropped;

static TVMFFIObject *make_of_payload(void *payload) {
  ++n_made;
  expect(!fh_error_is_pending());
  if (payload == NULL) return NULL; /* as if there was no memory */
  return (TVMFFIObject *)error_of("ValueError", (const char *)payload, "");
}

static void drop_payload(void *payload) {
  FH_UNUSED(payload);
  ++n_dropped;
}

static int n_copied;

static void *copy_payload(const void *payload) {
  ++n_copied;
  return (void *)(uintptr_t)payload;
}

static const fh_error_payload_operations ours = {make_of_payload, drop_payload, copy_payload},
                                         of_others = {make_of_payload, drop_payload, NULL};

static void put_payload(const char *text) {
  n_made = n_dropped = n_copied = 0;
  fh_error_deferred.set((void *)(uintptr_t)text, &ours);
}

TEST(a_payload_comes_back_to_its_owner_as_it_is) {
  static const char text[] = "deferred";
  put_payload(text);
  expect(fh_error_is_pending());
  expect(fh_error_deferred.take(&of_others) == NULL);
  expect(fh_error_deferred.take(&ours) == text);
  expect(!fh_error_is_pending());
  expect(fh_error_deferred.take(&ours) == NULL);
  expect_int(n_made + n_dropped, 0);
}

TEST(native_code_that_asks_for_a_payload_gets_an_error_object) {
  TVMFFIObjectHandle error;
  put_payload("deferred");
  TVMFFIErrorMoveFromRaised(&error);
  expect_text(cell_of(error)->message, "deferred");
  expect_int(n_made, 1);
  expect_int(n_dropped, 0);
  expect(!fh_error_is_pending());
  TVMFFIErrorSetRaised(error); /* now an ordinary error */
  fh_object_release(error);
  expect(fh_error_deferred.take(&ours) == NULL);
  expect_raised("ValueError", "deferred");
}

TEST(a_payload_that_cannot_become_an_object_is_missing_memory) {
  put_payload(NULL);
  expect_raised("MemoryError", "Out of memory");
  expect_int(n_made, 1);
}

TEST(a_payload_ends_when_another_error_takes_its_place) {
  put_payload("deferred");
  fh_error_raise(FH_TYPE_ERROR, "another");
  expect_int(n_dropped, 1);
  expect_raised("TypeError", "another");
  put_payload("first");
  fh_error_deferred.set((void *)(uintptr_t)"second", &of_others);
  expect_int(n_dropped, 1);
  fh_error_clear();
  expect_int(n_dropped, 2);
  put_payload("cleared");
  fh_error_clear();
  expect_int(n_dropped, 1);
  expect_int(n_made, 0);
}

static void *leave_payload(void *unused) {
  FH_UNUSED(unused);
  put_payload("left");
  return NULL;
}

TEST(a_payload_ends_with_its_thread) {
  pthread_t thread;
  expect_int(pthread_create(&thread, NULL, leave_payload, NULL), 0);
  pthread_join(thread, NULL);
  expect_int(n_dropped, 1);
}

/* ---- Held errors ---- */

static TVMFFIObjectHandle hold(void) {
  TVMFFIObjectHandle held;
  fh_error_hold(&held);
  expect(!fh_error_is_pending());
  return held;
}

TEST(a_held_payload_comes_back_to_its_owner_as_it_is) {
  static const char text[] = "deferred";
  put_payload(text);
  TVMFFIObjectHandle held = hold();
  fh_error_restore(held);
  fh_object_release(held); /* C++ ends its exception before it returns */
  expect(fh_error_is_pending());
  expect(fh_error_deferred.take(&of_others) == NULL);
  expect(fh_error_deferred.take(&ours) == text);
  expect(!fh_error_is_pending());
  expect_int(n_made + n_dropped + n_copied, 0);
}

TEST(a_held_payload_passes_several_handlers) {
  put_payload("deferred");
  for (int i = 0; i < 3; ++i) {
    TVMFFIObjectHandle held = hold();
    fh_error_restore(held);
    fh_object_release(held);
  }
  fh_error_clear();
  expect_int(n_dropped, 1);
  expect_int(n_made + n_copied, 0);
}

TEST(a_held_payload_that_others_refer_to_is_copied) {
  static const char text[] = "deferred";
  put_payload(text);
  TVMFFIObjectHandle held = hold();
  fh_error_restore(held);
  expect(fh_error_deferred.take(&ours) == text);
  expect_int(n_copied, 1);
  expect_text(cell_of(fh_error_of_held(held))->message, "deferred");
  expect_int(n_copied, 2);
  fh_error_restore(held); /* now an ordinary error */
  expect(fh_error_deferred.take(&ours) == NULL);
  expect_raised("ValueError", "deferred");
  fh_object_release(held);
  expect_int(n_made, 1);
  expect_int(n_dropped, 1);
}

TEST(a_held_payload_becomes_an_error_object_once) {
  put_payload("deferred");
  TVMFFIObjectHandle held = hold(), error;
  fh_error_raise(FH_TYPE_ERROR, "of the handler");
  TVMFFIObjectHandle made = fh_error_of_held(held);
  expect(fh_error_of_held(held) == made);
  expect(fh_error_of_held(made) == made);
  expect_raised("TypeError", "of the handler");
  fh_error_restore(held);
  TVMFFIErrorMoveFromRaised(&error);
  expect(error == made);
  fh_object_release(error);
  fh_object_release(held);
  expect_int(n_made, 1);
  expect_int(n_dropped, 1);
}

TEST(native_code_that_asks_for_a_held_payload_gets_an_error_object) {
  TVMFFIObjectHandle error;
  put_payload("deferred");
  TVMFFIObjectHandle held = hold();
  fh_error_restore(held);
  TVMFFIErrorMoveFromRaised(&error);
  expect_text(cell_of(error)->message, "deferred");
  expect(fh_error_of_held(held) == error);
  fh_object_release(error);
  fh_object_release(held);
  expect_int(n_made, 1);
}

TEST(other_errors_are_held_as_they_are) {
  fh_error_restore(NULL);
  expect(hold() == NULL);
  fh_error_raise(FH_TYPE_ERROR, "an error");
  TVMFFIObjectHandle held = hold();
  expect_text(cell_of(held)->message, "an error");
  expect(fh_error_of_held(held) == held);
  fh_error_restore(held);
  fh_object_release(held);
  expect_raised("TypeError", "an error");
  put_payload("deferred");
  fh_error_deferred.set((void *)(uintptr_t)"of others", &of_others);
  held = hold(); /* its owner makes no copies */
  expect_text(cell_of(held)->message, "of others");
  fh_object_release(held);
  put_payload("deferred");
  fh_mem_fail_nth(1);
  held = hold();
  fh_mem_fail_nth(0);
  expect_int(TVMFFIObjectGetTypeIndex(held), kTVMFFIError);
  fh_object_release(held);
}

static TVMFFIObjectHandle shared;

static void use_shared(void *unused, int i) {
  FH_UNUSED(unused);
  for (int round = 0; round < 100; ++round) {
    if (i % 2 == 0) {
      fh_error_restore(shared);
      TVMFFIObjectHandle again;
      fh_error_hold(&again);
      fh_object_release(again);
    }
    expect_text(cell_of(fh_error_of_held(shared))->message, "shared");
  }
}

static TVMFFIObject *make_shared(void *payload) { return (TVMFFIObject *)error_of("ValueError", payload, ""); }
static void drop_shared(void *payload) { FH_UNUSED(payload); }
static void *copy_shared(const void *payload) { return (void *)(uintptr_t)payload; }

TEST(threads_share_a_held_payload) {
  static const fh_error_payload_operations operations = {make_shared, drop_shared, copy_shared};
  fh_error_deferred.set((void *)(uintptr_t)"shared", &operations);
  shared = hold();
  test_threads(4, use_shared, NULL);
  fh_object_release(shared);
}

TEST(bindings_find_the_functions_for_payloads) {
  TVMFFIByteArray name = text_of("ffi_hpy.error_deferral.3");
  TVMFFIObjectHandle function;
  TVMFFIAny result = {0};
  expect_int(TVMFFIFunctionGetGlobal(&name, &function), 0);
  expect_int(TVMFFIFunctionCall(function, NULL, 0, &result), 0);
  expect_int(result.type_index, kTVMFFIOpaquePtr);
  expect(result.v_ptr == &fh_error_deferred);
  expect_int(TVMFFIFunctionCall(function, &result, 1, &result), -1);
  expect_raised("TypeError", "Expected 0 but got 1 arguments");
  fh_object_release(function);
}
