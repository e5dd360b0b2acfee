/* The binding's own classes. */
#include "own_class.h"

FbRef fb_own_class_object, fb_own_class_function, fb_own_class_owner;

bool fb_own_class_check(HPyContext *ctx, HPy h, const FbRef *own_class) {
  HPy cls = fb_ref_borrow(ctx, own_class);
  bool is_instance = HPy_TypeCheck(ctx, h, cls);
  fb_ref_return(ctx, cls);
  return is_instance;
}
