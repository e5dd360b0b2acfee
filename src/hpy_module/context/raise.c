/* The binding's own exceptions. A message that is longer than the buffer is truncated: names in it may have any
 * length. */
#include "raise.h"

#include <stdarg.h>
#include <stdio.h>

#include "cut.h"

HPy fb_raise(HPyContext *ctx, HPy h_type, const char *format, ...) {
  char message[1024];
  va_list list;
  va_start(list, format);
  fb_cut_end(message, sizeof(message), vsnprintf(message, sizeof(message), format, list));
  va_end(list);
  HPyErr_SetString(ctx, h_type, message);
  return HPy_NULL;
}
