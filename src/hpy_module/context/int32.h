/* Ints of 32 bits. PyPy 7.3's HPyLong_AsInt32_t cuts larger ints off, so the binding does not call it. */
#pragma once

#include "context.h"

/* Returns the number of an int. For anything else, and an int that needs more bits, returns -1 with an exception
 * raised. */
int32_t fb_int32_read(HPyContext *ctx, HPy value);
