"""The C library's symbols that the wheel's libraries use: symbols of every glibc since 2.17, and of musl.

The libraries are linked to stand-ins with only these symbols, so that one file works with both C libraries. musl
provides the libraries under glibc's names and ignores versions, but it has no ld-linux-*.so, where glibc defines
__tls_get_addr. So that symbol is listed under libc.so.6, which loads the loader. Symbols that only one of the two has
are weak, or are looked up at run time.
"""

from __future__ import annotations

from .stub_library import StubLibrary

_LIBC = """
    __cxa_atexit __errno_location __isoc99_sscanf __register_atfork __tls_get_addr __xstat abort bcmp calloc
    clock_gettime close dl_iterate_phdr fflush fprintf fputs free getenv madvise malloc memchr memcmp memcpy memmove
    memset mmap mprotect munmap nanosleep open pread pthread_attr_destroy pthread_self puts qsort realloc sched_yield
    snprintf stderr stdout strchr strcmp strcspn strlen strncmp strrchr strstr strtod strtol strtoll syscall sysconf
    vsnprintf
"""
_OTHERS = {
    "libpthread.so.0": """
        pthread_atfork pthread_attr_getstack pthread_getattr_np pthread_key_create pthread_setspecific
    """,
    "libdl.so.2": "dladdr dlclose dlerror dlopen dlsym",
}
# Symbols that are newer than glibc on x86-64, the oldest machine; on other machines they are as old as its glibc.
_YOUNGER = {
    "__isoc99_sscanf": "GLIBC_2.7",
    "__register_atfork": "GLIBC_2.3.2",
    "__tls_get_addr": "GLIBC_2.3",
    "clock_gettime": "GLIBC_2.17",
    "memcpy": "GLIBC_2.14",
}
_OLDEST = "GLIBC_2.2.5"


def c_library(glibc: str) -> tuple[StubLibrary, ...]:
    """Return the stand-ins for a machine whose first glibc version is `glibc`."""
    libraries = {"libc.so.6": _LIBC, **_OTHERS}
    return tuple(StubLibrary(soname, _by_version(names.split(), glibc)) for soname, names in libraries.items())


def _by_version(names: list[str], glibc: str) -> dict[str, tuple[str, ...]]:
    versions = {name: _YOUNGER.get(name, _OLDEST) if glibc == _OLDEST else glibc for name in names}
    in_order = sorted(set(versions.values()), key=lambda version: [int(part) for part in version[6:].split(".")])
    return {each: tuple(name for name in names if versions[name] == each) for each in in_order}
