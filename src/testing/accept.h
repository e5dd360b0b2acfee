/* accept.h - converts values to the types of parameters and fields: numbers widen, sequences and mappings become
 * sequences and mappings of the other kind, strings become devices or data types. */
#pragma once

#include "type.h"

/* An accepted value: a view of the given one, or a new value. */
typedef struct {
  TVMFFIAny value;
  bool is_owned;
} ft_accepted;

typedef enum { FT_FAILED = -1, FT_YES = 0, FT_NO = 1 } ft_verdict;

/* FT_YES fills *out, which is a view of `value` unless it is owned. FT_FAILED leaves an error pending. */
ft_verdict ft_accept(const ft_type *type, const TVMFFIAny *value, ft_accepted *out);
/* Releases the value if it is owned. */
static inline void ft_accepted_drop(ft_accepted *accepted) {
  if (accepted->is_owned) ft_drop(&accepted->value);
}

/* Appends the type of a refused value in the form of messages: `Array[index 0: float]`. */
void ft_accept_explain(const ft_type *type, const TVMFFIAny *value, ft_buffer *out);
