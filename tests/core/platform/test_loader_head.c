/* test_loader_head.c - recognizing a file by its first bytes, for the files of every system. */
#include "core/platform/loader_head.h"

#include "support/harness.h"

#if defined(_WIN32)
#define OWN "a DLL"
#elif defined(__APPLE__)
#define OWN "a Mach-O file"
#else
#define OWN "an ELF file"
#endif

enum { LITTLE = 1, BIG = 2 };

static void put(unsigned char *at, uint32_t number, int n, int order) {
  for (int i = 0; i < n; ++i) at[order == BIG ? n - 1 - i : i] = (unsigned char)(number >> (8 * i));
}

/* Returns whether the bytes are refused; they are in a block that ends after the last of them. */
static int is_refused(const void *bytes, size_t n, char reason[200]) {
  unsigned char *copy = malloc(n != 0 ? n : 1);
  memcpy(copy, bytes, n);
  reason[0] = '\0';
  int result = fh_loader_head_refuse(copy, n, reason, 200);
  free(copy);
  expect_int(result, reason[0] != '\0');
  return result;
}

/* Expects that the bytes are refused with this reason, and that no byte after them is read, however few they are. */
static void expect_refused(const void *bytes, size_t n, const char *wanted) {
  char reason[200];
  for (size_t i = 0; i < n; ++i) (void)is_refused(bytes, i, reason);
  expect(is_refused(bytes, n, reason));
  if (strcmp(reason, wanted) != 0) test_fail(__FILE__, __LINE__, "got `%s`, expected `%s`", reason, wanted);
}

#define expect_text_refused(text, wanted) expect_refused(text, sizeof(text) - 1, wanted)

typedef struct {
  unsigned char bytes[200];
} head;

static head elf_head(int width, int order, uint32_t type, uint32_t machine) {
  head made = {{0x7f, 'E', 'L', 'F', (unsigned char)width, (unsigned char)order, 1}};
  put(made.bytes + 16, type, 2, order);
  put(made.bytes + 18, machine, 2, order);
  return made;
}

static head pe_head(uint32_t at, uint32_t machine, uint32_t flags) {
  head made = {{'M', 'Z'}};
  put(made.bytes + 60, at, 4, LITTLE);
  if (at > sizeof(made.bytes) - 24) return made;
  memcpy(made.bytes + at, "PE", 2);
  put(made.bytes + at + 4, machine, 2, LITTLE);
  put(made.bytes + at + 22, flags, 2, LITTLE);
  return made;
}

#if defined(__linux__) && defined(__x86_64__)
static void expect_elf(int width, int order, uint32_t type, uint32_t machine, const char *wanted) {
  head made = elf_head(width, order, type, machine);
  expect_refused(made.bytes, 64, wanted);
}

TEST(an_elf_library_of_another_machine_is_refused_with_the_names_of_both) {
  static const struct {
    uint32_t machine;
    const char *name;
  } machines[] = {{183, "aarch64"}, {243, "riscv"}, {21, "ppc64"}, {258, "loongarch"}, {190, "CUDA"}};
  char wanted[200];
  for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); ++i) {
    snprintf(wanted, sizeof(wanted), "is not for this machine: it is a library for %s, and this process is x86_64",
             machines[i].name);
    expect_elf(2, LITTLE, 3, machines[i].machine, wanted);
  }
  expect_elf(2, LITTLE, 3, 4711,
             "is not for this machine: it is a library for machine 4711, and this process is x86_64");
  expect_elf(2, LITTLE, 1, 183,
             "is not for this machine: it is an object file for aarch64, and this process is x86_64");
}

TEST(an_elf_library_of_another_layout_is_refused_with_bits_and_byte_order) {
  expect_elf(2, BIG, 3, 22,
             "is not for this machine: it is a library for s390x (64-bit, big-endian), and this process is x86_64 "
             "(64-bit, little-endian)");
  expect_elf(1, LITTLE, 3, 3,
             "is not for this machine: it is a library for x86 (32-bit, little-endian), and this process is x86_64 "
             "(64-bit, little-endian)");
  expect_elf(2, BIG, 3, 62,
             "is not for this machine: it is a library for x86_64 (64-bit, big-endian), and this process is x86_64 "
             "(64-bit, little-endian)");
  expect_elf(0, LITTLE, 3, 62, "is damaged: expected 1 or 2 as ELF class and as byte order but got 0 and 1");
  expect_elf(2, 3, 3, 62, "is damaged: expected 1 or 2 as ELF class and as byte order but got 2 and 3");
}

TEST(an_elf_file_that_is_not_a_library_is_refused_with_its_kind) {
  expect_elf(2, LITTLE, 1, 62, "is an object file, not a shared library: link it with -shared");
  expect_elf(2, LITTLE, 2, 62, "is a program, not a shared library");
  expect_elf(2, LITTLE, 4, 62, "is a memory dump, not a shared library");
  expect_elf(2, LITTLE, 99, 62, "is not a shared library: expected ELF type 3 but got 99");
}
#endif

#if !defined(_WIN32)
TEST(a_file_for_windows_is_refused_with_its_kind_and_machine) {
  head made = pe_head(64, 0x8664, 0x2022);
  expect_refused(made.bytes, sizeof(made.bytes), "is not " OWN ", but a library for Windows (x86_64)");
  made = pe_head(128, 0xaa64, 0x22);
  expect_refused(made.bytes, sizeof(made.bytes), "is not " OWN ", but a program for Windows (arm64)");
  expect_refused(made.bytes, 128 + 23, "is not " OWN ", but a file for DOS or Windows");
  made = pe_head(sizeof(made.bytes) - 24, 0x14c, 0x2000);
  expect_refused(made.bytes, sizeof(made.bytes), "is not " OWN ", but a library for Windows (x86)");
  made = pe_head(UINT32_MAX, 0, 0);
  expect_refused(made.bytes, sizeof(made.bytes), "is not " OWN ", but a file for DOS or Windows");
}
#endif

#if !defined(__APPLE__)
static head mach_o_head(uint32_t magic, int order, uint32_t machine, uint32_t type) {
  head made = {{0}};
  put(made.bytes, magic, 4, order);
  put(made.bytes + 4, machine, 4, order);
  put(made.bytes + 12, type, 4, order);
  return made;
}

/* Makes a file for n machines whose entries have `n_entry` bytes. */
static head fat_head(uint32_t magic, size_t n_entry, uint32_t n, const uint32_t *numbers) {
  head made = {{0}};
  put(made.bytes, magic, 4, BIG);
  put(made.bytes + 4, n, 4, BIG);
  for (uint32_t i = 0; i < n && 12 + i * n_entry <= sizeof(made.bytes); ++i) {
    put(made.bytes + 8 + i * n_entry, numbers[i], 4, BIG);
  }
  return made;
}

TEST(a_file_for_macos_is_refused_with_its_kind_and_machines) {
  static const uint32_t two[] = {0x01000007, 0x0100000c};
  head made = mach_o_head(0xfeedfacf, LITTLE, 0x0100000c, 6);
  expect_refused(made.bytes, 32, "is not " OWN ", but a library for macOS (arm64)");
  expect_refused(made.bytes, 15, "is not " OWN ", but a file for macOS");
  made = mach_o_head(0xfeedfacf, LITTLE, 0x01000007, 8);
  expect_refused(made.bytes, 32, "is not " OWN ", but a library for macOS (x86_64)");
  made = mach_o_head(0xfeedface, BIG, 18, 2);
  expect_refused(made.bytes, 28, "is not " OWN ", but a program for macOS (ppc)");
  made = mach_o_head(0xfeedfacf, BIG, 0x01000012, 1);
  expect_refused(made.bytes, 32, "is not " OWN ", but an object file for macOS (ppc64)");
  made = mach_o_head(0xfeedface, LITTLE, 7, 3);
  expect_refused(made.bytes, 28, "is not " OWN ", but a file for macOS (x86)");
  made = fat_head(0xcafebabe, 20, 2, two);
  expect_refused(made.bytes, 48, "is not " OWN ", but a universal file for macOS (x86_64, arm64)");
  expect_refused(made.bytes, 11, "is not " OWN ", but a universal file for macOS");
  made = fat_head(0xcafebabf, 32, 2, two);
  expect_refused(made.bytes, 72, "is not " OWN ", but a universal file for macOS (x86_64, arm64)");
}

TEST(a_file_for_more_machines_than_a_reason_has_room_for_is_refused) {
  uint32_t many[44];
  for (uint32_t i = 0; i < 44; ++i) many[i] = UINT32_MAX - i;
  unsigned char bytes[8 + 44 * 20];
  char reason[200];
  memset(bytes, 0xff, sizeof(bytes));
  head made = fat_head(0xcafebabe, 20, 44, many);
  memcpy(bytes, made.bytes, 8);
  expect(is_refused(bytes, sizeof(bytes), reason));
  expect(strstr(reason, "a universal file for macOS (machine 4294967295, machine") != NULL);
}
#endif

#if !defined(__linux__)
TEST(an_elf_file_is_refused_with_its_kind_and_machine) {
  head made = elf_head(2, LITTLE, 3, 183);
  expect_refused(made.bytes, 64, "is not " OWN ", but a library for Linux (aarch64)");
  made = elf_head(2, BIG, 1, 22);
  expect_refused(made.bytes, 64, "is not " OWN ", but an object file for Linux (s390x)");
}
#endif

TEST(a_head_that_is_cut_before_its_machine_is_not_refused) {
  char reason[200];
  head made = elf_head(2, LITTLE, 3, 62);
#if defined(__linux__)
  for (size_t n = 4; n < 20; ++n) expect(!is_refused(made.bytes, n, reason));
#elif defined(_WIN32)
  made = pe_head(128, 0x14c, 0x2022);
  for (size_t n = 2; n < 128 + 24; ++n) expect(n < 3 || !is_refused(made.bytes, n, reason));
  expect(is_refused(made.bytes, 128 + 24, reason));
#endif
  (void)made;
  (void)reason;
}

TEST(a_file_that_is_not_a_library_of_any_system_is_refused_with_its_format) {
  expect_refused("", 0, "is empty");
#if defined(_WIN32)
  expect_text_refused("!<arch>\n/       ", "is not " OWN ", but a static archive or an import library");
#else
  expect_text_refused("!<arch>\n/       ", "is not " OWN ", but a static archive: link it into a shared library");
#endif
  expect_text_refused("!<thin>\n/       ", "is not " OWN ", but a static archive without its object files");
  expect_text_refused("\0asm\1\0\0\0", "is not " OWN ", but WebAssembly");
  expect_text_refused("BC\xc0\xde\x35\x14", "is not " OWN ", but LLVM bitcode");
  expect_text_refused("\xde\xc0\x17\x0b\0\0\0\0", "is not " OWN ", but LLVM bitcode");
  expect_text_refused("\x50\xed\x55\xba\1\0\x10\0", "is not " OWN ", but a fat binary of CUDA");
  expect_text_refused("\xca\xfe\xba\xbe\0\0\0\x2d", "is not " OWN ", but a Java class"); /* 45: the first version of
                                                                                         * Java */
  expect_text_refused("\xca\xfe\xba\xbe\xff\xff\0\x41", "is not " OWN ", but a Java class");
  expect_text_refused("PK\3\4\x14\0", "is not " OWN ", but a zip archive");
  expect_text_refused("\x1f\x8b\x08\0", "is not " OWN ", but a gzip archive");
  expect_text_refused("#!/bin/sh\n", "is not " OWN ", but a script");
  expect_text_refused("version https://git-lfs.github.com/spec/v1\noid ",
                      "is not " OWN ", but a pointer of Git LFS to a file that was not fetched");
  expect_text_refused("\1\2\xab\0\0", "is not " OWN ": it begins with the bytes 01 02 ab 00");
  expect_text_refused("\1", "is not " OWN ": it begins with the bytes 01");
}

TEST(text_is_told_from_other_files_by_its_first_line) {
#if defined(__linux__)
#define TEXT "text: is it a linker script?"
#else
#define TEXT "text"
#endif
  expect_text_refused("GROUP ( libm.so.6 )\n", "is not " OWN ", but " TEXT);
  expect_text_refused("MZ is not always a program\n", "is not " OWN ", but " TEXT);
}
