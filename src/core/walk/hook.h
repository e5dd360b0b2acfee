/* hook.h - hooks of types, which are callbacks that read their objects: hook(objects..., fn), where fn calls back into
 * the walk. */
#ifndef FH_HOOK_H_
#define FH_HOOK_H_

#include "walk.h"

/* The body of fn. `client` is the walk's owner; args are owned values that stay alive during the call. Otherwise the
 * contract of TVMFFISafeCallType. */
typedef int (*fh_hook_callback)(void *client, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result);

/* The hook of exactly this type: *out borrowed for ever, NULL if it has none. TypeError if it is not a Function. */
int fh_hook_find(fh_reflect_attr_id id, int32_t type_index, TVMFFIObject **out);

#define FH_HOOK_MAX_BACK_ARGS 4

/* Calls hook(obj, fn), or hook(obj, other, fn) if `other` is not NULL. During the call the objects are open in the
 * walk, as a mark. fn takes n_back_args arguments. It may be called on this thread while the hook runs; at other times
 * and on other threads it raises a RuntimeError. The caller owns *result. ValueError if too many nested hooks have
 * called back. */
int fh_hook_call(fh_walk *walk, TVMFFIObject *hook, TVMFFIObject *obj, TVMFFIObject *other, fh_hook_callback back,
                 int32_t n_back_args, void *client, TVMFFIAny *result);

/* Calls hook(obj, second, fn) with any value as the second argument; otherwise as fh_hook_call. */
int fh_hook_call_value(fh_walk *walk, TVMFFIObject *hook, TVMFFIObject *obj, const TVMFFIAny *second,
                       fh_hook_callback back, int32_t n_back_args, void *client, TVMFFIAny *result);

/* Raises the TypeError for a hook that returned another type than `expected`. Always -1. */
FH_COLD int fh_hook_raise_result(fh_reflect_attr_id id, const TVMFFIObject *obj, const char *expected,
                                 const TVMFFIAny *got);

#endif /* FH_HOOK_H_ */
