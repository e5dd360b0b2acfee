/* containers.c - random operations on Array, List, Map and Dict, each compared with a small model.
 *
 * A value is a number in the model, and value_of(number) outside. The n-th allocation of an operation may fail: then
 * the operation must not change the container. */
#include "core/container/hashmap.h"
#include "core/container/seq.h"

#include "core/object/any_hash.h"
#include "fuzz.h"

/* ---- Values: distinct numbers are distinct values ---- */

enum { N_OBJECTS = 32, MAX_ITEMS = 600 };
static TVMFFIObject objects[N_OBJECTS];

void fuzz_start(void) {
  for (int i = 0; i < N_OBJECTS; ++i) fh_object_init(&objects[i], kTVMFFIObject, NULL);
}

static TVMFFIAny value_of(uint8_t number) {
  int64_t i = number >> 3;
  char text[40];
  TVMFFIAny value = fh_any_none();
  int64_t words[2] = {i, 7};
  switch (number & 7) {
  case 0: return fh_any_int(i);
  case 1: return fh_any_int((i + 1) << 40);
  case 2: return fh_any_float((double)i * 0.5);
  case 3: snprintf(text, sizeof(text), "s%d", (int)i); break;
  case 4: snprintf(text, sizeof(text), "a longer text, number %d", (int)i); break;
  case 5: fuzz_check(fh_bytes_new("some bytes of which few count more", (size_t)i, &value) == 0); return value;
  case 6: {
    TVMFFIByteArray content = {(const char *)words, sizeof(words)};
    fuzz_check(TVMFFIBigIntFromByteArray(&content, &value) == 0);
    return value;
  }
  default: fh_object_retain(&objects[i]); return fh_any_object(&objects[i]);
  }
  fuzz_check(fh_str_from_cstr(text, &value) == 0);
  return value;
}

/* Returns whether a value is that of a number; drops the value. */
static int is_value(TVMFFIAny got, uint8_t number) {
  TVMFFIAny wanted = value_of(number);
  int equal;
  fuzz_check(fh_any_equal(&got, &wanted, &equal) == 0);
  fh_any_drop(&got);
  fh_any_drop(&wanted);
  return equal;
}

/* ---- Calls ---- */

static int nth_failing; /* allocation of the next operation, 0 for none */

/* Calls a function with owned arguments and drops all but the first: returns 0, -1 without memory, 1 for another
 * error. */
static int operate(const char *name, TVMFFIAny container, TVMFFIAny *more, int32_t n_more, TVMFFIAny *result) {
  TVMFFIAny args[4] = {container};
  for (int32_t i = 0; i < n_more; ++i) args[1 + i] = more[i];
  fh_mem_fail_nth(nth_failing);
  int rc = fuzz_call(name, args, 1 + n_more, result);
  int has_failed = fh_mem_has_failed();
  fh_mem_fail_nth(0);
  nth_failing = 0;
  for (int32_t i = 0; i < n_more; ++i) fh_any_drop(&more[i]);
  if (rc == 0) {
    fuzz_check(!has_failed);
    return 0;
  }
  int is_memory_error = fuzz_take_error(FH_MEMORY_ERROR);
  fuzz_check(is_memory_error == has_failed);
  return is_memory_error ? -1 : 1;
}

#define OPERATE(name, container, result, ...)          \
  operate(name, container, (TVMFFIAny[]){__VA_ARGS__}, \
          (int32_t)(sizeof((TVMFFIAny[]){__VA_ARGS__}) / sizeof(TVMFFIAny)), result)

static TVMFFIAny call(const char *name, TVMFFIAny container) {
  TVMFFIAny result;
  fuzz_check(fuzz_call(name, &container, 1, &result) == 0);
  return result;
}

/* Makes a container of the next few values and stores their numbers. */
static TVMFFIAny make(const char *name, fuzz_input *in, uint8_t *numbers, int32_t n) {
  TVMFFIAny items[32], made;
  for (int32_t i = 0; i < n; ++i) items[i] = value_of(numbers[i] = fuzz_byte(in));
  fuzz_check(fuzz_call(name, items, n, &made) == 0);
  for (int32_t i = 0; i < n; ++i) fh_any_drop(&items[i]);
  return made;
}

/* ---- List and Array ---- */

typedef struct {
  TVMFFIAny self;
  uint8_t numbers[MAX_ITEMS];
  int64_t size;
} list_model;

static void model_splice(list_model *list, int64_t first, int64_t last, const uint8_t *numbers, int64_t n) {
  uint8_t behind[MAX_ITEMS], between[MAX_ITEMS];
  int64_t n_behind = list->size - last;
  memcpy(behind, list->numbers + last, (size_t)n_behind);
  if (n != 0) memcpy(between, numbers, (size_t)n);
  if (n != 0) memcpy(list->numbers + first, between, (size_t)n);
  memcpy(list->numbers + first + n, behind, (size_t)n_behind);
  list->size = first + n + n_behind;
}

static void compare_list(const list_model *list, const char *size_name, const char *get_name) {
  TVMFFIAny item;
  fuzz_check(call(size_name, list->self).v_int64 == list->size);
  for (int64_t i = 0; i < list->size; ++i) {
    fuzz_check(fuzz_call(get_name, FUZZ_ARGS(list->self, fh_any_int(i)), &item) == 0);
    fuzz_check(is_value(item, list->numbers[i]));
  }
  fuzz_check(fuzz_call(get_name, FUZZ_ARGS(list->self, fh_any_int(list->size)), &item) != 0);
  fuzz_check(fuzz_take_error("IndexError"));
}

static void change_one(list_model *list, uint8_t operation, int64_t i, uint8_t number) {
  TVMFFIAny result = fh_any_none(), at = fh_any_int(i);
  int is_inside = i >= 0 && i < list->size, rc;
  switch (operation) {
  case 0:
    rc = OPERATE("ffi.ListAppend", list->self, &result, value_of(number));
    if (rc == 0) model_splice(list, list->size, list->size, &number, 1);
    fuzz_check(rc <= 0);
    return;
  case 1:
    rc = OPERATE("ffi.ListInsert", list->self, &result, at, value_of(number));
    is_inside = i >= 0 && i <= list->size;
    if (rc == 0) model_splice(list, i, i, &number, 1);
    break;
  case 2:
    rc = OPERATE("ffi.ListSetItem", list->self, &result, at, value_of(number));
    if (rc == 0) list->numbers[i] = number;
    break;
  case 3:
    rc = OPERATE("ffi.ListPop", list->self, &result, at);
    if (rc == 0) fuzz_check(is_value(result, list->numbers[i]));
    if (rc == 0) model_splice(list, i, i + 1, NULL, 0);
    break;
  default:
    rc = OPERATE("ffi.ListErase", list->self, &result, at);
    if (rc == 0) model_splice(list, i, i + 1, NULL, 0);
    break;
  }
  fuzz_check(rc == -1 || (rc == 0) == is_inside);
}

static void change_many(list_model *list, uint8_t operation, fuzz_input *in) {
  TVMFFIAny result, other;
  uint8_t numbers[32];
  int64_t first = (int8_t)fuzz_byte(in), last = (int8_t)fuzz_byte(in), n = fuzz_byte(in) % 8;
  int is_range = first >= 0 && first <= last && last <= list->size, rc;
  switch (operation) {
  case 0:
    rc = OPERATE("ffi.ListEraseRange", list->self, &result, fh_any_int(first), fh_any_int(last));
    if (rc == 0) model_splice(list, first, last, NULL, 0);
    break;
  case 1:
    other = make("ffi.List", in, numbers, (int32_t)n);
    rc = OPERATE("ffi.ListReplaceSlice", list->self, &result, fh_any_int(first), fh_any_int(last), other);
    if (rc == 0) model_splice(list, first, last, numbers, n);
    break;
  case 2: /* to itself */
    fh_any_copy(&list->self, &other);
    rc = OPERATE("ffi.ListReplaceSlice", list->self, &result, fh_any_int(first), fh_any_int(last), other);
    if (rc == 0) model_splice(list, first, last, list->numbers, list->size);
    break;
  default:
    rc = OPERATE("ffi.ListReserve", list->self, &result, fh_any_int(first * 8));
    is_range = 1;
    break;
  }
  fuzz_check(rc == -1 || (rc == 0) == is_range);
}

static void change_all(list_model *list, uint8_t operation, uint8_t number) {
  TVMFFIAny result;
  if (operation == 0) {
    if (operate("ffi.ListClear", list->self, NULL, 0, &result) == 0) list->size = 0;
  } else if (operation == 1) {
    fuzz_check(operate("ffi.ListReverse", list->self, NULL, 0, &result) == 0);
    for (int64_t i = 0; i < list->size / 2; ++i) {
      uint8_t kept = list->numbers[i];
      list->numbers[i] = list->numbers[list->size - 1 - i];
      list->numbers[list->size - 1 - i] = kept;
    }
  } else if (OPERATE("ffi.ListContains", list->self, &result, value_of(number)) == 0) {
    fuzz_check(result.v_int64 == (memchr(list->numbers, number, (size_t)list->size) != NULL));
  }
}

static void change_list(list_model *list, uint8_t operation, fuzz_input *in) {
  if (list->size > MAX_ITEMS / 2 - 8) change_all(list, 0, 0);
  if (operation < 5) {
    int64_t i = (int8_t)fuzz_byte(in);
    change_one(list, operation, i, fuzz_byte(in));
  } else if (operation < 9) {
    change_many(list, operation - 5, in);
  } else {
    change_all(list, operation - 9, fuzz_byte(in));
  }
}

/* ---- Dict and Map: pairs in order; a dense table moves a key that is set again to the end ---- */

typedef struct {
  TVMFFIAny self;
  uint8_t keys[256], values[256];
  int size;
  int is_dense;
} dict_model;

static int model_find(const dict_model *dict, uint8_t key) {
  for (int i = 0; i < dict->size; ++i) {
    if (dict->keys[i] == key) return i;
  }
  return -1;
}

static void model_erase(dict_model *dict, int i) {
  dict->size -= 1;
  memmove(&dict->keys[i], &dict->keys[i + 1], (size_t)(dict->size - i));
  memmove(&dict->values[i], &dict->values[i + 1], (size_t)(dict->size - i));
}

static void model_set(dict_model *dict, uint8_t key, uint8_t value) {
  if (dict->size == (int)FH_HASHMAP_SMALL_MAX) dict->is_dense = 1;
  int i = model_find(dict, key);
  if (i >= 0 && dict->is_dense) model_erase(dict, i);
  if (i < 0 || dict->is_dense) i = dict->size++;
  dict->keys[i] = key;
  dict->values[i] = value;
}

static void compare_dict(const dict_model *dict, const char *iterate_name) {
  fuzz_check(fh_hashmap_is_valid((fh_hashmap_object *)dict->self.v_obj));
  fuzz_check(fh_hashmap_size((fh_hashmap_object *)dict->self.v_obj) == dict->size);
  TVMFFIAny it = call(iterate_name, dict->self), commands[3] = {fh_any_int(0), fh_any_int(1), fh_any_int(2)}, got;
  for (int i = 0; i < dict->size; ++i) {
    for (int command = 0; command < 3; ++command) {
      got = fh_any_none();
      fuzz_check(TVMFFIFunctionCall(it.v_obj, &commands[command], 1, &got) == 0);
      if (command == 0) fuzz_check(is_value(got, dict->keys[i]));
      if (command == 1) fuzz_check(is_value(got, dict->values[i]));
      if (command == 2) fuzz_check(got.v_int64 == (i + 1 < dict->size));
    }
  }
  fh_any_drop(&it);
}

static void change_dict(dict_model *dict, uint8_t operation, fuzz_input *in) {
  uint8_t key = fuzz_byte(in), value = fuzz_byte(in);
  TVMFFIAny result;
  int at = model_find(dict, key);
  switch (operation) {
  case 0:
  case 1:
    if (OPERATE("ffi.DictSetItem", dict->self, &result, value_of(key), value_of(value)) == 0) {
      model_set(dict, key, value);
    } else { /* a table may have grown before the allocation failed */
      dict->is_dense = !fh_hashmap_is_small((fh_hashmap_object *)dict->self.v_obj);
    }
    return;
  case 2:
    fuzz_check(OPERATE("ffi.DictErase", dict->self, &result, value_of(key)) <= 0);
    if (at >= 0) model_erase(dict, at);
    return;
  case 3: {
    int rc = OPERATE("ffi.DictGetItem", dict->self, &result, value_of(key));
    fuzz_check(rc == -1 || (rc == 0) == (at >= 0));
    if (rc == 0) fuzz_check(is_value(result, dict->values[at]));
    return;
  }
  case 4:
    fuzz_check(OPERATE("ffi.DictCount", dict->self, &result, value_of(key)) == 0);
    fuzz_check(result.v_int64 == (at >= 0));
    return;
  default:
    if (value < 16 && operate("ffi.DictClear", dict->self, NULL, 0, &result) == 0) dict->size = 0;
    return;
  }
}

/* ---- An input ---- */

static dict_model make_dict(const char *name, fuzz_input *in, int32_t n_pairs) {
  uint8_t numbers[32];
  dict_model dict;
  memset(&dict, 0, sizeof(dict));
  dict.self = make(name, in, numbers, 2 * n_pairs);
  dict.is_dense = n_pairs > (int)FH_HASHMAP_SMALL_MAX;
  for (int32_t i = 0; i < n_pairs; ++i) model_set(&dict, numbers[2 * i], numbers[2 * i + 1]);
  return dict;
}

/* Arrays and Maps never change, so they are only made and compared. */
static void make_constants(fuzz_input *in) {
  list_model array = {.size = fuzz_byte(in) % 12};
  array.self = make("ffi.Array", in, array.numbers, (int32_t)array.size);
  compare_list(&array, "ffi.ArraySize", "ffi.ArrayGetItem");
  fh_any_drop(&array.self);
  dict_model map = make_dict("ffi.Map", in, fuzz_byte(in) % 16);
  compare_dict(&map, "ffi.MapForwardIterFunctor");
  fh_any_drop(&map.self);
}

void fuzz_one(const uint8_t *data, size_t n_bytes) {
  fuzz_input in = {data, data + n_bytes};
  make_constants(&in);
  list_model list = {.size = fuzz_byte(&in) % 6};
  list.self = make("ffi.List", &in, list.numbers, (int32_t)list.size);
  dict_model dict = make_dict("ffi.Dict", &in, fuzz_byte(&in) % 8);
  for (int n = 0; in.at < in.end; ++n) {
    uint8_t operation = fuzz_byte(&in);
    nth_failing = operation >= 224 ? 1 + (operation & 3) : 0;
    if (operation & 1) {
      change_list(&list, (operation >> 1) % 12, &in);
    } else {
      change_dict(&dict, (operation >> 1) % 6, &in);
    }
    nth_failing = 0;
    if (n % 256 == 0) compare_dict(&dict, "ffi.DictForwardIterFunctor");
    if (n % 256 == 128) compare_list(&list, "ffi.ListSize", "ffi.ListGetItem");
  }
  compare_dict(&dict, "ffi.DictForwardIterFunctor");
  compare_list(&list, "ffi.ListSize", "ffi.ListGetItem");
  fh_any_drop(&list.self);
  fh_any_drop(&dict.self);
}
