/* Pointers in Python objects: the interpreter's own object pointers, and capsules. */
#include "capsule.h"

#include <stdint.h>
#include <stdlib.h>

#include "core/platform/system.h"
#include "drop.h"
#include "raise.h"
#include "thread.h"

/* --- object pointers ---------------------------------------------------------------------------------------------- */

/* The interpreter's object pointers, in contexts where handles are not object pointers. */

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

/* --- capsules ----------------------------------------------------------------------------------------------------- */

/* Capsules that other libraries in the interpreter accept.
 *
 * PyPy 7.3 has two kinds of capsules: capsules of HPy, and capsules of its C API, which NumPy and other libraries
 * exchange. There this file uses the C API through the handle's PyObject. Everywhere else an HPy capsule is a C API
 * capsule. */

/* Member, symbol, result and arguments of the functions of PyPy's C API that this file uses. `release` is last:
 * pypy_api tests it to see whether all functions were found. */
#define PYPY_CAPSULE_FUNCTIONS(X)                                                              \
  X(new_, "PyPyCapsule_New", cpy_PyObject *, (void *, const char *, void (*)(cpy_PyObject *))) \
  X(is_valid, "PyPyCapsule_IsValid", int, (cpy_PyObject *, const char *))                      \
  X(get, "PyPyCapsule_GetPointer", void *, (cpy_PyObject *, const char *))                     \
  X(rename, "PyPyCapsule_SetName", int, (cpy_PyObject *, const char *))                        \
  X(name, "PyPyCapsule_GetName", const char *, (cpy_PyObject *))                               \
  X(context, "PyPyCapsule_GetContext", void *, (cpy_PyObject *))                               \
  X(keep, "PyPyCapsule_SetContext", int, (cpy_PyObject *, void *))                             \
  X(release, "PyPy_DecRef", void, (cpy_PyObject *))

#define MEMBER(field, symbol, result, arguments) result(*field) arguments;
static struct {
  PYPY_CAPSULE_FUNCTIONS(MEMBER)
} pypy;

/* Whether capsules use PyPy's C API. Looked up under the GIL until found: the symbols exist once any code has imported
 * PyPy's cpyext. */
static bool pypy_api(void) {
  if (fb_ext != NULL) return false;
  if (pypy.release != NULL) return true;
#define FIND(field, symbol, result, arguments)     \
  {                                                \
    void *found = fh_loader_find_anywhere(symbol); \
    if (found == NULL) return false;               \
    memcpy(&pypy.field, &found, sizeof(found));    \
  }
  PYPY_CAPSULE_FUNCTIONS(FIND)
  return true;
}

/* HPy_AsPyObject returns a new reference, which each of the following functions releases. */
bool fb_capsule_is_valid(HPyContext *ctx, HPy capsule, const char *name) {
  if (pypy_api()) {
    cpy_PyObject *object = HPy_AsPyObject(ctx, capsule);
    if (object == NULL) return false;
    bool valid = pypy.is_valid(object, name) != 0;
    pypy.release(object);
    return valid;
  }
  int (*is_valid)(HPyContext *, HPy, const char *);
  FB_LATE(ctx, ctx_Capsule_IsValid, is_valid);
  return is_valid(ctx, capsule, name) != 0;
}

void *fb_capsule_get(HPyContext *ctx, HPy capsule, const char *name) {
  if (pypy_api()) {
    cpy_PyObject *object = HPy_AsPyObject(ctx, capsule);
    if (object == NULL) return NULL;
    void *pointer = pypy.get(object, name);
    pypy.release(object);
    return pointer;
  }
  void *(*get)(HPyContext *, HPy, _HPyCapsule_key, const char *);
  FB_LATE(ctx, ctx_Capsule_Get, get);
  return get(ctx, capsule, HPyCapsule_key_Pointer, name);
}

int fb_capsule_rename(HPyContext *ctx, HPy capsule, const char *name) {
  if (pypy_api()) {
    cpy_PyObject *object = HPy_AsPyObject(ctx, capsule);
    if (object == NULL) return -1;
    int rc = pypy.rename(object, name);
    pypy.release(object);
    return rc;
  }
  int (*set)(HPyContext *, HPy, _HPyCapsule_key, void *);
  FB_LATE(ctx, ctx_Capsule_Set, set);
  return set(ctx, capsule, HPyCapsule_key_Name, (void *)name);
}

/* --- capsules of the binding -------------------------------------------------------------------------------------- */

/* The names that DLPack specifies. Static, because a capsule stores only the pointer. */
static const char dltensor[] = "dltensor", dltensor_versioned[] = "dltensor_versioned";

/* A consumer renames the capsule, by convention to "used_...", and then owns the tensor. */
static bool is_named(const char *name, const char *wanted) {
  return name != NULL && name[0] == wanted[0] && strcmp(name, wanted) == 0;
}

/* Each kind of capsule has three destructors. HPy calls a destructor with name and pointer; PyPy's C API calls a
 * destructor with the capsule, as does an interpreter whose objects are handles. The last form is fast: nearly every
 * capsule has been consumed when it is freed, and its name alone shows this. */
HPyCapsule_DESTRUCTOR(dltensor_destructor)
static void dltensor_destructor_impl(const char *name, void *pointer, FH_MAYBE_UNUSED void *context) {
  if (is_named(name, dltensor)) fb_drop_managed(pointer);
}

HPyCapsule_DESTRUCTOR(versioned_destructor)
static void versioned_destructor_impl(const char *name, void *pointer, FH_MAYBE_UNUSED void *context) {
  if (is_named(name, dltensor_versioned)) fb_drop_versioned(pointer);
}

static void pypy_dltensor_destructor(cpy_PyObject *capsule) {
  if (pypy.is_valid(capsule, dltensor)) fb_drop_managed(pypy.get(capsule, dltensor));
}

static void pypy_versioned_destructor(cpy_PyObject *capsule) {
  if (pypy.is_valid(capsule, dltensor_versioned)) fb_drop_versioned(pypy.get(capsule, dltensor_versioned));
}

static void direct_dltensor(cpy_PyObject *capsule) {
  HPy h = {(intptr_t)capsule};
  if (fb_capsule_is_valid(fb_ctx, h, dltensor)) fb_drop_managed(fb_capsule_get(fb_ctx, h, dltensor));
}

static void direct_versioned(cpy_PyObject *capsule) {
  HPy h = {(intptr_t)capsule};
  if (fb_capsule_is_valid(fb_ctx, h, dltensor_versioned))
    fb_drop_versioned(fb_capsule_get(fb_ctx, h, dltensor_versioned));
}

/* HPy requires a function of its own kind in each struct; it is not called where the other function is called. */
static HPyCapsule_Destructor direct_dltensor_destructor = {direct_dltensor, dltensor_destructor_impl},
                             direct_versioned_destructor = {direct_versioned, versioned_destructor_impl};

/* Both destructors may be NULL. The name must stay valid for the life of the process. HPy_NULL with an exception raised
 * on failure. */
static HPy capsule_new(HPyContext *ctx, void *pointer, const char *name, HPyCapsule_Destructor *destructor,
                       void (*pypy_destructor)(cpy_PyObject *)) {
  if (pypy_api()) {
    cpy_PyObject *object = pypy.new_(pointer, name, pypy_destructor);
    if (object == NULL) return HPy_NULL;
    HPy capsule = HPy_FromPyObject(ctx, object);
    /* The caller keeps the pointer: a capsule with another name is freed without its pointer. */
    if (HPy_IsNull(capsule)) pypy.rename(object, "unused");
    pypy.release(object);
    return capsule;
  }
  HPy (*new_)(HPyContext *, void *, const char *, HPyCapsule_Destructor *);
  FB_LATE(ctx, ctx_Capsule_New, new_);
  return new_(ctx, pointer, name, destructor);
}

HPy fb_capsule_new_dltensor(HPyContext *ctx, DLManagedTensor *tensor) {
  HPyCapsule_Destructor *destructor = fb_ext != NULL ? &direct_dltensor_destructor : &dltensor_destructor;
  return capsule_new(ctx, tensor, dltensor, destructor, pypy_dltensor_destructor);
}

HPy fb_capsule_new_dltensor_versioned(HPyContext *ctx, DLManagedTensorVersioned *tensor) {
  HPyCapsule_Destructor *destructor = fb_ext != NULL ? &direct_versioned_destructor : &versioned_destructor;
  return capsule_new(ctx, tensor, dltensor_versioned, destructor, pypy_versioned_destructor);
}

HPy fb_capsule_new_lasting(HPyContext *ctx, void *pointer, const char *name) {
  return capsule_new(ctx, pointer, name, NULL, NULL);
}

/* --- capsules of bound libraries ---------------------------------------------------------------------------------- */

/* The context of such a capsule. The name is a copy, because an author's text may end before the capsule. */
typedef struct owned {
  void (*cleanup)(void *); /* may be NULL */
  char name[];
} owned;

static void owned_end(owned *self, void *pointer) {
  if (self == NULL) return;
  if (self->cleanup != NULL) self->cleanup(pointer);
  free(self);
}

HPyCapsule_DESTRUCTOR(owned_destructor)
static void owned_destructor_impl(FH_MAYBE_UNUSED const char *name, void *pointer, void *context) {
  owned_end(context, pointer);
}

static void pypy_owned_destructor(cpy_PyObject *capsule) {
  owned_end(pypy.context(capsule), pypy.get(capsule, pypy.name(capsule)));
}

/* Gives a new capsule its context. Returns 0, or -1 with an exception raised. */
static int keep_context(HPyContext *ctx, HPy capsule, owned *context) {
  if (pypy_api()) {
    cpy_PyObject *object = HPy_AsPyObject(ctx, capsule);
    int rc = object == NULL ? -1 : pypy.keep(object, context);
    if (object != NULL) pypy.release(object);
    return rc;
  }
  int (*set)(HPyContext *, HPy, _HPyCapsule_key, void *);
  FB_LATE(ctx, ctx_Capsule_Set, set);
  return set(ctx, capsule, HPyCapsule_key_Context, context);
}

HPy fb_capsule_new_owned(HPyContext *ctx, void *pointer, const char *name, void (*cleanup)(void *)) {
  size_t n_bytes = name == NULL ? 1 : strlen(name) + 1;
  owned *context = malloc(sizeof(*context) + n_bytes);
  if (context == NULL) return HPyErr_NoMemory(ctx);
  context->cleanup = cleanup;
  memcpy(context->name, name == NULL ? "" : name, n_bytes);
  const char *kept = name == NULL ? NULL : context->name;
  HPy capsule = capsule_new(ctx, pointer, kept, &owned_destructor, pypy_owned_destructor);
  if (!HPy_IsNull(capsule) && keep_context(ctx, capsule, context) == 0) return capsule;
  if (!HPy_IsNull(capsule)) HPy_Close(ctx, capsule);
  free(context);
  return HPy_NULL;
}

void *fb_capsule_read(HPyContext *ctx, HPy capsule, const char **name) {
  void *pointer = NULL;
  if (pypy_api()) {
    cpy_PyObject *object = HPy_AsPyObject(ctx, capsule);
    if (object == NULL) return NULL;
    *name = pypy.name(object);
    if (*name != NULL || !HPyErr_Occurred(ctx)) pointer = pypy.get(object, *name);
    pypy.release(object);
    return pointer;
  }
  void *(*get)(HPyContext *, HPy, _HPyCapsule_key, const char *);
  FB_LATE(ctx, ctx_Capsule_Get, get);
  *name = get(ctx, capsule, HPyCapsule_key_Name, NULL);
  if (*name == NULL && HPyErr_Occurred(ctx)) return NULL;
  return get(ctx, capsule, HPyCapsule_key_Pointer, *name);
}

/* --- functions of _core ------------------------------------------------------------------------------------------- */

FB_METHOD(fb_capsule_make, "capsule_new",
          "A capsule of an address, with a name or None, and the address of a C function or 0.") {
  if (nargs != 3) return fb_raise(ctx, ctx->h_TypeError, "capsule_new() takes 3 arguments, got %zu", nargs);
  void *address = HPyLong_AsVoidPtr(ctx, args[0]);
  if (address == NULL && HPyErr_Occurred(ctx)) return HPy_NULL;
  const char *name = NULL;
  if (!HPy_Is(ctx, args[1], ctx->h_None)) {
    name = HPyUnicode_AsUTF8AndSize(ctx, args[1], NULL);
    if (name == NULL) return HPy_NULL;
  }
  void *function = HPyLong_AsVoidPtr(ctx, args[2]);
  if (function == NULL && HPyErr_Occurred(ctx)) return HPy_NULL;
  void (*cleanup)(void *);
  memcpy(&cleanup, &function, sizeof(cleanup));
  return fb_capsule_new_owned(ctx, address, name, cleanup);
}

FB_METHOD_O(fb_capsule_parts, "capsule_read", capsule, "The address in a capsule, and its name or None.") {
  const char *name = NULL;
  void *pointer = fb_capsule_read(ctx, capsule, &name);
  if (pointer == NULL) return HPy_NULL;
  HPy items[] = {HPyLong_FromUInt64_t(ctx, (uintptr_t)pointer),
                 name == NULL ? HPy_Dup(ctx, ctx->h_None) : HPyUnicode_FromString(ctx, name)};
  HPy pair = HPy_IsNull(items[0]) || HPy_IsNull(items[1]) ? HPy_NULL : HPyTuple_FromArray(ctx, items, 2);
  for (int i = 0; i < 2; ++i) {
    if (!HPy_IsNull(items[i])) HPy_Close(ctx, items[i]);
  }
  return pair;
}
