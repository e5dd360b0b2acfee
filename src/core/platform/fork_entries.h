/* fork_entries.h - the lists that the declarations of fork.h make, for fork_handlers.c and fork_check.c. */
#ifndef FH_FORK_ENTRIES_H_
#define FH_FORK_ENTRIES_H_

#include "fork.h"

/* The linker defines symbols at the start and the end of a section. In ELF they are weak, because the section does not
 * exist in a binary without such entries; then both are NULL and loops from one to the other do nothing. They are
 * hidden, so that each binary finds its own sections and not those of a binary that was loaded earlier. The linkers of
 * Windows have no such symbols, but sort sections by the part of the name after a $: fork_check.c defines the first and
 * the last entry for them. */
#if defined(__APPLE__)
extern fh_fork_locks *fh_fork_first_locks[] __asm("section$start$__DATA$fh_fork_locks");
extern fh_fork_locks *fh_fork_end_of_locks[] __asm("section$end$__DATA$fh_fork_locks");
extern fh_fork_child fh_fork_first_child[] __asm("section$start$__DATA$fh_fork_child");
extern fh_fork_child fh_fork_end_of_children[] __asm("section$end$__DATA$fh_fork_child");
#elif defined(_WIN32)
extern fh_fork_locks *fh_fork_first_locks[], *fh_fork_end_of_locks[];
#else
#define FH_OF_LINKER __attribute__((weak, visibility("hidden")))
extern fh_fork_locks *fh_fork_first_locks[] __asm("__start_fh_fork_locks") FH_OF_LINKER;
extern fh_fork_locks *fh_fork_end_of_locks[] __asm("__stop_fh_fork_locks") FH_OF_LINKER;
extern fh_fork_child fh_fork_first_child[] __asm("__start_fh_fork_child") FH_OF_LINKER;
extern fh_fork_child fh_fork_end_of_children[] __asm("__stop_fh_fork_child") FH_OF_LINKER;
#endif

#endif /* FH_FORK_ENTRIES_H_ */
