/* visitor.h - ffi.StructuralVisitor: an object of any library that visits values; and ffi.VisitInterrupt, which ends a
 * visit early.
 *
 * A visitor is a class of 40 bytes that C++ clients derive from. The table of a visitor has one function, which visits
 * a value and returns None to continue, a VisitInterrupt to stop, or an Error. A type's __s_visit__ is such a function
 * (a "hook"), by address or as a Function: it visits the parts of an object by calling the visitor for each. */
#pragma once

#include "core/object/any.h"
#include "core/platform/sync.h"

typedef struct fh_visitor_object fh_visitor_object;

/* The caller owns results; values are views. */
typedef TVMFFIAny (*fh_visitor_visit)(fh_visitor_object *visitor, TVMFFIAny value);

typedef struct {
  fh_visitor_visit visit;
} fh_visitor_table;

struct fh_visitor_object {
  TVMFFIObject header;
  const fh_visitor_table *table;
  int32_t region; /* TVMFFIDefRegionKind: the region of the visit */
};

typedef struct {
  TVMFFIObject header;
  TVMFFIAny value; /* any payload */
} fh_visit_interrupt_object;

/* The outcome of a visit. */
typedef enum { FH_VISIT_FAILED = -1, FH_VISIT_ON = 0, FH_VISIT_STOPPED = 1 } fh_visit_verdict;

/* Checks the raw result of a visit and steals it. *interrupt becomes the VisitInterrupt, owned, if it is one. An Error
 * becomes pending. Anything else but None is a TypeError that names the type of the result of `who`. */
fh_visit_verdict fh_visitor_take_result(TVMFFIAny *result, const char *who, TVMFFIAny *interrupt);
/* Makes a raw result of a verdict; steals the interrupt, or the pending error. */
TVMFFIAny fh_visitor_make_result(fh_visit_verdict verdict, TVMFFIAny interrupt);

/* Makes a raw result valid: anything but None, a VisitInterrupt and an Error becomes a TypeError. Steals `result`. */
TVMFFIAny fh_visitor_check_result(TVMFFIAny result, const char *who);

/* Calls a visitor with a value: a raw result, None, a VisitInterrupt or an Error. */
static inline TVMFFIAny fh_visitor_call(fh_visitor_object *visitor, TVMFFIAny value) {
  fh_sync_check_unlocked("a visitor");
  TVMFFIAny result = visitor->table->visit(visitor, value);
  return FH_LIKELY(result.type_index == kTVMFFINone) ? result : fh_visitor_check_result(result, "a visitor");
}
/* Calls a type's hook (not NULL) with a visitor and a value: an unchecked raw result. */
TVMFFIAny fh_visitor_call_hook(const TVMFFIAny *hook, fh_visitor_object *visitor, TVMFFIAny value);
/* Whether a hook is the built-in hook of containers, whose contents are known. */
bool fh_visitor_is_container_hook(const TVMFFIAny *hook);

/* Visits the parts of a value, with any visitor: by its type's hook, else by its reflected fields. A raw result, None,
 * a VisitInterrupt or an Error. */
TVMFFIAny fh_visitor_default(fh_visitor_object *visitor, TVMFFIAny value);

int32_t fh_visitor_type(void);
fh_visit_interrupt_object *fh_visit_interrupt_new(const TVMFFIAny *value);

void fh_visitor_init(void);
