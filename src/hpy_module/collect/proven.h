/* The proven objects of a scan that are garbage: they are retained while cycles of native objects are broken. */
#pragma once

#include "scan.h"

/* The mark of a node in a group that is garbage. */
FH_INLINE bool fb_proven_is_dead(const FbScanNode *node) { return !node->is_held && !node->is_reached; }
/* Takes a reference to each proven object. */
void fb_proven_retain(FbScan *scan);
/* Releases the references that are left. */
void fb_proven_release(FbScan *scan);
/* Breaks the cycles of native objects among the dead nodes whose numbers are the first n of the path, and releases the
 * objects. Runs destructors, and setters of libraries, which may leave a native error pending. */
void fb_proven_cut(FbScan *scan, uint32_t n);
