/* members.c - lookup of fields and methods of one type by name. A few are compared one by one; for many there is a
 * table of the first member of each name, so that the time of a lookup does not grow with their number. */
#include "members.h"

#include <stddef.h>

#include "core/platform/mem.h"
#include "core/platform/span.h"
#include "error.h"
#include "str.h"
#include "type.h"

enum { FEW_MEMBERS = 16 };

/* The first member of a name, for the table. */
typedef struct {
  fh_name_entry by_name; /* first: the table returns a pointer to it */
  int32_t number;
} member_name;

/* Fields and methods begin with their names. */
static TVMFFIByteArray name_at(const void *members, size_t member_bytes, int32_t i) {
  return *(const TVMFFIByteArray *)(const void *)((const char *)members + (size_t)i * member_bytes);
}
FH_STATIC_ASSERT(offsetof(TVMFFIFieldInfo, name) == 0 && offsetof(TVMFFIMethodInfo, name) == 0, "see name_at");

int32_t fh_members_find(const fh_name_table *table, const void *members, int32_t n, size_t member_bytes,
                        TVMFFIByteArray name) {
  if (n > FEW_MEMBERS) {
    const member_name *found = (const member_name *)(const void *)fh_name_find(table, name);
    /* a member that is newer than n is not published yet */
    return found != NULL && found->number < n ? found->number : -1;
  }
  for (int32_t i = 0; i < n; ++i) {
    if (fh_span_same(name_at(members, member_bytes, i), name)) return i;
  }
  return -1;
}

int fh_members_add(fh_name_table *table, const void *members, int32_t n, size_t member_bytes, TVMFFIByteArray name) {
  if (n < FEW_MEMBERS) return 0;
  for (int32_t i = n == FEW_MEMBERS ? 0 : n; i <= n; ++i) {
    TVMFFIByteArray own = i < n ? name_at(members, member_bytes, i) : name;
    if (fh_name_find(table, own) != NULL) continue; /* an overload, or the second try after a try without memory */
    member_name *made = fh_name_reserve(table) == 0 ? (member_name *)fh_mem_calloc(1, sizeof(*made)) : NULL;
    if (made == NULL) return -1;
    fh_mem_keep(made);
    made->by_name.name = own;
    made->number = i;
    fh_name_put(table, &made->by_name);
  }
  return 0;
}

/* --- checks of declarations -------------------------------------------------------------------------------------- */

/* Checks of a client's declarations of a type. Getters, setters and copies later use offsets and sizes without a check,
 * so a wrong one would cause a read or a write outside of the object. */

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
bool fh_reflect_is_inside(const TVMFFIFieldInfo *field, int32_t total_size) {
  if (total_size <= 0) return true;
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

static bool is_function(const TVMFFIAny *value) { return fh_type_is_instance(value->type_index, kTVMFFIFunction); }

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
static bool is_pointer_type(TVMFFIByteArray type_key) {
  int32_t type_index = fh_type_find_key(type_key);
  switch (type_index) {
  case kTVMFFIStr:
  case kTVMFFIBytes:
  case kTVMFFIBigInt:
  case kTVMFFIFunction: return false;
  default: return fh_type_is_instance(type_index, kTVMFFIObject);
  }
}

bool fh_reflect_is_withdrawn(const TVMFFIFieldInfo *field) {
  const size_t n_start = sizeof(optional_start) - 1;
  TVMFFIByteArray metadata = field->metadata;
  if (field->size != sizeof(TVMFFIAny) || metadata.size <= n_start) return false;
  if (memcmp(metadata.data, optional_start, n_start) != 0) return false;
  const char *key = metadata.data + n_start;
  const char *end = (const char *)memchr(key, '\\', metadata.size - n_start);
  return end != NULL && is_pointer_type((TVMFFIByteArray){key, (size_t)(end - key)});
}
