/* load.h - registers the whole library. */
#ifndef FT_LOAD_H_
#define FT_LOAD_H_

/* Registers everything and returns 1. Returns 0 if another library has registered `testing.*`; -1 with an error
 * pending, possibly after a partial registration. Called when the library is loaded, except in a build with
 * FT_LOAD_BY_HAND. */
int ft_load(void);

#endif /* FT_LOAD_H_ */
