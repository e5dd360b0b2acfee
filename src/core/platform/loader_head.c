/* loader_head.c - recognizes the system and the machine of a file by its first bytes, and whether the file is a shared
 * library.
 *
 * The systems' formats of libraries come first, each with a function that checks the machine; then files that have a
 * library's name by mistake. A function named refuse_ returns 1 and writes the reason, or returns 0. Numbers are
 * assembled from bytes, because a file may have the other byte order, and a header may be at an odd offset. */
#include "loader_head.h"

#include <stdarg.h>
#include <stdio.h>

#include "base.h"

typedef enum { FORMAT_ELF, FORMAT_PE, FORMAT_MACH_O } file_format;

#if defined(_WIN32)
#define OWN_FORMAT FORMAT_PE
#define OWN_WORDS "a DLL"
#elif defined(__APPLE__)
#define OWN_FORMAT FORMAT_MACH_O
#define OWN_WORDS "a Mach-O file"
#else
#define OWN_FORMAT FORMAT_ELF
#define OWN_WORDS "an ELF file"
#endif

/* In the spelling of name_of_machine. */
#if defined(__x86_64__) || defined(_M_X64)
#define OWN_MACHINE "x86_64"
#elif (defined(__aarch64__) || defined(_M_ARM64)) && (defined(_WIN32) || defined(__APPLE__))
#define OWN_MACHINE "arm64"
#elif defined(__aarch64__)
#define OWN_MACHINE "aarch64"
#elif defined(__riscv)
#define OWN_MACHINE "riscv"
#elif defined(__s390x__)
#define OWN_MACHINE "s390x"
#else
#define OWN_MACHINE "unknown" /* not compared */
#endif

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define OWN_ORDER 2
#else
#define OWN_ORDER 1
#endif

/* The first bytes of a file, and the buffer for the reason. */
typedef struct {
  const unsigned char *bytes;
  size_t n;
  char *reason;
  size_t n_reason;
} file_head;

static bool refuse_as(const file_head *head, const char *format, ...) FH_PRINTF(2, 3);
static bool refuse_as(const file_head *head, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(head->reason, head->n_reason, format, args);
  va_end(args);
  return true;
}

/* Whether there are n bytes at an offset. */
static bool has(const file_head *head, uint64_t offset, size_t n) { return offset <= head->n && n <= head->n - offset; }

static bool begins_with(const file_head *head, const char *bytes, size_t n) {
  return has(head, 0, n) && memcmp(head->bytes, bytes, n) == 0;
}

/* The number in n bytes at an offset; the bytes must exist. */
static uint32_t number_at(const file_head *head, size_t offset, int n, bool is_big) {
  uint32_t number = 0;
  for (int i = 0; i < n; ++i) number = number << 8 | head->bytes[offset + (size_t)(is_big ? i : n - 1 - i)];
  return number;
}

/* ---- Machines ---- */

static const struct {
  file_format format;
  uint32_t number;
  char name[12]; /* not a pointer, which the loader would have to relocate */
} machines[] = {
    {FORMAT_ELF, 3, "x86"},
    {FORMAT_ELF, 62, "x86_64"},
    {FORMAT_ELF, 40, "arm"},
    {FORMAT_ELF, 183, "aarch64"},
    {FORMAT_ELF, 243, "riscv"},
    {FORMAT_ELF, 22, "s390x"}, /* and s390, which has 32 bits */
    {FORMAT_ELF, 20, "ppc"},
    {FORMAT_ELF, 21, "ppc64"},
    {FORMAT_ELF, 258, "loongarch"},
    {FORMAT_ELF, 8, "mips"},
    {FORMAT_ELF, 2, "sparc"},
    {FORMAT_ELF, 43, "sparc64"},
    {FORMAT_ELF, 50, "ia64"},
    {FORMAT_ELF, 190, "CUDA"},
    {FORMAT_ELF, 224, "AMD GPUs"},
    {FORMAT_ELF, 247, "BPF"},
    {FORMAT_PE, 0x14c, "x86"},
    {FORMAT_PE, 0x8664, "x86_64"},
    {FORMAT_PE, 0x1c0, "arm"},
    {FORMAT_PE, 0x1c4, "arm"}, /* with Thumb instructions */
    {FORMAT_PE, 0xaa64, "arm64"},
    {FORMAT_PE, 0x200, "ia64"},
    {FORMAT_PE, 0x5064, "riscv"},
    {FORMAT_PE, 0x6264, "loongarch"},
    {FORMAT_MACH_O, 7, "x86"},
    {FORMAT_MACH_O, 0x01000007, "x86_64"},
    {FORMAT_MACH_O, 12, "arm"},
    {FORMAT_MACH_O, 0x0100000c, "arm64"},
    {FORMAT_MACH_O, 0x0200000c, "arm64_32"},
    {FORMAT_MACH_O, 18, "ppc"},
    {FORMAT_MACH_O, 0x01000012, "ppc64"},
};

/* `other` has room for the number of a machine without a name. */
static const char *name_of_machine(file_format format, uint32_t number, char other[24]) {
  for (size_t i = 0; i < FH_COUNT_OF(machines); ++i) {
    if (machines[i].format == format && machines[i].number == number) return machines[i].name;
  }
  snprintf(other, 24, "machine %lu", (unsigned long)number);
  return other;
}

static bool is_own_machine(const char *name) {
  return strcmp(OWN_MACHINE, "unknown") == 0 || strcmp(name, OWN_MACHINE) == 0;
}

static bool refuse_system(const file_head *head, const char *kind, const char *system, const char *machine) {
  if (machine[0] == '\0') return refuse_as(head, "is not " OWN_WORDS ", but %s for %s", kind, system);
  return refuse_as(head, "is not " OWN_WORDS ", but %s for %s (%s)", kind, system, machine);
}

static bool refuse_machine(const file_head *head, const char *kind, const char *machine) {
  return refuse_as(head, "is not for this machine: it is %s for %s, and this process is " OWN_MACHINE, kind, machine);
}

/* ---- ELF: Linux, and most other systems ---- */

enum { ELF_OBJECT = 1, ELF_PROGRAM = 2, ELF_LIBRARY = 3, ELF_DUMP = 4 };

static const char *name_of_elf(uint32_t type) {
  return type == ELF_OBJECT    ? "an object file"
         : type == ELF_PROGRAM ? "a program"
         : type == ELF_LIBRARY ? "a library"
         : type == ELF_DUMP    ? "a memory dump"
                               : "a file of another kind";
}

/* For a machine with another number of bits or another byte order, which its name may not show. */
static bool refuse_layout(const file_head *head, const char *kind, const char *machine, int n_bits, int order) {
  static const char *const orders[] = {"little-endian", "big-endian"};
  return refuse_as(
      head, "is not for this machine: it is %s for %s (%d-bit, %s), and this process is " OWN_MACHINE " (%d-bit, %s)",
      kind, machine, n_bits, orders[order - 1], (int)sizeof(void *) * 8, orders[OWN_ORDER - 1]);
}

static bool refuse_elf(const file_head *head) {
  char other[24];
  if (!has(head, 0, 20)) return false;
  /* The class, 1 or 2, defines the number of bits of addresses. The class and the order decide the layout of the
   * rest. */
  int width = head->bytes[4], order = head->bytes[5];
  if (width < 1 || width > 2 || order < 1 || order > 2) {
    return refuse_as(head, "is damaged: expected 1 or 2 as ELF class and as byte order but got %d and %d", width,
                     order);
  }
  uint32_t type = number_at(head, 16, 2, order == 2);
  const char *kind = name_of_elf(type),
             *machine = name_of_machine(FORMAT_ELF, number_at(head, 18, 2, order == 2), other);
  if (OWN_FORMAT != FORMAT_ELF) return refuse_system(head, kind, "Linux", machine);
  if (width * 32 != (int)sizeof(void *) * 8 || order != OWN_ORDER) {
    return refuse_layout(head, kind, machine, width * 32, order);
  }
  if (!is_own_machine(machine)) return refuse_machine(head, kind, machine);
  if (type == ELF_LIBRARY) return false;
  if (type == ELF_OBJECT) return refuse_as(head, "is an object file, not a shared library: link it with -shared");
  return type == ELF_PROGRAM || type == ELF_DUMP
             ? refuse_as(head, "is %s, not a shared library", kind)
             : refuse_as(head, "is not a shared library: expected ELF type %d but got %d", ELF_LIBRARY, (int)type);
}

/* ---- PE: Windows ---- */

enum { PE_HEAD_AT = 60, PE_IS_LIBRARY = 0x2000 };

/* The header follows a small program for DOS, which contains its offset. */
static bool refuse_pe(const file_head *head) {
  char other[24];
  uint64_t at = has(head, PE_HEAD_AT, 4) ? number_at(head, PE_HEAD_AT, 4, 0) : UINT64_MAX;
  if (!has(head, at, 24) || memcmp(head->bytes + at, "PE\0\0", 4) != 0) {
    return OWN_FORMAT != FORMAT_PE && refuse_system(head, "a file", "DOS or Windows", "");
  }
  const char *machine = name_of_machine(FORMAT_PE, number_at(head, at + 4, 2, 0), other);
  const char *kind = (number_at(head, at + 22, 2, 0) & PE_IS_LIBRARY) != 0 ? "a library" : "a program";
  if (OWN_FORMAT != FORMAT_PE) return refuse_system(head, kind, "Windows", machine);
  return !is_own_machine(machine) && refuse_machine(head, kind, machine);
}

/* ---- Mach-O: macOS ---- */

static const char *name_of_mach_o(uint32_t type) {
  return type == 6 || type == 8 ? "a library" : type == 1 ? "an object file" : type == 2 ? "a program" : "a file";
}

static bool refuse_mach_o(const file_head *head, bool is_big) {
  char other[24];
  if (!has(head, 0, 16)) return OWN_FORMAT != FORMAT_MACH_O && refuse_system(head, "a file", "macOS", "");
  const char *machine = name_of_machine(FORMAT_MACH_O, number_at(head, 4, 4, is_big), other);
  const char *kind = name_of_mach_o(number_at(head, 12, 4, is_big));
  if (OWN_FORMAT != FORMAT_MACH_O) return refuse_system(head, kind, "macOS", machine);
  return !is_own_machine(machine) && refuse_machine(head, kind, machine);
}

/* A file with parts for several machines; a table at its start lists them in entries of n_entry bytes. */
static bool refuse_fat(const file_head *head, size_t n_entry) {
  char names[100] = "", other[24];
  uint32_t n = number_at(head, 4, 4, 1);
  for (size_t i = 0, end = 0; i < n && has(head, 8 + i * n_entry, 4) && end < sizeof(names); ++i) {
    const char *name = name_of_machine(FORMAT_MACH_O, number_at(head, 8 + i * n_entry, 4, 1), other);
    if (OWN_FORMAT == FORMAT_MACH_O && is_own_machine(name)) return false;
    end += (size_t)snprintf(names + end, sizeof(names) - end, "%s%s", i == 0 ? "" : ", ", name);
  }
  if (OWN_FORMAT != FORMAT_MACH_O) return refuse_system(head, "a universal file", "macOS", names);
  return names[0] != '\0' && refuse_machine(head, "a universal file", names);
}

/* ---- Other files with a library's name ---- */

#define MAGIC(bytes) bytes, sizeof(bytes) - 1

/* A text file with a library's name may be a linker script, like libc.so on many systems. */
static bool is_text(const file_head *head) {
  for (size_t i = 0; i < head->n && i < 64; ++i) {
    unsigned char byte = head->bytes[i];
    if (byte == 0x7f || (byte < ' ' && byte != '\n' && byte != '\t' && byte != '\r')) return false;
  }
  return true;
}

/* NULL for unknown bytes. */
static const char *name_of_other(const file_head *head) {
  static const struct {
    const char *bytes;
    size_t n;
    const char *words;
  } others[] = {
      {MAGIC("!<thin>\n"), "a static archive without its object files"},
      {MAGIC("\0asm"), "WebAssembly"},
      {MAGIC("BC\xc0\xde"), "LLVM bitcode"},
      {MAGIC("\xde\xc0\x17\x0b"), "LLVM bitcode"},
      {MAGIC("\x50\xed\x55\xba"), "a fat binary of CUDA"},
      {MAGIC("PK\3\4"), "a zip archive"},
      {MAGIC("\x1f\x8b"), "a gzip archive"},
      {MAGIC("version https://git-lfs"), "a pointer of Git LFS to a file that was not fetched"},
      {MAGIC("#!"), "a script"},
  };
  if (begins_with(head, MAGIC("!<arch>\n"))) {
    return OWN_FORMAT == FORMAT_PE ? "a static archive or an import library"
                                   : "a static archive: link it into a shared library";
  }
  for (size_t i = 0; i < FH_COUNT_OF(others); ++i) {
    if (begins_with(head, others[i].bytes, others[i].n)) return others[i].words;
  }
  if (!is_text(head)) return NULL;
  return OWN_FORMAT == FORMAT_ELF ? "text: is it a linker script?" : "text";
}

static bool refuse_other(const file_head *head) {
  const char *words = name_of_other(head);
  char shown[3 * 4 + 1];
  if (words != NULL) return refuse_as(head, "is not " OWN_WORDS ", but %s", words);
  for (size_t i = 0; i < head->n && i < 4; ++i) snprintf(shown + 3 * i, 4, " %02x", head->bytes[i]);
  return refuse_as(head, "is not " OWN_WORDS ": it begins with the bytes%s", shown);
}

bool fh_loader_head_refuse(const unsigned char *bytes, size_t n, char *reason, size_t n_reason) {
  const file_head head = {bytes, n, reason, n_reason};
  if (n == 0) return refuse_as(&head, "is empty");
  if (begins_with(&head, MAGIC("\177ELF"))) return refuse_elf(&head);
  if (begins_with(&head, MAGIC("\xfe\xed\xfa\xce")) || begins_with(&head, MAGIC("\xfe\xed\xfa\xcf"))) {
    return refuse_mach_o(&head, 1);
  }
  if (begins_with(&head, MAGIC("\xce\xfa\xed\xfe")) || begins_with(&head, MAGIC("\xcf\xfa\xed\xfe"))) {
    return refuse_mach_o(&head, 0);
  }
  if (begins_with(&head, MAGIC("\xca\xfe\xba\xbf")) && has(&head, 4, 4)) return refuse_fat(&head, 32);
  if (begins_with(&head, MAGIC("\xca\xfe\xba\xbe")) && has(&head, 4, 4)) {
    /* Java classes have a version, at least 45, instead of the count of machines. */
    return number_at(&head, 4, 4, 1) < 45 ? refuse_fat(&head, 20)
                                          : refuse_as(&head, "is not " OWN_WORDS ", but a Java class");
  }
  if (begins_with(&head, MAGIC("MZ")) && !is_text(&head)) return refuse_pe(&head);
  return refuse_other(&head);
}
