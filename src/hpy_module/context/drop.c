/* Releases values while an exception is raised, and saves the exception around the release. */
#include "drop.h"

#include "later.h"
#include "raised.h"

/* Defers the decref of an object until Python code asks for it, if the cffi backend runs. Returns false if it
 * cannot. */
static bool wait_for_later(TVMFFIObjectHandle object) {
  FbLater *later = fb_later_is_used ? fb_later_new((int64_t)(intptr_t)object, FB_LATER_OBJECT) : NULL;
  if (later != NULL) fb_later_push(later);
  return later != NULL;
}

void fb_drop_aside(TVMFFIObjectHandle object) {
  if (object == NULL) return;
  if (FH_LIKELY(!fb_raised_is())) {
    TVMFFIObjectDecRef(object);
    return;
  }
  if (!fb_raised_can_take() && wait_for_later(object)) return;
  FbRaised raised;
  fb_raised_take(&raised);
  TVMFFIObjectDecRef(object);
  fb_raised_put(&raised);
}

void fb_drop_managed(DLManagedTensor *tensor) {
  if (tensor->deleter == NULL) return;
  FbRaised raised;
  fb_raised_take(&raised);
  tensor->deleter(tensor);
  fb_raised_put(&raised);
}

void fb_drop_versioned(DLManagedTensorVersioned *tensor) {
  if (tensor->deleter == NULL) return;
  FbRaised raised;
  fb_raised_take(&raised);
  tensor->deleter(tensor);
  fb_raised_put(&raised);
}

void fb_drop_handle(HPyContext *ctx, HPy h) {
  FbRaised raised;
  fb_raised_take(&raised);
  HPy_Close(ctx, h);
  fb_raised_put(&raised);
}
