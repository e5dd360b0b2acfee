/* Declares alloca, which hpy.h calls without a declaration; -std=c11 makes that an error. */
#pragma once

#if defined(_WIN32)
#include <malloc.h>
#else
#include <alloca.h>
#endif
