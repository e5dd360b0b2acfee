/* library_file.c - checks whether a file can be a shared library, before the file is mapped.
 *
 * A reader of ELF that trusts no number: each offset is compared with the size of the file before a read, and the
 * addresses that the loader follows (is_address) with the segments. The checks find damage that would end the process
 * within the loader, and common mistakes, such as a text file or a library of another machine, which the loader reports
 * less clearly (loader_head.h). The checks go from the outside to the inside: the file, its first header, its segments,
 * the dynamic section. A function named refuse_ returns 1 and writes the reason, or returns 0. */
#define _GNU_SOURCE /* O_CLOEXEC, pread */
#include "library_file.h"

#if defined(__linux__)
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/platform/loader_head.h"

/* Libraries have about ten program headers. The limit makes their array part of a struct on the stack. */
enum { MAX_HEADERS = 128 };

typedef ElfW(Ehdr) file_header;
typedef ElfW(Phdr) part_header;
typedef ElfW(Dyn) dynamic_entry;

/* A file during the check. refuse_head fills in `head` and `parts`. */
typedef struct {
  int fd;
  uint64_t n_bytes;
  file_header head;
  part_header parts[MAX_HEADERS]; /* the first head.e_phnum */
  char *reason;
} file;

static bool refuse_file(const file *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool refuse_file(const file *f, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(f->reason, FH_LIBRARY_FILE_REASON, format, args);
  va_end(args);
  return true;
}

/* Whether the file has n bytes at an offset. */
static bool has(const file *f, uint64_t offset, uint64_t n) { return offset <= f->n_bytes && n <= f->n_bytes - offset; }

static bool refuse_short(const file *f, const char *what, uint64_t offset, uint64_t n) {
  return refuse_file(f, "is truncated or damaged: its %s should be the %llu bytes from %llu on, and the file has %llu",
                     what, (unsigned long long)n, (unsigned long long)offset, (unsigned long long)f->n_bytes);
}

/* Whether all n bytes could be read. A file that becomes shorter during the check counts as truncated. */
static bool read_at(const file *f, void *to, uint64_t offset, size_t n) {
  return has(f, offset, n) && pread(f->fd, to, n, (off_t)offset) == (ssize_t)n;
}

/* ---- The first header ---- */

static const char *name_of_kind(mode_t mode) {
  return S_ISDIR(mode)    ? "a directory"
         : S_ISFIFO(mode) ? "a pipe"
         : S_ISSOCK(mode) ? "a socket"
         : S_ISCHR(mode)  ? "a device"
                          : "no regular file";
}

static bool refuse_head(file *f) {
  unsigned char start[FH_LOADER_HEAD_BYTES];
  const file_header *head = &f->head;
  ssize_t n = pread(f->fd, start, sizeof(start), 0);
  if (n < 0) return refuse_file(f, "cannot be read (error %d)", errno);
  if (fh_loader_head_refuse(start, (size_t)n, f->reason, FH_LIBRARY_FILE_REASON)) return true;
  if ((size_t)n < sizeof(f->head)) return refuse_short(f, "ELF header", 0, sizeof(f->head));
  memcpy(&f->head, start, sizeof(f->head));
  if (head->e_phentsize != sizeof(f->parts[0]) || head->e_phnum == 0 || head->e_phnum > MAX_HEADERS) {
    return refuse_file(f, "is damaged: expected 1 to %d program headers of %zu bytes but got %d of %d", MAX_HEADERS,
                       sizeof(f->parts[0]), (int)head->e_phnum, (int)head->e_phentsize);
  }
  /* No product overflows: each factor has 16 bits. */
  size_t n_parts = head->e_phnum * sizeof(f->parts[0]), n_sections = (size_t)head->e_shnum * head->e_shentsize;
  if (!read_at(f, f->parts, head->e_phoff, n_parts)) return refuse_short(f, "program headers", head->e_phoff, n_parts);
  /* The loader does not read section headers. Most files end with them, so they reveal that the end is missing. */
  if (!has(f, head->e_shoff, n_sections)) return refuse_short(f, "section headers", head->e_shoff, n_sections);
  return false;
}

/* ---- Segments ---- */

/* The segment that is mapped and has n bytes of the file at an address; NULL if none has. */
static const part_header *find_mapped(const file *f, uint64_t address, uint64_t n) {
  for (int i = 0; i < f->head.e_phnum; ++i) {
    const part_header *part = &f->parts[i];
    if (part->p_type != PT_LOAD || address < part->p_vaddr) continue;
    uint64_t before = address - part->p_vaddr;
    if (before <= part->p_filesz && n <= part->p_filesz - before) return part;
  }
  return NULL;
}

/* For a segment whose numbers contradict each other. */
static bool refuse_part(const file *f, const part_header *part) {
  return refuse_file(f, "is damaged: its segment at address %llu has %llu bytes in the file and %llu in memory",
                     (unsigned long long)part->p_vaddr, (unsigned long long)part->p_filesz,
                     (unsigned long long)part->p_memsz);
}

/* Every segment's bytes must be in the file. Mapped segments must be in order of address, must not overlap, and must
 * have room in memory for their bytes: the loader reserves the range from the first to the last and relies on that. */
static bool refuse_loaded(const file *f) {
  uint64_t end = 0; /* end of the segment before */
  for (int i = 0; i < f->head.e_phnum; ++i) {
    const part_header *part = &f->parts[i];
    if (!has(f, part->p_offset, part->p_filesz)) return refuse_short(f, "segment", part->p_offset, part->p_filesz);
    if (part->p_type != PT_LOAD) continue;
    if (part->p_vaddr < end || part->p_vaddr > INTPTR_MAX || part->p_memsz > INTPTR_MAX - part->p_vaddr ||
        part->p_memsz < part->p_filesz) {
      return refuse_part(f, part);
    }
    end = part->p_vaddr + part->p_memsz;
  }
  return false;
}

/* The other segments describe parts of the mapped segments: equal addresses must be equal places in the file. */
static bool refuse_described(const file *f) {
  for (int i = 0; i < f->head.e_phnum; ++i) {
    const part_header *part = &f->parts[i];
    if (part->p_type == PT_LOAD || part->p_vaddr == 0 || part->p_filesz == 0) continue;
    const part_header *mapped = find_mapped(f, part->p_vaddr, part->p_filesz);
    if (mapped == NULL || part->p_vaddr - mapped->p_vaddr != part->p_offset - mapped->p_offset) {
      return refuse_part(f, part);
    }
  }
  return false;
}

/* ---- The addresses in the dynamic section, which the loader follows ---- */

/* Whether the entry with that tag is an address that the loader follows while it relocates and looks up symbols. */
static bool is_address(int64_t tag) {
  switch (tag) {
  case DT_STRTAB:
  case DT_SYMTAB:
  case DT_HASH:
  case DT_GNU_HASH:
  case DT_RELA:
  case DT_REL:
  case DT_JMPREL:
  case DT_VERSYM:
  case DT_VERDEF:
  case DT_VERNEED: return true;
  default: return false;
  }
}

static bool refuse_dynamic(const file *f, const part_header *part) {
  dynamic_entry entry = {0};
  bool has_names = false, has_symbols = false;
  /* The section is an array that an entry DT_NULL ends; it is read entry by entry because its size may be wrong. */
  uint64_t n = part->p_filesz / sizeof(entry), i = 0;
  for (; i < n && read_at(f, &entry, part->p_offset + i * sizeof(entry), sizeof(entry)) && entry.d_tag != DT_NULL;
       ++i) {
    has_names |= entry.d_tag == DT_STRTAB;
    has_symbols |= entry.d_tag == DT_SYMTAB;
    if (!is_address(entry.d_tag) || find_mapped(f, entry.d_un.d_ptr, 1) != NULL) continue;
    return refuse_file(f, "is damaged: entry %lld of its dynamic section points out of the file, to %llu",
                       (long long)entry.d_tag, (unsigned long long)entry.d_un.d_ptr);
  }
  if (i == n || entry.d_tag != DT_NULL) return refuse_file(f, "is damaged: its dynamic section has no end");
  /* The loader follows both addresses without a check that they exist. */
  if (has_names && has_symbols) return false;
  return refuse_file(f, "is damaged: its dynamic section names no symbols");
}

static bool refuse_content(file *f) {
  if (refuse_head(f) || refuse_loaded(f) || refuse_described(f)) return true;
  for (int i = 0; i < f->head.e_phnum; ++i) {
    if (f->parts[i].p_type == PT_DYNAMIC) return refuse_dynamic(f, &f->parts[i]);
  }
  return refuse_file(f, "is not a shared library: it has no dynamic section");
}

bool fh_library_file_refuse(const char *path, char reason[FH_LIBRARY_FILE_REASON]) {
  struct stat about;
  file f = {.reason = reason};
  reason[0] = '\0';
  /* The loader searches for a name without a directory, in places that only it knows. */
  if (strchr(path, '/') == NULL || stat(path, &about) != 0) return false;
  if (!S_ISREG(about.st_mode))
    return refuse_file(&f, "is %s", name_of_kind(about.st_mode)); /* before opening it: opening a pipe would wait */
  f.n_bytes = (uint64_t)about.st_size;
  f.fd = open(path, O_RDONLY | O_CLOEXEC);
  if (f.fd < 0) return false; /* the loader fails, too, and reports why */
  bool is_refused = refuse_content(&f);
  close(f.fd);
  return is_refused;
}

#else
bool fh_library_file_refuse(const char *path, char reason[FH_LIBRARY_FILE_REASON]) {
  (void)path;
  reason[0] = '\0';
  return false;
}
#endif
