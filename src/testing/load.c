/* load.c - registers all types and functions when the library is loaded, unless another testing library is loaded
 * already. */
#include "tables.h"

#include <stdio.h>

/* Whether another library has registered `testing.*`. The first library stays, and this library then adds nothing. */
static int is_taken(void) {
  TVMFFIByteArray name = ft_text("testing.echo");
  TVMFFIObjectHandle found;
  if (TVMFFIFunctionGetGlobal(&name, &found) != 0) return -1;
  (void)TVMFFIObjectDecRef(found);
  return found != NULL;
}

static int register_all(void) {
  static const ft_classes *const tables[] = {&ft_enum_classes, &ft_plain_classes, &ft_init_classes, &ft_custom_classes,
                                             &ft_every_classes};
  static int (*const loads[])(void) = {ft_enum_load,   ft_basic_load,  ft_plain_load,
                                       ft_tensor_load, ft_schema_load, ft_custom_load};
  for (int32_t i = 0; i < FT_COUNT(tables); ++i) {
    if (ft_object_register(tables[i]->classes, tables[i]->n_classes) != 0) return -1;
  }
  if (ft_field_load() != 0) return -1;
  for (int32_t i = 0; i < FT_COUNT(tables); ++i) {
    for (int32_t k = 0; k < tables[i]->n_classes; ++k) {
      if (ft_object_define(tables[i]->classes[k]) != 0) return -1;
    }
  }
  for (int32_t i = 0; i < FT_COUNT(loads); ++i) {
    if (loads[i]() != 0) return -1;
  }
  return 0;
}

int ft_load(void) {
  int taken = is_taken();
  if (taken == 1) return 0;
  return taken != 0 || ft_value_load() != 0 || register_all() != 0 ? -1 : 1;
}

#ifndef FT_LOAD_BY_HAND
/* Prints the pending error: a library that is being loaded has no caller to return it to. */
static void complain(void) {
  TVMFFIObjectHandle error;
  TVMFFIErrorMoveFromRaised(&error);
  if (error == NULL) return;
  const TVMFFIErrorCell *cell = TVMFFIErrorGetCellPtr(error);
  (void)fprintf(stderr, "libtvm_ffi_testing: %.*s: %.*s\n", (int)cell->kind.size, cell->kind.data,
                (int)cell->message.size, cell->message.data);
  (void)TVMFFIObjectDecRef(error);
}

#ifdef _MSC_VER
#define AT_START static
#else
#define AT_START __attribute__((constructor)) static
#endif

AT_START void load_at_start(void) {
  if (ft_load() < 0) complain();
}

#ifdef _MSC_VER
#pragma section(".CRT$XCU", read)
__declspec(allocate(".CRT$XCU")) void (*ft_load_at_start)(void) = load_at_start;
#endif
#endif

/* A symbol for programs that link this library only so that it is loaded. */
TVM_FFI_DLL_EXPORT int TVMFFITestingDummyTarget(void);
int TVMFFITestingDummyTarget(void) { return 0; }
