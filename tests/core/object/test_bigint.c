/* test_bigint.c - integers of more than 64 bits. */
#include "core/object/any_hash.h"
#include "core/object/error.h"
#include "support/harness.h"

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
