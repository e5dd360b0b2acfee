/* module_virtual.h - modules of other libraries: calls through their virtual tables. */
#ifndef FH_MODULE_VIRTUAL_H_
#define FH_MODULE_VIRTUAL_H_

#include "module_operations.h"

extern const fh_module_operations fh_module_virtual;

#endif /* FH_MODULE_VIRTUAL_H_ */
