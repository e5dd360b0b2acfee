/* object.h - object types described by tables; their functions are generated from these. */
#pragma once

#include <stddef.h>

#include "field.h"
#include "function.h"

/* One field that a type itself declares. */
typedef struct {
  const char *name;
  ft_field_id type;
  size_t offset;
  int64_t flags; /* TVMFFIFieldFlagBitMask, without the default bit, which `value` implies */
  const char *value; /* the default: `10`, `1.5`, `"text"`, `None`; NULL for none */
  const char *doc;
  const char *more; /* further metadata, or NULL */
} ft_field;

/* Traits of a type. */
enum {
  FT_FINAL = 1, /* no type derives from it */
  FT_NEW = 2, /* objects can be made without arguments */
  FT_COPY = 4, /* objects can be copied */
  FT_AUTO_INIT = 8, /* the core generates the constructor from the fields */
  FT_CONVERT = 16, /* it accepts only objects of its own type */
  FT_UNIQUE = 32 /* structural comparison is by identity */
};

typedef struct ft_class ft_class;
struct ft_class {
  const char *key;
  const ft_class *parent; /* declares the fields before its own; or NULL */
  const char *parent_key; /* for a parent of another library; NULL for ffi.Object */
  size_t size; /* bytes, including the header */
  int32_t child_slots;
  int traits;
  int64_t extra_size; /* bytes of an object before the handle */
  const ft_field *fields;
  int32_t n_fields;
  const ft_method *methods;
  int32_t n_methods;
  const char *init; /* signature of the constructor, which sets the first fields, parents' first; or NULL */
  const char *init_doc;
  void (*begin)(void *object); /* sets initial values that are not 0; or NULL */
  TVMFFIObjectCreator creator; /* if FT_NEW */
  int32_t type_index; /* filled by ft_object_register */
};

/* Allocates the indices of all classes, so that types can refer to each other. Parents must come first. */
int ft_object_register(ft_class *const *classes, int32_t n_classes);
/* Registers fields, methods and attributes of a class. */
int ft_object_define(ft_class *cls);

/* Makes an object with initial values. */
int ft_object_new(const ft_class *cls, TVMFFIObjectHandle *out);

/* Initialisers for the tables of a class. */
#define FT_FIELDS(table) .fields = (table), .n_fields = FT_COUNT(table)
#define FT_METHODS(table) .methods = (table), .n_methods = FT_COUNT(table)
#define FT_WRITABLE kTVMFFIFieldFlagBitMaskWritable
#define FT_NO_INIT kTVMFFIFieldFlagBitMaskInitOff
#define FT_KW_ONLY kTVMFFIFieldFlagBitMaskKwOnly
