/* The context of HPy 0.9.0, followed by the ten entries that HPy's master has added since.
 *
 * The offsets of the 0.9.0 table are unchanged. A module finds the new entries with fhpy_appended_find(). */
#pragma once

#include "extension.h"

/* The value of HPyType_BuiltinShape on master. Such types have the struct of ctx_AsStruct_Dict and the base
 * h_DictType. */
#define FHPY_BUILTIN_SHAPE_DICT ((HPyType_BuiltinShape)7)

/* Unless stated otherwise an entry borrows its arguments and returns a new handle, or HPy_NULL or -1 with an exception
 * raised. */
typedef struct FhpyContext {
  HPyContext base;
  HPy h_DictType;
  void *(*ctx_AsStruct_Dict)(HPyContext *ctx, HPy h); /* does not check the type */
  /* An index out of range is clamped to the nearest end. */
  int (*ctx_List_Insert)(HPyContext *ctx, HPy list, HPy_ssize_t index, HPy item);
  HPy (*ctx_GetSlice)(HPyContext *ctx, HPy sequence, HPy_ssize_t start, HPy_ssize_t end);
  int (*ctx_SetSlice)(HPyContext *ctx, HPy sequence, HPy_ssize_t start, HPy_ssize_t end, HPy value);
  int (*ctx_DelSlice)(HPyContext *ctx, HPy sequence, HPy_ssize_t start, HPy_ssize_t end);
  HPy (*ctx_GetIter)(HPyContext *ctx, HPy h);
  /* HPy_NULL without an exception at the end; TypeError for an object that is not an iterator. */
  HPy (*ctx_Iter_Next)(HPyContext *ctx, HPy iterator);
  int (*ctx_Iter_Check)(HPyContext *ctx, HPy h);
  /* HPy_NULL means None. */
  HPy (*ctx_Slice_New)(HPyContext *ctx, HPy start, HPy stop, HPy step);
} FhpyContext;

_Static_assert(offsetof(FhpyContext, h_DictType) == sizeof(HPyContext), "nothing lies before the appended entries");

/* Returns ctx as a context with the appended entries; the contexts of debug and trace mode have them, too. NULL if ctx
 * belongs to another implementation. */
static inline const FhpyContext *fhpy_appended_find(const HPyContext *ctx) {
  bool is_ours = fhpy_extension_find(ctx) != NULL || fhpy_is_mode(ctx);
  return is_ours ? (const FhpyContext *)(const void *)ctx : NULL;
}
