/* signature.c - the parameters of bound functions in words: their ranges, their classes, and whole signatures. */
#include "signature.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/object/any.h"
#include "core/object/any_own.h"
#include "core/object/bigint.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/global.h"
#include "core/object/str.h"
#include "core/object/type.h"
#include "sequence.h"

/* --- ranges of numbers -------------------------------------------------------------------------------------------- */

/* The numbers that a parameter of a bound function accepts. */

/* The sizes after the sizes of integers: see FFI_HPY_TYPE_SIZE_SHIFT. */
enum { SIZE_OF_FLOAT = 5, SIZE_OF_DOUBLE = 6 };

static uint32_t size_of(const ffi_hpy_param *param) { return (param->flags >> FFI_HPY_PARAM_SIZE_SHIFT) & 7; }

/* The number of bits of an integer parameter; 0 for any other parameter. */
static uint32_t bits_of(const ffi_hpy_param *param) {
  uint32_t size = size_of(param);
  return size == 0 || size >= SIZE_OF_FLOAT ? 0 : 4u << size;
}

static bool is_unsigned(const ffi_hpy_param *param) { return (param->flags & kFfiHpyParamUnsigned) != 0; }

static int64_t least(const ffi_hpy_param *param) {
  return is_unsigned(param) ? 0 : (int64_t)(UINT64_MAX << (bits_of(param) - 1));
}

static uint64_t greatest(const ffi_hpy_param *param) {
  return UINT64_MAX >> (64 - bits_of(param) + (is_unsigned(param) ? 0 : 1));
}

uint32_t fh_range_flags(uint8_t type_flags) {
  uint32_t size = type_flags >> FFI_HPY_TYPE_SIZE_SHIFT;
  return size << FFI_HPY_PARAM_SIZE_SHIFT | ((type_flags & kFfiHpyTypeUnsigned) != 0 ? kFfiHpyParamUnsigned : 0);
}

uint8_t fh_range_type_flags(const ffi_hpy_param *param) {
  return (uint8_t)(size_of(param) << FFI_HPY_TYPE_SIZE_SHIFT | (is_unsigned(param) ? kFfiHpyTypeUnsigned : 0));
}

bool fh_range_is_number(const ffi_hpy_param *param) { return size_of(param) != 0; }

bool fh_range_is_of_enum(const ffi_hpy_param *param, const TVMFFIAny *arg) {
  return size_of(param) == 0 && is_unsigned(param) &&
         (arg->type_index == kTVMFFIInt || arg->type_index == kTVMFFIBigInt);
}

static const fh_bigint_object *as_bigint(const TVMFFIAny *arg) {
  return arg->type_index == kTVMFFIBigInt ? (const fh_bigint_object *)(const void *)arg->v_obj : NULL;
}

/* The nearest double, or an infinite one. */
static double to_double(const fh_bigint_object *big) {
  double number = (double)big->words[big->n_words - 1]; /* two's complement, the lowest word first */
  for (size_t i = big->n_words - 1; i-- > 0;) number = number * 0x1p64 + (double)(uint64_t)big->words[i];
  return number;
}

/* Whether a finite number becomes infinite as a float or double. */
static bool is_too_large(const ffi_hpy_param *param, const TVMFFIAny *arg) {
  const fh_bigint_object *big = as_bigint(arg);
  if (big == NULL && (arg->type_index != kTVMFFIFloat || isinf(arg->v_float64))) return false;
  double number = big != NULL ? to_double(big) : arg->v_float64;
  return size_of(param) == SIZE_OF_FLOAT ? isinf((float)number) : isinf(number);
}

bool fh_range_excludes(const ffi_hpy_param *param, const TVMFFIAny *arg) {
  if (size_of(param) >= SIZE_OF_FLOAT) return is_too_large(param, arg);
  if (bits_of(param) == 0) return false;
  if (arg->type_index == kTVMFFIInt) {
    int64_t number = arg->v_int64;
    return number < 0 ? number < least(param) : (uint64_t)number > greatest(param);
  }
  const fh_bigint_object *big = as_bigint(arg);
  if (big == NULL) return false;
  bool fits_64_bits = big->n_words == 2 && big->words[1] == 0; /* and is not an int64 */
  return !fits_64_bits || (uint64_t)big->words[0] > greatest(param);
}

int fh_range_add_number(fh_text *text, const TVMFFIAny *arg) {
  const fh_bigint_object *big = as_bigint(arg);
  if (big != NULL && big->n_words > 64)
    return fh_text_add_format(text, "an integer of more than %zu bits", (big->n_words - 1) * 64);
  if (big != NULL) return fh_text_add_bigint(text, big->words, big->n_words);
  if (arg->type_index != kTVMFFIFloat) return fh_text_add_bigint(text, &arg->v_int64, 1);
  char shown[32];
  int n_digits = 0;
  do { /* the shortest text that reads as the same double */
    snprintf(shown, sizeof(shown), "%.*g", ++n_digits, arg->v_float64);
  } while (n_digits < 17 && strtod(shown, NULL) != arg->v_float64);
  return fh_text_add_float(text, arg->v_float64, n_digits);
}

int fh_range_add_text(fh_text *text, const ffi_hpy_param *param, const TVMFFIAny *arg) {
  int rc = fh_range_add_number(text, arg);
  if (size_of(param) >= SIZE_OF_FLOAT) {
    const char *type = size_of(param) == SIZE_OF_FLOAT ? "float" : "double";
    return rc | fh_text_add_format(text, ", which is outside the range of a %s", type);
  }
  return rc | fh_text_add_format(text, ", which is outside the range %lld to %llu", (long long)least(param),
                                 (unsigned long long)greatest(param));
}

int fh_range_check_default(const char *function, const ffi_hpy_param *param) {
  if ((param->flags & kFfiHpyParamHasDefault) == 0 || !fh_range_excludes(param, &param->default_value)) return 0;
  fh_text text = {0};
  if (fh_range_add_text(&text, param, &param->default_value) == 0) {
    (void)fh_error_raise("OverflowError", "`%s`: parameter `%s`: the default is %.*s", function, param->name,
                         (int)text.n_bytes, text.data);
  }
  fh_text_free(&text);
  return -1;
}

/* --- classes of arguments ----------------------------------------------------------------------------------------- */

/* The class of an argument in Python's words. */

/* Adds the class of a Python object, array, callable, List or Dict, or of an object that may be of a subclass in
 * Python, as only the package knows it. */
static int add_python_class(fh_text *text, const TVMFFIAny *arg) {
  TVMFFIObjectHandle function;
  TVMFFIAny name = fh_any_none();
  TVMFFIByteArray content;
  if (!fh_global_find(fh_base_bytes("ffi_hpy.class_name"), &function)) {
    bool is_of_python = arg->type_index == kTVMFFITensor || arg->type_index == kTVMFFIOpaquePyObject;
    return fh_text_add_cstr(text, is_of_python ? "object" : fh_type_name(arg->type_index));
  }
  int rc = fh_function_call(function, arg, 1, &name);
  fh_object_release(function);
  if (rc == 0) {
    if (!fh_str_content(&name, &content)) content = fh_base_bytes(fh_type_name(arg->type_index));
    rc = fh_text_add(text, content.data, content.size);
  }
  fh_any_drop(&name);
  return rc;
}

int fh_argument_class_add(fh_text *text, const TVMFFIAny *arg) {
  switch (arg->type_index) {
  case kTVMFFIRawStr:
  case kTVMFFISmallStr:
  case kTVMFFIStr: return fh_text_add_cstr(text, "str");
  case kTVMFFIByteArrayPtr:
  case kTVMFFISmallBytes: return fh_text_add_cstr(text, "bytes");
  case kTVMFFIBytes:
    return fh_text_add_cstr(text, arg->v_obj->__padding == FFI_HPY_MADE_OF_MEMORYVIEW ? "memoryview" : "bytes");
  case kTVMFFIBigInt: return fh_text_add_cstr(text, "int");
  case kTVMFFIArray: return fh_text_add_cstr(text, arg->v_obj->__padding == FFI_HPY_MADE_OF_TUPLE ? "tuple" : "list");
  case kTVMFFIMap: return fh_text_add_cstr(text, "dict");
  case kTVMFFIDataType: return fh_text_add_cstr(text, "ffi_hpy.dtype");
  case kTVMFFIDevice: return fh_text_add_cstr(text, "ffi_hpy.Device");
  case kTVMFFIOpaquePtr: return fh_text_add_cstr(text, "ctypes.c_void_p");
  case kTVMFFITensor:
  case kTVMFFIFunction:
  case kTVMFFIList:
  case kTVMFFIDict:
  case kTVMFFIError:
  case kTVMFFIShape:
  case kTVMFFIOpaquePyObject: return add_python_class(text, arg);
  default: {
    const char *name = fh_sequence_class_name(arg->type_index);
    if (name == NULL && arg->type_index >= kTVMFFIDynObjectBegin) return add_python_class(text, arg);
    return fh_text_add_cstr(text, name != NULL ? name : fh_type_name(arg->type_index));
  }
  }
}

/* --- signatures --------------------------------------------------------------------------------------------------- */

/* The text and the metadata of a bound function, from the types in Python's words. */

/* A part of a string. */
typedef struct {
  const char *begin, *end;
} part;

static part part_of(const char *text) { return (part){text, text + strlen(text)}; }
static size_t length_of(part text) { return (size_t)(text.end - text.begin); }
static bool is_text(part text, const char *other) {
  return length_of(text) == strlen(other) && memcmp(text.begin, other, length_of(text)) == 0;
}
static part trimmed(part text) {
  while (text.begin < text.end && *text.begin == ' ') ++text.begin;
  while (text.begin < text.end && text.end[-1] == ' ') --text.end;
  return text;
}

/* Takes the text up to a character outside of brackets, or all of it, from the front of *rest. False at the end. */
static bool next_part(part *rest, char separator, part *out) {
  if (rest->begin == NULL) return false;
  int depth = 0;
  const char *p = rest->begin;
  for (; p < rest->end; ++p) {
    if (*p == '[' || *p == '(') ++depth;
    if (*p == ']' || *p == ')') --depth;
    if (*p == separator && depth == 0) break;
  }
  *out = trimmed((part){rest->begin, p});
  rest->begin = p < rest->end ? p + 1 : NULL;
  return true;
}

/* The type of the result (0) or of a parameter. */
static part type_of(const ffi_hpy_function_spec *spec, uint32_t i) {
  part rest = part_of(spec->types), found = rest;
  while (next_part(&rest, '\n', &found) && i-- > 0) continue;
  return found;
}

/* Whether None is an argument, and the text of the type lacks None. */
static bool adds_none(const ffi_hpy_param *param, part type) {
  bool says_so = false;
  part each;
  for (part rest = type; next_part(&rest, '|', &each);) says_so |= is_text(each, "None");
  return (param->flags & kFfiHpyCastAcceptsNone) != 0 && !says_so;
}

/* --- the signature ------------------------------------------------------------------------------------------------ */

/* Whether a parameter is the object of a method. */
static bool is_self(const ffi_hpy_param *params, uint32_t i) {
  return i == 0 && params[0].name != NULL && strcmp(params[0].name, "self") == 0;
}

int fh_signature_add_name(fh_text *text, const ffi_hpy_param *params, uint32_t n_params, uint32_t i) {
  const ffi_hpy_param *param = &params[i];
  uint32_t n_hidden = is_self(params, 0);
  if (param->name != NULL) return fh_text_add_cstr(text, param->name);
  if (param->flags & kFfiHpyParamArgs) return fh_text_add_cstr(text, "args");
  if (param->flags & kFfiHpyParamKwargs) return fh_text_add_cstr(text, "kwargs");
  if (n_params == n_hidden + 1) return fh_text_add_cstr(text, "arg");
  return fh_text_add_format(text, "arg%u", (unsigned)(i - n_hidden));
}

static int add_param(fh_text *text, const ffi_hpy_function_spec *spec, const ffi_hpy_param *params, uint32_t i) {
  const ffi_hpy_param *param = &params[i];
  int rc = 0;
  bool is_rest = (param->flags & (kFfiHpyParamArgs | kFfiHpyParamKwargs)) != 0;
  if (is_rest) rc |= fh_text_add_cstr(text, param->flags & kFfiHpyParamArgs ? "*" : "**");
  rc |= fh_signature_add_name(text, params, spec->n_params, i);
  if (is_rest || is_self(params, i)) return rc;
  part type = type_of(spec, i + 1);
  rc |= fh_text_add_cstr(text, ": ");
  rc |= fh_text_add(text, type.begin, length_of(type));
  if (adds_none(param, type)) rc |= fh_text_add_cstr(text, " | None");
  if (param->shown != NULL) {
    rc |= fh_text_add_cstr(text, " = ");
    rc |= fh_text_add_cstr(text, param->shown);
  }
  return rc;
}

/* The number of parameters before the `/`: those by position, unless one of them has a name. */
static uint32_t count_by_position(const ffi_hpy_function_spec *spec, const ffi_hpy_param *params) {
  enum { NOT_BY_POSITION = kFfiHpyParamArgs | kFfiHpyParamKwargs | kFfiHpyParamByNameOnly };
  uint32_t i = spec->n_params != 0 && is_self(params, 0), n_hidden = i;
  for (; i < spec->n_params && (params[i].flags & NOT_BY_POSITION) == 0; ++i) {
    if (params[i].name != NULL) return 0;
  }
  return i == n_hidden ? 0 : i;
}

/* The author's signature: its last line, which others precede, such as decorators. */
static int add_given(fh_text *text, const char *signature) {
  const char *line = strrchr(signature, '\n');
  line = line != NULL ? line + 1 : signature;
  return fh_text_add_cstr(text, line + (strncmp(line, "def ", 4) == 0 ? 4 : 0));
}

int fh_signature_add_text(fh_text *text, const ffi_hpy_function_spec *spec, const ffi_hpy_param *params) {
  if (spec->signature != NULL) return add_given(text, spec->signature);
  int rc = fh_text_add_cstr(text, spec->name);
  rc |= fh_text_add_cstr(text, "(");
  bool has_star = false;
  uint32_t n_by_position = count_by_position(spec, params);
  for (uint32_t i = 0; i < spec->n_params; ++i) {
    rc |= fh_text_add_cstr(text, i == 0 ? "" : ", ");
    has_star |= (params[i].flags & kFfiHpyParamArgs) != 0;
    if ((params[i].flags & kFfiHpyParamByNameOnly) != 0 && !has_star) {
      rc |= fh_text_add_cstr(text, "*, ");
      has_star = true;
    }
    rc |= add_param(text, spec, params, i);
    if (i + 1 == n_by_position) rc |= fh_text_add_cstr(text, ", /");
  }
  part result = type_of(spec, 0);
  rc |= fh_text_add_cstr(text, ") -> ");
  return rc | fh_text_add(text, result.begin, length_of(result));
}

/* --- the metadata ------------------------------------------------------------------------------------------------- */

static int add_json_string(fh_text *text, part content) {
  int rc = fh_text_add_cstr(text, "\"");
  for (const char *p = content.begin; p < content.end; ++p) {
    if ((unsigned char)*p < 0x20) {
      rc |= fh_text_add_format(text, "\\u%04x", (unsigned)*p);
    } else {
      if (*p == '"' || *p == '\\') rc |= fh_text_add_cstr(text, "\\");
      rc |= fh_text_add(text, p, 1);
    }
  }
  return rc | fh_text_add_cstr(text, "\"");
}

static int add_schema(fh_text *text, part type);

static int add_schemas(fh_text *text, part types) {
  int rc = 0;
  part each;
  bool is_first = true;
  bool is_empty = length_of(types) == 0 || is_text(types, "()"); /* tuple[()] */
  for (part rest = types; !is_empty && next_part(&rest, ',', &each); is_first = false) {
    rc |= fh_text_add_cstr(text, is_first ? "" : ",");
    rc |= add_schema(text, each);
  }
  return rc;
}

/* `[[A, B], R]` of a Callable, without the outer brackets. */
static int add_callable(fh_text *text, part inner) {
  part params, result, rest = inner;
  if (!next_part(&rest, ',', &params) || !next_part(&rest, ',', &result) || length_of(params) < 2) {
    return fh_text_add_cstr(text, "{\"type\":\"ffi.Function\"}");
  }
  int rc = fh_text_add_cstr(text, "{\"type\":\"ffi.Function\",\"named_args\":{\"return\":[");
  rc |= add_schema(text, result);
  rc |= fh_text_add_cstr(text, "],\"params\":[");
  if (*params.begin == '[') rc |= add_schemas(text, (part){params.begin + 1, params.end - 1});
  return rc | fh_text_add_cstr(text, "]}}");
}

/* A type that is not a union: `name` or `name[arguments]`. */
static int add_one(fh_text *text, part type) {
  const char *bracket = (const char *)memchr(type.begin, '[', length_of(type));
  bool has_args = bracket != NULL && type.end[-1] == ']';
  part name = {type.begin, has_args ? bracket : type.end};
  part inner = has_args ? (part){bracket + 1, type.end - 1} : (part){type.end, type.end};
  if (is_text(name, "collections.abc.Callable") || is_text(name, "Callable")) return add_callable(text, inner);
  if (is_text(name, "object") || is_text(name, "typing.Any")) name = part_of("Any");
  int rc = fh_text_add_cstr(text, "{\"type\":");
  rc |= add_json_string(text, name);
  part rest = inner, first;
  bool has_form = next_part(&rest, '=', &first) && rest.begin != NULL; /* of an array: `ndarray[dtype=float32]` */
  bool is_open = length_of(inner) >= 3 && memcmp(inner.end - 3, "...", 3) == 0; /* tuple[int, ...] */
  bool has_types = length_of(inner) != 0 && !has_form && !is_open;
  if (has_types || (has_args && !is_open && is_text(name, "tuple"))) {
    rc |= fh_text_add_cstr(text, ",\"args\":[");
    rc |= add_schemas(text, inner);
    rc |= fh_text_add_cstr(text, "]");
  }
  if (has_form) {
    rc |= fh_text_add_cstr(text, ",\"array\":");
    rc |= add_json_string(text, (part){bracket, type.end});
  }
  return rc | fh_text_add_cstr(text, "}");
}

static int add_schema(fh_text *text, part type) {
  part each, rest = type;
  uint32_t n = 0, n_none = 0;
  while (next_part(&rest, '|', &each)) {
    ++n;
    n_none += is_text(each, "None");
  }
  if (n == 1) return add_one(text, type);
  bool is_optional = n == 2 && n_none == 1;
  int rc = fh_text_add_cstr(text, is_optional ? "{\"type\":\"Optional\",\"args\":[" : "{\"type\":\"Union\",\"args\":[");
  bool is_first = true;
  for (rest = type; next_part(&rest, '|', &each);) {
    if (is_optional && is_text(each, "None")) continue;
    rc |= fh_text_add_cstr(text, is_first ? "" : ",");
    rc |= add_one(text, each);
    is_first = false;
  }
  return rc | fh_text_add_cstr(text, "]}");
}

static int add_type_schema(fh_text *text, const ffi_hpy_function_spec *spec, const ffi_hpy_param *params) {
  int rc = fh_text_add_cstr(text, "{\"type\":\"ffi.Function\",\"named_args\":{\"return\":[");
  rc |= add_schema(text, type_of(spec, 0));
  rc |= fh_text_add_cstr(text, "],\"params\":[");
  for (uint32_t i = 0; i < spec->n_params; ++i) {
    rc |= fh_text_add_cstr(text, i == 0 ? "" : ",");
    bool may_be_none = adds_none(&params[i], type_of(spec, i + 1));
    if (may_be_none) rc |= fh_text_add_cstr(text, "{\"type\":\"Optional\",\"args\":[");
    rc |= add_schema(text, type_of(spec, i + 1));
    if (may_be_none) rc |= fh_text_add_cstr(text, "]}");
  }
  return rc | fh_text_add_cstr(text, "]}}");
}

static int add_params(fh_text *text, const ffi_hpy_function_spec *spec, const ffi_hpy_param *params) {
  static const struct {
    uint32_t flag;
    const char *kind;
  } kinds[] = {{kFfiHpyParamArgs, "args"}, {kFfiHpyParamKwargs, "kwargs"}, {kFfiHpyParamByNameOnly, "keyword"}};
  int rc = fh_text_add_cstr(text, ",\"params\":[");
  for (uint32_t i = 0; i < spec->n_params; ++i) {
    rc |= fh_text_add_cstr(text, i == 0 ? "{\"name\":\"" : ",{\"name\":\"");
    rc |= fh_signature_add_name(text, params, spec->n_params, i);
    rc |= fh_text_add_cstr(text, "\"");
    if (params[i].shown != NULL) {
      rc |= fh_text_add_cstr(text, ",\"shown\":");
      rc |= add_json_string(text, part_of(params[i].shown));
      if (params[i].flags & kFfiHpyParamWritten) rc |= fh_text_add_cstr(text, ",\"written\":true");
    }
    const char *kind = params[i].name == NULL ? "positional" : NULL;
    for (size_t k = 0; k < FH_COUNT_OF(kinds); ++k) {
      if (params[i].flags & kinds[k].flag) kind = kinds[k].kind;
    }
    if (kind != NULL) rc |= fh_text_add_format(text, ",\"kind\":\"%s\"", kind);
    rc |= fh_text_add_cstr(text, "}");
  }
  return rc | fh_text_add_cstr(text, "]");
}

/* Whether a parameter that refuses conversions distinguishes the values of a class of Python from the values of derived
 * classes: a float from a numpy.float64, a str from a member of an enum that is a str. */
static bool is_exact(uint8_t type_flags, uint32_t param_flags) {
  enum { FLOAT = 5 };
  bool is_enum = type_flags >> FFI_HPY_TYPE_SIZE_SHIFT == 0 && (type_flags & kFfiHpyTypeEnum) != 0;
  bool is_float = type_flags >> FFI_HPY_TYPE_SIZE_SHIFT >= FLOAT;
  return (param_flags & kFfiHpyCastConvert) == 0 && (is_enum || is_float);
}

int fh_signature_add_metadata(fh_text *text, const ffi_hpy_function_spec *spec, const ffi_hpy_param *params,
                              const char *signature) {
  fh_text schema = {0};
  int rc = add_type_schema(&schema, spec, params);
  rc |= fh_text_add_cstr(text, "{\"type_schema\":");
  if (rc == 0) rc |= add_json_string(text, (part){schema.data, schema.data + schema.n_bytes});
  fh_text_free(&schema);
  bool is_by_core = false, takes_python = false;
  for (uint32_t i = 0; i < spec->n_params; ++i) {
    is_by_core |= (params[i].flags & (kFfiHpyParamArgs | kFfiHpyParamKwargs | kFfiHpyParamByNameOnly)) != 0;
    takes_python |=
        (spec->type_flags[i] & kFfiHpyTypeTakesPython) != 0 || is_exact(spec->type_flags[i], params[i].flags);
  }
  bool is_named = spec->n_params != 0 && params[spec->n_params - 1].name != NULL;
  if (is_named || is_by_core) rc |= add_params(text, spec, params);
  rc |= fh_text_add_cstr(text, ",\"signature\":");
  rc |= add_json_string(text, part_of(signature));
  if (spec->signature != NULL) { /* for stubs, with the lines before the last one */
    rc |= fh_text_add_cstr(text, ",\"written\":");
    rc |= add_json_string(text, part_of(spec->signature));
  }
  if (is_by_core) rc |= fh_text_add_cstr(text, ",\"named_by_function\":true");
  if (takes_python) rc |= fh_text_add_cstr(text, ",\"python_arguments\":true");
  if ((spec->flags & kFfiHpyFunctionReleasesGil) == 0) rc |= fh_text_add_cstr(text, ",\"nonblocking\":true");
  return rc | fh_text_add_cstr(text, ",\"python_results\":true}");
}
