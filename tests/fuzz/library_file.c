/* library_file.c - files that claim to be shared libraries. */
#define _GNU_SOURCE /* memfd_create */
#include "core/module/library_file.h"
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/platform/loader_head.h"

#include "fuzz.h"

static int fd;
static char path[40];

void fuzz_start(void) {
  fd = memfd_create("library", 0);
  fuzz_check(fd >= 0);
  snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
}

static void write_at(const void *bytes, size_t n, off_t offset) {
  fuzz_check(pwrite(fd, bytes, n, offset) == (ssize_t)n);
}

/* Checks the head alone, in a block that ends with it, and with too little room for most reasons. */
static void refuse_head(const uint8_t *data, size_t n_bytes) {
  char reason[40] = "";
  uint8_t *copy = malloc(n_bytes + 1);
  fuzz_check(copy != NULL);
  memcpy(copy + 1, data, n_bytes);
  int is_refused = fh_loader_head_refuse(copy + 1, n_bytes, reason, sizeof(reason));
  free(copy);
  fuzz_check(is_refused == (reason[0] != '\0') && strlen(reason) < sizeof(reason));
}

/* The first byte decides whether the file begins like an ELF file of this machine, which is hard to guess. */
void fuzz_one(const uint8_t *data, size_t n_bytes) {
  char reason[FH_LIBRARY_FILE_REASON];
  ElfW(Ehdr) head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
                     .e_type = ET_DYN,
                     .e_machine = EM_X86_64,
                     .e_phoff = sizeof(head),
                     .e_phentsize = sizeof(ElfW(Phdr))};
  fuzz_check(ftruncate(fd, 0) == 0);
  off_t start = 0;
  if (n_bytes != 0 && (data[0] & 1) != 0) {
    head.e_phnum = data[0] >> 5;
    write_at(&head, sizeof(head), 0);
    start = sizeof(head);
  }
  if (n_bytes != 0) write_at(data + 1, n_bytes - 1, start);
  if (n_bytes != 0) refuse_head(data + 1, n_bytes - 1);
  int is_refused = fh_library_file_refuse(path, reason);
  fuzz_check(is_refused == (reason[0] != '\0') && strlen(reason) < sizeof(reason));
}
