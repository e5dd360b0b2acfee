/* tables.h - the classes and functions of this library, by file. load.c registers them all. */
#pragma once

#include "object.h"

/* Classes, parents before children. */
typedef struct {
  ft_class *const *classes;
  int32_t n_classes;
} ft_classes;

extern const ft_classes ft_plain_classes;  /* plain.c: objects with numbers, strings, objects */
extern const ft_classes ft_init_classes;   /* init.c: all kinds of constructors */
extern const ft_classes ft_custom_classes; /* custom.c: with their own comparison, hash and visit */
extern const ft_classes ft_enum_classes;   /* enum.c */
extern const ft_classes ft_every_classes;  /* every.c: a field of every type */

/* Functions that register everything else, after all classes. */
int ft_plain_load(void);
int ft_custom_load(void);
int ft_enum_load(void);
int ft_basic_load(void);  /* basic.c: add_one, echo, raising */
int ft_tensor_load(void); /* basic.c: containers with tensors */
int ft_schema_load(void); /* schema.c: a function for every type */

/* Defines name_class, whose objects can be made without arguments, with initialisers of ft_class, and its creator. Each
 * class needs its own creator, because the ABI passes no argument that identifies the class. */
#define FT_CLASS(name, ...)                                                                    \
  static ft_class name##_class;                                                                \
  static int new_##name(TVMFFIObjectHandle *out) { return ft_object_new(&name##_class, out); } \
  static ft_class name##_class = {.creator = new_##name, __VA_ARGS__}

/* --- the whole library -------------------------------------------------------------------------------------------- */

/* Registers everything and returns 1. Returns 0 if another library has registered `testing.*`; -1 with an error
 * pending, possibly after a partial registration. Called when the library is loaded, except in a build with
 * FT_LOAD_BY_HAND. */
int ft_load(void);
