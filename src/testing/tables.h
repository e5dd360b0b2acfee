/* tables.h - what the library has, by the file that has it; load.c registers it in this order. */
#ifndef FT_TABLES_H_
#define FT_TABLES_H_

#include "object.h"

/* Classes, parents before children. */
typedef struct {
  ft_class *const *classes;
  int32_t n_classes;
} ft_classes;

ft_classes ft_plain_classes(void);  /* plain.c: objects with numbers, texts, objects */
ft_classes ft_init_classes(void);   /* init.c: constructors of every sort */
ft_classes ft_custom_classes(void); /* custom.c: comparison, hash and visit of their own */
ft_classes ft_enum_classes(void);   /* enum.c */
ft_classes ft_every_classes(void);  /* every.c: a field of every type */

/* What is registered once all classes are. */
int ft_plain_load(void);
int ft_custom_load(void);
int ft_enum_load(void);
int ft_basic_load(void);  /* basic.c: add_one, echo, raising */
int ft_tensor_load(void); /* tensor.c: containers with tensors */
int ft_schema_load(void); /* schema.c: a function for every type */

/* The creator of a class: the ABI gives it no argument that tells which. */
#define FT_CREATOR(name, cls) \
  static int name(TVMFFIObjectHandle *out) { return ft_object_new(&(cls), out); }

#endif /* FT_TABLES_H_ */
