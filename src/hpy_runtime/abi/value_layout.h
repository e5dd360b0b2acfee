/* The layout of small values, so that they are read without a call: measured at import. */
#ifndef FFI_HPY_RUNTIME_VALUE_LAYOUT_H_
#define FFI_HPY_RUNTIME_VALUE_LAYOUT_H_

#include "hpy_runtime/api/values.h"

/* Constant after fhpy_value_layout_measure(). Unknown members are 0. */
extern FhpyValues fhpy_value_layout;

/* Measures values made for the purpose. Called after fhpy_layout_measure(). Returns 0, or -1 with an exception
 * raised. */
int fhpy_value_layout_measure(void);

#endif /* FFI_HPY_RUNTIME_VALUE_LAYOUT_H_ */
