/* loader_head.h - recognizes the system and the machine of a file by its first bytes, and whether the file is a shared
 * library.
 *
 * The error messages of loaders explain little about a file of another format. These functions read only the bytes
 * passed to them. Any thread; raises nothing, allocates nothing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The number of first bytes that suffice. Only in files for Windows the header lies beyond the first 64. */
enum { FH_LOADER_HEAD_BYTES = 4096 };

/* 1 with a reason, the rest of a sentence that begins with "it", if a file that begins with these n bytes cannot be a
 * shared library for this system and machine. 0 if it can be one, or if the bytes end too early to decide. An empty
 * file has no bytes. */
bool fh_loader_head_refuse(const unsigned char *bytes, size_t n, char *reason, size_t n_reason);
