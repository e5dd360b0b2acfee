/* type.h - types in the notation of messages, `Map<str, Array<int>>`, parsed into a tree.
 *
 * A type is given as a string. The messages of the reference have this grammar:
 *
 *   type: name | name '?' | name '<' type (', ' type)* '>' | '(' [index ': ' type (', ' index ': ' type)*] ') -> ' type
 *
 * A `?` after the name of an object type means that None is accepted, too. Messages do not show it. */
#pragma once

#include "value.h"

typedef enum {
  FT_ANY,      /* Any, AnyView */
  FT_VOID,     /* void */
  FT_INT,      /* int */
  FT_BOOL,     /* bool */
  FT_FLOAT,    /* float */
  FT_STR,      /* str */
  FT_BYTES,    /* bytes */
  FT_DEVICE,   /* Device */
  FT_DTYPE,    /* DataType */
  FT_DLTENSOR, /* DLTensor*: a tensor's description, or a Tensor */
  FT_OBJECT,   /* a type key */
  FT_OPTIONAL, /* args: the type other than None */
  FT_VARIANT,  /* args: the alternatives */
  FT_SEQUENCE, /* Array or List; args: item type */
  FT_MAPPING,  /* Map or Dict; args: keys, values */
  FT_CALLABLE  /* args: the result, then the parameters; any function is accepted */
} ft_kind;

typedef struct ft_type {
  ft_kind kind;
  int32_t type_index; /* exact type of FT_OBJECT, FT_SEQUENCE and FT_MAPPING; otherwise -1 */
  int takes_none;
  const char *name; /* the string, which the caller keeps alive */
  size_t name_size;
  struct ft_type *args;
  int32_t n_args;
} ft_type;

/* Parses a type, which is never freed. ValueError for a string that is not a type, RuntimeError for an unregistered
 * key. */
int ft_type_read(const char *text, ft_type *out);

/* Appends the type in the notation of messages. */
void ft_type_print(const ft_type *type, ft_buffer *out);
/* Appends the type in the form of metadata: {"type":"int"}. */
void ft_type_describe(const ft_type *type, ft_buffer *out);
/* Appends a function's or field's metadata: the description, then `more`, which begins with a comma or is NULL. */
void ft_type_add_metadata(const ft_type *type, const char *more, ft_buffer *out);
/* Returns the field_static_type_index of a field of that type. */
int32_t ft_type_static_index(const ft_type *type);
