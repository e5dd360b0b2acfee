/* library_file.c - files that claim to be shared libraries. */
#define _GNU_SOURCE /* memfd_create */
#include "core/module/library_file.h"
#include <link.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

static int fd;
static char path[40];

void fuzz_start(void) {
  fd = memfd_create("library", 0);
  fuzz_check(fd >= 0);
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
}

static void write_at(const void *bytes, size_t n, off_t offset) {
  fuzz_check(pwrite(fd, bytes, n, offset) == (ssize_t)n);
}

/* The first byte says whether the file begins as the ELF file of this machine that it would be hard to guess. */
void fuzz_one(const uint8_t *data, size_t n_bytes) {
  char reason[FH_LIBRARY_FILE_REASON];
  ElfW(Ehdr) head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64},
                     .e_type = ET_DYN,
                     .e_machine = EM_X86_64,
                     .e_phoff = sizeof head,
                     .e_phentsize = sizeof(ElfW(Phdr))};
  fuzz_check(ftruncate(fd, 0) == 0);
  off_t start = 0;
  if (n_bytes != 0 && (data[0] & 1) != 0) {
    head.e_phnum = data[0] >> 5;
    write_at(&head, sizeof head, 0);
    start = sizeof head;
  }
  if (n_bytes != 0) write_at(data + 1, n_bytes - 1, start);
  int is_refused = fh_library_file_refuse(path, reason);
  fuzz_check(is_refused == (reason[0] != '\0') && strlen(reason) < sizeof reason);
}
