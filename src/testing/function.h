/* function.h - functions with a signature: arguments are counted, checked and converted before the body runs. */
#pragma once

#include "accept.h"

#define FT_MAX_PARAMS 4

typedef struct ft_function ft_function;

/* The body of a function. *result is None on entry and owned by the caller afterwards. Arguments are views with the
 * types of the signature, valid until the body returns. */
typedef int (*ft_body)(const ft_function *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result);

/* The head of a body, which may leave parameters unused. */
#if defined(__GNUC__)
#define FT_UNUSED __attribute__((unused))
#else
#define FT_UNUSED
#endif
#define FT_CALL(name)                                                                                           \
  static int name(FT_UNUSED const ft_function *self, FT_UNUSED const TVMFFIAny *args, FT_UNUSED int32_t n_args, \
                  FT_UNUSED TVMFFIAny *result)

struct ft_function {
  const char *name; /* for messages; "" for none */
  ft_type type;     /* FT_CALLABLE, or FT_OBJECT for functions of any arguments */
  ft_body body;
  const void *context;
};

/* Makes a Function with the signature `(0: int) -> int`, or with any arguments for NULL. The strings must never be
 * freed, and the Function is never freed. */
int ft_function_new(const char *name, const char *signature, ft_body body, const void *context, TVMFFIAny *out);
/* Calls such a function; used by functions that are exported symbols. */
int ft_function_call(const ft_function *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result);

/* A global function. `more` is further metadata, or NULL. */
typedef struct {
  const char *name;
  const char *signature;
  ft_body body;
  const char *doc;
  const char *more;
} ft_global;

int ft_function_add_globals(const ft_global *globals, int32_t n_globals);

/* A method. The object is its first argument, unless it is static. */
typedef struct {
  const char *name; /* "sum" */
  const char *full_name; /* "testing.TestIntPair.sum" */
  const char *signature;
  ft_body body;
  bool is_static;
  const char *doc;
  const char *more;
} ft_method;

int ft_function_add_method(int32_t type_index, const ft_method *method, const void *context);
/* Registers a Function as an attribute of a type. */
int ft_function_add_attr(int32_t type_index, const char *attr, const char *full_name, const char *signature,
                         ft_body body, const void *context);

/* The body of functions that return their only argument. */
int ft_function_echo(const ft_function *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result);
