/* test_loader.c - the messages of the systems' loaders. */
#include "core/platform/system.h"

#include "support/harness.h"

#if !defined(_WIN32)
/* Expects that a reason mentions the wanted name; NULL: that it mentions no name. */
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

TEST(the_messages_of_this_system_s_loader_are_understood) {
  char reason[FH_LOADER_REASON];
  expect_int(fh_loader_open("/nonexistent/library.so", FH_LOADER_LOCAL, reason, sizeof(reason)) == NULL, 1);
  expect_lacking(reason, NULL);
}

#if defined(__GLIBC__)
TEST(the_reason_of_a_loader_does_not_repeat_the_path) {
  char reason[FH_LOADER_REASON];
  expect(fh_loader_open("/nonexistent/library.so", FH_LOADER_LOCAL, reason, sizeof(reason)) == NULL);
  expect_text(text_of(reason), "cannot open shared object file: No such file or directory");
}
#endif
#endif

#if defined(_WIN32)
/* Returns the reason for a file with this content, in the system's folder for temporary files. */
static const char *reason_for(const void *content, size_t n) {
  static char reason[FH_LOADER_REASON];
  char path[300];
  const char *folder = getenv("TEMP");
  snprintf(path, sizeof(path), "%s\\fh_loader_test.dll", folder != NULL ? folder : "C:");
  FILE *file = fopen(path, "wb");
  expect(file != NULL && fwrite(content, 1, n, file) == n && fclose(file) == 0);
  expect(fh_loader_open(path, FH_LOADER_LOCAL, reason, sizeof(reason)) == NULL);
  remove(path);
  return reason;
}

TEST(the_error_for_a_file_of_another_system_or_machine_names_its_format) {
  unsigned char bytes[1024] = {0x7f, 'E', 'L', 'F', 2, 1, 1, [16] = 3, [18] = 183};
  expect_text(text_of(reason_for(bytes, sizeof(bytes))), "it is not a DLL, but a library for Linux (aarch64)");
  expect_text(text_of(reason_for(bytes, 0)), "it is empty");
  memset(bytes, 0, sizeof(bytes));
  memcpy(bytes, "MZ", 2);
  bytes[60] = 64;
  memcpy(bytes + 64, "PE\0\0\x4c\x01", 6);
  bytes[64 + 23] = 0x20;
  const char *reason = reason_for(bytes, sizeof(bytes));
  expect(strstr(reason, "it is not for this machine: it is a library for x86, and this process is ") != NULL);
}

TEST(the_reason_for_a_damaged_library_has_no_placeholders) {
  unsigned char bytes[1024] = {'M', 'Z', [60] = 64};
  const char *reason = reason_for(bytes, sizeof(bytes));
  expect(strstr(reason, "%1") == NULL);
  expect(strstr(reason, "(error 193): it, or a library that it needs, is damaged, or for another system") != NULL);
}
#endif
