/* Calls with keyword arguments: the order in which the native function takes the arguments.
 *
 * Native functions have positional arguments only. The package knows the parameter names that the author gave, and
 * tells for a number of positional arguments and the names of the others, in the order of the call, how to arrange the
 * arguments (hook order_of_arguments). An order depends on nothing else, so calls with the same names share it. */
#pragma once

#include "hpy_module/context/context.h"

/* Immutable once it is made. */
typedef struct FbArgumentOrder FbArgumentOrder;

/* Returns the order of a call of `function` with n positional arguments and the names `kwnames`, for
 * fb_argument_order_end. *about is the number of the function's metadata (function_struct.h), which the package may
 * change; about may be NULL. Returns NULL with an exception raised; or NULL without one and with the description of a
 * mistake, a str, in *mistake, if the arguments do not fit. */
const FbArgumentOrder *fb_argument_order_get(HPyContext *ctx, HPy function, const uint16_t *about, size_t n,
                                             HPy kwnames, HPy *mistake);
void fb_argument_order_end(HPyContext *ctx, const FbArgumentOrder *order);

/* The number of arguments in an order. */
size_t fb_argument_order_count(const FbArgumentOrder *order);
/* Writes the arguments, borrowed, in their order. argv has the arguments of the call. */
void fb_argument_order_apply(const FbArgumentOrder *order, const HPy *argv, HPy *ordered);
