/* test_str.c - text, bytes and big integers. */
#include "core/object/any_hash.h"
#include "core/object/error.h"
#include "core/object/str.h"
#include "core/platform/mem.h"
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
  expect(fh_str_object_new(SIZE_MAX - 8, kTVMFFIStr) == NULL);
  expect_raised("MemoryError", "Out of memory");
}

/* ---- Big integers ---- */

static TVMFFIByteArray words_of(const int64_t *words, size_t n_words) {
  TVMFFIByteArray bytes = {(const char *)words, n_words * 8};
  return bytes;
}

TEST(no_words_and_one_word_are_plain_integers) {
  int64_t minus_five = -5;
  TVMFFIByteArray none = {NULL, 0}, one = words_of(&minus_five, 1);
  TVMFFIAny any;
  expect_int(TVMFFIBigIntFromByteArray(&none, &any), 0);
  expect_int(any.type_index, kTVMFFIInt);
  expect_int(any.v_int64, 0);
  expect_int(TVMFFIBigIntFromByteArray(&one, &any), 0);
  expect_int(any.type_index, kTVMFFIInt);
  expect_int(any.v_int64, -5);
}

TEST(redundant_sign_words_are_dropped) {
  int64_t minus_one[3] = {-1, -1, -1}, seven[3] = {7, 0, 0};
  TVMFFIByteArray input = words_of(minus_one, 3);
  TVMFFIAny any;
  expect_int(TVMFFIBigIntFromByteArray(&input, &any), 0);
  expect_int(any.type_index, kTVMFFIInt);
  expect_int(any.v_int64, -1);
  input = words_of(seven, 3);
  expect_int(TVMFFIBigIntFromByteArray(&input, &any), 0);
  expect_int(any.type_index, kTVMFFIInt);
  expect_int(any.v_int64, 7);
}

TEST(a_word_that_guards_the_sign_is_kept) {
  int64_t two_to_63[3] = {INT64_MIN, 0, 0}, below_min[2] = {INT64_MAX, -1};
  TVMFFIByteArray input = words_of(two_to_63, 3);
  TVMFFIAny any;
  expect_int(TVMFFIBigIntFromByteArray(&input, &any), 0);
  expect_int(any.type_index, kTVMFFIBigInt);
  TVMFFIByteArray content = TVMFFIBigIntGetContentByteArray(&any);
  expect_int(content.size, 16);
  expect(memcmp(content.data, two_to_63, 16) == 0);
  expect_int(*(size_t *)(void *)((char *)any.v_obj + 24), 2);
  fh_any_drop(&any);
  input = words_of(below_min, 2);
  expect_int(TVMFFIBigIntFromByteArray(&input, &any), 0);
  expect_int(any.type_index, kTVMFFIBigInt);
  fh_any_drop(&any);
}

TEST(the_words_of_an_integer_are_borrowed_from_it) {
  TVMFFIAny any = fh_any_int(-3), text = fh_any_none();
  TVMFFIByteArray content = TVMFFIBigIntGetContentByteArray(&any);
  expect(content.data == (const char *)&any.v_int64);
  expect_int(content.size, 8);
  content = TVMFFIBigIntGetContentByteArray(&text);
  expect(content.data == NULL && content.size == 0);
}

TEST(half_words_are_refused) {
  TVMFFIByteArray input = {"123456789", 9};
  TVMFFIAny any;
  expect_int(TVMFFIBigIntFromByteArray(&input, &any), -1);
  expect_raised("ValueError", "Expected whole 64-bit words for a BigInt but got 9 bytes");
  expect_int(any.type_index, kTVMFFINone);
}

TEST(equal_big_integers_are_equal_values) {
  int64_t words[2] = {3, 4}, others[2] = {3, 5};
  TVMFFIByteArray input = words_of(words, 2), other = words_of(others, 2);
  TVMFFIAny a, b, c;
  uint64_t a_hash, b_hash;
  int equal;
  TVMFFIBigIntFromByteArray(&input, &a);
  TVMFFIBigIntFromByteArray(&input, &b);
  TVMFFIBigIntFromByteArray(&other, &c);
  expect(a.v_obj != b.v_obj);
  expect_int(fh_any_hash(&a, &a_hash), 0);
  expect_int(fh_any_hash(&b, &b_hash), 0);
  expect(a_hash == b_hash);
  expect_int(fh_any_equal(&a, &b, &equal), 0);
  expect_int(equal, 1);
  expect_int(fh_any_equal(&a, &c, &equal), 0);
  expect_int(equal, 0);
  fh_any_drop(&a);
  fh_any_drop(&b);
  fh_any_drop(&c);
}

static int make_bigint(void *unused) {
  (void)unused;
  int64_t words[2] = {3, 4};
  TVMFFIByteArray input = words_of(words, 2);
  TVMFFIAny any;
  if (TVMFFIBigIntFromByteArray(&input, &any) != 0) return -1;
  fh_any_drop(&any);
  return 0;
}

TEST(a_big_integer_that_finds_no_memory_is_an_error) { test_sweep(make_bigint, NULL); }
