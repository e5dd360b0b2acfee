/* park_windows.c - implements park.h with WaitOnAddress. Empty elsewhere. */
#include "park.h"

#if defined(_WIN32)
#include "windows_api.h"

void fh_park_sleep(uint32_t *word, uint32_t seen) { (void)WaitOnAddress(word, &seen, sizeof seen, INFINITE); }
void fh_park_wake_one(uint32_t *word) { WakeByAddressSingle(word); }
void fh_park_wake_all(uint32_t *word) { WakeByAddressAll(word); }
#endif
