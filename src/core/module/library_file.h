/* library_file.h - whether a file can be a shared library at all, asked before it is mapped.
 *
 * The system's loader maps what a file's headers promise. Where the file is shorter than that, the first use of a page
 * behind its end ends the process, and an address in a damaged header does, too. This file stands alone: the core and
 * the HPy runtime are both built with it. */
#ifndef FH_LIBRARY_FILE_H_
#define FH_LIBRARY_FILE_H_

#include <stddef.h>

enum { FH_LIBRARY_FILE_REASON = 200 };

/* 1 with a reason, the rest of a sentence that begins with "it", if the loader must not have the file. 0 if nothing was
 * found: also for a file that cannot be opened, because the loader says why, and for a name without a directory,
 * because the loader searches for it. On systems without ELF nothing is looked at: there a bad file is an error of the
 * loader, and fh_loader_open looks what it is. Raises nothing, allocates nothing. */
int fh_library_file_refuse(const char *path, char reason[FH_LIBRARY_FILE_REASON]);

#endif /* FH_LIBRARY_FILE_H_ */
