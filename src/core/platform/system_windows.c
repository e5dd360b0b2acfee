/* system_windows.c - implements system.h on Windows. */
#include "system.h"

#if defined(_WIN32)
#include <stdio.h>
#include <stdlib.h>

#define PSAPI_VERSION 2 /* EnumProcessModules is kernel32's */
#include "loader_head.h"
#include "windows_api.h"

#include <psapi.h>

enum { PER_SECOND = 1000000000, PER_MILLISECOND = 1000000 };

/* The counter's frequency is 10 MHz almost everywhere; splitting the division prevents an overflow for any
 * frequency. */
uint64_t fh_clock_now(void) {
  LARGE_INTEGER ticks, per_second;
  QueryPerformanceFrequency(&per_second);
  QueryPerformanceCounter(&ticks);
  uint64_t n = (uint64_t)ticks.QuadPart, frequency = (uint64_t)per_second.QuadPart;
  return n / frequency * PER_SECOND + n % frequency * PER_SECOND / frequency;
}

void fh_clock_sleep(uint64_t nanoseconds) { Sleep((DWORD)((nanoseconds + PER_MILLISECOND - 1) / PER_MILLISECOND)); }
/* --- pages ------------------------------------------------------------------------------------------------------- */

void *fh_shield_new(size_t n_bytes) { return VirtualAlloc(NULL, n_bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE); }

void fh_shield_free(void *pages, FH_MAYBE_UNUSED size_t n_bytes) { (void)VirtualFree(pages, 0, MEM_RELEASE); }

static void allow(void *pages, size_t n_bytes, DWORD rights) {
  DWORD before;
  (void)VirtualProtect(pages, n_bytes, rights, &before);
}

void fh_shield_no_write(void *pages, size_t n_bytes) { allow(pages, n_bytes, PAGE_READONLY); }
void fh_shield_no_access(void *pages, size_t n_bytes) { allow(pages, n_bytes, PAGE_NOACCESS); }
/* --- threads ----------------------------------------------------------------------------------------------------- */

/* The pointer with a destructor is fibre-local: only for fibre-local pointers the system calls a function at the end of
 * a thread, and a thread without fibres counts as one fibre. */

int fh_tls_new(fh_tls *tls, void(FH_TLS_CALLBACK *at_thread_end)(void *)) {
  tls->key = FlsAlloc(at_thread_end);
  tls->is_made = tls->key != FLS_OUT_OF_INDEXES;
  return tls->is_made ? 0 : -1;
}

int fh_tls_set(const fh_tls *tls, void *value) { return tls->is_made && FlsSetValue(tls->key, value) ? 0 : -1; }

void fh_thread_yield(void) { (void)SwitchToThread(); }

bool fh_thread_stack(uintptr_t *end, size_t *n_bytes) {
  ULONG_PTR lowest, highest;
  GetCurrentThreadStackLimits(&lowest, &highest);
  *end = lowest;
  *n_bytes = highest - lowest;
  return true;
}
/* --- the loader of libraries ------------------------------------------------------------------------------------- */

/* Converts a string to UTF-16, in memory of malloc; NULL without memory. */
static wchar_t *wide_of(const char *text) {
  int n = MultiByteToWideChar(CP_UTF8, 0, text, -1, NULL, 0); /* with the NUL */
  wchar_t *wide = n > 0 ? (wchar_t *)malloc((size_t)n * sizeof(*wide)) : NULL;
  if (wide != NULL) MultiByteToWideChar(CP_UTF8, 0, text, -1, wide, n);
  return wide;
}

/* "" if the string does not fit, or is not UTF-16. */
static void narrow(const wchar_t *wide, char *to, size_t n_to) {
  if (WideCharToMultiByte(CP_UTF8, 0, wide, -1, to, (int)n_to, NULL, NULL) == 0 && n_to > 0) to[0] = '\0';
}

/* ---- Opening ---- */

static bool names_folder(const wchar_t *path) { return wcschr(path, L'/') != NULL || wcschr(path, L'\\') != NULL; }

/* Errors for a file that is not a library, or not a library for this machine. */
static bool is_bad_file(DWORD code) { return code == ERROR_BAD_EXE_FORMAT || code == ERROR_EXE_MACHINE_TYPE_MISMATCH; }

/* Whether a file that is not a library for the system is of another system or machine. The file is read only then: the
 * system loads some libraries whose header specifies another machine. The system searches for a name without a folder
 * in places that only it knows. */
static bool refuse(const wchar_t *path, char *reason, size_t n_reason) {
  unsigned char bytes[FH_LOADER_HEAD_BYTES];
  DWORD n = 0, sharing = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  if (!names_folder(path)) return false;
  HANDLE file = CreateFileW(path, GENERIC_READ, sharing, NULL, OPEN_EXISTING, 0, NULL);
  if (file == INVALID_HANDLE_VALUE) return false;
  /* Reading from a pipe or a device would wait. */
  bool is_read = GetFileType(file) == FILE_TYPE_DISK && ReadFile(file, bytes, sizeof(bytes), &n, NULL);
  CloseHandle(file);
  fh_base_copy(reason, n_reason, "it ");
  return is_read && n_reason > 3 && fh_loader_head_refuse(bytes, n, reason + 3, n_reason - 3);
}

/* The arguments of the system's message are unknown. %1 is the file, which the caller names. */
static void name_file(wchar_t *sentence) {
  for (wchar_t *at = sentence; (at = wcsstr(at, L"%1")) != NULL;) memcpy(at, L"it", 2 * sizeof(*at));
}

static const char *hint_for(DWORD code) {
  return code == ERROR_MOD_NOT_FOUND ? ": the file, or a library that it needs, was not found"
         : is_bad_file(code)         ? ": it, or a library that it needs, is damaged, or for another system or machine"
                                     : "";
}

/* The system's sentence for an error, without its last full stop and end of line. */
static void describe(DWORD code, char *reason, size_t n_reason) {
  wchar_t wide[300];
  char text[600];
  DWORD flags = FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS;
  DWORD n = FormatMessageW(flags, NULL, code, 0, wide, (DWORD)FH_COUNT_OF(wide) - 1, NULL);
  while (n > 0 && (wide[n - 1] == L'\r' || wide[n - 1] == L'\n' || wide[n - 1] == L'.' || wide[n - 1] == L' ')) --n;
  wide[n] = L'\0';
  name_file(wide);
  narrow(wide, text, sizeof(text));
  snprintf(reason, n_reason, "%s%s(error %lu)%s", text, text[0] != '\0' ? " " : "", (unsigned long)code,
           hint_for(code));
}

/* Dependencies of a library are searched for in the system's folder, the program's folder, the folders of
 * os.add_dll_directory, and, if the path contains a folder, also there. */
static HMODULE open_wide(const wchar_t *path) {
  DWORD flags = LOAD_LIBRARY_SEARCH_DEFAULT_DIRS;
  if (!names_folder(path)) return LoadLibraryExW(path, NULL, flags);
  DWORD n = GetFullPathNameW(path, 0, NULL, NULL); /* only absolute paths can use that folder; with the NUL */
  wchar_t *whole = n > 0 ? (wchar_t *)malloc(n * sizeof(*whole)) : NULL;
  if (whole == NULL) return NULL;
  GetFullPathNameW(path, n, whole, NULL);
  HMODULE library = LoadLibraryExW(whole, NULL, flags | LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR);
  DWORD code = GetLastError();
  free(whole);
  SetLastError(code);
  return library;
}

void *fh_loader_open(const char *path, FH_MAYBE_UNUSED fh_loader_mode mode, char *reason, size_t n_reason) {
  wchar_t *wide = wide_of(path);
  HMODULE library = NULL;
  DWORD code = ERROR_NOT_ENOUGH_MEMORY;
  bool is_said = n_reason == 0; /* whether the reason is written, or not wanted */
  if (wide != NULL) {
    library = open_wide(wide);
    code = GetLastError(); /* at once, before another call can change it */
    is_said = is_said || (library == NULL && is_bad_file(code) && refuse(wide, reason, n_reason));
    free(wide);
  }
  if (library == NULL && !is_said) describe(code, reason, n_reason);
  return library;
}

/* ---- Looking up ---- */

/* The system does not provide the name. */
const char *fh_loader_lacking(FH_MAYBE_UNUSED const char *reason, size_t *length) {
  *length = 0;
  return NULL;
}

void *fh_loader_find(void *library, const char *name) {
  return (void *)(uintptr_t)GetProcAddress((HMODULE)library, name);
}

void *fh_loader_find_anywhere(const char *name) {
  HMODULE libraries[1024];
  DWORD n_bytes = 0;
  if (!EnumProcessModules(GetCurrentProcess(), libraries, sizeof(libraries), &n_bytes)) return NULL;
  size_t n = n_bytes < sizeof(libraries) ? n_bytes / sizeof(libraries[0]) : FH_COUNT_OF(libraries);
  for (size_t i = 0; i < n; ++i) {
    void *found = fh_loader_find(libraries[i], name);
    if (found != NULL) return found;
  }
  return NULL;
}

/* ---- The library of an address ---- */

static HMODULE library_of(const void *address) {
  HMODULE library = NULL;
  DWORD flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
  return GetModuleHandleExW(flags, (const wchar_t *)address, &library) ? library : NULL;
}

/* The last exported function that begins before the address. The headers belong to a loaded file, so the system has
 * checked them. */
static void find_function(const char *base, const char *address, fh_loader_place *place) {
  const IMAGE_NT_HEADERS64 *head =
      (const IMAGE_NT_HEADERS64 *)(const void *)(base + ((const IMAGE_DOS_HEADER *)(const void *)base)->e_lfanew);
  const IMAGE_DATA_DIRECTORY *at = &head->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_EXPORT];
  uint32_t wanted = (uint32_t)(address - base), best = 0;
  if (at->Size == 0) return;
  const IMAGE_EXPORT_DIRECTORY *exports = (const IMAGE_EXPORT_DIRECTORY *)(const void *)(base + at->VirtualAddress);
  const uint32_t *functions = (const uint32_t *)(const void *)(base + exports->AddressOfFunctions);
  const uint32_t *names = (const uint32_t *)(const void *)(base + exports->AddressOfNames);
  const uint16_t *numbers = (const uint16_t *)(const void *)(base + exports->AddressOfNameOrdinals);
  for (uint32_t i = 0; i < exports->NumberOfNames; ++i) {
    uint32_t start = functions[numbers[i]];
    if (start > wanted || start < best) continue;
    best = start;
    place->name = base + names[i];
    place->start = (void *)(uintptr_t)(base + start);
  }
}

bool fh_loader_place_of(const void *address, fh_loader_place *place) {
  wchar_t file[FH_COUNT_OF(place->file)];
  HMODULE library = library_of(address);
  if (library == NULL) return false;
  DWORD n = GetModuleFileNameW(library, file, (DWORD)FH_COUNT_OF(file));
  file[n < FH_COUNT_OF(file) ? n : 0] = L'\0';
  narrow(file, place->file, sizeof(place->file));
  place->base = library;
  place->name = NULL;
  place->start = NULL;
  find_function((const char *)library, (const char *)address, place);
  return true;
}

void fh_loader_show(const void *address) { FH_UNUSED(address); } /* libraries find others by their file names */

void fh_loader_pin(const void *address) {
  HMODULE library;
  DWORD flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN;
  (void)GetModuleHandleExW(flags, (const wchar_t *)address, &library);
}

/* A region is a run of pages with the same rights, such as a section of a file. */
size_t fh_loader_room(const void *address) {
  MEMORY_BASIC_INFORMATION region;
  if (library_of(address) == NULL || VirtualQuery(address, &region, sizeof(region)) == 0) return SIZE_MAX;
  return region.RegionSize - (size_t)((const char *)address - (const char *)region.BaseAddress);
}

int fh_loader_frames(void **addresses, int n) { return CaptureStackBackTrace(1, (DWORD)n, addresses, NULL); }
/* --- parking ----------------------------------------------------------------------------------------------------- */

void fh_park_sleep(uint32_t *word, uint32_t seen) { (void)WaitOnAddress(word, &seen, sizeof(seen), INFINITE); }
void fh_park_wake_one(uint32_t *word) { WakeByAddressSingle(word); }
void fh_park_wake_all(uint32_t *word) { WakeByAddressAll(word); }
#endif
