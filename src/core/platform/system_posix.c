/* system_posix.c - implements system.h on Linux, macOS and other POSIX systems. */
#if !defined(_WIN32) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* MAP_ANONYMOUS, pthread_getattr_np, dladdr, dl_iterate_phdr, RTLD_DEFAULT, syscall */
#endif
#if defined(__APPLE__) && !defined(_DARWIN_C_SOURCE)
#define _DARWIN_C_SOURCE
#endif
#include "system.h"

#if !defined(_WIN32)
#include <dlfcn.h>
#include <sys/mman.h>
#include <time.h>

enum { PER_SECOND = 1000000000 };

uint64_t fh_clock_now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * PER_SECOND + (uint64_t)t.tv_nsec;
}

void fh_clock_sleep(uint64_t nanoseconds) {
  struct timespec t = {(time_t)(nanoseconds / PER_SECOND), (long)(nanoseconds % PER_SECOND)};
  (void)nanosleep(&t, NULL);
}
/* --- pages ------------------------------------------------------------------------------------------------------- */

/* The system rounds lengths up to pages. */
void *fh_shield_new(size_t n_bytes) {
  void *pages = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages != MAP_FAILED ? pages : NULL;
}

void fh_shield_free(void *pages, size_t n_bytes) { (void)munmap(pages, n_bytes); }
void fh_shield_no_write(void *pages, size_t n_bytes) { (void)mprotect(pages, n_bytes, PROT_READ); }
void fh_shield_no_access(void *pages, size_t n_bytes) { (void)mprotect(pages, n_bytes, PROT_NONE); }
/* --- threads ----------------------------------------------------------------------------------------------------- */

/* The stack of a thread, from the thread libraries of Linux and macOS. */

#if defined(__linux__)
bool fh_thread_stack(uintptr_t *end, size_t *n_bytes) {
  pthread_attr_t attributes;
  void *lowest;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return false;
  bool is_known = pthread_attr_getstack(&attributes, &lowest, n_bytes) == 0;
  if (is_known) *end = (uintptr_t)lowest;
  pthread_attr_destroy(&attributes);
  return is_known;
}

#elif defined(__APPLE__)
bool fh_thread_stack(uintptr_t *end, size_t *n_bytes) {
  *n_bytes = pthread_get_stacksize_np(pthread_self());
  *end = (uintptr_t)pthread_get_stackaddr_np(pthread_self()) - *n_bytes; /* macOS returns the highest address */
  return true;
}
#endif

/* --- the loader of libraries ------------------------------------------------------------------------------------- */

/* Messages of glibc and musl begin with the library's path and ": ". */
static const char *without_path(const char *text, const char *path) {
  size_t n = strlen(path);
  return strncmp(text, path, n) == 0 && strncmp(text + n, ": ", 2) == 0 ? text + n + 2 : text;
}

#if defined(__APPLE__)
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loader_head.h"

/* Whether a file that was not opened is of another system or machine. The loader searches for a name without a
 * directory in places that only it knows. */
static bool refuse(const char *path, char *reason, size_t n_reason) {
  unsigned char bytes[FH_LOADER_HEAD_BYTES];
  struct stat about;
  /* Before opening it: opening a pipe would wait. */
  if (strchr(path, '/') == NULL || stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return false;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t n = read(fd, bytes, sizeof(bytes));
  close(fd);
  fh_base_copy(reason, n_reason, "it ");
  return n >= 0 && n_reason > 3 && fh_loader_head_refuse(bytes, (size_t)n, reason + 3, n_reason - 3);
}
#else
/* Callers have checked the file before, because on Linux a bad file can end the process within the loader
 * (library_file.h). */
static bool refuse(FH_MAYBE_UNUSED const char *path, FH_MAYBE_UNUSED char *reason, FH_MAYBE_UNUSED size_t n_reason) {
  return false;
}
#endif

void *fh_loader_open(const char *path, fh_loader_mode mode, char *reason, size_t n_reason) {
  int scope = mode == FH_LOADER_GLOBAL ? RTLD_GLOBAL : RTLD_LOCAL;
  void *library = dlopen(path, (mode == FH_LOADER_LAZY ? RTLD_LAZY : RTLD_NOW) | scope);
  const char *text = library == NULL ? dlerror() : "";
  if (n_reason == 0 || (library == NULL && refuse(path, reason, n_reason))) return library;
  fh_base_copy(reason, n_reason, text == NULL ? "no reason given" : without_path(text, path));
  return library;
}

/* The words around the name in messages of glibc, macOS (where each name begins with an additional underscore) and
 * musl. */
const char *fh_loader_lacking(const char *reason, size_t *length) {
  static const char glibc[] = "undefined symbol: ", macos[] = "namespace '_", musl[] = ": symbol not found";
  const char *at, *name = NULL;
  *length = 0;
  if ((at = strstr(reason, glibc)) != NULL) {
    name = at + sizeof(glibc) - 1;
    *length = strcspn(name, " ,\t\n");
  } else if ((at = strstr(reason, macos)) != NULL) {
    name = at + sizeof(macos) - 1;
    *length = strcspn(name, "'");
  } else if ((at = strstr(reason, musl)) != NULL) {
    for (name = at; name != reason && name[-1] != ' ';) --name;
    *length = (size_t)(at - name);
  }
  return name;
}

void *fh_loader_find(void *library, const char *name) { return dlsym(library, name); }
void *fh_loader_find_anywhere(const char *name) { return dlsym(RTLD_DEFAULT, name); }

bool fh_loader_place_of(const void *address, fh_loader_place *place) {
  Dl_info info;
  if (dladdr((void *)(uintptr_t)address, &info) == 0) return false;
  place->base = info.dli_fbase;
  place->name = info.dli_sname;
  place->start = info.dli_saddr;
  fh_base_copy(place->file, sizeof(place->file), info.dli_fname);
  return true;
}

/* With RTLD_NOLOAD this only changes the flags of a loaded library. */
static void open_again(const void *address, int flags) {
  Dl_info info;
  if (dladdr((void *)(uintptr_t)address, &info) == 0 || info.dli_fname == NULL) return;
  void *library = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | flags);
  if (library != NULL) dlclose(library);
}

void fh_loader_show(const void *address) { open_again(address, RTLD_GLOBAL); }

#if defined(__linux__)
#include <link.h>

/* The linker's -z nodelete has this effect, without a call. */
void fh_loader_pin(const void *address) { FH_UNUSED(address); }

/* Argument and result of find_segment. */
typedef struct {
  uintptr_t address;
  size_t room;
} segment_query;

/* Searches for the address in the segments of one library, or of the program. 1 ends the iteration. */
static int find_segment(struct dl_phdr_info *info, size_t n_bytes, void *state) {
  segment_query *at = (segment_query *)state;
  FH_UNUSED(n_bytes);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    uintptr_t begin = info->dlpi_addr + part->p_vaddr;
    /* An address before `begin` wraps around and is too large. */
    if (part->p_type != PT_LOAD || at->address - begin >= part->p_memsz) continue;
    at->room = part->p_memsz - (at->address - begin);
    return 1;
  }
  return 0;
}

size_t fh_loader_room(const void *address) {
  segment_query at = {(uintptr_t)address, SIZE_MAX};
  (void)dl_iterate_phdr(find_segment, &at);
  return at.room;
}
#else
void fh_loader_pin(const void *address) { open_again(address, RTLD_NODELETE); }

size_t fh_loader_room(FH_MAYBE_UNUSED const void *address) { return SIZE_MAX; }
#endif

/* Looked up at run time, because musl has no such function. */
FH_NOINLINE int fh_loader_frames(void **addresses, int n) {
  int (*backtrace)(void **, int);
  void *found = dlsym(RTLD_DEFAULT, "backtrace");
  if (found == NULL) return 0;
  memcpy(&backtrace, &found, sizeof(found)); /* ISO C has no cast from an object pointer to a function's */
  int n_found = backtrace(addresses, n);
  if (n_found <= 0) return 0;
  memmove(addresses, addresses + 1, (size_t)(n_found - 1) * sizeof(*addresses)); /* this function's own frame */
  return n_found - 1;
}
/* --- parking ----------------------------------------------------------------------------------------------------- */

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/* PRIVATE: other processes do not share the words, so that the kernel finds them faster. */
void fh_park_sleep(uint32_t *word, uint32_t seen) {
  (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

void fh_park_wake_one(uint32_t *word) { (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0); }
void fh_park_wake_all(uint32_t *word) { (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0); }
#endif
#endif
