/* compare.c - deep equality and order of values.
 *
 * One walk over pairs of objects, up to the first difference. Cycles are compared as in a bisimulation: a pair that
 * occurs again while it is being compared counts as equal, because a difference inside of it is found at its first
 * occurrence. Order has no such definition, so a cycle is an error. A shared pair is compared once. */
#include "nested.h"

#include "core/object/any_own.h"
#include "core/object/bigint.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/global.h"
#include "core/object/str.h"
#include "core/object/type.h"

typedef struct {
  fh_walk walk;
  /* Entered pairs that may occur again. The first difference ends the comparison, so a pair in this table has shown
   * none so far, and for equality a pair that occurs again counts as equal. The word is twice a number that grows from
   * pair to pair, plus 1 while the pair is still open. */
  fh_memo pairs;
  uint64_t n_pairs;
  bool is_order;
  bool is_loose; /* see fh_compare_loose */
  TVMFFIObject *equal; /* for a loose comparison, borrowed; may be NULL */
} comparer;

/* The outcome of one comparison: FAILED with an error pending; ENTERED: two objects are on the walk now; DECIDED: *out
 * is the result. */
typedef enum { FAILED = -1, ENTERED = 0, DECIDED = 1 } verdict;

/* -1, 0 or 1 from two comparisons, of which at most one is true. */
static int sign_of(int less, int more) { return more - less; }

/* ---- Plain data ---- */

/* For a value of a type that has equality only. */
static verdict refuse_order(const TVMFFIAny *value) {
  fh_error_raise(FH_TYPE_ERROR, "Expected values that have an order but got `%s`", fh_type_name(value->type_index));
  return FAILED;
}

/* For equality all NaNs are equal; a NaN has no order. */
static verdict compare_floats(const comparer *c, double a, double b, int *out) {
  int a_nan = a != a, b_nan = b != b;
  *out = a_nan || b_nan ? a_nan != b_nan : sign_of(a<b, a> b);
  if (!c->is_order || !(a_nan || b_nan)) return DECIDED;
  fh_error_raise(FH_TYPE_ERROR, "Expected numbers to order but got a NaN");
  return FAILED;
}

static int compare_dtypes(DLDataType a, DLDataType b) {
  if (a.code != b.code) return sign_of(a.code<b.code, a.code> b.code);
  if (a.bits != b.bits) return sign_of(a.bits<b.bits, a.bits> b.bits);
  return sign_of(a.lanes<b.lanes, a.lanes> b.lanes);
}

static int compare_devices(DLDevice a, DLDevice b) {
  if (a.device_type != b.device_type) return sign_of(a.device_type<b.device_type, a.device_type> b.device_type);
  return sign_of(a.device_id<b.device_id, a.device_id> b.device_id);
}

static verdict compare_plain(const comparer *c, const TVMFFIAny *a, const TVMFFIAny *b, int *out) {
  switch (a->type_index) {
  case kTVMFFINone: *out = 0; return DECIDED;
  case kTVMFFIBool: *out = sign_of(!a->v_int64 && b->v_int64, a->v_int64 && !b->v_int64); return DECIDED;
  case kTVMFFIInt: *out = sign_of(a->v_int64<b->v_int64, a->v_int64> b->v_int64); return DECIDED;
  case kTVMFFIFloat: return compare_floats(c, a->v_float64, b->v_float64, out);
  case kTVMFFIDataType: *out = compare_dtypes(a->v_dtype, b->v_dtype); return DECIDED;
  case kTVMFFIDevice: *out = compare_devices(a->v_device, b->v_device); return DECIDED;
  default: break;
  }
  /* The remaining types have no order: addresses and markers. */
  *out = !fh_any_same(a, b);
  return *out != 0 && c->is_order ? refuse_order(a) : DECIDED;
}

/* Compares unsigned bytes; a prefix comes before the longer one. */
static int compare_bytes(TVMFFIByteArray a, TVMFFIByteArray b) {
  size_t n = a.size < b.size ? a.size : b.size;
  int difference = n != 0 ? memcmp(a.data, b.data, n) : 0;
  return difference != 0 ? difference : sign_of(a.size<b.size, a.size> b.size);
}

/* Compares strings or bytes, either in the cell or in an object: 1, or 0 for anything else, with *out unchanged. */
static bool compare_text(const TVMFFIAny *a, const TVMFFIAny *b, int *out) {
  TVMFFIByteArray left, right;
  bool is_same_kind = (fh_str_content(a, &left) && fh_str_content(b, &right)) ||
                      (fh_bytes_content(a, &left) && fh_bytes_content(b, &right));
  if (is_same_kind) *out = compare_bytes(left, right);
  return is_same_kind;
}

/* Compares sequences of integers: the first difference decides, then the length. */
static int compare_shapes(TVMFFIObject *a, TVMFFIObject *b) {
  const TVMFFIShapeCell *left = TVMFFIShapeGetCellPtr(a), *right = TVMFFIShapeGetCellPtr(b);
  for (size_t i = 0; i < left->size && i < right->size; ++i) {
    if (left->data[i] != right->data[i]) {
      return sign_of(left->data[i]<right->data[i], left->data[i]> right->data[i]);
    }
  }
  return sign_of(left->size<right->size, left->size> right->size);
}

static bool is_integer(const TVMFFIAny *any) {
  return any->type_index == kTVMFFIInt || any->type_index == kTVMFFIBigInt;
}

/* An Int has one word, its value; a BigInt has several. Words are in two's complement, without redundant ones: of two
 * numbers with one sign the longer one is further from zero, and with equal lengths the words decide, the highest
 * first, as unsigned numbers. */
static int compare_integers(const TVMFFIAny *a, const TVMFFIAny *b) {
  TVMFFIByteArray left = TVMFFIBigIntGetContentByteArray(a), right = TVMFFIBigIntGetContentByteArray(b);
  const uint64_t *x = (const uint64_t *)(const void *)left.data, *y = (const uint64_t *)(const void *)right.data;
  size_t n = left.size / sizeof(*x), m = right.size / sizeof(*y);
  int x_negative = x[n - 1] >> 63 != 0, y_negative = y[m - 1] >> 63 != 0;
  if (x_negative != y_negative) return x_negative ? -1 : 1;
  if (n != m) return (n < m) != x_negative ? -1 : 1;
  while (n-- > 0) {
    if (x[n] != y[n]) return x[n] < y[n] ? -1 : 1;
  }
  return 0;
}

/* ---- Numbers of any types ---- */

static bool is_number(const TVMFFIAny *any) {
  return is_integer(any) || any->type_index == kTVMFFIBool || any->type_index == kTVMFFIFloat;
}

/* A word of an integer in two's complement with n words; words above the highest repeat its sign. */
static uint64_t word_at(const uint64_t *words, size_t n, size_t i) {
  return i < n ? words[i] : (words[n - 1] >> 63 != 0 ? UINT64_MAX : 0);
}

/* Whether an integer has exactly the value of a float. */
static bool equals_float(const TVMFFIAny *integer, double value) {
  TVMFFIByteArray content = TVMFFIBigIntGetContentByteArray(integer);
  const uint64_t *words = (const uint64_t *)(const void *)content.data;
  size_t n = content.size / sizeof(*words);
  if (value == 0) return n == 1 && words[0] == 0;
  /* value = whole * 2^shift. */
  uint64_t parts;
  memcpy(&parts, &value, sizeof(parts));
  int shift = (int)(parts >> 52 & 0x7ff) - 1075;
  uint64_t mantissa = (parts & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
  if (shift == 0x7ff - 1075 || shift < -52) return false; /* an infinity or NaN; below 1 */
  if (shift < 0) {
    if ((mantissa & (((uint64_t)1 << -shift) - 1)) != 0) return false;
    mantissa >>= -shift;
    shift = 0;
  }
  uint64_t sign = parts >> 63 != 0 ? UINT64_MAX : 0, whole = (mantissa ^ sign) - sign;
  /* The two words at `at` contain all bits of the number; the words below are 0. */
  size_t at = (size_t)shift / 64;
  unsigned bits = (unsigned)shift % 64;
  uint64_t low = whole << bits, high = bits == 0 ? sign : (whole >> (64 - bits)) | (sign << bits);
  size_t n_all = n > at + 2 ? n : at + 2;
  for (size_t i = 0; i < n_all; ++i) {
    if (word_at(words, n, i) != (i < at ? 0 : i == at ? low : i == at + 1 ? high : sign)) return false;
  }
  return true;
}

/* Whether two numbers of any types are equal. */
static bool equal_numbers(const TVMFFIAny *a, const TVMFFIAny *b) {
  TVMFFIAny left = a->type_index == kTVMFFIBool ? fh_any_int(a->v_int64 != 0) : *a;
  TVMFFIAny right = b->type_index == kTVMFFIBool ? fh_any_int(b->v_int64 != 0) : *b;
  if (left.type_index == kTVMFFIFloat && right.type_index == kTVMFFIFloat) {
    bool a_nan = left.v_float64 != left.v_float64, b_nan = right.v_float64 != right.v_float64;
    return a_nan || b_nan ? a_nan == b_nan : left.v_float64 == right.v_float64;
  }
  if (left.type_index == kTVMFFIFloat) return equals_float(&right, left.v_float64);
  if (right.type_index == kTVMFFIFloat) return equals_float(&left, right.v_float64);
  return compare_integers(&left, &right) == 0;
}

static bool are_alike(int32_t a, int32_t b, int32_t one, int32_t other) {
  return (a == one || a == other) && (b == one || b == other);
}

/* Whether two containers have equal contents if their children are equal, although their types differ. */
static bool are_of_one_kind(const TVMFFIAny *a, const TVMFFIAny *b) {
  return are_alike(a->type_index, b->type_index, kTVMFFIArray, kTVMFFIList) ||
         are_alike(a->type_index, b->type_index, kTVMFFIMap, kTVMFFIDict);
}

/* ---- Hooks ---- */

static int compare_values(comparer *c, const TVMFFIAny *a, const TVMFFIAny *b, int *out);

/* fn_eq(a, b) -> bool */
FH_CODE(eq_back) {
  int order;
  if (compare_values((comparer *)self, &args[0], &args[1], &order) != 0) return -1;
  *result = fh_any_bool(order == 0);
  return 0;
}

/* fn_cmp(a, b) -> int */
FH_CODE(compare_back) {
  int order;
  if (compare_values((comparer *)self, &args[0], &args[1], &order) != 0) return -1;
  *result = fh_any_int(sign_of(order < 0, order > 0));
  return 0;
}

/* __ffi_eq__(a, b, fn_eq) only returns whether they differ, and then *out is 1; __ffi_compare__(a, b, fn_cmp) returns
 * *out. */
static verdict call_hook(comparer *c, fh_reflect_attr_id id, TVMFFIObject *hook, TVMFFIObject *a, TVMFFIObject *b,
                         int *out) {
  TVMFFIAny result;
  bool is_eq = id == FH_ATTR_EQ;
  int rc = fh_hook_call(&c->walk, hook, a, b, is_eq ? eq_back : compare_back, 2, c, &result);
  if (rc != 0) return FAILED;
  if (result.type_index != kTVMFFIInt && result.type_index != kTVMFFIBool) {
    fh_hook_raise_result(id, a, is_eq ? "bool" : "int", &result);
    fh_any_drop(&result);
    return FAILED;
  }
  *out = is_eq ? result.v_int64 == 0 : sign_of(result.v_int64 < 0, result.v_int64 > 0);
  return DECIDED;
}

/* The hook of a type, *out NULL if it has none for this comparison. Equality prefers __ffi_eq__. Types with static
 * indices are skipped: their comparison is fixed here. */
static int find_hook(const comparer *c, int32_t type_index, fh_reflect_attr_id *id, TVMFFIObject **out) {
  *out = NULL;
  if (type_index < kTVMFFIStaticObjectEnd) return 0;
  *id = FH_ATTR_EQ;
  if (!c->is_order && fh_hook_find(*id, type_index, out) != 0) return -1;
  if (*out != NULL) return 0;
  *id = FH_ATTR_COMPARE;
  return fh_hook_find(*id, type_index, out);
}

/* ---- Objects ---- */

/* Handles a pair that may occur again: DECIDED if it has occurred before, ENTERED after storing it. */
static verdict compare_known(comparer *c, TVMFFIObject *a, TVMFFIObject *b, int *out) {
  const uint64_t *word = fh_memo_find(&c->pairs, a, b);
  if (word == NULL) return fh_memo_put(&c->pairs, a, b, c->n_pairs++ * 2 + 1) != 0 ? FAILED : ENTERED;
  *out = 0;
  if (!c->is_order || *word % 2 == 0) return DECIDED;
  fh_error_raise(FH_VALUE_ERROR, "Expected values to order but got a cyclic reference");
  return FAILED;
}

/* Marks a pair without a difference as done. Only order distinguishes done pairs from open ones. */
static void set_done(comparer *c, TVMFFIObject *a, TVMFFIObject *b) {
  uint64_t *word = c->is_order ? fh_memo_find(&c->pairs, a, b) : NULL;
  if (word != NULL) *word -= *word % 2;
}

/* Whether the sizes alone show that two containers differ. In order the items of a sequence are compared first, and its
 * length decides only if they are equal. Objects with fields have no counted size: both are -1. */
static bool differs_in_size(const comparer *c, const fh_walk_frame *f) {
  return f->n_children != f->n_of_other && (f->shape == FH_WALK_PAIRS || !c->is_order);
}

/* Whether `equal` of a loose comparison knows how a value compares: a Python object, or one of a registered type. */
static bool is_foreign(const TVMFFIAny *value) {
  return value->type_index == kTVMFFIOpaquePyObject || value->type_index >= kTVMFFIStaticObjectEnd;
}

/* Asks `equal` of a loose comparison about two objects. */
static verdict call_equal(const comparer *c, TVMFFIAny a, TVMFFIAny b, int *out) {
  TVMFFIAny args[] = {a, b}, result = fh_any_none();
  if (fh_function_call(c->equal, args, 2, &result) != 0) return FAILED;
  *out = result.type_index != kTVMFFIBool || result.v_int64 == 0;
  fh_any_drop(&result);
  return DECIDED;
}

/* Compares two values in a loose comparison, unless both are containers. */
static verdict ask_equal(const comparer *c, const TVMFFIAny *a, const TVMFFIAny *b, int *out) {
  *out = 1;
  return c->equal == NULL || !(is_foreign(a) || is_foreign(b)) ? DECIDED : call_equal(c, *a, *b, out);
}

/* Whether a key of a mapping may equal a key that the other mapping, which compares keys strictly, does not find. */
static bool is_loose_key(const TVMFFIAny *key) {
  TVMFFIByteArray text;
  return key->type_index != kTVMFFINone && !fh_str_content(key, &text) && !fh_bytes_content(key, &text);
}

/* Handles a key of the innermost pair that the other mapping does not find. If it may equal another key, `equal`
 * compares the whole mappings. */
static verdict compare_without_key(comparer *c, int *out) {
  const fh_walk_frame *f = fh_walk_top(&c->walk);
  fh_walk_label missing = fh_walk_label_of(&c->walk, f);
  *out = 1;
  if (c->equal == NULL || missing.place != FH_WALK_AT_VALUE || !is_loose_key(&missing.key)) return DECIDED;
  verdict v = call_equal(c, fh_any_object(f->obj), fh_any_object(f->other), out);
  if (v != DECIDED || *out != 0) return v;
  set_done(c, f->obj, f->other);
  fh_walk_pop(&c->walk);
  return DECIDED;
}

/* Compares two different objects that hold Python objects, or two Functions, by their Python objects. Functions have no
 * order. Without a Python object in both of them only their addresses count; but two such Functions that are the
 * outermost values are equal, as all objects without fields are. */
static verdict compare_by_python(const comparer *c, const TVMFFIAny *a, const TVMFFIAny *b, int *out) {
  TVMFFIAny values[] = {*a, *b}, answer;
  bool is_function = a->type_index == kTVMFFIFunction, orders = c->is_order && !is_function;
  if (fh_global_ask_python(orders ? "order" : "equal", values, 2, &answer) < 0) return FAILED;
  bool is_answered = answer.type_index == kTVMFFIInt || answer.type_index == kTVMFFIBool;
  if (!is_answered)
    *out = !is_function || fh_walk_depth(&c->walk) != 0;
  else
    *out = orders ? sign_of(answer.v_int64 < 0, answer.v_int64 > 0) : answer.v_int64 == 0;
  fh_any_drop(&answer);
  return *out != 0 && c->is_order && !(orders && is_answered) ? refuse_order(a) : DECIDED;
}

/* Compares two objects of one type; `is_shared`: the pair may occur again. The memo is searched before the hook is
 * called, so the comparison of a pair that contains itself through hooks ends, too. */
static verdict compare_objects(comparer *c, const TVMFFIAny *a, const TVMFFIAny *b, bool is_shared, int *out) {
  if (a->v_obj == b->v_obj) {
    *out = 0;
    return DECIDED;
  }
  if (a->type_index == kTVMFFIShape) {
    *out = compare_shapes(a->v_obj, b->v_obj);
    return DECIDED;
  }
  if (c->is_loose && !are_of_one_kind(a, b)) return ask_equal(c, a, b, out);
  if (fh_is_python_held(a->type_index)) return compare_by_python(c, a, b, out);
  fh_reflect_attr_id id = FH_ATTR_EQ;
  TVMFFIObject *hook;
  if (find_hook(c, a->type_index, &id, &hook) != 0) return FAILED;
  if (hook != NULL) is_shared = true; /* a hook may call back with the same objects */
  verdict v = is_shared ? compare_known(c, a->v_obj, b->v_obj, out) : ENTERED;
  if (v == ENTERED && hook != NULL) {
    v = call_hook(c, id, hook, a->v_obj, b->v_obj, out);
    if (v == DECIDED && *out == 0) set_done(c, a->v_obj, b->v_obj);
  }
  if (v != ENTERED) return v;
  /* Opened before the sizes are compared, because the frame has read them under the locks of Lists and Dicts. */
  if (fh_walk_push_pair(&c->walk, a, b) != 0) return FAILED;
  if (!differs_in_size(c, fh_walk_top(&c->walk))) return ENTERED;
  fh_walk_pop(&c->walk);
  *out = 1;
  return c->is_order ? refuse_order(a) : DECIDED;
}

/* Compares two values of any types. None comes before all others. Strings, bytes and integers are compared before the
 * types, because each of them has two type indices; any other two values must have one type. */
static verdict compare_or_enter(comparer *c, const TVMFFIAny *a, const TVMFFIAny *b, bool is_shared, int *out) {
  int a_none = a->type_index == kTVMFFINone, b_none = b->type_index == kTVMFFINone;
  if (a_none != b_none) {
    *out = a_none ? -1 : 1;
    return DECIDED;
  }
  if (compare_text(a, b, out)) return DECIDED;
  if (is_integer(a) && is_integer(b)) {
    *out = compare_integers(a, b);
    return DECIDED;
  }
  if (a->type_index == b->type_index) {
    return fh_any_is_object(a) ? compare_objects(c, a, b, is_shared, out) : compare_plain(c, a, b, out);
  }
  if (is_number(a) && is_number(b) && c->is_loose) {
    *out = !equal_numbers(a, b);
    return DECIDED;
  }
  if (are_of_one_kind(a, b) && c->is_loose) return compare_objects(c, a, b, is_shared, out);
  if (c->is_loose) return ask_equal(c, a, b, out);
  *out = 1;
  if (!c->is_order) return DECIDED;
  fh_error_raise(FH_TYPE_ERROR, "Expected values of one type to order but got `%s` and `%s`",
                 fh_type_name(a->type_index), fh_type_name(b->type_index));
  return FAILED;
}

/* ---- The loop ---- */

/* A pair can occur again only if both of its objects can. */
static bool may_recur(const fh_walk_frame *f, const TVMFFIAny *a, const TVMFFIAny *b) {
  return fh_any_is_object(a) && fh_any_is_object(b) && fh_walk_is_shared(a->v_obj, fh_walk_gives_copies(f)) &&
         fh_walk_is_shared(b->v_obj, fh_walk_other_gives_copies(f));
}

/* Compares the next children of the innermost pair. DECIDED: *out is their order, possibly 0. */
static verdict compare_next(comparer *c, int *out) {
  TVMFFIAny a, b;
  const fh_walk_frame *f;
  switch (fh_walk_next_pair(&c->walk, &a, &b)) {
  case FH_WALK_CHILD: f = fh_walk_top(&c->walk); return compare_or_enter(c, &a, &b, may_recur(f, &a, &b), out);
  case FH_WALK_ONLY_LEFT: return compare_without_key(c, out);
  case FH_WALK_ONLY_RIGHT: *out = -1; return DECIDED;
  case FH_WALK_END:
    f = fh_walk_top(&c->walk);
    set_done(c, f->obj, f->other);
    fh_walk_pop(&c->walk);
    *out = 0;
    return DECIDED;
  default: return FAILED;
  }
}

/* Maps have no order, so a difference inside of one is an error. */
static int check_no_map(const comparer *c, size_t depth) {
  for (size_t i = depth; i < fh_walk_depth(&c->walk); ++i) {
    const fh_walk_frame *f = fh_walk_at(&c->walk, i);
    TVMFFIAny map = fh_any_object(f->obj);
    if (f->shape == FH_WALK_PAIRS) return refuse_order(&map);
  }
  return 0;
}

/* Compares two values, also for a hook's callback. A hook may continue after a difference. So the pairs that counted as
 * equal on the way to that difference are removed again: they have a number from n_before on. Outside of hooks the
 * comparison is over, and the memo is freed. */
static int compare_values(comparer *c, const TVMFFIAny *a, const TVMFFIAny *b, int *out) {
  size_t depth = fh_walk_depth(&c->walk);
  uint64_t n_before = c->n_pairs;
  verdict v = compare_or_enter(c, a, b, 1, out);
  int rc = v == FAILED ? -1 : 0;
  if (v == ENTERED) *out = 0;
  while (rc == 0 && *out == 0 && fh_walk_depth(&c->walk) > depth) {
    v = compare_next(c, out);
    if (v == ENTERED) *out = 0;
    if (v == FAILED) rc = -1;
  }
  if (rc == 0 && *out != 0 && c->is_order) rc = check_no_map(c, depth);
  fh_walk_unwind(&c->walk, depth);
  if (depth != 0 && (rc != 0 || *out != 0) && fh_memo_keep_below(&c->pairs, n_before * 2) != 0) rc = -1;
  return rc;
}

static int compare(const TVMFFIAny *a, const TVMFFIAny *b, comparer c, int *out) {
  TVMFFIAny left, right;
  if (fh_any_own(a, &left) != 0) return -1;
  if (fh_any_own(b, &right) != 0) {
    fh_any_drop(&left);
    return -1;
  }
  fh_walk_init(&c.walk, FH_WALK_PLAIN, kTVMFFIFieldFlagBitMaskCompareOff, 0);
  c.pairs.retains = 1;
  int rc = compare_values(&c, &left, &right, out);
  fh_walk_free(&c.walk);
  fh_memo_free(&c.pairs);
  fh_any_drop(&left);
  fh_any_drop(&right);
  return rc;
}

int fh_compare_equal(const TVMFFIAny *a, const TVMFFIAny *b, int *out) {
  int order;
  if (compare(a, b, (comparer){0}, &order) != 0) return -1;
  *out = order == 0;
  return 0;
}

int fh_compare_loose(const TVMFFIAny *a, const TVMFFIAny *b, TVMFFIObject *equal, int *out) {
  int order;
  if (compare(a, b, (comparer){.is_loose = true, .equal = equal}, &order) != 0) return -1;
  *out = order == 0;
  return 0;
}

int fh_compare_order(const TVMFFIAny *a, const TVMFFIAny *b, int *out) {
  return compare(a, b, (comparer){.is_order = true}, out);
}
