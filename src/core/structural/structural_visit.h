/* structural_visit.h - visiting a value with callbacks by type. */
#ifndef FH_STRUCTURAL_VISIT_H_
#define FH_STRUCTURAL_VISIT_H_

#include "structural_callbacks.h"
#include "visitor.h"

typedef enum {
  /* callback(value[, region]) before the contents of the value; may skip the contents or stop */
  FH_VISIT_WALK_PRE = 0,
  FH_VISIT_WALK_POST = 1, /* callback(value[, region]) after the contents */
  FH_VISIT_OWNED /* callback(value, visitor) instead of the contents, whose parts it may visit */
} fh_visit_order;

/* Visits `root`, which the caller owns; steals the callbacks. The first callback for a value's type is called; a value
 * is visited as often as it occurs; None is not visited. *out becomes None or the owned VisitInterrupt of the callback
 * that stopped the visit. Runs foreign code. */
int fh_structural_visit(const TVMFFIAny *root, fh_structural_callbacks callbacks, fh_visit_order order, TVMFFIAny *out);

/* Visits the parts of a value, with any visitor; a visitor of this library needs no C stack for nesting. Returns a raw
 * result. */
TVMFFIAny fh_structural_visit_default(fh_visitor_object *visitor, TVMFFIAny value);

#endif /* FH_STRUCTURAL_VISIT_H_ */
