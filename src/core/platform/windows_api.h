/* windows_api.h - includes the header of Windows for the .c files of this folder; no other header includes it, because
 * it defines macros with everyday names. */
#pragma once

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef _WIN32_WINNT
#define _WIN32_WINNT 0x0602 /* Windows 8: the oldest one with WaitOnAddress; Python 3.9 asks for 8.1 */
#endif
#include <windows.h>
