/* The table of the formats in messages.h. */
#include "messages.h"

/* Arrays, because each pointer would need a relocation when the binary is loaded. */
static const struct {
  char name[20], format[80];
} messages[] = {
    {"NOT_FROM_NEW", FB_MESSAGE_NOT_FROM_NEW},
    {"NOT_A_TYPE", FB_MESSAGE_NOT_A_TYPE},
    {"NOT_A_SUBTYPE", FB_MESSAGE_NOT_A_SUBTYPE},
    {"FINAL", FB_MESSAGE_FINAL},
    {"TOO_MANY", FB_MESSAGE_TOO_MANY},
    {"UNEXPECTED", FB_MESSAGE_UNEXPECTED},
    {"TWICE", FB_MESSAGE_TWICE},
    {"MISSING", FB_MESSAGE_MISSING},
    {"ARGUMENT", FB_MESSAGE_ARGUMENT},
    {"NOT_A_STR", FB_MESSAGE_NOT_A_STR},
    {"SURROGATES", FB_MESSAGE_SURROGATES},
    {"NOT_AN_INT", FB_MESSAGE_NOT_AN_INT},
    {"NOT_A_FLOAT", FB_MESSAGE_NOT_A_FLOAT},
    {"TOO_DEEP", FB_MESSAGE_TOO_DEEP},
    {"NO_HANDLE", FB_MESSAGE_NO_HANDLE},
    {"OTHER_TYPE", FB_MESSAGE_OTHER_TYPE},
    {"IN_USE", FB_MESSAGE_IN_USE},
    {"KEEPS_HANDLE", FB_MESSAGE_KEEPS_HANDLE},
    {"FUNCTIONS_ONLY", FB_MESSAGE_FUNCTIONS_ONLY},
    {"NO_ERROR", FB_MESSAGE_NO_ERROR},
    {"NO_EXCEPTION", FB_MESSAGE_NO_EXCEPTION},
    {"NOT_AN_OBJECT", FB_MESSAGE_NOT_AN_OBJECT},
    {"RETURN_VALUE", FB_MESSAGE_RETURN_VALUE},
    {"NOT_DELETED", FB_MESSAGE_NOT_DELETED},
    {"NOT_SET", FB_MESSAGE_NOT_SET},
    {"FROZEN", FB_MESSAGE_FROZEN},
    {"OTHER_CLASS", FB_MESSAGE_OTHER_CLASS},
    {"NOT_AN_INSTANCE", FB_MESSAGE_NOT_AN_INSTANCE},
    {"NOT_CONTIGUOUS", FB_MESSAGE_NOT_CONTIGUOUS},
    {"NOTHING_MADE", FB_MESSAGE_NOTHING_MADE},
};

FB_METHOD_NOARGS(fb_messages_get, "messages", "Formats of error messages, by name.") {
  HPy formats = HPyDict_New(ctx);
  for (size_t i = 0; !HPy_IsNull(formats) && i < sizeof(messages) / sizeof(messages[0]); ++i) {
    HPy format = HPyUnicode_FromString(ctx, messages[i].format);
    int rc = HPy_IsNull(format) ? -1 : HPy_SetItem_s(ctx, formats, messages[i].name, format);
    if (!HPy_IsNull(format)) HPy_Close(ctx, format);
    if (rc == 0) continue;
    HPy_Close(ctx, formats);
    formats = HPy_NULL;
  }
  return formats;
}
