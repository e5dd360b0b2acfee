/* convert.h - __ffi_convert__ of the built-in types: a binding calls it to convert a value to a type. */
#ifndef FH_CONVERT_H_
#define FH_CONVERT_H_

void fh_convert_init(void);

#endif /* FH_CONVERT_H_ */
