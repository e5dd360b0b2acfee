/* stat() for a library that is linked to the names of c_library.py.
 *
 * glibc before 2.33 has no such name: its headers' stat is code in each library, and calls __xstat with the version of
 * the struct. musl has __xstat as well, and looks at no version. */
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
