/* module_operations.h - the operations on modules of one implementation. */
#ifndef FH_MODULE_OPERATIONS_H_
#define FH_MODULE_OPERATIONS_H_

#include "core/object/any.h"

/* As the functions of module.h, for one module and without its imports. */
typedef struct {
  int (*kind)(TVMFFIObject *module, TVMFFIAny *out);
  int (*property_mask)(TVMFFIObject *module, int64_t *out);
  int (*function)(TVMFFIObject *module, const TVMFFIAny *name, TVMFFIAny *out);
  int (*implements)(TVMFFIObject *module, const TVMFFIAny *name, int *out);
  int (*doc)(TVMFFIObject *module, const TVMFFIAny *name, TVMFFIAny *out);
  int (*metadata)(TVMFFIObject *module, const TVMFFIAny *name, TVMFFIAny *out);
  int (*write)(TVMFFIObject *module, const TVMFFIAny *file, const TVMFFIAny *format);
  int (*write_formats)(TVMFFIObject *module, TVMFFIAny *out);
  int (*source)(TVMFFIObject *module, const TVMFFIAny *format, TVMFFIAny *out);
  int (*import)(TVMFFIObject *module, TVMFFIObject *other);
  int (*clear_imports)(TVMFFIObject *module);
} fh_module_operations;

#endif /* FH_MODULE_OPERATIONS_H_ */
