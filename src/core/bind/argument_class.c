/* argument_class.c - the class of an argument in Python's words. */
#include "argument_class.h"

#include "core/object/any.h"
#include "core/object/any_own.h"
#include "core/object/function.h"
#include "core/object/global.h"
#include "core/object/str.h"
#include "core/object/type.h"
#include "sequence.h"

/* Adds the class of a Python object, which only the package knows. */
static int add_python_class(fh_text *text, const TVMFFIAny *arg) {
  TVMFFIObjectHandle function;
  TVMFFIAny name = fh_any_none();
  TVMFFIByteArray content;
  if (!fh_global_find(fh_base_bytes("ffi_hpy.class_name"), &function)) return fh_text_add_cstr(text, "object");
  int rc = fh_function_call(function, arg, 1, &name);
  fh_object_release(function);
  if (rc == 0 && fh_str_content(&name, &content)) rc = fh_text_add(text, content.data, content.size);
  fh_any_drop(&name);
  return rc;
}

int fh_argument_class_add(fh_text *text, const TVMFFIAny *arg) {
  switch (arg->type_index) {
  case kTVMFFIRawStr:
  case kTVMFFISmallStr:
  case kTVMFFIStr: return fh_text_add_cstr(text, "str");
  case kTVMFFIByteArrayPtr:
  case kTVMFFISmallBytes:
  case kTVMFFIBytes: return fh_text_add_cstr(text, "bytes");
  case kTVMFFIBigInt: return fh_text_add_cstr(text, "int");
  case kTVMFFIArray: return fh_text_add_cstr(text, "list");
  case kTVMFFIMap: return fh_text_add_cstr(text, "dict");
  case kTVMFFIOpaquePyObject: return add_python_class(text, arg);
  default: {
    const char *name = fh_sequence_class_name(arg->type_index);
    return fh_text_add_cstr(text, name != NULL ? name : fh_type_name(arg->type_index));
  }
  }
}
