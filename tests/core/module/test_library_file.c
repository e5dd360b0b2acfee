/* test_library_file.c - files that cannot be shared libraries are detected before they are mapped. */
#include "core/module/library_file.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/calls.h"

#if defined(__linux__)
#include <link.h>

/* The smallest file that the check accepts: headers, and a dynamic section that refers to them. */
typedef struct {
  ElfW(Ehdr) head;
  ElfW(Phdr) parts[2];
  ElfW(Dyn) dynamic[3];
  ElfW(Shdr) sections[1];
} image;

static image whole_image(void) {
  image made;
  memset(&made, 0, sizeof(made));
  memcpy(made.head.e_ident, ELFMAG, SELFMAG);
  made.head.e_ident[EI_CLASS] = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
  made.head.e_ident[EI_DATA] = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? ELFDATA2MSB : ELFDATA2LSB;
#if defined(__x86_64__)
  made.head.e_machine = EM_X86_64;
#elif defined(__aarch64__)
  made.head.e_machine = EM_AARCH64;
#elif defined(__riscv)
  made.head.e_machine = EM_RISCV;
#elif defined(__s390x__)
  made.head.e_machine = EM_S390;
#endif
  made.head.e_type = ET_DYN;
  made.head.e_phoff = offsetof(image, parts);
  made.head.e_phnum = 2;
  made.head.e_phentsize = sizeof(made.parts[0]);
  made.head.e_shoff = offsetof(image, sections);
  made.head.e_shnum = 1;
  made.head.e_shentsize = sizeof(made.sections[0]);
  made.parts[0].p_type = PT_LOAD;
  made.parts[0].p_filesz = made.parts[0].p_memsz = offsetof(image, sections);
  made.parts[1].p_type = PT_DYNAMIC;
  made.parts[1].p_offset = made.parts[1].p_vaddr = offsetof(image, dynamic);
  made.parts[1].p_filesz = made.parts[1].p_memsz = sizeof(made.dynamic);
  made.dynamic[0].d_tag = DT_STRTAB;
  made.dynamic[1].d_tag = DT_SYMTAB;
  return made;
}

static char made_folder[40]; /* of the current test */

static const char *folder(void) {
  if (made_folder[0] == '\0') {
    strcpy(made_folder, "/tmp/fh_library_file_XXXXXX");
    expect(mkdtemp(made_folder) != NULL);
  }
  return made_folder;
}

static char *path_of(const char *name) {
  static char path[100];
  snprintf(path, sizeof(path), "%s/%s", folder(), name);
  return path;
}

static void clean_up(void) {
  unlink(path_of("lib.so"));
  unlink(path_of("link.so"));
  unlink(path_of("pipe.so"));
  rmdir(made_folder);
  made_folder[0] = '\0';
}

static char *write_file(const void *content, size_t n_bytes) {
  char *path = path_of("lib.so");
  FILE *file = fopen(path, "wb");
  expect(file != NULL && fwrite(content, 1, n_bytes, file) == n_bytes && fclose(file) == 0);
  return path;
}

static void expect_refused_file(const char *path, const char *part) {
  char reason[FH_LIBRARY_FILE_REASON];
  expect(fh_library_file_refuse(path, reason));
  if (strstr(reason, part) == NULL) test_fail(__FILE__, __LINE__, "`%s` does not contain `%s`", reason, part);
}

static void expect_refused_image(const image *damaged, const char *part) {
  expect_refused_file(write_file(damaged, sizeof(*damaged)), part);
}

TEST(a_library_is_refused_wherever_it_is_cut) {
  image whole = whole_image();
  char reason[FH_LIBRARY_FILE_REASON];
  expect(!fh_library_file_refuse(write_file(&whole, sizeof(whole)), reason));
  for (size_t n = 0; n < sizeof(whole); ++n) expect(fh_library_file_refuse(write_file(&whole, n), reason));
  expect_refused_file(write_file(&whole, 0), "is empty");
  expect_refused_file(write_file(&whole, 3), "is not an ELF file: it begins with the bytes 7f 45 4c");
  expect_refused_file(write_file(&whole, 20), "its ELF header should be the 64 bytes from 0 on, and the file has 20");
  expect_refused_file(write_file(&whole, sizeof(whole) - 1), "its section headers should be");
  clean_up();
}

TEST(a_library_whose_end_is_zeros_is_refused) {
  image whole = whole_image(), damaged = whole;
  memset(damaged.dynamic, 0, sizeof(damaged.dynamic));
  expect_refused_image(&damaged, "its dynamic section names no symbols");
  memset(damaged.parts, 0, sizeof(damaged.parts));
  expect_refused_image(&damaged, "has no dynamic section");
  memset(&damaged, 0, sizeof(damaged));
  expect_refused_image(&damaged, "is not an ELF file: it begins with the bytes 00 00 00 00");
  clean_up();
}

TEST(a_library_for_another_machine_is_refused) {
  image other = whole_image();
  other.head.e_ident[EI_CLASS] = sizeof(void *) == 8 ? ELFCLASS32 : ELFCLASS64;
  expect_refused_image(&other, "is not for this machine: it is a library for ");
  expect_refused_image(&other, " (32-bit, ");
  other = whole_image();
  other.head.e_ident[EI_DATA] = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
  expect_refused_image(&other, "is not for this machine: it is a");
  expect_refused_image(&other, "-endian), and this process is ");
  other = whole_image();
  other.head.e_machine = EM_SPARC;
  expect_refused_image(&other, "is not for this machine: it is a library for sparc, and this process is ");
  other = whole_image();
  other.head.e_type = ET_REL;
  expect_refused_image(&other, "is an object file, not a shared library: link it with -shared");
  clean_up();
}

TEST(a_library_with_absurd_headers_is_refused) {
  image damaged = whole_image();
  damaged.head.e_phnum = UINT16_MAX;
  expect_refused_image(&damaged, "expected 1 to 128 program headers of 56 bytes but got 65535");
  damaged = whole_image();
  damaged.head.e_phoff = UINT64_MAX - 8;
  expect_refused_image(&damaged, "its program headers should be");
  damaged = whole_image();
  damaged.parts[0].p_filesz = UINT64_MAX;
  expect_refused_image(&damaged, "its segment should be the 18446744073709551615 bytes from 0 on");
  damaged = whole_image();
  damaged.parts[0].p_offset = UINT64_MAX - 100;
  expect_refused_image(&damaged, "its segment should be");
  damaged = whole_image();
  damaged.parts[0].p_memsz = 1;
  expect_refused_image(&damaged, "is damaged: its segment at address 0");
  damaged = whole_image();
  damaged.parts[0].p_vaddr = 4096;
  expect_refused_image(&damaged, "is damaged: its segment at address");
  damaged = whole_image();
  damaged.dynamic[0].d_un.d_ptr = 1 << 20;
  expect_refused_image(&damaged, "entry 5 of its dynamic section points out of the file, to 1048576");
  damaged = whole_image();
  damaged.dynamic[2].d_tag = DT_NEEDED;
  expect_refused_image(&damaged, "its dynamic section has no end");
  clean_up();
}

TEST(a_path_that_is_not_a_file_is_refused_without_opening_it) {
  static const char script[] = "GROUP ( libm.so.6 )\n";
  char reason[FH_LIBRARY_FILE_REASON];
  unsigned char windows[3000] = {'M', 'Z'};
  expect_refused_file(write_file(script, sizeof(script) - 1), "is not an ELF file, but text: is it a linker script?");
  memcpy(windows + 60, "\x80\x0a", 2); /* the offset of its PE header is 2688 */
  memcpy(windows + 2688, "PE\0\0\x64\x86", 6);
  expect_refused_file(write_file(windows, sizeof(windows)), "is not an ELF file, but a program for Windows (x86_64)");
  expect_refused_file(folder(), "is a directory");
  expect_refused_file("/dev/zero", "is a device");
  expect_int(mkfifo(path_of("pipe.so"), 0600), 0);
  expect_refused_file(path_of("pipe.so"), "is a pipe"); /* opening it would wait for a writer */
  expect_int(symlink("nowhere.so", path_of("link.so")), 0);
  expect(!fh_library_file_refuse(path_of("link.so"),
                                 reason)); /* the check leaves missing files to the loader, which reports them */
  expect(!fh_library_file_refuse(path_of("missing.so"), reason));
  expect(!fh_library_file_refuse("libm.so.6", reason));
  clean_up();
}

TEST(loading_a_truncated_library_is_an_error_that_names_it) {
  image whole = whole_image();
  const char *path = write_file(&whole, sizeof(whole) / 2);
  expect_call_raises("InternalError", "lib.so: it is truncated or damaged", "ffi.ModuleLoadFromFile", ARGS(raw(path)));
  expect_call_raises("InternalError", "lib.so: it is truncated or damaged", "ffi_hpy.check_library_file",
                     ARGS(raw(path)));
  clean_up();
}
#endif

TEST(a_path_with_a_nul_is_refused) {
  static const char text[] = "/tmp/a.so\0b.so";
  TVMFFIAny path;
  expect_int(fh_str_new(text, sizeof(text) - 1, &path), 0);
  expect_call_raises("ValueError", "Expected a path without a NUL but got `/tmp/a.so\\0b.so`", "ffi.ModuleLoadFromFile",
                     ARGS(path));
  expect_call_raises("ValueError", "Expected a path without a NUL", "ffi_hpy.check_library_file", ARGS(path));
  fh_any_drop(&path);
}
