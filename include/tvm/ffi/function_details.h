/* function_details.h - the older name of function_detail.h. */
#ifndef TVM_FFI_FUNCTION_DETAILS_H_
#define TVM_FFI_FUNCTION_DETAILS_H_
#include <tvm/ffi/function_detail.h>
#endif /* TVM_FFI_FUNCTION_DETAILS_H_ */
