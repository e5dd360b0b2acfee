/* Interned names of functions: one copy per name, kept as long as a function uses it. */
#pragma once

/* Returns the copy of a name with one more use; NULL if memory is exhausted. Thread-safe. */
const char *fb_function_name_take(const char *text);
/* Ends a use of such a copy. NULL is accepted. Thread-safe. */
void fb_function_name_give(const char *name);
