/* A library with registrations that this version does not know, like a library compiled for a newer version. */
#include <tvm/ffi/c_api.h>

#define TEXT(text) {"" text, sizeof(text) - 1}

static int get(void *field, TVMFFIAny *result) {
  *result = (TVMFFIAny){.type_index = kTVMFFIInt, .v_int64 = *(int64_t *)field};
  return 0;
}

__attribute__((constructor)) static void load(void) {
  TVMFFIByteArray key = TEXT("ffi_hpy_test.Newer");
  TVMFFITypeMetadata metadata = {.total_size = 40};
  TVMFFIFieldInfo field = {.name = TEXT("x"), .size = 8, .alignment = 8, .offset = 24, .getter = get};
#if NEWER_STATIC
  TVMFFIByteArray static_key = TEXT("ffi.Newer");
  TVMFFITypeGetOrAllocIndex(&static_key, 120, 1, 0, 0, kTVMFFIObject);
#endif
#if NEWER_TAKEN
  TVMFFIByteArray taken_key = TEXT("ffi.Newer");
  TVMFFITypeGetOrAllocIndex(&taken_key, kTVMFFIBigInt, 1, 0, 0, kTVMFFIObject);
#endif
#if NEWER_MOVED
  TVMFFIByteArray moved_key = TEXT("ffi.Dict");
  TVMFFITypeGetOrAllocIndex(&moved_key, 121, 1, 0, 0, kTVMFFIObject);
#endif
#if NEWER_FLAG
  field.flags = (int64_t)1 << 40;
#endif
#if NEWER_KIND
  metadata.structural_eq_hash_kind = (TVMFFISEqHashKind)17;
#endif
#if WITHDRAWN_FIELD
  const TVMFFIByteArray schema =
      TEXT("{\"type_schema\":\"{\\\"type\\\":\\\"Optional\\\",\\\"args\\\":[{\\\"type\\\":\\\"ffi.Object\\\"}]}\"}");
  field.size = 16;
  field.metadata = schema;
#endif
  int32_t type_index = TVMFFITypeGetOrAllocIndex(&key, -1, 1, 0, 0, kTVMFFIObject);
  TVMFFITypeRegisterMetadata(type_index, &metadata);
  TVMFFITypeRegisterField(type_index, &field);
}
