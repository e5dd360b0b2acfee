/* shield_windows.c - implements shield.h with VirtualAlloc. Empty elsewhere. */
#include "shield.h"

#if defined(_WIN32)
#include "windows_api.h"

void *fh_shield_new(size_t n_bytes) { return VirtualAlloc(NULL, n_bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE); }

void fh_shield_free(void *pages, size_t n_bytes) {
  FH_UNUSED(n_bytes);
  (void)VirtualFree(pages, 0, MEM_RELEASE);
}

static void allow(void *pages, size_t n_bytes, DWORD rights) {
  DWORD before;
  (void)VirtualProtect(pages, n_bytes, rights, &before);
}

void fh_shield_no_write(void *pages, size_t n_bytes) { allow(pages, n_bytes, PAGE_READONLY); }
void fh_shield_no_access(void *pages, size_t n_bytes) { allow(pages, n_bytes, PAGE_NOACCESS); }
#endif
