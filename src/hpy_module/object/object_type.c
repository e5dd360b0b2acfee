/* Classes whose instances own a handle, and the destruction of such an instance.
 *
 * On PyPy 7.3 the handle is in a second object (FbObject), so the classes differ there: their structs all have one
 * size, their instances are GC-tracked, and the class _Owner has the destructor. */
#include "object_type.h"

#include "class_table.h"
#include "function_name.h"
#include "handle_cell.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/type.h"
#include "identity.h"
#include "preserve.h"
#include "type_tag.h"

bool (*fb_object_type_end_only)(TVMFFIObject *object);

/* Destroys a handle cell: the beginning of an FbObject or of an FbOwner. A destructor gets no context. The destructor
 * first removes the wrapper from the instance map, because other threads may find a registered wrapper. */
HPyDef_SLOT(object_destroy, HPy_tp_destroy)
static void object_destroy_impl(void *self) {
  FbHandleCell *cell = self;
  fb_identity_unlist_own(cell);
  if (cell->handle == NULL) return;
  /* Only a wrapper leads from a Function back to a native object. */
  if (FH_UNLIKELY(fb_identity_is_shared(cell->handle)) && fb_context_collects &&
      cell->handle->type_index != kTVMFFIFunction) {
    const FbRef *cls = fb_class_table_find(cell->handle->type_index);
    if (cls != NULL && fb_class_table_holds(cls, cell->handle->type_index)) fb_orphan_note(cell->handle);
  }
  /* The garbage collector may be running: the destructor of the native object is deferred. */
  FbDeferred *later =
      FH_UNLIKELY(fb_deferred_is_used) ? fb_deferred_new((int64_t)(intptr_t)cell->handle, FB_LATER_OBJECT) : NULL;
  if (FH_UNLIKELY(later != NULL)) {
    fb_deferred_push(later);
  } else if (fb_object_type_end_only == NULL || !fb_object_type_end_only(cell->handle)) {
    fb_drop_object(cell->handle, FB_DROP_UNKNOWN);
  }
}

/* The name belongs to a Function, which has no destructor on PyPy 7.3 (function.c). */
HPyDef_SLOT(owner_destroy, HPy_tp_destroy)
static void owner_destroy_impl(void *self) {
  object_destroy_impl(self);
  fb_function_name_give(((FbOwner *)self)->name);
}

HPyDef_SLOT(object_traverse, HPy_tp_traverse)
static int object_traverse_impl(void *self, HPyFunc_visitproc visit, void *arg) {
  HPy_VISIT(&((FbObject *)self)->owner_field);
  return 0;
}

/* Appends a slot to a spec, unless a failed import has already appended it. */
static void append(HPyType_Spec *spec, HPyDef *slot) {
  HPyDef **end = spec->defines;
  while (*end != NULL && *end != slot) ++end;
  *end = slot;
}

/* Adds the members and flags for instances with an owner. */
static void adapt_to_owner(HPyType_Spec *spec) {
  if (!fb_object_has_owner) return;
  if (spec->basicsize < FB_OBJECT_MAX_SIZE) spec->basicsize = FB_OBJECT_MAX_SIZE;
  append(spec, &object_traverse);
  spec->flags |= HPy_TPFLAGS_HAVE_GC;
}

/* Stores a new class in *own, unless it is HPy_NULL, and returns it. */
static HPy stored(HPyContext *ctx, HPy cls, FbRef *own) {
  if (HPy_IsNull(cls)) return cls;
  fb_ref_store(ctx, own, cls);
  if (fb_context_collects) fb_ext->collect(cls);
  return cls;
}

static int owner_class_init(HPyContext *ctx) {
  static HPyDef *defines[] = {&owner_destroy, NULL};
  static HPyType_Spec spec = {
      .name = "ffi_hpy._core._Owner",
      .basicsize = sizeof(FbOwner),
      .flags = HPy_TPFLAGS_DEFAULT,
      .defines = defines,
  };
  HPy cls = stored(ctx, fb_type_new(ctx, &spec, HPy_NULL), &fb_own_class_owner);
  if (HPy_IsNull(cls)) return -1;
  HPy_Close(ctx, cls);
  return 0;
}

HPy fb_object_type_base(HPyContext *ctx, HPyType_Spec *spec) {
  fb_object_has_owner = fb_context_is_pypy;
  if ((fb_object_has_owner && owner_class_init(ctx) != 0) || fb_identity_init(ctx) != 0) return HPy_NULL;
  fb_preserve_init();
  if (!fb_object_has_owner) append(spec, &object_destroy);
  adapt_to_owner(spec);
  return stored(ctx, fb_type_new(ctx, spec, HPy_NULL), &fb_own_class_object);
}

HPy fb_object_type_derive(HPyContext *ctx, HPyType_Spec *spec, HPy base, FbRef *own) {
  /* Computed before adapt_to_owner, which makes all sizes equal. */
  bool is_larger = spec->basicsize > (int)sizeof(FbObject);
  adapt_to_owner(spec);
  return stored(ctx, is_larger ? fb_type_new_larger(ctx, spec, base) : fb_type_new(ctx, spec, base), own);
}

HPy fb_object_type_plain(HPyContext *ctx, const char *name, const char *doc, HPyDef **defines, HPy base, FbRef *own) {
  HPyType_Spec spec = {
      .name = name,
      .basicsize = sizeof(FbObject),
      .flags = HPy_TPFLAGS_DEFAULT | HPy_TPFLAGS_BASETYPE,
      .builtin_shape = SHAPE(FbObject),
      .defines = defines,
      .doc = doc,
  };
  return fb_object_type_derive(ctx, &spec, base, own);
}
