/* accept.h - values as a type takes them: numbers widen, sequences and mappings become those of the other sort, text
 * becomes a device or data type. */
#ifndef FT_ACCEPT_H_
#define FT_ACCEPT_H_

#include "type.h"

/* A value that a type accepted: a view of what was given, or a new value. */
typedef struct {
  TVMFFIAny value;
  int is_owned;
} ft_accepted;

typedef enum { FT_FAILED = -1, FT_YES = 0, FT_NO = 1 } ft_verdict;

/* FT_YES fills *out, which views `value` unless it is owned. FT_FAILED has an error pending. */
ft_verdict ft_accept(const ft_type *type, const TVMFFIAny *value, ft_accepted *out);
/* Gives back what is owned. */
static inline void ft_accepted_drop(ft_accepted *accepted) {
  if (accepted->is_owned) ft_drop(&accepted->value);
}

/* Appends what came in place of the type, as messages say it: `Array[index 0: float]`. */
void ft_accept_explain(const ft_type *type, const TVMFFIAny *value, ft_buffer *out);

#endif /* FT_ACCEPT_H_ */
