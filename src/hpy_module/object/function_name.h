/* The names of functions: one copy of each, as long as a function has it. */
#ifndef FFI_HPY_OBJECT_FUNCTION_NAME_H_
#define FFI_HPY_OBJECT_FUNCTION_NAME_H_

/* The copy of a name, with one use more; NULL without memory. Thread-safe. */
const char *fb_function_name_take(const char *text);
/* Ends a use of such a copy; NULL is accepted. Thread-safe. */
void fb_function_name_give(const char *name);

#endif /* FFI_HPY_OBJECT_FUNCTION_NAME_H_ */
