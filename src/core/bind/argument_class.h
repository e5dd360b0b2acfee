/* argument_class.h - the class of an argument in Python's words, for messages. */
#ifndef FH_ARGUMENT_CLASS_H_
#define FH_ARGUMENT_CLASS_H_

#include "core/object/text.h"

/* Adds the name of the class. Returns 0, or -1 with an error pending. */
int fh_argument_class_add(fh_text *text, const TVMFFIAny *arg);

#endif /* FH_ARGUMENT_CLASS_H_ */
