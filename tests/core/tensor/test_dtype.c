/* test_dtype.c - names of data types and devices. */
#include "core/object/error.h"
#include "core/platform/mem.h"
#include "core/tensor/dtype.h"

#include "support/calls.h"

static DLDataType parsed(const char *text) {
  DLDataType dtype = {99, 99, 99};
  TVMFFIByteArray bytes = text_of(text);
  if (TVMFFIDataTypeFromString(&bytes, &dtype) != 0) test_fail(__FILE__, __LINE__, "does not parse: %s", text);
  return dtype;
}
static void expect_dtype(const char *text, int code, int bits, int lanes, const char *printed) {
  DLDataType dtype = parsed(text);
  TVMFFIAny name;
  expect_int(dtype.code, code);
  expect_int(dtype.bits, bits);
  expect_int((int16_t)dtype.lanes, lanes);
  expect_int(TVMFFIDataTypeToString(&dtype, &name), 0);
  expect_str(name, printed);
}

TEST(dtype_names_parse_and_print) {
  expect_dtype("int32", kDLInt, 32, 1, "int32");
  expect_dtype("int", kDLInt, 32, 1, "int32");
  expect_dtype("i8", kDLInt, 8, 1, "int8");
  expect_dtype("uint8x4", kDLUInt, 8, 4, "uint8x4");
  expect_dtype("u64", kDLUInt, 64, 1, "uint64");
  expect_dtype("float", kDLFloat, 32, 1, "float32");
  expect_dtype("f16x2", kDLFloat, 16, 2, "float16x2");
  expect_dtype("float32xvscalex4", kDLFloat, 32, -4, "float32xvscalex4");
  expect_dtype("bfloat16", kDLBfloat, 16, 1, "bfloat16");
  expect_dtype("bf16", kDLBfloat, 16, 1, "bfloat16");
  expect_dtype("complex64", kDLComplex, 64, 1, "complex64");
  expect_dtype("bool", kDLBool, 8, 1, "bool");
  expect_dtype("boolx8", kDLBool, 8, 8, "boolx8");
  expect_dtype("bool1", kDLBool, 1, 1, "bool1");
  expect_dtype("handle", kDLOpaqueHandle, 64, 1, "handle");
  expect_dtype("void", kDLOpaqueHandle, 0, 0, "");
  expect_dtype("", kDLOpaqueHandle, 0, 0, "");
}

TEST(dtype_names_of_small_floats_parse_and_print) {
  static const char *names[] = {"float8_e3m4",     "float8_e4m3",   "float8_e4m3b11fnuz", "float8_e4m3fn",
                                "float8_e4m3fnuz", "float8_e5m2",   "float8_e5m2fnuz",    "float8_e8m0fnu",
                                "float6_e2m3fn",   "float6_e3m2fn", "float4_e2m1fn"};
  for (int i = 0; i < 11; ++i) {
    expect_dtype(names[i], kDLFloat8_e3m4 + i, i < 8 ? 8 : i < 10 ? 6 : 4, 1, names[i]);
  }
  expect_dtype("fp8_e4m3fn", kDLFloat8_e4m3fn, 8, 1, "float8_e4m3fn");
  expect_dtype("f8_e5m2x4", kDLFloat8_e5m2, 8, 4, "float8_e5m2x4");
  expect_dtype("f6_e2m3fn", kDLFloat6_e2m3fn, 6, 1, "float6_e2m3fn");
  expect_dtype("fp6_e3m2fn", kDLFloat6_e3m2fn, 6, 1, "float6_e3m2fn");
  expect_dtype("fp4_e2m1fn", kDLFloat4_e2m1fn, 4, 1, "float4_e2m1fn");
  expect_dtype("f4_e2m1fn_x2", kDLFloat4_e2m1fn, 4, 2, "float4_e2m1fnx2");
  expect_dtype("float4_e2m1fnx2", kDLFloat4_e2m1fn, 4, 2, "float4_e2m1fnx2");
}

TEST(dtype_lanes_survive_up_to_their_limits) {
  expect_dtype("int8x32767", kDLInt, 8, 32767, "int8x32767");
  expect_dtype("int8xvscalex1", kDLInt, 8, -1, "int8xvscalex1");
  expect_dtype("int8xvscalex32768", kDLInt, 8, -32768, "int8xvscalex32768");
}

TEST(dtype_lanes_that_would_be_read_back_as_others_are_refused) {
  DLDataType dtype;
  TVMFFIByteArray beyond = text_of("int8x32768"), last = text_of("int8x65535"), scalable = text_of("int8xvscalex32769");
  expect_int(TVMFFIDataTypeFromString(&beyond, &dtype), -1);
  expect_raised("ValueError", "Lanes out of range in dtype `int8x32768`: expected at most 32767");
  expect_int(TVMFFIDataTypeFromString(&last, &dtype), -1);
  expect_raised("ValueError", "Lanes out of range in dtype `int8x65535`: expected at most 32767");
  expect_int(TVMFFIDataTypeFromString(&scalable, &dtype), -1);
  expect_raised("ValueError", "Lanes out of range in dtype `int8xvscalex32769`: expected at most 32768");
}

TEST(dtype_texts_that_name_nothing_are_refused) {
  static const char *texts[] = {"x",
                                "int8y",
                                "int8x",
                                "int8x0",
                                "int999",
                                "int8x70000",
                                "float8_",
                                "float8_e9m9",
                                "float8_e4m3zz",
                                " int8",
                                "int8 ",
                                "i",
                                "int8x4x4",
                                "bfloat16xvscale",
                                "custom[a",
                                "float4_e2m1fn_",
                                "int8xvscalex40000",
                                "int8x99999999999999999999"};
  for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); ++i) {
    DLDataType dtype;
    TVMFFIByteArray bytes = text_of(texts[i]);
    if (TVMFFIDataTypeFromString(&bytes, &dtype) == 0) test_fail(__FILE__, __LINE__, "parses: %s", texts[i]);
    expect_raised("ValueError", texts[i]);
  }
  DLDataType unknown = {100, 8, 1};
  TVMFFIAny name;
  expect_int(TVMFFIDataTypeToString(&unknown, &name), -1);
  expect_raised("ValueError", "Unknown dtype code 100");
}

TEST(dtype_is_not_read_past_its_length) {
  DLDataType dtype;
  TVMFFIByteArray bytes = {"int32x4", 4};
  expect_int(TVMFFIDataTypeFromString(&bytes, &dtype), 0);
  expect_int(dtype.bits, 3);
}

static int code_of(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  TVMFFIByteArray name;
  (void)self, (void)n;
  expect(fh_str_content(&args[0], &name));
  expect_int((int64_t)name.size, 7);
  *result = i64(150);
  return 0;
}
static int name_of(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self, (void)n;
  expect_int(args[0].v_int64, 150);
  return fh_str_from_cstr("posites", result);
}
static void add_function(const char *name, TVMFFISafeCallType call) {
  TVMFFIObjectHandle func;
  expect_int(TVMFFIFunctionCreate(NULL, call, NULL, &func), 0);
  expect_int(test_set_global(text_of(name), func, 1), 0);
  fh_object_release(func);
}

TEST(dtype_custom_names_go_through_global_functions) {
  DLDataType dtype;
  TVMFFIByteArray bytes = text_of("custom[posites]16x2");
  expect_int(TVMFFIDataTypeFromString(&bytes, &dtype), -1);
  expect_raised("ValueError", "Expected a global function `dtype.get_custom_type_code`");
  add_function("dtype.get_custom_type_code", code_of);
  add_function("dtype.get_custom_type_name", name_of);
  expect_dtype("custom[posites]16x2", 150, 16, 2, "custom[posites]16x2");
  expect_dtype("custom[posites]32", 150, 32, 1, "custom[posites]");
  expect(fh_global_remove(text_of("dtype.get_custom_type_code")));
  expect(fh_global_remove(text_of("dtype.get_custom_type_name")));
}

TEST(device_names) {
  expect_repr(fh_any_device((DLDevice){kDLCPU, 0}), "cpu:0");
  expect_repr(fh_any_device((DLDevice){kDLROCMHost, 3}), "rocm_host:3");
  expect_repr(fh_any_device((DLDevice){(DLDeviceType)77, -1}), "unknown(77):-1");
}
