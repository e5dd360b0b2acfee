/* The interpreter's own object pointers, where handles are something else. */
#include "pyobject.h"

#include "core/platform/loader.h"

void fb_pyobject_release(void *object) {
  /* Looked up each time: debug modes come here, and nobody else. */
  void *symbol = fh_loader_find_anywhere("Py_DecRef");
  if (symbol == NULL) symbol = fh_loader_find_anywhere("PyPy_DecRef"); /* PyPy 8 has all names with this prefix */
  void (*release)(void *);
  memcpy(&release, &symbol, sizeof(release));
  if (release != NULL) release(object);
}

HPy fb_pyobject_translate(HPyContext *ctx, void *object) {
  /* takes a reference of its own, so that the caller's is left over */
  HPy h = HPy_FromPyObject(ctx, object);
  fb_pyobject_release(object);
  return h;
}
