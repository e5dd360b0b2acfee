/* test_memo.c - the table of visited objects. */
#include "core/container/memo.h"

#include "core/object/object.h"
#include "support/harness.h"

TEST(a_memo_finds_added_objects_and_forgets_erased_ones) {
  static char objects[3000];
  fh_memo memo = {NULL, 0, 0, 0};
  for (int i = 0; i < 3000; ++i) expect_int(fh_memo_put(&memo, &objects[i], NULL, (uint64_t)i), 0);
  for (int i = 0; i < 3000; i += 3) fh_memo_erase(&memo, &objects[i], NULL);
  fh_memo_erase(&memo, &objects[0], NULL);
  expect_int(memo.n_used, 2000);
  for (int i = 0; i < 3000; ++i) {
    const uint64_t *word = fh_memo_find(&memo, &objects[i], NULL);
    expect((word == NULL) == (i % 3 == 0));
    if (word != NULL) expect_int(*word, i);
  }
  expect_int(fh_memo_put(&memo, &objects[1], NULL, 77), 0);
  expect_int(*fh_memo_find(&memo, &objects[1], NULL), 77);
  expect_int(memo.n_used, 2000);
  fh_memo_free(&memo);
  expect(fh_memo_find(&memo, &objects[1], NULL) == NULL);
}

TEST(a_memo_tells_pairs_by_both_sides_in_order) {
  static char a, b;
  fh_memo memo = {NULL, 0, 0, 0};
  expect_int(fh_memo_put(&memo, &a, &b, 1), 0);
  expect(fh_memo_find(&memo, &a, &b) != NULL);
  expect(fh_memo_find(&memo, &b, &a) == NULL);
  expect(fh_memo_find(&memo, &a, NULL) == NULL);
  expect(fh_memo_find(&memo, &a, &a) == NULL);
  fh_memo_free(&memo);
}

TEST(a_retaining_memo_keeps_its_objects_alive) {
  int ends = 0;
  fh_memo memo = {NULL, 0, 0, 1};
  TVMFFIObjectHandle object = test_object_new(&ends);
  expect_int(fh_memo_put(&memo, object, NULL, 1), 0);
  expect_int(fh_memo_put(&memo, object, NULL, 2), 0);
  fh_object_release(object);
  expect_int(ends, 0);
  fh_memo_free(&memo);
  expect_int(ends, 1);
}
