/* reflect_check.c - checks of a client's declarations of a type. Getters, setters and copies later use offsets and
 * sizes without a check, so a wrong one would cause a read or a write outside of the object. */
#include "reflect_check.h"

#include "error.h"
#include "str.h"
#include "type.h"

/* A member, for messages. */
typedef struct {
  const char *kind; /* "field" */
  TVMFFIByteArray name;
  const TVMFFITypeInfo *type;
} member;

#define MEMBER_FORMAT "%s `%.*s` of type `%s`"
#define MEMBER_ARGS(m) (m)->kind, FH_BYTES_ARGS((m)->name), (m)->type->type_key.data

static int check_texts(TVMFFIByteArray doc, TVMFFIByteArray metadata) {
  return fh_str_check_bytes("documentation", doc) != 0 ? -1 : fh_str_check_bytes("metadata", metadata);
}

/* A type without a size (0) is not checked: its metadata may be registered later, and is compared with the fields then.
 *
 * The offset counts from the header, which may follow other members of the object: Object may be the second base of a
 * C++ class. Fields of the first base have negative offsets. The offset is compared first, so that no difference
 * overflows. */
int fh_reflect_is_inside(const TVMFFIFieldInfo *field, int32_t total_size) {
  if (total_size <= 0) return 1;
  if (field->offset < 0) {
    return field->offset >= (int64_t)sizeof(TVMFFIObject) - total_size && field->size <= total_size;
  }
  return field->offset <= total_size && field->size <= total_size - field->offset;
}

int fh_reflect_raise_outside(const TVMFFITypeInfo *type, const TVMFFIFieldInfo *field, int32_t total_size) {
  member m = {"field", field->name, type};
  return fh_error_raise(FH_VALUE_ERROR,
                        "Expected " MEMBER_FORMAT " within the %d bytes of the object but got offset %lld, size %lld",
                        MEMBER_ARGS(&m), (int)total_size, (long long)field->offset, (long long)field->size);
}

/* Checks a field without the size of the object. An alignment of 0 is accepted and means that none was given. */
static int check_layout(const member *m, const TVMFFIFieldInfo *field) {
  int64_t alignment = field->alignment;
  if (field->size < 0) {
    return fh_error_raise(FH_VALUE_ERROR, "Expected a size from 0 on of " MEMBER_FORMAT " but got %lld", MEMBER_ARGS(m),
                          (long long)field->size);
  }
  if (alignment < 0 || (alignment & (alignment - 1)) != 0) {
    return fh_error_raise(FH_VALUE_ERROR, "Expected a power of two as alignment of " MEMBER_FORMAT " but got %lld",
                          MEMBER_ARGS(m), (long long)alignment);
  }
  return 0;
}

static int is_function(const TVMFFIAny *value) { return fh_type_is_instance(value->type_index, kTVMFFIFunction); }

/* `what` is the purpose of the Function in the message. */
static int check_function(const member *m, const char *what, const TVMFFIAny *value) {
  if (is_function(value) && value->v_obj != NULL) return 0;
  return fh_error_raise(FH_TYPE_ERROR, "Expected `ffi.Function` as %s of " MEMBER_FORMAT " but got `%s`", what,
                        MEMBER_ARGS(m), is_function(value) ? "NULL" : fh_type_name(value->type_index));
}

int fh_reflect_check_field(const TVMFFITypeInfo *type, const TVMFFIFieldInfo *field) {
  member m = {"field", field->name, type};
  /* only both bits together mean that the default is a Function: a factory without a default is never called */
  int64_t has_factory = kTVMFFIFieldFlagBitMaskHasDefault | kTVMFFIFieldFlagBitMaskDefaultFromFactory;
  if (fh_str_check_name("the name of a field", field->name) != 0) return -1;
  if (check_texts(field->doc, field->metadata) != 0 || check_layout(&m, field) != 0) return -1;
  if ((field->flags & has_factory) != has_factory) return 0;
  return check_function(&m, "default factory", &field->default_value_or_factory);
}

int fh_reflect_check_method(const TVMFFITypeInfo *type, const TVMFFIMethodInfo *method) {
  member m = {"method", method->name, type};
  if (fh_str_check_name("the name of a method", method->name) != 0) return -1;
  if (check_texts(method->doc, method->metadata) != 0) return -1;
  return check_function(&m, "the code", &method->method);
}

int fh_reflect_check_metadata(const TVMFFITypeInfo *type, const TVMFFITypeMetadata *metadata) {
  if (fh_str_check_bytes("documentation", metadata->doc) != 0) return -1;
  if (metadata->total_size >= 0) return 0;
  return fh_error_raise(FH_VALUE_ERROR, "Expected a size of type `%s` from 0 on but got %d", type->type_key.data,
                        (int)metadata->total_size);
}

/* ---- Optional objects ---- */

/* The start of the metadata of a field of type Optional<object>: JSON that contains a JSON string. The key of the
 * object's type follows, and a backslash ends it. */
static const char optional_start[] =
    "{\"type_schema\":\"{\\\"type\\\":\\\"Optional\\\",\\\"args\\\":[{\\\"type\\\":\\\"";

/* Whether all C++ classes for objects of a type are pointers. Those for strings and integers are cells of an Any, and a
 * typed function is not a reference to an object. A key that is not registered yet does not count as a pointer. */
static int is_pointer_type(TVMFFIByteArray type_key) {
  int32_t type_index = fh_type_find_key(type_key);
  switch (type_index) {
  case kTVMFFIStr:
  case kTVMFFIBytes:
  case kTVMFFIBigInt:
  case kTVMFFIFunction: return 0;
  default: return fh_type_is_instance(type_index, kTVMFFIObject);
  }
}

int fh_reflect_is_withdrawn(const TVMFFIFieldInfo *field) {
  const size_t n_start = sizeof optional_start - 1;
  TVMFFIByteArray metadata = field->metadata;
  if (field->size != sizeof(TVMFFIAny) || metadata.size <= n_start) return 0;
  if (memcmp(metadata.data, optional_start, n_start) != 0) return 0;
  const char *key = metadata.data + n_start;
  const char *end = (const char *)memchr(key, '\\', metadata.size - n_start);
  return end != NULL && is_pointer_type((TVMFFIByteArray){key, (size_t)(end - key)});
}
