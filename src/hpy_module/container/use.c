#include "use.h"

#include "rare.h"

FbHandleCell *fb_use_refuse(HPyContext *ctx, HPy self, FbHandleCell *cell) {
  fb_handle_cell_unuse(cell);
  fb_rare_run(ctx, self, "_refuse_object", HPy_NULL, HPy_NULL);
  return NULL;
}
