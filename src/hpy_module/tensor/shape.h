/* Shapes: the core's ffi.Shape as the package's Shape, a tuple. */
#ifndef FFI_HPY_TENSOR_SHAPE_H_
#define FFI_HPY_TENSOR_SHAPE_H_

/* Enters how a Shape comes to Python (convert/result.h). */
void fb_shape_init(void);

#endif /* FFI_HPY_TENSOR_SHAPE_H_ */
