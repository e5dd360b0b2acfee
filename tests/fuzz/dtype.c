/* dtype.c - data types as strings: a data type that was read, printed and read again prints the same string. */
#include "core/tensor/dtype.h"

#include "core/object/any_hash.h"
#include "fuzz.h"

void fuzz_start(void) {}

void fuzz_one(const uint8_t *data, size_t n_bytes) {
  char *exact = (char *)malloc(n_bytes != 0 ? n_bytes : 1); /* without the byte that libFuzzer appends */
  memcpy(exact, data, n_bytes);
  TVMFFIByteArray text = {exact, n_bytes};
  DLDataType dtype;
  TVMFFIAny printed, again;
  int equal;
  if (TVMFFIDataTypeFromString(&text, &dtype) != 0) {
    fuzz_check(fuzz_take_error("ValueError"));
  } else {
    fuzz_check(TVMFFIDataTypeToString(&dtype, &printed) == 0);
    fuzz_check(fh_str_content(&printed, &text));
    fuzz_check(TVMFFIDataTypeFromString(&text, &dtype) == 0);
    fuzz_check(TVMFFIDataTypeToString(&dtype, &again) == 0);
    fuzz_check(fh_any_equal(&printed, &again, &equal) == 0 && equal);
    fh_any_drop(&printed);
    fh_any_drop(&again);
  }
  free(exact);
  if (n_bytes < sizeof(dtype)) return;
  memcpy(&dtype, data, sizeof(dtype)); /* any bits */
  if (TVMFFIDataTypeToString(&dtype, &printed) == 0) {
    fh_any_drop(&printed);
  } else {
    fuzz_check(fuzz_take_error("ValueError"));
  }
}
