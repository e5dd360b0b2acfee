/* library_file.h - checks whether a file can be a shared library, before the file is mapped.
 *
 * The system's loader maps as much as a file's headers promise. The first access to a page after the end of a shorter
 * file, or to an address from a damaged header, ends the process. The core and the HPy runtime are both built with this
 * file, which needs only loader_head.h of the core. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { FH_LIBRARY_FILE_REASON = 200 };

/* 1 with a reason, the rest of a sentence that begins with "it", if the loader must not open the file. 0 if the check
 * found no problem, also for a file that cannot be opened, because the loader reports that, and for a name without a
 * directory, because the loader searches for it. Without ELF the function checks nothing: a bad file is an error of the
 * loader then, and fh_loader_open examines it. Raises nothing, allocates nothing. */
bool fh_library_file_refuse(const char *path, char reason[FH_LIBRARY_FILE_REASON]);
