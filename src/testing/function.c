/* function.c - calls functions with a signature, and registers such functions. */
#include "function.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Calls ---- */

/* Appends the beginning of a message: `when calling: `name(0: int) -> int`. ` */
static void put_callee(const ft_function *self, ft_buffer *out) {
  ft_buffer_put(out, "when calling: `");
  ft_buffer_put(out, self->name);
  ft_type_print(&self->type, out);
  ft_buffer_put(out, "`. ");
}

static int raise_text(const char *kind, ft_buffer *text) {
  (void)ft_raise(kind, ft_buffer_text(text), (char *)NULL);
  ft_buffer_free(text);
  return -1;
}

static int wrong_count(const ft_function *self, int32_t n_args) {
  ft_buffer text = {NULL, 0, 0, 0};
  char counts[64];
  ft_buffer_put(&text, "Mismatched number of arguments ");
  put_callee(self, &text);
  snprintf(counts, sizeof(counts), "Expected %d but got %d arguments", (int)(self->type.n_args - 1), (int)n_args);
  ft_buffer_put(&text, counts);
  return raise_text("TypeError", &text);
}

static int wrong_type(const ft_function *self, int32_t i, const TVMFFIAny *arg) {
  ft_buffer text = {NULL, 0, 0, 0};
  char which[64];
  snprintf(which, sizeof(which), "Mismatched type on argument #%d ", (int)i);
  ft_buffer_put(&text, which);
  put_callee(self, &text);
  ft_buffer_put(&text, "Expected `");
  ft_type_print(&self->type.args[i + 1], &text);
  ft_buffer_put(&text, "` but got `");
  ft_accept_explain(&self->type.args[i + 1], arg, &text);
  ft_buffer_put(&text, "`");
  return raise_text("TypeError", &text);
}

int ft_function_call(const ft_function *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  ft_accepted accepted[FT_MAX_PARAMS];
  TVMFFIAny values[FT_MAX_PARAMS];
  int32_t n_accepted = 0;
  int rc = 0;
  if (self->type.kind != FT_CALLABLE) return self->body(self, args, n_args, result);
  if (n_args != self->type.n_args - 1) return wrong_count(self, n_args);
  for (; rc == 0 && n_accepted < n_args; ++n_accepted) {
    ft_verdict verdict = ft_accept(&self->type.args[n_accepted + 1], &args[n_accepted], &accepted[n_accepted]);
    if (verdict != FT_YES) {
      rc = verdict == FT_NO ? wrong_type(self, n_accepted, &args[n_accepted]) : -1;
      break;
    }
    values[n_accepted] = accepted[n_accepted].value;
  }
  if (rc == 0) rc = self->body(self, values, n_args, result);
  while (n_accepted > 0) ft_accepted_drop(&accepted[--n_accepted]);
  return rc;
}

static int call(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  return ft_function_call((const ft_function *)self, args, n_args, result);
}

int ft_function_echo(const ft_function *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)n_args;
  return TVMFFIAnyViewToOwnedAny(&args[0], result);
}

/* ---- Registration ---- */

static int fill(const char *name, const char *signature, ft_body body, const void *context, ft_function *out) {
  out->name = name;
  out->body = body;
  out->context = context;
  if (ft_type_read(signature != NULL ? signature : "ffi.Function", &out->type) != 0) return -1;
  if (out->type.n_args - 1 <= FT_MAX_PARAMS) return 0;
  return ft_raise("ValueError", "too many parameters in ", signature, (char *)NULL);
}

/* Makes a function that is never freed, because the core keeps registered functions forever. */
static const ft_function *create(const char *name, const char *signature, ft_body body, const void *context,
                                 TVMFFIAny *out) {
  TVMFFIObjectHandle handle;
  ft_function *function = (ft_function *)calloc(1, sizeof(*function));
  if (function == NULL) (void)ft_no_memory("a function");
  if (function == NULL || fill(name, signature, body, context, function) != 0) return NULL;
  if (TVMFFIFunctionCreate(function, call, NULL, &handle) != 0) return NULL;
  *out = ft_object(handle);
  return function;
}

int ft_function_new(const char *name, const char *signature, ft_body body, const void *context, TVMFFIAny *out) {
  return create(name, signature, body, context, out) != NULL ? 0 : -1;
}

/* Fills all members except name and flags. `metadata` owns the string to which *info points. */
static int describe(const char *full_name, const char *signature, ft_body body, const void *context, const char *doc,
                    const char *more, TVMFFIMethodInfo *info, ft_buffer *metadata) {
  memset(info, 0, sizeof(*info));
  memset(metadata, 0, sizeof(*metadata));
  const ft_function *function = create(full_name, signature, body, context, &info->method);
  if (function == NULL) return -1;
  ft_type_add_metadata(&function->type, more, metadata);
  info->doc = ft_text(doc != NULL ? doc : "");
  info->metadata.data = ft_buffer_text(metadata);
  info->metadata.size = metadata->size;
  return metadata->is_cut ? ft_no_memory("metadata") : 0;
}

int ft_function_add_globals(const ft_global *globals, int32_t n_globals) {
  int rc = 0;
  for (int32_t i = 0; rc == 0 && i < n_globals; ++i) {
    const ft_global *global = &globals[i];
    TVMFFIMethodInfo info;
    ft_buffer metadata;
    rc = describe(global->name, global->signature, global->body, NULL, global->doc, global->more, &info, &metadata);
    info.name = ft_text(global->name);
    if (rc == 0) rc = TVMFFIFunctionSetGlobalFromMethodInfo(&info, 0);
    ft_drop(&info.method);
    ft_buffer_free(&metadata);
  }
  return rc;
}

int ft_function_add_method(int32_t type_index, const ft_method *method, const void *context) {
  TVMFFIMethodInfo info;
  ft_buffer metadata;
  int rc = describe(method->full_name, method->signature, method->body, context, method->doc, method->more, &info,
                    &metadata);
  info.name = ft_text(method->name);
  info.flags = method->is_static ? kTVMFFIFieldFlagBitMaskIsStaticMethod : 0;
  if (rc == 0) rc = TVMFFITypeRegisterMethod(type_index, &info);
  ft_drop(&info.method);
  ft_buffer_free(&metadata);
  return rc;
}

int ft_function_add_attr(int32_t type_index, const char *attr, const char *full_name, const char *signature,
                         ft_body body, const void *context) {
  TVMFFIByteArray name = ft_text(attr);
  TVMFFIAny function;
  if (ft_function_new(full_name, signature, body, context, &function) != 0) return -1;
  int rc = TVMFFITypeRegisterAttr(type_index, &name, &function);
  ft_drop(&function);
  return rc;
}
