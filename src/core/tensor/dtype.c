/* dtype.c - conversion of names of data types from and to strings.
 *
 * A name consists of a type, then a number of bits if the type has several sizes, then "x" and a number of lanes:
 * "int8x4". Lanes after "xvscalex" count multiples of the machine's vector length; DLDataType stores them negated, as
 * an int16_t. Short forms ("f32", "bf16") are read and never printed. A missing number of bits ("int") means the usual
 * one; printing leaves it out only for "bool", "handle" and custom types. "custom[name]" is a type that a library
 * defines: two global functions, which the program has to register, translate names to codes and back. "" and "void"
 * are the type without a value: an opaque handle of 0 bits and 0 lanes. */
#include "dtype.h"

#include <stdio.h>

#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/global.h"
#include "core/object/str.h"

#define CUSTOM_BEGIN 129 /* codes from here on belong to "custom[name]" */
#define GET_NAME "dtype.get_custom_type_name"
#define GET_CODE "dtype.get_custom_type_code"

typedef struct {
  const char *name;
  uint8_t code;
  uint8_t bits;     /* if the string has no number of bits */
  int bits_follow;  /* whether a number of bits may follow the name; if not, the type has one size */
} named_type;

/* Reading uses the first name that the string begins with, so a name comes before its own prefixes. Each code has one
 * name, which printing uses. */
static const named_type types[] = {
    {"float8_e4m3b11fnuz", kDLFloat8_e4m3b11fnuz, 8, 0},
    {"float8_e4m3fnuz", kDLFloat8_e4m3fnuz, 8, 0},
    {"float8_e4m3fn", kDLFloat8_e4m3fn, 8, 0},
    {"float8_e4m3", kDLFloat8_e4m3, 8, 0},
    {"float8_e5m2fnuz", kDLFloat8_e5m2fnuz, 8, 0},
    {"float8_e5m2", kDLFloat8_e5m2, 8, 0},
    {"float8_e8m0fnu", kDLFloat8_e8m0fnu, 8, 0},
    {"float8_e3m4", kDLFloat8_e3m4, 8, 0},
    {"float6_e2m3fn", kDLFloat6_e2m3fn, 6, 0},
    {"float6_e3m2fn", kDLFloat6_e3m2fn, 6, 0},
    {"float4_e2m1fn", kDLFloat4_e2m1fn, 4, 0},
    {"int", kDLInt, 32, 1},
    {"uint", kDLUInt, 32, 1},
    {"float", kDLFloat, 32, 1},
    {"bfloat", kDLBfloat, 16, 1},
    {"complex", kDLComplex, 64, 1},
    {"bool", kDLBool, 8, 1},
    {"handle", kDLOpaqueHandle, 64, 1},
};

/* Short forms and their full names. A form that is a single word needs a digit after it, so that "i" alone is not a
 * type; "f" begins longer names as well, such as "f8_e4m3". A form that ends in "_" is the beginning of a longer
 * name. */
static const struct {
  const char *alias, *name;
  bool needs_digit;
} aliases[] = {
    {"i", "int", true},         {"u", "uint", true},        {"bf", "bfloat", true},     {"f", "float", true},
    {"fp8_", "float8_", false}, {"fp6_", "float6_", false}, {"fp4_", "float4_", false},
};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Always -1. A string that cannot be printed (it has a NUL, or is too long) gets the error of fh_str_check_name
 * instead. */
static int raise_unknown(TVMFFIByteArray text) {
  if (text.size != 0 && fh_str_check_name("the name of a data type", text) != 0) return -1;
  return fh_error_raise(FH_VALUE_ERROR, "unknown dtype `%.*s`", FH_BYTES_ARGS(text));
}

/* The rest of a string that is being read. */
typedef struct {
  const char *at, *end;
} reader;

/* Reads `word` if the rest begins with it: 1, or 0 with nothing read. */
static bool skip(reader *in, const char *word) {
  size_t n = strlen(word);
  if ((size_t)(in->end - in->at) < n || memcmp(in->at, word, n) != 0) return false;
  in->at += n;
  return true;
}

/* Reads all digits up to the next other character: 1, or 0 without digits. A number above `max` becomes `max` + 1, so
 * that no string can overflow it. */
static bool read_number(reader *in, uint32_t max, uint32_t *out) {
  const char *start = in->at;
  for (*out = 0; in->at < in->end && is_digit(*in->at); ++in->at) {
    uint32_t digit = (uint32_t)(*in->at - '0');
    *out = *out > max ? max + 1 : *out * 10 + digit;
  }
  if (*out > max) *out = max + 1;
  return in->at != start;
}

/* Reads "x4", "xvscalex4" or nothing, up to the end of the string. The limits are those of int16_t, with scalable lanes
 * negated: the reference reads up to "x65535" and prints that as other lanes. */
static int read_lanes(TVMFFIByteArray text, reader *in, DLDataType *out) {
  uint32_t n;
  bool is_scalable = skip(in, "xvscale");
  out->lanes = 1;
  if (in->at == in->end && !is_scalable) return 0;
  if (!skip(in, "x")) return raise_unknown(text);
  uint32_t max = is_scalable ? 32768 : 32767;
  if (!read_number(in, max, &n) || n == 0) {
    return fh_error_raise(FH_VALUE_ERROR, "Invalid lanes in dtype `%.*s`: expected a positive integer",
                          FH_BYTES_ARGS(text));
  }
  if (n > max) {
    return fh_error_raise(FH_VALUE_ERROR, "Lanes out of range in dtype `%.*s`: expected at most %u",
                          FH_BYTES_ARGS(text), (unsigned)max);
  }
  if (in->at != in->end) return raise_unknown(text);
  out->lanes = (uint16_t)(is_scalable ? -(int32_t)n : (int32_t)n);
  return 0;
}

/* Without digits, or with 0, the bits of *out stay unchanged. */
static int read_bits_and_lanes(TVMFFIByteArray text, reader *in, DLDataType *out) {
  uint32_t bits;
  if (read_number(in, 255, &bits) && bits > 255) {
    return fh_error_raise(FH_VALUE_ERROR, "Bits out of range in dtype `%.*s`: expected at most 255",
                          FH_BYTES_ARGS(text));
  }
  if (bits != 0) out->bits = (uint8_t)bits;
  return read_lanes(text, in, out);
}

/* ---- Custom types ---- */

/* Calls one of the two functions for custom types. The caller owns *result. */
static int call_custom(const char *name, const TVMFFIAny *arg, TVMFFIAny *result) {
  TVMFFIObjectHandle func;
  if (!fh_global_find(fh_base_bytes(name), &func)) {
    return fh_error_raise(FH_VALUE_ERROR, "Expected a global function `%s` for custom data types but there is none",
                          name);
  }
  int rc = fh_function_call(func, arg, 1, result);
  fh_object_release(func);
  return rc;
}

/* Reads the rest of "custom[name]" after "custom[". */
static int parse_custom(TVMFFIByteArray text, reader *in, DLDataType *out) {
  TVMFFIAny name, code;
  const char *start = in->at;
  while (in->at < in->end && *in->at != ']') ++in->at;
  if (in->at == in->end) {
    return fh_error_raise(FH_VALUE_ERROR, "Expected `]` after the name of a custom type in dtype `%.*s`",
                          FH_BYTES_ARGS(text));
  }
  if (fh_str_new(start, (size_t)(in->at - start), &name) != 0) return -1;
  in->at += 1;
  int rc = call_custom(GET_CODE, &name, &code);
  fh_any_drop(&name);
  if (rc != 0) return -1;
  if (code.type_index != kTVMFFIInt || code.v_int64 < 0 || code.v_int64 > 255) {
    fh_any_drop(&code);
    return fh_error_raise(FH_VALUE_ERROR, "Expected `" GET_CODE "` to return a code from 0 to 255 for dtype `%.*s`",
                          FH_BYTES_ARGS(text));
  }
  out->code = (uint8_t)code.v_int64;
  out->bits = 32;
  return read_bits_and_lanes(text, in, out);
}

/* ---- Parsing ---- */

/* Reads a short form and returns its full form; "" with nothing read if there is none, and then a full name must
 * follow. */
static const char *skip_alias(reader *in) {
  for (size_t i = 0; i < FH_COUNT_OF(aliases); ++i) {
    reader after = *in;
    if (!skip(&after, aliases[i].alias)) continue;
    if (aliases[i].needs_digit && (after.at == after.end || !is_digit(*after.at))) continue;
    *in = after;
    return aliases[i].name;
  }
  return "";
}

/* Reads the rest of a type's name after a short form, whose full form is `prefix`. NULL for an unknown name. */
static const named_type *skip_type(reader *in, const char *prefix) {
  size_t n_prefix = strlen(prefix);
  for (size_t i = 0; i < FH_COUNT_OF(types); ++i) {
    if (strncmp(types[i].name, prefix, n_prefix) == 0 && skip(in, types[i].name + n_prefix)) return &types[i];
  }
  return NULL;
}

int fh_dtype_parse(TVMFFIByteArray text, DLDataType *out) {
  reader in = {text.data, text.data + text.size};
  DLDataType dtype = {kDLOpaqueHandle, 0, 0};
  int rc = 0;
  if (text.size != 0 && !fh_span_is(text, "void")) {
    const named_type *type = NULL;
    if (skip(&in, "custom[")) {
      rc = parse_custom(text, &in, &dtype);
    } else if ((type = skip_type(&in, skip_alias(&in))) == NULL) {
      rc = raise_unknown(text);
    } else {
      dtype.code = type->code;
      dtype.bits = type->bits;
      /* PyTorch writes "float4_e2m1fn_x2" for two such numbers in a byte. */
      if (type->code == kDLFloat4_e2m1fn && in.end - in.at > 1 && in.at[1] == 'x') skip(&in, "_");
      rc = type->bits_follow ? read_bits_and_lanes(text, &in, &dtype) : read_lanes(text, &in, &dtype);
    }
  }
  if (rc == 0) *out = dtype;
  return rc;
}

int TVMFFIDataTypeFromString(const TVMFFIByteArray *str, DLDataType *out) {
  return fh_str_check_bytes("the name of a data type", *str) != 0 ? -1 : fh_dtype_parse(*str, out);
}

/* ---- Printing ---- */

/* Writes the lanes in the form that read_lanes reads; nothing for one lane. */
static int print_lanes(char *buffer, size_t n_max, uint16_t stored) {
  int lanes = (int16_t)stored;
  if (lanes < 0) return snprintf(buffer, n_max, "xvscalex%d", -lanes);
  return lanes > 1 ? snprintf(buffer, n_max, "x%d", lanes) : 0;
}

/* As fh_dtype_print. The name comes from foreign code, so its length is checked. */
static int print_custom(DLDataType dtype, const char *suffix, TVMFFIAny *out) {
  TVMFFIAny code = fh_any_int(dtype.code), name;
  TVMFFIByteArray text;
  char buffer[256];
  if (call_custom(GET_NAME, &code, &name) != 0) return -1;
  int n = -1;
  if (fh_str_content(&name, &text)) {
    char bits[8] = ""; /* parsing treats a missing number as 32 */
    if (dtype.bits != 32) snprintf(bits, sizeof(bits), "%d", (int)dtype.bits);
    n = snprintf(buffer, sizeof(buffer), "custom[%.*s]%s%s", FH_BYTES_ARGS(text), bits, suffix);
  }
  fh_any_drop(&name);
  if (n < 0 || (size_t)n >= sizeof(buffer)) {
    return fh_error_raise(FH_VALUE_ERROR, "Expected `" GET_NAME "` to return a short name for code %d",
                          (int)dtype.code);
  }
  return fh_str_new(buffer, (size_t)n, out);
}

int fh_dtype_print(DLDataType dtype, TVMFFIAny *out) {
  char suffix[24] = "", buffer[64];
  if (dtype.code == kDLOpaqueHandle) {
    return fh_str_from_cstr(dtype.bits == 0 && dtype.lanes == 0 ? "" : "handle", out);
  }
  print_lanes(suffix, sizeof(suffix), dtype.lanes);
  if (dtype.code >= CUSTOM_BEGIN) return print_custom(dtype, suffix, out);
  for (size_t i = 0; i < FH_COUNT_OF(types); ++i) {
    if (types[i].code != dtype.code) continue;
    /* "bool" is printed without its usual 8 bits. */
    bool has_bits = types[i].bits_follow && !(dtype.code == kDLBool && dtype.bits == 8);
    int n = has_bits ? snprintf(buffer, sizeof(buffer), "%s%d%s", types[i].name, (int)dtype.bits, suffix)
                     : snprintf(buffer, sizeof(buffer), "%s%s", types[i].name, suffix);
    return fh_str_new(buffer, (size_t)n, out);
  }
  return fh_error_raise(FH_VALUE_ERROR, "Unknown dtype code %d", (int)dtype.code);
}

int TVMFFIDataTypeToString(const DLDataType *dtype, TVMFFIAny *out) {
  *out = fh_any_none();
  return fh_dtype_print(*dtype, out);
}

/* --- devices ----------------------------------------------------------------------------------------------------- */

/* Names of devices: the name of DLPack's device type, a colon, the device's number. */

/* By device type. A number that DLPack does not define leaves a gap, which is NULL. */
static const char *const names[] = {
    [kDLCPU] = "cpu",
    [kDLCUDA] = "cuda",
    [kDLCUDAHost] = "cuda_host",
    [kDLOpenCL] = "opencl",
    [kDLVulkan] = "vulkan",
    [kDLMetal] = "metal",
    [kDLVPI] = "vpi",
    [kDLROCM] = "rocm",
    [kDLROCMHost] = "rocm_host",
    [kDLExtDev] = "ext_dev",
    [kDLCUDAManaged] = "cuda_managed",
    [kDLOneAPI] = "oneapi",
    [kDLWebGPU] = "webgpu",
    [kDLHexagon] = "hexagon",
    [kDLMAIA] = "maia",
    [kDLTrn] = "trn",
};

/* NULL for a number without a name. */
static const char *type_name(int32_t device_type) {
  size_t i = (size_t)device_type; /* a negative number becomes too large */
  return i < FH_COUNT_OF(names) ? names[i] : NULL;
}

void fh_device_print(DLDevice device, char *buffer) {
  /* An unknown device of a later DLPack is printed by its number: printing a value must not fail. */
  const char *name = type_name((int32_t)device.device_type);
  if (name == NULL) {
    snprintf(buffer, FH_DEVICE_TEXT_MAX, "unknown(%d):%d", (int)device.device_type, (int)device.device_id);
  } else {
    snprintf(buffer, FH_DEVICE_TEXT_MAX, "%s:%d", name, (int)device.device_id);
  }
}
