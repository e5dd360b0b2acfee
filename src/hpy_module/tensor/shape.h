/* Conversion of the core's ffi.Shape to the package's Shape, a tuple. */
#ifndef FFI_HPY_TENSOR_SHAPE_H_
#define FFI_HPY_TENSOR_SHAPE_H_

/* Registers the conversion (convert/result.h). */
void fb_shape_init(void);

#endif /* FFI_HPY_TENSOR_SHAPE_H_ */
