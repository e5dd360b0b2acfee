/* test_base64.c - bytes as base64 and back. */
#include "core/serial/base64.h"

#include "support/calls.h"

static TVMFFIAny encoded(const char *data, size_t n) {
  TVMFFIByteArray bytes = {data, n};
  TVMFFIAny text;
  expect_int(fh_base64_encode(bytes, &text), 0);
  return text;
}

static void expect_round(const char *data, size_t n, const char *wanted) {
  TVMFFIAny text = encoded(data, n), bytes;
  TVMFFIByteArray content;
  expect_int(fh_base64_decode(text_of(wanted), &bytes), 0);
  expect(fh_bytes_content(&bytes, &content));
  expect_int(content.size, n);
  expect(n == 0 || memcmp(content.data, data, n) == 0);
  expect_int(bytes.type_index, n > FH_STR_SMALL_MAX ? kTVMFFIBytes : kTVMFFISmallBytes);
  fh_any_drop(&bytes);
  expect_str(text, wanted);
}

TEST(base64_reads_back_text_of_every_remainder) {
  expect_round(NULL, 0, "");
  expect_round("a", 1, "YQ==");
  expect_round("ab", 2, "YWI=");
  expect_round("abc", 3, "YWJj");
  expect_round("\0\xff\x10\x80", 4, "AP8QgA==");
  expect_round("longer than seven", 17, "bG9uZ2VyIHRoYW4gc2V2ZW4=");
  expect_round("\xfb\xff\xbf", 3, "+/+/");
}

TEST(base64_keeps_every_byte) {
  char all[256];
  TVMFFIByteArray content;
  TVMFFIAny bytes;
  for (int i = 0; i < 256; ++i) all[i] = (char)i;
  for (size_t n = 0; n <= sizeof(all); ++n) {
    TVMFFIAny text = encoded(all, n);
    expect(fh_str_content(&text, &content));
    expect_int(content.size, (n + 2) / 3 * 4);
    expect_int(fh_base64_decode(content, &bytes), 0);
    expect(fh_bytes_content(&bytes, &content));
    expect(content.size == n && memcmp(content.data, all, n) == 0);
    fh_any_drop(&text);
    fh_any_drop(&bytes);
  }
}

static void expect_refused(const char *text, const char *part) {
  TVMFFIAny bytes;
  expect_int(fh_base64_decode(text_of(text), &bytes), -1);
  expect_int(bytes.type_index, kTVMFFINone);
  expect_raised("ValueError", part);
}

TEST(invalid_base64_is_refused) {
  expect_refused("abc", "groups of 4 characters but got 3");
  expect_refused("YWJjZ", "but got 5 characters");
  expect_refused("Y===", "byte 0x3d at position 1");
  expect_refused("====", "byte 0x3d at position 0");
  expect_refused("Y=Jj", "byte 0x3d at position 1");
  expect_refused("YQ==YQ==", "byte 0x3d at position 2");
  expect_refused("!!!!", "byte 0x21 at position 0");
  expect_refused("YW\xff=", "byte 0xff at position 2");
}

static int go_round(void *unused) {
  (void)unused;
  TVMFFIAny text, bytes;
  TVMFFIByteArray content, input = {"more than seven bytes", 21};
  if (fh_base64_encode(input, &text) != 0) return -1;
  fh_str_content(&text, &content);
  int rc = fh_base64_decode(content, &bytes);
  fh_any_drop(&text);
  fh_any_drop(&bytes);
  return rc;
}

TEST(base64_survives_missing_memory) { test_sweep(go_round, NULL); }
