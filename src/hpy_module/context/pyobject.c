/* The interpreter's object pointers, in contexts where handles are not object pointers. */
#include "pyobject.h"

#include <stdint.h>

#include "core/platform/system.h"
#include "raise.h"
#include "thread.h"

void fb_pyobject_release(void *object) {
  /* Looked up each time: only debug modes call this function. */
  void *symbol = fh_loader_find_anywhere("Py_DecRef");
  if (symbol == NULL) symbol = fh_loader_find_anywhere("PyPy_DecRef"); /* all names of PyPy 8 have this prefix */
  void (*release)(void *);
  memcpy(&release, &symbol, sizeof(release));
  if (release != NULL) release(object);
}

HPy fb_pyobject_translate(HPyContext *ctx, void *object) {
  /* makes its own reference, so the caller's reference must be released */
  HPy h = HPy_FromPyObject(ctx, object);
  fb_pyobject_release(object);
  return h;
}

/* --- pointers from the cffi backend ------------------------------------------------------------------------------ */

void *fb_lent_arg(HPyContext *ctx, HPy h, const char *method) {
  if (!fb_thread_has_cffi_backend) {
    fb_raise(ctx, ctx->h_TypeError, "%s is for the package's own Python code on PyPy", method);
    return NULL;
  }
  void *address = HPyLong_AsVoidPtr(ctx, h);
  if (address == NULL && !HPyErr_Occurred(ctx)) fb_raise(ctx, ctx->h_TypeError, "%s expected an address", method);
  return address;
}
