/* load.h - the registration of the whole library. */
#ifndef FT_LOAD_H_
#define FT_LOAD_H_

/* Registers everything: 1. 0 when somebody had registered `testing.*`; -1 with an error pending, then some of it may be
 * there. Called when the library is loaded, except in a build with FT_LOAD_BY_HAND. */
int ft_load(void);

#endif /* FT_LOAD_H_ */
