/* unwind.h - protection from forced unwinding, by which pthread_exit of glibc removes all frames of a stack.
 *
 * An interpreter that ends a thread in this way also unwinds the frames of all callers. A `catch (...)` or a noexcept
 * function of C++ among them ends the process. The unwinder calls a function for a marked frame first, and that
 * function may keep the thread there forever. A mark is a word in the table of frames (.eh_frame) and costs no
 * instruction. */
#pragma once

#include "system.h"

/* FH_UNWIND_MARK(function) marks the frame of the function in which it is expanded, after inlining. While that function
 * calls others, a forced unwinding of the stack calls `function`, a name with external linkage. The call must not be a
 * tail call, which leaves no frame. */
#if defined(__ELF__) && defined(__GCC_HAVE_DWARF2_CFI_ASM)
#define FH_UNWIND_MARK(function) __asm__ volatile(".cfi_personality 0x1b, " #function) /* relative, in 32 bits */
#else
#define FH_UNWIND_MARK(function) ((void)0) /* no forced unwinding on this platform */
#endif

/* The type of `function`: a personality routine of the C++ ABI for all languages. The function returns the result of
 * fh_unwind_answer. */
typedef int fh_unwind_function(int version, int actions, uint64_t class_of_exception, void *exception, void *context);

/* The answer of a marked frame, whose function was called with `actions`. If `stays`, the thread sleeps forever and
 * the frame is not unwound by force. */
static inline int fh_unwind_answer(int actions, int stays) {
  enum { FORCED = 8, CONTINUE = 8, A_DAY = 86400 };
  while ((actions & FORCED) != 0 && stays) fh_clock_sleep(UINT64_C(1000000000) * A_DAY);
  return CONTINUE;
}
