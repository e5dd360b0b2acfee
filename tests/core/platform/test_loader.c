/* test_loader.c - what the loaders of the systems say. */
#include "core/platform/loader.h"

#include "support/harness.h"

#if !defined(_WIN32)
/* The name that a reason tells of is the wanted one; NULL: it tells of none. */
static void expect_lacking(const char *reason, const char *wanted) {
  size_t length = 99;
  const char *name = fh_loader_lacking(reason, &length);
  expect_int(name != NULL, wanted != NULL);
  expect_int((int64_t)length, wanted != NULL ? (int64_t)strlen(wanted) : 0);
  if (name != NULL && wanted != NULL) expect_int(memcmp(name, wanted, length), 0);
}

TEST(a_name_that_a_library_lacks_is_found_in_the_words_of_each_system) {
  expect_lacking("./a b.so: undefined symbol: TVMFFITomorrow", "TVMFFITomorrow");
  expect_lacking("a.so: undefined symbol: f, version V1", "f");
  expect_lacking("Error relocating /a b/c.so: _ZN3tvm3ffi1fEv: symbol not found", "_ZN3tvm3ffi1fEv");
  expect_lacking("dlopen(a.so, 0x0006): symbol not found in flat namespace '_TVMFFITomorrow'", "TVMFFITomorrow");
}

TEST(a_reason_of_another_kind_names_nothing_that_is_lacking) {
  expect_lacking("a.so: cannot open shared object file: No such file or directory", NULL);
  expect_lacking("Error loading shared library a.so: No such file or directory", NULL);
  expect_lacking("", NULL);
  expect_lacking(": symbol not found", "");
}

TEST(what_the_loader_of_this_system_says_is_understood) {
  char reason[FH_LOADER_REASON];
  expect_int(fh_loader_open("/nonexistent/library.so", FH_LOADER_LOCAL, reason, sizeof reason) == NULL, 1);
  expect_lacking(reason, NULL);
}
#endif
