/* stat() for a library that is linked to the names of c_library.py.
 *
 * glibc before 2.33 does not export stat: its headers define stat in each library, and that calls __xstat with the
 * version of the struct. musl also has __xstat, and ignores the version. */
#include <sys/stat.h>

#if defined(__x86_64__)
enum { VERSION_OF_STRUCT = 1 };
#else
enum { VERSION_OF_STRUCT = 0 };
#endif

extern int __xstat(int version, const char *path, struct stat *result);

__attribute__((visibility("hidden"))) int stat(const char *restrict path, struct stat *restrict result) {
  return __xstat(VERSION_OF_STRUCT, path, result);
}
