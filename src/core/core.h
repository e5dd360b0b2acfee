/* core.h - bringing the library up. */
#ifndef FH_CORE_H_
#define FH_CORE_H_

/* Registers the static types and runs each part's init, once; every later call returns at once. The library's
 * constructor calls it. What finds no memory at that early point is missing afterwards, with a MemoryError pending. */
void fh_core_init(void);

#endif /* FH_CORE_H_ */
