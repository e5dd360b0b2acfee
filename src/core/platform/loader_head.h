/* loader_head.h - what a file is by its first bytes: for which system and machine, and whether it is a shared library.
 *
 * Loaders say little of a file that is none of theirs. This file reads bytes that it is given, and no others. Any
 * thread; raises nothing, allocates nothing. */
#ifndef FH_LOADER_HEAD_H_
#define FH_LOADER_HEAD_H_

#include <stddef.h>

/* How many of a file's first bytes suffice. Only a file for Windows has its head further behind than the first 64. */
enum { FH_LOADER_HEAD_BYTES = 4096 };

/* 1 with a reason, the rest of a sentence that begins with "it", if a file that begins with these n bytes cannot be a
 * shared library for this system and machine. 0 if it can be one, also if it is cut before that is known. An empty file
 * has no bytes. */
int fh_loader_head_refuse(const unsigned char *bytes, size_t n, char *reason, size_t n_reason);

#endif /* FH_LOADER_HEAD_H_ */
