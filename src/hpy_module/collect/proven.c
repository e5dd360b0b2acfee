/* The end of garbage: references to it, and cuts where native objects alone form a cycle. */
#include "proven.h"

#include <stdlib.h>

#include "core/platform/base.h"
#include "edges.h"

void fb_proven_retain(FbScan *scan) {
  for (uint32_t i = 0; i < scan->n_nodes; ++i) {
    FbScanNode *node = &scan->nodes[i];
    if (node->is_held) continue;
    node->shared != NULL ? node->shared->retain(node->shared) : (void)TVMFFIObjectIncRef(node->object);
    node->is_retained = true;
  }
}

static void release(FbScanNode *node) {
  if (!node->is_retained) return;
  node->is_retained = false;
  node->shared != NULL ? node->shared->release(node->shared) : (void)TVMFFIObjectDecRef(node->object);
}

void fb_proven_release(FbScan *scan) {
  for (uint32_t i = 0; i < scan->n_nodes; ++i) release(&scan->nodes[i]);
}

/* Marks, among n nodes of the path, the nodes that are neither part of a cycle of native objects nor reached from
 * one. */
static void mark_acyclic(FbScan *scan, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) scan->nodes[scan->path[i]].n_found = 0;
  for (uint32_t i = 0; i < n; ++i) {
    uint32_t number = scan->path[i];
    for (uint32_t k = 0; k < scan->nodes[number].n_edges; ++k) {
      uint32_t target = fb_scan_edges(scan, number)[k];
      scan->nodes[target].n_found += fb_proven_is_dead(&scan->nodes[target]);
    }
  }
  uint32_t *ready = calloc((size_t)n + 1, sizeof(*ready)), n_ready = 0;
  if (ready == NULL) return;
  for (uint32_t i = 0; i < n; ++i) {
    if (scan->nodes[scan->path[i]].n_found == 0) ready[n_ready++] = scan->path[i];
  }
  while (n_ready != 0) {
    uint32_t number = ready[--n_ready];
    scan->nodes[number].is_acyclic = true;
    for (uint32_t k = 0; k < scan->nodes[number].n_edges; ++k) {
      uint32_t target = fb_scan_edges(scan, number)[k];
      if (fb_proven_is_dead(&scan->nodes[target]) && --scan->nodes[target].n_found == 0) ready[n_ready++] = target;
    }
  }
  free(ready);
}

void fb_proven_cut(FbScan *scan, uint32_t n) {
  mark_acyclic(scan, n);
  for (uint32_t i = 0; i < n; ++i) {
    const FbScanNode *node = &scan->nodes[scan->path[i]];
    if (node->is_acyclic || node->n_edges == 0) continue;
    node->shared != NULL ? fb_edges_cut_shared(node->shared) : fb_edges_cut(node->object, (FbHolderKind)node->kind);
  }
  for (uint32_t i = 0; i < n; ++i) release(&scan->nodes[scan->path[i]]);
}
