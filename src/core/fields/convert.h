/* convert.h - __ffi_convert__ of the built-in types: what a binding calls to make a value one of a type. */
#ifndef FH_CONVERT_H_
#define FH_CONVERT_H_

void fh_convert_init(void);

#endif /* FH_CONVERT_H_ */
