/* json_write.c - values to JSON text, on a walk, which writes the parts before, between and after the children of a
 * container. The text grows in the block that becomes the string. */
#include "json.h"

#include <math.h>

#include "core/object/any_own.h"
#include "core/object/bigint.h"
#include "core/object/error.h"
#include "core/object/str.h"
#include "core/object/text.h"
#include "core/object/type.h"
#include "core/walk/walk.h"
#include "decimal.h"

typedef struct {
  fh_walk walk;
  fh_str_build text;
  int32_t indent;
} writer;

/* ---- Pieces of the text ---- */

static int add_char(writer *w, char c) {
  if (fh_str_build_reserve(&w->text, 1) != 0) return -1;
  *fh_str_build_end(&w->text) = c;
  w->text.n_bytes += 1;
  return 0;
}

static int add_literal(writer *w, const char *literal) { return fh_str_build_add(&w->text, literal, strlen(literal)); }

static int add_int(writer *w, int64_t value) {
  if (fh_str_build_reserve(&w->text, FH_DECIMAL_INT_MAX) != 0) return -1;
  w->text.n_bytes += fh_decimal_write_int(value, fh_str_build_end(&w->text));
  return 0;
}

/* In full: JSON has no limit, although some of its readers have. */
static int add_bigint(writer *w, const TVMFFIObject *obj) {
  const fh_bigint_object *big = (const fh_bigint_object *)(const void *)obj;
  fh_text digits = {0};
  int rc = fh_text_add_bigint(&digits, big->words, big->n_words);
  if (rc == 0) rc = fh_str_build_add(&w->text, digits.data, digits.n_bytes);
  fh_text_free(&digits);
  return rc;
}

/* Integers below 2^53 get ".0", so that they are read as floats again; any other float has a point or an exponent, or
 * is so large that it is written as an integer. */
static int add_float(writer *w, double value) {
  if (isnan(value)) return add_literal(w, "NaN");
  if (isinf(value)) return add_literal(w, value < 0 ? "-Infinity" : "Infinity");
  if (fh_str_build_reserve(&w->text, FH_DECIMAL_FLOAT_MAX + 2) != 0) return -1;
  const double exact = 9007199254740992.0; /* 2^53: from here on every double is an integer */
  if (value > -exact && value < exact && value == (double)(int64_t)value && value != 0) {
    w->text.n_bytes += fh_decimal_write_int((int64_t)value, fh_str_build_end(&w->text));
    return add_literal(w, ".0");
  }
  w->text.n_bytes += fh_decimal_write_float(value, fh_str_build_end(&w->text));
  return value == 0 ? add_literal(w, ".0") : 0; /* the sign of a zero is not an integer's */
}

/* The character after the backslash in the escape of a byte; `u` is followed by the number. '\0' for a byte that needs
 * no escape. */
static char escape_of(unsigned char c) {
  switch (c) {
  case '"':
  case '\\':
  case '/': return (char)c;
  case '\b': return 'b';
  case '\f': return 'f';
  case '\n': return 'n';
  case '\r': return 'r';
  case '\t': return 't';
  default: return c < 0x20 || c == 0x7f ? 'u' : '\0';
  }
}

/* Writes the escape of a byte that has one: two characters, or six with the number. */
static int add_escape(writer *w, unsigned char c) {
  static const char digits[] = "0123456789abcdef";
  char text[] = {'\\', escape_of(c), '0', '0', digits[c >> 4], digits[c & 15]};
  return fh_str_build_add(&w->text, text, text[1] == 'u' ? sizeof(text) : 2);
}

/* Marks of the bytes of a word that need an escape, or are not ASCII. */
static uint64_t special_bytes(uint64_t word) {
  return fh_json_special_bytes(word) | fh_json_equal_bytes(word, '/') | fh_json_equal_bytes(word, 0x7f);
}

/* The number of the first n bytes that are written unchanged; *is_bad: the next bytes are not UTF-8. */
static size_t count_plain(const char *p, size_t n, int *is_bad) {
  size_t i = 0;
  *is_bad = 0;
  while (i < n) {
    /* Eight bytes at a time. The tests below handle the first marked byte and the last few bytes. */
    uint64_t marks = n - i >= 8 ? special_bytes(fh_json_load(p + i)) : 1;
    i += marks == 0 ? 8 : fh_json_bytes_before(marks);
    if (marks == 0) continue;
    unsigned char c = (unsigned char)p[i];
    if (c < 0x80 && escape_of(c) != '\0') break;
    size_t length = c < 0x80 ? 1 : fh_text_utf8_length((const unsigned char *)p + i, n - i);
    *is_bad = length == 0;
    if (length == 0) break;
    i += length;
  }
  return i;
}

/* Writes a string in quotes: runs of bytes without escapes are copied, the others escaped. ValueError if it is not
 * UTF-8. */
static int add_string(writer *w, TVMFFIByteArray content) {
  const char *at = content.data;
  size_t n_left = content.size;
  int is_bad;
  /* Makes room for the string and its quotes: without escapes it grows at most once. */
  if (fh_str_build_reserve(&w->text, n_left + 2) != 0 || add_char(w, '"') != 0) return -1;
  while (n_left != 0) {
    size_t n = count_plain(at, n_left, &is_bad);
    if (is_bad) {
      return fh_error_raise(FH_VALUE_ERROR, "Expected text in UTF-8 but got byte 0x%02x at position %zu",
                            (unsigned char)at[n], (size_t)(at - content.data) + n);
    }
    if (fh_str_build_add(&w->text, at, n) != 0) return -1;
    at += n;
    n_left -= n;
    if (n_left == 0) break;
    if (add_escape(w, (unsigned char)*at) != 0) return -1;
    at += 1;
    n_left -= 1;
  }
  return add_char(w, '"');
}

/* ---- Containers ---- */

/* Writes a line break and the indentation of that depth; nothing with an indent of 0. */
static int add_line(writer *w, size_t depth) {
  if (w->indent == 0) return 0;
  size_t n = w->indent > 0 ? depth * (size_t)w->indent : 0;
  if (fh_str_build_reserve(&w->text, n + 1) != 0) return -1;
  char *end = fh_str_build_end(&w->text);
  end[0] = '\n';
  memset(end + 1, ' ', n);
  w->text.n_bytes += n + 1;
  return 0;
}

static bool is_list(const fh_walk_frame *f) { return f->shape == FH_WALK_ITEMS; }

/* Every cycle in JSON values contains a List, because Arrays and Maps do not change once they are shared. So only a
 * List is checked for being open. */
static int open_container(writer *w, const TVMFFIAny *value) {
  if (value->type_index == kTVMFFIList && fh_walk_is_open(&w->walk, value->v_obj, NULL)) {
    return fh_error_raise(FH_VALUE_ERROR, "Cycle detected: List contains itself");
  }
  if (add_char(w, value->type_index == kTVMFFIMap ? '{' : '[') != 0) return -1;
  return fh_walk_push(&w->walk, value);
}

/* The closing bracket is on a separate line, even for an empty container. */
static int close_container(writer *w) {
  char closing = is_list(fh_walk_top(&w->walk)) ? ']' : '}';
  fh_walk_pop(&w->walk);
  return add_line(w, fh_walk_depth(&w->walk)) != 0 ? -1 : add_char(w, closing);
}

/* Writes a leaf, or opens a container. ValueError for a type that JSON does not have, a Dict too. */
static int add_value(writer *w, const TVMFFIAny *value) {
  TVMFFIByteArray content;
  switch (value->type_index) {
  case kTVMFFINone: return add_literal(w, "null");
  case kTVMFFIBool: return add_literal(w, value->v_int64 ? "true" : "false");
  case kTVMFFIInt: return add_int(w, value->v_int64);
  case kTVMFFIBigInt: return add_bigint(w, value->v_obj);
  case kTVMFFIFloat: return add_float(w, value->v_float64);
  case kTVMFFIArray:
  case kTVMFFIList:
  case kTVMFFIMap: return open_container(w, value);
  default: break;
  }
  if (fh_str_content(value, &content)) return add_string(w, content);
  return fh_error_raise(FH_VALUE_ERROR, "Unsupported type: `%s`", fh_type_name(value->type_index));
}

/* Adds a child that the innermost container has just returned. A value of a map follows its key on the same line; any
 * other child begins with a comma, if it is not the first, and a new line. A key is followed by its colon. */
static int add_child(writer *w, const TVMFFIAny *child) {
  const fh_walk_frame *f = fh_walk_top(&w->walk);
  bool is_value = !is_list(f) && f->n_done % 2 == 0;
  TVMFFIByteArray content;
  if (is_value) return add_value(w, child);
  if (f->n_done > 1 && add_char(w, ',') != 0) return -1;
  if (add_line(w, fh_walk_depth(&w->walk)) != 0) return -1;
  if (is_list(f)) return add_value(w, child);
  if (!fh_str_content(child, &content)) {
    return fh_error_raise(FH_VALUE_ERROR, "Expect key to be string, got `%s`", fh_type_name(child->type_index));
  }
  if (add_string(w, content) != 0 || add_char(w, ':') != 0) return -1;
  return w->indent != 0 ? add_char(w, ' ') : 0;
}

static int write_root(writer *w, const TVMFFIAny *root) {
  TVMFFIAny child;
  if (add_value(w, root) != 0) return -1;
  while (fh_walk_depth(&w->walk) != 0) {
    switch (fh_walk_next(&w->walk, &child)) {
    case FH_WALK_CHILD:
      if (add_child(w, &child) != 0) return -1;
      break;
    case FH_WALK_END:
      if (close_container(w) != 0) return -1;
      break;
    default: return -1;
    }
  }
  return 0;
}

int fh_json_write(const TVMFFIAny *value, int32_t indent, TVMFFIAny *out) {
  writer w;
  TVMFFIAny root;
  *out = fh_any_none();
  if (fh_any_own(value, &root) != 0) return -1;
  memset(&w, 0, sizeof(w));
  fh_walk_init(&w.walk, FH_WALK_CYCLES, 0, 0);
  w.indent = indent;
  int rc = write_root(&w, &root);
  if (rc == 0) rc = fh_str_build_finish(&w.text, kTVMFFIStr, out);
  fh_walk_free(&w.walk);
  fh_str_build_free(&w.text);
  fh_any_drop(&root);
  return rc;
}
