/* json_parse.c - JSON text to values, without recursion.
 *
 * Values of open containers are on one stack, a container's values after those of the enclosing one. Closing a
 * container makes an object of exactly the right size from its part of the stack, which then is one value. An outermost
 * array needs no such copy: the stack is in a block with room for an Array's head, and becomes the Array. */
#include "json.h"

#include <math.h>
#include <stdio.h>

#include "core/container/hashmap.h"
#include "core/container/seq.h"
#include "core/object/error.h"
#include "core/platform/mem.h"
#include "decimal.h"

/* The minimum number of items by which a block grows. */
#define MIN_ROOM 32

typedef struct {
  size_t n_before; /* number of values below its own */
  bool is_object;   /* its values are key, value, key, value */
} container;

typedef struct {
  const char *begin, *at, *end;
  fh_seq_object *stack; /* not an object yet; its items are the values, owned */
  size_t n_values, values_room;
  container *open;
  size_t n_open, open_room;
  fh_json_strings strings;
} parser;

/* ---- Errors ---- */

/* "what: line 1 column 2 (char 1)"; always -1. Only this function counts lines, so reading does not pay for it. */
static int raise_at(const parser *p, const char *what, const char *at) {
  long long line = 1;
  const char *line_begin = p->begin;
  for (const char *c = p->begin; c != at; ++c) {
    if (*c != '\n') continue;
    line += 1;
    line_begin = c + 1;
  }
  return fh_error_raise(FH_VALUE_ERROR, "%s: line %lld column %lld (char %lld)", what, line,
                        (long long)(at - line_begin) + 1, (long long)(at - p->begin));
}

/* ---- Stacks ---- */

/* Makes the block longer; updates *room and *block. */
static int grow_block(void **block, size_t *room, size_t head_bytes, size_t item_bytes) {
  size_t longer = *room * 2 + MIN_ROOM;
  void *grown = longer <= SIZE_MAX / 2 / item_bytes ? fh_mem_realloc(*block, head_bytes + longer * item_bytes) : NULL;
  if (grown == NULL) return fh_error_raise_no_memory();
  *block = grown;
  *room = longer;
  return 0;
}

static FH_NOINLINE int grow_values(parser *p) {
  return grow_block((void **)&p->stack, &p->values_room, sizeof(*p->stack), sizeof(*p->stack->items));
}

/* The place of the next value; NULL with an error pending. */
static inline TVMFFIAny *next_value(parser *p) {
  if (FH_UNLIKELY(p->n_values == p->values_room) && grow_values(p) != 0) return NULL;
  return &p->stack->items[p->n_values];
}

static int push_value(parser *p, TVMFFIAny value) {
  TVMFFIAny *slot = next_value(p);
  if (slot == NULL) return -1;
  *slot = value;
  p->n_values += 1;
  return 0;
}

static int open_container(parser *p, bool is_object) {
  if (p->n_open == FH_JSON_MAX_DEPTH) {
    char what[64];
    snprintf(what, sizeof(what), "Expected at most %d nested containers", FH_JSON_MAX_DEPTH);
    return raise_at(p, what, p->at);
  }
  if (p->n_open == p->open_room && grow_block((void **)&p->open, &p->open_room, 0, sizeof(*p->open)) != 0) return -1;
  container opened = {p->n_values, is_object};
  p->open[p->n_open++] = opened;
  return 0;
}

/* For a repeated key. The reference has a dense table here, where setting the key again moves it to the end. This Map
 * is small, a quarter of the size, where the key would keep its place. */
static void move_to_end(fh_hashmap_object *map, const TVMFFIAny *key) {
  fh_hashmap_pair moved;
  if (fh_hashmap_erase(map, key, FH_HASHMAP_NO_HOOKS, &moved) == 1) fh_hashmap_add_new(map, &moved.key, &moved.value);
}

/* Makes a Map of n values that are keys and values, which it steals; on failure some of them have become None. */
static TVMFFIObject *make_map(TVMFFIAny *values, size_t n) {
  fh_hashmap_object *map = fh_hashmap_new(kTVMFFIMap, n / 2);
  if (map == NULL) return NULL;
  for (size_t i = 0; i < n; i += 2) {
    fh_hashmap_pair pair = {values[i], values[i + 1]};
    fh_hashmap_rest rest;
    int rc = fh_hashmap_set(map, &pair, FH_HASHMAP_NO_HOOKS, &rest); /* keys are strings, which need no hooks */
    /* Setting has displaced a value, so the key existed already: rest.pair.key equals it. */
    bool is_twice = rc == 0 && rest.pair.key.type_index != kTVMFFINone;
    if (is_twice && n == 2 * FH_HASHMAP_SMALL_MAX) move_to_end(map, &rest.pair.key);
    if (fh_hashmap_finish(rc, &rest) != 0) {
      fh_object_release(map);
      /* The Map had these and has released them; the stack still owns the others. */
      for (size_t k = 0; k < i; ++k) values[k] = fh_any_none();
      return NULL;
    }
  }
  return &map->header;
}

/* The outermost array: the stack becomes the value and a new stack holds it. The new stack is made first, so after a
 * failure all values are where fh_json_parse drops them. */
static int close_root_array(parser *p) {
  size_t n = p->n_values;
  void *block = fh_mem_realloc(p->stack, sizeof(*p->stack) + n * sizeof(*p->stack->items));
  if (block == NULL) return fh_error_raise_no_memory();
  p->stack = (fh_seq_object *)block;
  p->values_room = n;
  fh_seq_object *rest = NULL;
  size_t rest_room = 0;
  if (grow_block((void **)&rest, &rest_room, sizeof(*rest), sizeof(*rest->items)) != 0) return -1;
  rest->items[0] = fh_any_object(fh_seq_array_in(block, (int64_t)n));
  p->stack = rest;
  p->values_room = rest_room;
  p->n_values = 1;
  return 0;
}

/* The innermost container becomes a value and replaces its values on the stack. The constructors move the values with
 * their references, so no count changes. */
static int close_container(parser *p) {
  if (next_value(p) == NULL) return -1; /* room for the result: an empty container has no values to replace */
  container closed = p->open[p->n_open - 1];
  TVMFFIAny *values = p->stack->items + closed.n_before;
  size_t n = p->n_values - closed.n_before;
  p->at += 1;
  if (p->n_open == 1 && !closed.is_object && n != 0) {
    p->n_open = 0;
    return close_root_array(p);
  }
  void *made = closed.is_object ? (void *)make_map(values, n) : (void *)fh_seq_array_of(values, (int64_t)n);
  if (made == NULL) return -1;
  p->n_open -= 1;
  p->n_values = closed.n_before + 1;
  *values = fh_any_object(made);
  return 0;
}

/* ---- Values ---- */

/* Skips white space, eight blanks at a time, for indentation. Out of line, because compact text has none. */
static FH_NOINLINE void skip_these_spaces(parser *p) {
  const char *at = p->at, *end = p->end;
  while (at != end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) {
    ++at;
    while (end - at >= 8 && fh_json_load(at) == FH_JSON_ONES * ' ') at += 8;
  }
  p->at = at;
}

/* White space is never above a blank. A control character ends the loop at once, and is refused at its place. */
static inline void skip_spaces(parser *p) {
  if (p->at != p->end && (unsigned char)*p->at <= ' ') skip_these_spaces(p);
}

/* The next character, -1 at the end of the text. */
static int peek(const parser *p) { return p->at != p->end ? (unsigned char)*p->at : -1; }

/* Reads the string at the next quote to its place on the stack. */
static int read_string(parser *p) {
  fh_json_error error;
  TVMFFIAny *slot = next_value(p);
  if (slot == NULL) return -1;
  p->at += 1;
  int rc = fh_json_string_read(&p->strings, &p->at, p->end, slot, &error);
  if (rc > 0) return raise_at(p, error.what, error.at);
  p->n_values += rc == 0;
  return rc;
}

/* Reads a word of the grammar, whose first letter was checked; the caller checks the text after it. */
static int read_literal(parser *p, const char *literal, TVMFFIAny value) {
  size_t n = strlen(literal);
  if ((size_t)(p->end - p->at) < n || memcmp(p->at, literal, n) != 0) return raise_at(p, "Expecting value", p->at);
  p->at += n;
  return push_value(p, value);
}

static bool can_be_in_number(char c) {
  return (c >= '0' && c <= '9') || c == 'e' || c == 'E' || c == '+' || c == '-' || c == '.';
}

/* Reads any number except a short integer. For other characters, and at the end of the text, that is a number without
 * characters, which is refused. */
static int read_long_number(parser *p) {
  const char *begin = p->at;
  fh_decimal_value value;
  if (p->end - p->at > 1 && p->at[0] == '-' && p->at[1] == 'I') {
    return read_literal(p, "-Infinity", fh_any_float(-(double)INFINITY));
  }
  while (p->at != p->end && can_be_in_number(*p->at)) ++p->at;
  switch (fh_decimal_read(begin, (size_t)(p->at - begin), &value)) {
  case FH_DECIMAL_INT: return push_value(p, fh_any_int(value.as_int));
  case FH_DECIMAL_FLOAT: return push_value(p, fh_any_float(value.as_float));
  default: return raise_at(p, "Expecting value", begin);
  }
}

/* Reads a number. Integers of up to 17 digits, the frequent ones, are read here, where no overflow is possible. At the
 * end of the text, or before a character that may belong to the number, the other function starts again. */
static int read_number(parser *p) {
  enum { MAX_DIGITS = 18 };
  const char *at = p->at;
  bool is_negative = at != p->end && *at == '-';
  at += is_negative;
  const char *first = at, *last = p->end - at > MAX_DIGITS ? at + MAX_DIGITS : p->end;
  int64_t number = 0;
  for (; at != last && *at >= '0' && *at <= '9'; ++at) number = number * 10 + (*at - '0');
  if (at == first || at == last || can_be_in_number(*at)) return read_long_number(p);
  p->at = at;
  return push_value(p, fh_any_int(is_negative ? -number : number));
}

/* ---- The grammar ---- */

/* The result of a step of the grammar. FAILED: an error is pending; OPENED: a value must begin here; VALUE: a value is
 * on the stack. */
typedef enum { FAILED = -1, OPENED, VALUE } step;

static step done(int rc) { return rc != 0 ? FAILED : VALUE; }

/* Reads a key and its colon; the value follows. */
static step read_key(parser *p) {
  if (peek(p) != '"') return raise_at(p, "Expecting property name enclosed in double quotes", p->at), FAILED;
  if (read_string(p) != 0) return FAILED;
  skip_spaces(p);
  if (peek(p) != ':') return raise_at(p, "Expecting ':' delimiter", p->at), FAILED;
  p->at += 1;
  return OPENED;
}

/* Reads a container up to its first value. */
static step begin_container(parser *p, bool is_object) {
  if (open_container(p, is_object) != 0) return FAILED;
  p->at += 1;
  skip_spaces(p);
  if (peek(p) == (is_object ? '}' : ']')) return done(close_container(p));
  return is_object ? read_key(p) : OPENED;
}

static step begin_value(parser *p) {
  skip_spaces(p);
  switch (peek(p)) {
  case '{': return begin_container(p, 1);
  case '[': return begin_container(p, 0);
  case '"': return done(read_string(p));
  case 't': return done(read_literal(p, "true", fh_any_bool(1)));
  case 'f': return done(read_literal(p, "false", fh_any_bool(0)));
  case 'n': return done(read_literal(p, "null", fh_any_none()));
  case 'N': return done(read_literal(p, "NaN", fh_any_float((double)NAN)));
  case 'I': return done(read_literal(p, "Infinity", fh_any_float((double)INFINITY)));
  default: return done(read_number(p));
  }
}

/* After a value in a container: reads the container's end, which makes a value, or up to the next value. */
static step continue_container(parser *p) {
  bool is_object = p->open[p->n_open - 1].is_object;
  skip_spaces(p);
  int c = peek(p);
  if (c == (is_object ? '}' : ']')) return done(close_container(p));
  if (c != ',') return raise_at(p, "Expecting ',' delimiter", p->at), FAILED;
  p->at += 1;
  skip_spaces(p);
  /* A comma at the end of the text; the next step finds a comma before a closing bracket. */
  if (p->at == p->end) return raise_at(p, "Syntax error near", p->at), FAILED;
  return is_object ? read_key(p) : OPENED;
}

/* The only value of the whole text: begins values, and after each continues with the enclosing containers, until none
 * is open. */
static int parse_root(parser *p) {
  step last;
  do {
    last = begin_value(p);
    while (last == VALUE && p->n_open != 0) last = continue_container(p);
  } while (last == OPENED);
  if (last == FAILED) return -1;
  skip_spaces(p);
  return p->at == p->end ? 0 : raise_at(p, "Extra data", p->at);
}

int fh_json_parse(TVMFFIByteArray text, TVMFFIAny *out) {
  *out = fh_any_none();
  /* On the heap: the table of shared strings is 4 KiB, which is much for the stack of an unknown caller. */
  parser *p = (parser *)fh_mem_calloc(1, sizeof(*p));
  if (p == NULL) return fh_error_raise_no_memory();
  p->begin = p->at = text.size != 0 ? text.data : "";
  p->end = p->begin + text.size;
  int rc = parse_root(p);
  if (rc == 0) *out = p->stack->items[--p->n_values];
  while (p->n_values != 0) fh_any_drop(&p->stack->items[--p->n_values]);
  fh_mem_free(p->stack);
  fh_mem_free(p->open);
  fh_json_strings_free(&p->strings);
  fh_mem_free(p);
  return rc;
}
