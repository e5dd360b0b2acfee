/* value.h - values for C clients of the ABI: construction, ownership, strings, errors, and the core's functions.
 *
 * Any thread may call every function once ft_value_load has returned. */
#pragma once

#include <stdbool.h>
#include <string.h>
#include <tvm/ffi/c_api.h>

#define FT_COUNT(array) ((int32_t)(sizeof(array) / sizeof((array)[0])))

/* ---- Values ---- */

static inline TVMFFIByteArray ft_text(const char *text) {
  TVMFFIByteArray bytes = {text, strlen(text)};
  return bytes;
}

static inline TVMFFIAny ft_none(void) {
  TVMFFIAny value;
  memset(&value, 0, sizeof(value));
  return value;
}

static inline TVMFFIAny ft_int(int64_t number) { return (TVMFFIAny){.type_index = kTVMFFIInt, .v_int64 = number}; }

static inline TVMFFIAny ft_bool(int truth) { return (TVMFFIAny){.type_index = kTVMFFIBool, .v_int64 = truth != 0}; }

/* Makes a value of an object, None for NULL. The value owns a reference if the caller passes one. */
static inline TVMFFIAny ft_object(void *object) {
  TVMFFIAny value = ft_none();
  if (object == NULL) return value;
  value.type_index = TVMFFIObjectGetTypeIndex(object);
  value.v_obj = (TVMFFIObject *)object;
  return value;
}

/* Makes a view of a NUL-terminated literal. */
static inline TVMFFIAny ft_raw(const char *text) {
  TVMFFIAny value = ft_none();
  value.type_index = kTVMFFIRawStr;
  value.v_c_str = text;
  return value;
}

static inline bool ft_is_object(const TVMFFIAny *value) { return value->type_index >= kTVMFFIStaticObjectBegin; }

/* Releases the value's reference. The value is None afterwards. */
static inline void ft_drop(TVMFFIAny *value) {
  TVMFFIAny gone = *value;
  *value = ft_none();
  if (ft_is_object(&gone)) (void)TVMFFIObjectDecRef(gone.v_obj);
}

/* Reads the bytes of a string or of bytes in any form, borrowed; returns 0 for any other value. */
bool ft_value_bytes(const TVMFFIAny *value, TVMFFIByteArray *out);
/* Whether an object of a type is an instance of `wanted`. */
bool ft_value_is_instance(int32_t type_index, int32_t wanted);
/* Returns the items of an Array or a List, borrowed. */
const TVMFFISeqCell *ft_value_items(const TVMFFIAny *sequence);

/* ---- Errors ---- */

/* Makes an error the pending error. The message consists of the parts, at most 16, which end with NULL. Always returns
 * -1. */
int ft_raise(const char *kind, ...);
/* Raises a MemoryError because `what` could not be made. Always returns -1. */
int ft_no_memory(const char *what);

/* ---- String buffers ---- */

typedef struct {
  char *data; /* NUL-terminated, NULL while empty */
  size_t size;
  size_t capacity;
  bool is_cut; /* memory was exhausted, and the string is incomplete */
} ft_buffer;

void ft_buffer_add(ft_buffer *buffer, const char *data, size_t size);
static inline void ft_buffer_put(ft_buffer *buffer, const char *text) { ft_buffer_add(buffer, text, strlen(text)); }
/* Appends data with the escapes of a JSON string. */
void ft_buffer_add_escaped(ft_buffer *buffer, const char *data, size_t size);
void ft_buffer_free(ft_buffer *buffer);
static inline const char *ft_buffer_text(const ft_buffer *buffer) { return buffer->data != NULL ? buffer->data : ""; }

/* ---- The core's functions ---- */

typedef enum {
  FT_ARRAY,
  FT_LIST,
  FT_MAP,
  FT_DICT,
  FT_MAP_SIZE,
  FT_DICT_SIZE,
  FT_MAP_WALK,
  FT_DICT_WALK,
  FT_LIST_APPEND,
  FT_DICT_SET,
  FT_DICT_GET,
  FT_DICT_COUNT,
  FT_REGISTER_INIT,
  FT_VISIT,
  FT_VISIT_IN_REGION,
  FT_CORE_COUNT
} ft_core;

/* Looks up the functions. Returns -1 with an error pending if the core lacks one of them. */
int ft_value_load(void);
/* Calls a function of the core. *result is owned, and None on failure. */
int ft_core_call(ft_core which, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result);
/* Like ft_core_call, and drops the result. */
int ft_core_do(ft_core which, const TVMFFIAny *args, int32_t n_args);

/* Iterates over a Map or a Dict. Call `ft_walk_begin` before and `ft_walk_end` after, also after an error. */
typedef struct {
  TVMFFIAny step;
  int64_t n_left;
} ft_walk;

int ft_walk_begin(const TVMFFIAny *mapping, ft_walk *walk);
/* Returns 1 with the next pair, both owned; 0 at the end; -1 with an error pending. */
int ft_walk_next(ft_walk *walk, TVMFFIAny *key, TVMFFIAny *value);
void ft_walk_end(ft_walk *walk);
