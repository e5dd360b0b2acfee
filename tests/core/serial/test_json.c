/* test_json.c - JSON text to values and back: ffi.json.Parse, ffi.json.Stringify. */
#include "core/object/error.h"
#include "core/platform/mem.h"
#include "core/serial/json.h"
#include <math.h>

#include "support/nodes.h"

static TVMFFIAny parsed(const char *text) { return call_ok("ffi.json.Parse", ARGS(raw(text))); }

/* Reads a text and writes the value on one line, which must be equal to `wanted`. */
static void expect_round(const char *text, const char *wanted) {
  TVMFFIAny value = parsed(text);
  expect_str(call_ok("ffi.json.Stringify", ARGS(value, none())), wanted);
  fh_any_drop(&value);
}

static void expect_type(const char *text, int32_t type_index, const char *repr) {
  TVMFFIAny value = parsed(text);
  expect_int(value.type_index, type_index);
  expect_repr(value, repr);
  fh_any_drop(&value);
}

/* ---- Reading ---- */

TEST(json_values_have_their_types) {
  expect_type("null", kTVMFFINone, "None");
  expect_type("true", kTVMFFIBool, "True");
  expect_type(" false ", kTVMFFIBool, "False");
  expect_type("12", kTVMFFIInt, "12");
  expect_type("-0", kTVMFFIInt, "0");
  expect_type("12.0", kTVMFFIFloat, "12");
  expect_type("1e2", kTVMFFIFloat, "100");
  expect_type("9223372036854775807", kTVMFFIInt, "9223372036854775807");
  expect_type("-9223372036854775808", kTVMFFIInt, "-9223372036854775808");
  expect_type("9223372036854775808", kTVMFFIFloat, "9.22337e+18");
  expect_type("Infinity", kTVMFFIFloat, "inf");
  expect_type("-Infinity", kTVMFFIFloat, "-inf");
  expect_type("\"1234567\"", kTVMFFISmallStr, "\"1234567\"");
  expect_type("\"12345678\"", kTVMFFIStr, "\"12345678\"");
  expect_type("[]", kTVMFFIArray, "()");
  expect_type("{}", kTVMFFIMap, "{}");
  TVMFFIAny nan = parsed("NaN");
  expect(nan.type_index == kTVMFFIFloat && isnan(nan.v_float64));
}

TEST(json_numbers_may_be_written_loosely) {
  expect_round("[01, +1, .5, 1., -.5e1, 00]", "[1,1,0.5,1.0,-5.0,0]");
  expect_round("5e-324", "4.9406564584124654e-324"); /* a subnormal number is read exactly */
}

TEST(json_containers_keep_their_order) {
  expect_round("{\"z\": 1, \"a\": {\"y\": [], \"b\": {}}, \"m\": [1, [2, [3]]]}",
               "{\"z\":1,\"a\":{\"y\":[],\"b\":{}},\"m\":[1,[2,[3]]]}");
  expect_round("{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6}",
               "{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6}");
}

TEST(of_equal_json_keys_the_last_one_counts) {
  expect_round("{\"a\":1,\"a\":2,\"b\":3}", "{\"a\":2,\"b\":3}");
  expect_round("{\"a\":1,\"b\":2,\"c\":3,\"a\":4}", "{\"b\":2,\"c\":3,\"a\":4}");
  expect_round("{\"a\":1,\"b\":2,\"b\":3,\"a\":4}", "{\"b\":3,\"a\":4}");
  expect_round("{\"a\":1,\"a\":2,\"a\":3,\"a\":[]}", "{\"a\":[]}");
  expect_round("{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"a\":5}", "{\"b\":2,\"c\":3,\"d\":4,\"a\":5}");
}

TEST(json_keys_that_come_again_are_one_object) {
  TVMFFIAny value = parsed("[{\"a longer key\":1},{\"a longer key\":2},{\"a longer key\":3}]");
  TVMFFIObject *keys[3];
  for (int i = 0; i < 3; ++i) {
    const fh_hashmap_object *map = as_map(fh_seq_items(as_seq(value))[i]);
    keys[i] = fh_hashmap_at(map, fh_hashmap_begin(map))->key.v_obj;
  }
  expect(keys[1] == keys[2]);
  fh_any_drop(&value);
}

TEST(json_strings_are_unescaped) {
  expect_type("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", kTVMFFIStr, "\"\\\"\\\\/\\x08\\x0c\\n\\r\\t\"");
  expect_type("\"\\u0041\\u00e9\\u20AC\\ud83d\\uDE00 and so on\"", kTVMFFIStr,
              "\"A\\u00e9\\u20ac\\U0001f600 and so on\"");
  expect_type("\"a\\u0000b\"", kTVMFFISmallStr, "\"a\\x00b\"");
  expect_type("\"\xc3\xa9\xe6\x97\xa5\xf0\x9f\x98\x80 text behind it\"", kTVMFFIStr,
              "\"\\u00e9\\u65e5\\U0001f600 text behind it\"");
}

typedef struct {
  const char *text, *message;
} refusal;

TEST(invalid_json_is_a_value_error_with_its_place) {
  static const refusal all[] = {
      {"", "Expecting value: line 1 column 1 (char 0)"},
      {" \t\n  ", "Expecting value: line 2 column 3 (char 5)"},
      {"nul", "Expecting value: line 1 column 1 (char 0)"},
      {"\n\ntru", "Expecting value: line 3 column 1 (char 2)"},
      {"truee", "Extra data: line 1 column 5 (char 4)"},
      {"1 2", "Extra data: line 1 column 3 (char 2)"},
      {"[1]\n]", "Extra data: line 2 column 1 (char 4)"},
      {"x", "Expecting value: line 1 column 1 (char 0)"},
      {"-", "Expecting value: line 1 column 1 (char 0)"},
      {"[1, 1.2.3]", "Expecting value: line 1 column 5 (char 4)"},
      {"1e400", "Expecting value: line 1 column 1 (char 0)"},
      {"-Inf", "Expecting value: line 1 column 1 (char 0)"},
      {"-NaN", "Expecting value: line 1 column 1 (char 0)"},
      {"[", "Expecting value: line 1 column 2 (char 1)"},
      {"[1", "Expecting ',' delimiter: line 1 column 3 (char 2)"},
      {"[1,", "Syntax error near: line 1 column 4 (char 3)"},
      {"[1,]", "Expecting value: line 1 column 4 (char 3)"},
      {"[1}", "Expecting ',' delimiter: line 1 column 3 (char 2)"},
      {"]", "Expecting value: line 1 column 1 (char 0)"},
      {"{", "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"},
      {"{a:1}", "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"},
      {"{1:1}", "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"},
      {"{\"a\"", "Expecting ':' delimiter: line 1 column 5 (char 4)"},
      {"{\"a\":", "Expecting value: line 1 column 6 (char 5)"},
      {"{\"a\":1", "Expecting ',' delimiter: line 1 column 7 (char 6)"},
      {"{\"a\":1,", "Syntax error near: line 1 column 8 (char 7)"},
      {"{\"a\":1,}", "Expecting property name enclosed in double quotes: line 1 column 8 (char 7)"},
      {"{\"a\":1]", "Expecting ',' delimiter: line 1 column 7 (char 6)"},
      {"\"abc", "Unterminated string starting at: line 1 column 1 (char 0)"},
      {"[\"a\\n", "Unterminated string starting at: line 1 column 2 (char 1)"},
      {"\"ab\ncd\"", "Invalid control character at: line 1 column 4 (char 3)"},
      {"\"a longer text \x01\"", "Invalid control character at: line 1 column 16 (char 15)"},
      {"\"\\x\"", "Invalid \\escape: line 1 column 3 (char 2)"},
      {"\"\\", "Invalid \\escape: line 1 column 3 (char 2)"},
      {"\"\\u12g4\"", "Invalid \\uXXXX escape: line 1 column 3 (char 2)"},
      {"\"\\u12", "Invalid \\uXXXX escape: line 1 column 3 (char 2)"},
      {"\"\\udc00\"", "Invalid surrogate pair of \\uXXXX escapes: line 1 column 3 (char 2)"},
      {"\"\\ud800\"", "Invalid surrogate pair of \\uXXXX escapes: line 1 column 3 (char 2)"},
      {"\"\\ud800\\u0041\"", "Invalid surrogate pair of \\uXXXX escapes: line 1 column 10 (char 9)"},
      {"\"\\ud800\\uxx\"", "Invalid \\uXXXX escape: line 1 column 10 (char 9)"},
      {"\"\xff\"", "Invalid UTF-8 at: line 1 column 2 (char 1)"},
      {"\"text and \xc3\"", "Invalid UTF-8 at: line 1 column 11 (char 10)"},
      {"\"\xed\xa0\x80\"", "Invalid UTF-8 at: line 1 column 2 (char 1)"},
      {"\"\xc0\xaf\"", "Invalid UTF-8 at: line 1 column 2 (char 1)"},
      {"\"\\n\xf5\"", "Invalid UTF-8 at: line 1 column 4 (char 3)"},
      {"\xef\xbb\xbf"
       "1",
       "Expecting value: line 1 column 1 (char 0)"},
  };
  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); ++i) {
    expect_call_raises("ValueError", all[i].message, "ffi.json.Parse", ARGS(raw(all[i].text)));
  }
}

TEST(json_text_ends_where_its_length_says) {
  static const char text[] = "[1,\"abc\",null]";
  TVMFFIAny value;
  for (size_t n = 0; n < sizeof(text) - 1; ++n) {
    char *exact = (char *)malloc(n + (n == 0)); /* a separate block, so that a sanitizer detects reads beyond the end */
    memcpy(exact, text, n);
    TVMFFIByteArray part = {exact, n};
    expect_int(fh_json_parse(part, &value), -1);
    expect_raised("ValueError", "line 1 column");
    free(exact);
  }
  TVMFFIByteArray with_nul = {"[1\0]", 4};
  expect_int(fh_json_parse(with_nul, &value), -1);
  expect_raised("ValueError", "Expecting ',' delimiter: line 1 column 3 (char 2)");
}

TEST(json_functions_check_their_arguments) {
  expect_call_raises("TypeError", "Expected 1 but got 0", "ffi.json.Parse", NO_ARGS);
  expect_call_raises("TypeError", "Expected `str` but got `int`", "ffi.json.Parse", ARGS(i64(1)));
  expect_call_raises("TypeError", "Expected 2 but got 0", "ffi.json.Stringify", NO_ARGS);
  expect_call_raises("TypeError", "Expected `Optional<int>` but got `float`", "ffi.json.Stringify",
                     ARGS(i64(1), f64(2)));
  expect_call_raises("ValueError", "indent of 32 bits", "ffi.json.Stringify", ARGS(i64(1), i64((int64_t)1 << 40)));
  expect_str(call_ok("ffi.json.Stringify", ARGS(i64(1))), "1");
}

/* ---- Writing ---- */

static void expect_json(TVMFFIAny value, int64_t indent, const char *wanted) {
  expect_str(call_ok("ffi.json.Stringify", ARGS(value, i64(indent))), wanted);
  fh_any_drop(&value);
}

TEST(json_floats_show_that_they_are_floats) {
  expect_json(f64(5), 0, "5.0");
  expect_json(f64(-10), 0, "-10.0");
  expect_json(f64(0), 0, "0.0");
  expect_json(f64(-0.0), 0, "-0.0");
  expect_json(f64(0.1), 0, "0.10000000000000001");
  expect_json(f64(2e-8), 0, "2e-08");
  expect_json(f64(1e22), 0, "1e+22");
  expect_json(f64(9007199254740991.0), 0, "9007199254740991.0");
  expect_json(f64(9007199254740992.0), 0, "9007199254740992");
  expect_json(f64((double)NAN), 0, "NaN");
  expect_json(f64((double)INFINITY), 0, "Infinity");
  expect_json(f64(-(double)INFINITY), 0, "-Infinity");
}

TEST(big_integers_are_written_in_full) {
  static const int64_t words[] = {0, 64}; /* 2^70 */
  TVMFFIByteArray content = {(const char *)words, sizeof(words)};
  TVMFFIAny big;
  expect_int(TVMFFIBigIntFromByteArray(&content, &big), 0);
  expect_json(make_array(i64(1), big), 0, "[1,1180591620717411303424]");
}

TEST(json_strings_are_escaped) {
  expect_json(make_array(raw("\"\\/\b\f\n\r\t"), raw("\x01\x1f\x7f"), raw("plain and longer than eight/x")), 0,
              "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\",\"\\u0001\\u001f\\u007f\",\"plain and longer than eight\\/x\"]");
  expect_json(make_array(raw("\xc3\xa9\xe6\x97\xa5\xf0\x9f\x98\x80")), 0, "[\"\xc3\xa9\xe6\x97\xa5\xf0\x9f\x98\x80\"]");
}

TEST(json_is_indented_on_demand) {
  TVMFFIAny value = make_array(i64(1), make_map(raw("a"), make_list(), raw("b"), make_list(none())), make_map());
  expect_json(again(value), 0, "[1,{\"a\":[],\"b\":[null]},{}]");
  expect_json(again(value), 2,
              "[\n  1,\n  {\n    \"a\": [\n    ],\n    \"b\": [\n      null\n    ]\n  },\n  {\n  }\n]");
  expect_json(value, -1, "[\n1,\n{\n\"a\": [\n],\n\"b\": [\nnull\n]\n},\n{\n}\n]");
}

static void expect_unwritable(TVMFFIAny value, const char *part) {
  expect_call_raises("ValueError", part, "ffi.json.Stringify", ARGS(value, none()));
  fh_any_drop(&value);
}

TEST(a_value_without_a_json_form_is_a_value_error) {
  TVMFFIAny bytes;
  expect_int(fh_bytes_new("x", 1, &bytes), 0);
  expect_unwritable(bytes, "Unsupported type: `ffi.SmallBytes`");
  expect_unwritable(make_array(make_dict(raw("a"), i64(1))), "Unsupported type: `ffi.Dict`");
  expect_unwritable(make_map(i64(1), i64(2)), "Expect key to be string, got `int`");
  expect_unwritable(make_array(obj(test_object_new(&(int){0}))), "Unsupported type: `ffi.Object`");
  expect_unwritable(make_array(raw("ab\xff")), "Expected text in UTF-8 but got byte 0xff at position 2");
}

TEST(a_list_in_itself_is_a_value_error) {
  TVMFFIAny list = make_list(i64(1)), holder = make_array(make_map(raw("k"), again(list)));
  call_int("ffi.ListAppend", ARGS(list, holder));
  expect_call_raises("ValueError", "Cycle detected: List contains itself", "ffi.json.Stringify", ARGS(list, none()));
  expect_call_raises("ValueError", "Cycle detected: List contains itself", "ffi.json.Stringify", ARGS(holder, none()));
  call_int("ffi.ListClear", ARGS(list));
  drop_all_of(list, holder);
}

TEST(the_same_list_twice_is_not_a_cycle) {
  TVMFFIAny list = make_list(i64(1));
  expect_json(make_array(again(list), again(list), make_list(list)), 0, "[[1],[1],[[1]]]");
}

/* ---- Depth, failures, threads ---- */

#define DEEP 1000000

TEST(json_a_million_deep_is_read_written_and_ended) {
  static char text[2 * DEEP + 1];
  memset(text, '[', DEEP);
  memset(text + DEEP, ']', DEEP);
  TVMFFIAny value = parsed(text), written = call_ok("ffi.json.Stringify", ARGS(value, none()));
  expect_str(written, text);
  fh_any_drop(&value);
  char *objects = (char *)malloc((size_t)DEEP * 6);
  for (int i = 0; i < DEEP; ++i) memcpy(objects + (size_t)i * 5, "{\"a\":", 5);
  memset(objects + (size_t)DEEP * 5, '}', DEEP);
  TVMFFIByteArray content = {objects, (size_t)DEEP * 6};
  expect_int(fh_json_parse(content, &value), -1); /* the innermost array has no value */
  expect_raised("ValueError", "Expecting value: line 1 column 5000001 (char 5000000)");
  free(objects);
}

TEST(json_deeper_than_the_limit_is_a_value_error) {
  size_t n = FH_JSON_MAX_DEPTH + 1;
  char *text = (char *)malloc(n);
  TVMFFIAny value;
  memset(text, '[', n);
  TVMFFIByteArray content = {text, n};
  expect_int(fh_json_parse(content, &value), -1);
  expect_raised("ValueError", "Expected at most 1048576 nested containers: line 1 column 1048577 (char 1048576)");
  free(text);
}

static const char rich[] =
    "[{\"a key of many bytes\": [1, 2.5, \"x\\ny and more text\"], \"b\": {}, \"c\": null, \"d\": "
    "[[[]]], \"e\": \"a value of many bytes\"}, {\"a key of many bytes\": 1}, {\"a key of many "
    "bytes\": -1e300}, [[[[[[[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,"
    "26,27,28,29,30,31,32,33,34]]]]]]]]";

static int read_and_write(void *unused) {
  (void)unused;
  TVMFFIAny value, text;
  if (fh_json_parse(text_of(rich), &value) != 0) return -1;
  int rc = fh_json_write(&value, 2, &text);
  fh_any_drop(&value);
  fh_any_drop(&text);
  return rc;
}

TEST(json_survives_missing_memory) { test_sweep(read_and_write, NULL); }

static void read_in_thread(void *unused, int i) {
  (void)i;
  for (int k = 0; k < 20; ++k) expect_int(read_and_write(unused), 0);
}

TEST(json_is_read_in_many_threads) { test_threads(4, read_in_thread, NULL); }

/* A list that other threads change while it is written. */
typedef struct {
  TVMFFIAny list;
} shared;

static void change_or_write(void *state, int i) {
  shared *s = (shared *)state;
  for (int k = 0; k < 300; ++k) {
    if (i == 0) {
      call_int("ffi.ListAppend", ARGS(s->list, raw("a text of many bytes")));
      if (k % 7 == 0) call_int("ffi.ListClear", ARGS(s->list));
    } else {
      TVMFFIAny text = call_ok("ffi.json.Stringify", ARGS(s->list, none()));
      fh_any_drop(&text);
    }
  }
}

TEST(a_list_may_change_while_it_is_written) {
  shared s = {make_list(i64(1), make_list(i64(2)))};
  test_threads(3, change_or_write, &s);
  fh_any_drop(&s.list);
}

/* Each text that differs from a good one in one byte is read, or refused with the position of the error. */
TEST(broken_json_is_refused_and_nothing_leaks) {
  static const char bytes[] = "\"\\[]{},:1e-.\n\x01\xff u";
  char text[sizeof(rich)];
  TVMFFIAny value;
  int n_refused = 0;
  for (size_t i = 0; i < sizeof(rich) - 1; ++i) {
    for (size_t k = 0; k < sizeof(bytes) - 1; ++k) {
      memcpy(text, rich, sizeof(rich));
      text[i] = bytes[k];
      if (fh_json_parse(text_of(text), &value) != 0) {
        expect_raised("ValueError", " column ");
        n_refused += 1;
      }
      fh_any_drop(&value);
    }
  }
  expect(n_refused > 1000);
}
