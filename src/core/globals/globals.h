/* globals.h - registering the ffi.* functions. */
#ifndef FH_GLOBALS_H_
#define FH_GLOBALS_H_

void fh_globals_init(void);

#endif /* FH_GLOBALS_H_ */
