/* test_str.c - strings and bytes. */
#include "core/object/str.h"
#include "support/harness.h"

TEST(text_of_up_to_seven_bytes_lives_in_the_value) {
  for (size_t n = 0; n <= 7; ++n) {
    TVMFFIByteArray input = {"abcdefghi", n}, content;
    TVMFFIAny any;
    expect_int(TVMFFIStringFromByteArray(&input, &any), 0);
    expect_int(any.type_index, kTVMFFISmallStr);
    expect_int(any.small_str_len, n);
    for (size_t i = n; i < 8; ++i) expect_int(any.v_bytes[i], 0);
    expect(fh_str_content(&any, &content));
    expect(fh_span_same(content, input));
  }
}

TEST(text_of_eight_bytes_becomes_an_object) {
  TVMFFIByteArray input = {"abcdefghi", 8};
  TVMFFIAny any;
  expect_int(TVMFFIStringFromByteArray(&input, &any), 0);
  expect_int(any.type_index, kTVMFFIStr);
  expect_int(any.zero_padding, 0);
  expect_text(*TVMFFIBytesGetByteArrayPtr(any.v_obj), "abcdefgh");
  fh_any_drop(&any);
}

TEST(bytes_have_the_same_two_forms) {
  TVMFFIByteArray input = {"a\0c", 3};
  TVMFFIAny any;
  expect_int(TVMFFIBytesFromByteArray(&input, &any), 0);
  expect_int(any.type_index, kTVMFFISmallBytes);
  expect_int(any.small_str_len, 3);
  input.data = "a\0cdefgh";
  input.size = 8;
  expect_int(TVMFFIBytesFromByteArray(&input, &any), 0);
  expect_int(any.type_index, kTVMFFIBytes);
  expect(memcmp(TVMFFIBytesGetByteArrayPtr(any.v_obj)->data, "a\0cdefgh", 9) == 0);
  fh_any_drop(&any);
}

TEST(empty_text_may_come_without_a_pointer) {
  TVMFFIByteArray input = {NULL, 0};
  TVMFFIAny any;
  expect_int(TVMFFIStringFromByteArray(&input, &any), 0);
  expect_int(any.type_index, kTVMFFISmallStr);
  expect_int(any.small_str_len, 0);
  expect_int(any.v_int64, 0);
}

TEST(the_result_may_lie_where_the_input_lies) {
  TVMFFIAny any;
  expect_int(fh_str_from_cstr("inline", &any), 0);
  TVMFFIByteArray content = TVMFFISmallBytesGetContentByteArray(&any);
  expect_int(TVMFFIBytesFromByteArray(&content, &any), 0);
  expect_int(any.type_index, kTVMFFISmallBytes);
  expect_text(TVMFFISmallBytesGetContentByteArray(&any), "inline");
}

TEST(content_is_text_for_text_only_and_bytes_for_bytes_only) {
  TVMFFIByteArray raw = {"raw", 3}, content;
  TVMFFIAny raw_str = fh_any_none(), raw_bytes = fh_any_ptr(&raw), number = fh_any_int(1);
  raw_str.type_index = kTVMFFIRawStr;
  raw_str.v_c_str = "raw";
  raw_bytes.type_index = kTVMFFIByteArrayPtr;
  expect(fh_str_content(&raw_str, &content) && fh_span_is(content, "raw"));
  expect(fh_bytes_content(&raw_bytes, &content) && fh_span_is(content, "raw"));
  expect(!fh_bytes_content(&raw_str, &content));
  expect(!fh_str_content(&raw_bytes, &content));
  expect(!fh_str_content(&number, &content));
}

TEST(the_hash_of_bytes_is_the_abi_s) {
  expect_int(fh_span_hash("", 0), 0);
  expect_int(fh_span_hash("a", 1), 97);
  expect_int(fh_span_hash("abcdefgh", 8), 0x6867666564636261u % 2147483647u);
  uint64_t first = 0x6867666564636261u % 2147483647u;
  expect_int(fh_span_hash("abcdefghi", 9), (first * 1099511628211u + 'i') % 2147483647u);
}

static int make_text_and_bytes(void *unused) {
  (void)unused;
  TVMFFIByteArray input = {"a longer text", 13};
  TVMFFIAny text, bytes;
  if (TVMFFIStringFromByteArray(&input, &text) != 0) {
    expect_int(text.type_index, kTVMFFINone);
    return -1;
  }
  int result = TVMFFIBytesFromByteArray(&input, &bytes);
  fh_any_drop(&text);
  fh_any_drop(&bytes);
  return result;
}

TEST(text_that_finds_no_memory_is_none) { test_sweep(make_text_and_bytes, NULL); }

TEST(text_of_impossible_length_is_refused) {
  TVMFFIAny text;
  expect_int(fh_str_new("", SIZE_MAX - 8, &text), -1);
  expect_raised("MemoryError", "Out of memory");
}
