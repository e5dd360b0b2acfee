/* json_string.c - strings in JSON text.
 *
 * There are three ways, the fastest first: a short string without escapes is one word from memory; any other string
 * without escapes is scanned by words of eight bytes and then copied or shared; escapes are decoded run by run into a
 * new string. The text must be UTF-8, which is checked during the scan. */
#include "json.h"

#include "core/object/error.h"
#include "core/object/str.h"
#include "core/object/text.h"

/* ---- Sharing ---- */

#define MAX_SHARED 64 /* longer strings are not keys */

/* For more than FH_STR_SMALL_MAX bytes: it mixes only the first 8, the last 8 and the length, which distinguishes most
 * keys. The contents are compared, so a collision only prevents sharing. */
static uint64_t quick_hash(const char *data, size_t n_bytes) {
  uint64_t hash = (fh_json_load(data) ^ n_bytes) * UINT64_C(0x9e3779b97f4a7c15);
  hash = (hash ^ (hash >> 29) ^ fh_json_load(data + n_bytes - 8)) * UINT64_C(0xbf58476d1ce4e5b9);
  return hash ^ (hash >> 32);
}

/* Returns a new string, or a known one with the same content: an owned value. The second string with a content is kept
 * and shared from then on, so a string that occurs once costs no more than its hash. The table is direct-mapped:
 * another hash in the same place replaces the entry. */
static int make_string(fh_json_strings *strings, const char *data, size_t n_bytes, TVMFFIAny *out) {
  if (n_bytes <= FH_STR_SMALL_MAX || n_bytes > MAX_SHARED) return fh_str_new(data, n_bytes, out);
  uint64_t hash = quick_hash(data, n_bytes);
  size_t i = (size_t)(hash & (FH_JSON_SHARED_STRINGS - 1));
  fh_str_object *known = strings->entries[i].str;
  if (strings->entries[i].hash != hash) {
    strings->entries[i].hash = hash;
    strings->entries[i].str = NULL;
    fh_object_release(known); /* a String: runs no foreign code */
    return fh_str_new(data, n_bytes, out);
  }
  if (known != NULL && known->bytes.size == n_bytes && memcmp(known->content, data, n_bytes) == 0) {
    fh_object_retain(known);
    *out = fh_any_object(known);
    return 0;
  }
  if (fh_str_new(data, n_bytes, out) != 0) return -1;
  fh_object_retain(out->v_obj);
  strings->entries[i].str = (fh_str_object *)(void *)out->v_obj;
  fh_object_release(known);
  return 0;
}

void fh_json_strings_free(fh_json_strings *strings) {
  for (size_t i = 0; i < FH_JSON_SHARED_STRINGS; ++i) fh_object_release(strings->entries[i].str);
}

/* ---- Escapes ---- */

static int fail_at(fh_json_error *error, const char *what, const char *at) {
  error->what = what;
  error->at = at;
  return 1;
}

/* Reads four hexadecimal digits; -1 without them. */
static int32_t read_hex(const char *at, const char *end) {
  int32_t number = 0;
  if (end - at < 4) return -1;
  for (int i = 0; i < 4; ++i) {
    char c = at[i];
    if (c >= '0' && c <= '9')
      number = number * 16 + (c - '0');
    else if (c >= 'a' && c <= 'f')
      number = number * 16 + (c - 'a' + 10);
    else if (c >= 'A' && c <= 'F')
      number = number * 16 + (c - 'A' + 10);
    else
      return -1;
  }
  return number;
}

/* Writes a character as UTF-8; returns its length. */
static size_t encode_utf8(uint32_t character, char *out) {
  size_t n = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
  if (n == 1) {
    out[0] = (char)character;
    return 1;
  }
  for (size_t i = n - 1; i > 0; --i, character >>= 6) out[i] = (char)(0x80 | (character & 0x3f));
  out[0] = (char)((0xf0u << (4 - n)) | character);
  return n;
}

/* *at is at the `u` and moves past the escape, or past both escapes of a surrogate pair, which are one character. 1
 * with *error for anything else. */
static bool read_unicode(const char **at, const char *end, uint32_t *out, fh_json_error *error) {
  const char *invalid = "Invalid \\uXXXX escape", *unpaired = "Invalid surrogate pair of \\uXXXX escapes";
  int32_t first = read_hex(*at + 1, end);
  if (first < 0) return fail_at(error, invalid, *at);
  *out = (uint32_t)first;
  if (first < 0xd800 || first > 0xdfff) {
    *at += 5;
    return false;
  }
  if (first >= 0xdc00 || end - *at < 7 || (*at)[5] != '\\' || (*at)[6] != 'u') return fail_at(error, unpaired, *at);
  const char *behind = *at + 7;
  int32_t second = read_hex(behind, end);
  if (second < 0) return fail_at(error, invalid, behind);
  if (second < 0xdc00 || second > 0xdfff) return fail_at(error, unpaired, behind);
  *out = 0x10000 + (((uint32_t)first - 0xd800) << 10) + ((uint32_t)second - 0xdc00);
  *at = behind + 4;
  return false;
}

/* *at is after the backslash and moves past the escape; the character goes to `build`, which has room for 4 bytes. */
static int read_escape(const char **at, const char *end, fh_str_build *build, fh_json_error *error) {
  static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
  uint32_t character;
  if (*at != end && **at == 'u') {
    int rc = read_unicode(at, end, &character, error);
    if (rc != 0) return rc;
  } else {
    /* A NUL is checked separately: strchr would find the end of `names`. */
    const char *name = *at != end && **at != '\0' ? strchr(names, **at) : NULL;
    if (name == NULL) return fail_at(error, "Invalid \\escape", *at);
    character = (unsigned char)values[name - names];
    *at += 1;
  }
  build->n_bytes += encode_utf8(character, fh_str_build_end(build));
  return 0;
}

/* ---- Strings ---- */

static bool is_tail(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

/* As fh_text_utf8_length, but fast for the frequent ones. Excludes the lead bytes 0xe0 and 0xed, because they may begin
 * overlong forms and surrogates, which only the second byte distinguishes. */
static size_t utf8_length(const char *at, size_t n_left) {
  unsigned char c = (unsigned char)*at;
  if (c >= 0xc2 && c < 0xe0 && n_left >= 2 && is_tail(at[1])) return 2;
  if (c > 0xe0 && c < 0xed && n_left >= 3 && is_tail(at[1]) && is_tail(at[2])) return 3;
  return fh_text_utf8_length((const unsigned char *)at, n_left);
}

/* Skips consecutive UTF-8 sequences of more than one byte at `at`, which is not `end`. */
static const char *skip_utf8(const char *at, const char *end) {
  while (at != end && (unsigned char)*at >= 0x80) {
    size_t n = utf8_length(at, (size_t)(end - at));
    if (n == 0) break;
    at += n;
  }
  return at;
}

/* The first byte that is a quote, a backslash, a control character or not UTF-8; `end` if there is none. */
static const char *skip_plain(const char *at, const char *end) {
  for (;;) {
    while (end - at >= 8) {
      uint64_t marks = fh_json_special_bytes(fh_json_load(at));
      at += marks != 0 ? fh_json_bytes_before(marks) : 8;
      if (marks != 0) break;
    }
    /* Byte by byte: near the end, and from the marked byte on (big-endian: from its word on). */
    for (; at != end && (unsigned char)*at < 0x80; ++at) {
      if ((unsigned char)*at < 0x20 || *at == '"' || *at == '\\') return at;
    }
    const char *behind = at != end ? skip_utf8(at, end) : at;
    if (behind == at) return at;
    at = behind;
  }
}

/* Reads a string of up to 7 plain bytes that begins 8 bytes or more before the end of the text, the most frequent kind:
 * 1, or 0 for any other string. The string's word from memory, cut off at the quote, is the word of the cell. */
static bool read_short(const char **at, const char *end, TVMFFIAny *out) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  if (end - *at < 8) return false;
  uint64_t word = fh_json_load(*at), marks = fh_json_special_bytes(word);
  size_t n = marks != 0 ? fh_json_bytes_before(marks) : 8;
  if (n > FH_STR_SMALL_MAX || (*at)[n] != '"') return false;
  out->type_index = kTVMFFISmallStr;
  out->small_str_len = (uint32_t)n;
  out->v_uint64 = word & (((uint64_t)1 << n * 8) - 1);
  *at += n + 1;
  return true;
#else
  FH_UNUSED(at);
  FH_UNUSED(end);
  FH_UNUSED(out);
  return false;
#endif
}

/* Continues at the first escape at *at. 0 with a value if *at ends at the closing quote; 0 without one if *at ends at a
 * byte that is invalid in strings, or at the end; 1 with *error; -1. */
static int read_with_escapes(const char *begin, const char **at, const char *end, TVMFFIAny *out,
                             fh_json_error *error) {
  fh_str_build build = {NULL, 0, 0};
  const char *run = begin;
  int rc = 0;
  while (rc == 0 && *at != end && **at == '\\') {
    rc = fh_str_build_add(&build, run, (size_t)(*at - run));
    if (rc == 0) rc = fh_str_build_reserve(&build, 4);
    *at += 1;
    if (rc == 0) rc = read_escape(at, end, &build, error);
    run = *at;
    if (rc == 0) *at = skip_plain(*at, end);
  }
  if (rc == 0 && *at != end && **at == '"') {
    rc = fh_str_build_add(&build, run, (size_t)(*at - run));
    if (rc == 0) return fh_str_build_finish(&build, kTVMFFIStr, out);
  }
  fh_str_build_free(&build);
  return rc;
}

int fh_json_string_read(fh_json_strings *strings, const char **at, const char *end, TVMFFIAny *out,
                        fh_json_error *error) {
  const char *begin = *at;
  int rc = 0;
  if (read_short(at, end, out)) return 0;
  *at = skip_plain(begin, end);
  if (*at != end && **at == '\\') {
    rc = read_with_escapes(begin, at, end, out, error);
  } else if (*at != end && **at == '"') {
    rc = make_string(strings, begin, (size_t)(*at - begin), out);
  }
  if (rc != 0) return rc;
  /* The reason for the end of the string, unless it is the closing quote. */
  if (*at == end) return fail_at(error, "Unterminated string starting at", begin - 1);
  unsigned char stop = (unsigned char)**at;
  if (stop < 0x20) return fail_at(error, "Invalid control character at", *at);
  if (stop != '"') return fail_at(error, "Invalid UTF-8 at", *at);
  *at += 1;
  return 0;
}
