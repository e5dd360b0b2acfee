/* Debug mode: reports of mistakes, to a Python hook or, without a hook, to stderr followed by abort(). */
#include "debug_report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/platform/atomic.h"
#include "core/platform/fork.h"
#include "hpy_runtime/context/context.h"

static PyObject *hook; /* owned, guarded by hook_lock */
FH_LOCK(hook_lock, "debug hook", FH_RANK_PLAIN);

PyObject *fhpy_debug_report_set_hook(PyObject *new_hook) {
  Py_IncRef(new_hook);
  fh_mutex_lock(&hook_lock);
  PyObject *old = hook;
  hook = new_hook;
  fh_mutex_unlock(&hook_lock);
  return old;
}

void fhpy_debug_report(const char *format, ...) {
  char text[1024];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof(text), format, list);
  va_end(list);
  fh_mutex_lock(&hook_lock);
  /* An own reference: another thread may replace the hook while it runs. */
  PyObject *callable = hook;
  Py_IncRef(callable);
  fh_mutex_unlock(&hook_lock);
  if (callable == NULL) {
    fprintf(stderr, "ffi_hpy debug mode: %s\n", text);
    fflush(stderr);
    abort();
  }
  fhpy_hook_call(callable, text);
  Py_DecRef(callable);
}

/* --- names ------------------------------------------------------------------------------------------------------- */

/* Debug mode: the names of an extension's functions, found by their pointers.
 *
 * A hash table with chains that only grow. A node is complete before a compare-and-swap makes it the head of its chain,
 * and constant afterwards, so readers take no lock. Two threads may add one function twice; the later node is found. */

enum { N_CHAINS = 1024 };

typedef struct Node {
  HPyCFunction function;
  struct Node *next;
  char name[];
} Node;

_Thread_local const char *fhpy_debug_name_running;

static void *chains[N_CHAINS]; /* each a Node, the head of a chain */

static void **chain_of(HPyCFunction function) {
  uintptr_t word = (uintptr_t)function;
  return &chains[(word >> 4 ^ word >> 14) % N_CHAINS];
}

static const Node *find_node(HPyCFunction function) {
  const Node *node = fh_atomic_load_acquire_ptr(chain_of(function)); /* pairs with fhpy_debug_name_add */
  while (node != NULL && node->function != function) node = node->next;
  return node;
}

void fhpy_debug_name_add(HPyCFunction function, const char *owner, const char *name) {
  if (function == NULL || find_node(function) != NULL) return;
  size_t size = strlen(owner) + 1 + strlen(name) + 1;
  Node *node = malloc(sizeof(Node) + size);
  if (node == NULL) return; /* if memory is exhausted, the function stays unnamed */
  node->function = function;
  snprintf(node->name, size, "%s.%s", owner, name);
  void **chain = chain_of(function), *head = fh_atomic_load_relaxed_ptr(chain);
  do { /* a reader that finds the node by an acquire load sees a complete node */
    node->next = head;
  } while (!fh_atomic_cas_seq_cst_ptr(chain, &head, node));
}

const char *fhpy_debug_name_find(HPyCFunction function) {
  const Node *node = find_node(function);
  return node != NULL ? node->name : "a function without a name";
}

/* The name of a slot in HPy's spelling, for reports. */
static const char *slot_name(HPySlot_Slot slot) {
  switch (slot) {
#define SLOT(name) \
  case HPy_##name: return #name;
    /* clang-format off */
    SLOT(bf_getbuffer) SLOT(bf_releasebuffer) SLOT(mp_ass_subscript) SLOT(mp_length) SLOT(mp_subscript)
    SLOT(nb_absolute) SLOT(nb_add) SLOT(nb_and) SLOT(nb_bool) SLOT(nb_divmod) SLOT(nb_float) SLOT(nb_floor_divide)
    SLOT(nb_index) SLOT(nb_inplace_add) SLOT(nb_inplace_and) SLOT(nb_inplace_floor_divide) SLOT(nb_inplace_lshift)
    SLOT(nb_inplace_multiply) SLOT(nb_inplace_or) SLOT(nb_inplace_power) SLOT(nb_inplace_remainder)
    SLOT(nb_inplace_rshift) SLOT(nb_inplace_subtract) SLOT(nb_inplace_true_divide) SLOT(nb_inplace_xor) SLOT(nb_int)
    SLOT(nb_invert) SLOT(nb_lshift) SLOT(nb_multiply) SLOT(nb_negative) SLOT(nb_or) SLOT(nb_positive) SLOT(nb_power)
    SLOT(nb_remainder) SLOT(nb_rshift) SLOT(nb_subtract) SLOT(nb_true_divide) SLOT(nb_xor) SLOT(nb_matrix_multiply)
    SLOT(nb_inplace_matrix_multiply) SLOT(sq_ass_item) SLOT(sq_concat) SLOT(sq_contains) SLOT(sq_inplace_concat)
    SLOT(sq_inplace_repeat) SLOT(sq_item) SLOT(sq_length) SLOT(sq_repeat) SLOT(tp_call) SLOT(tp_hash) SLOT(tp_init)
    SLOT(tp_new) SLOT(tp_repr) SLOT(tp_richcompare) SLOT(tp_str) SLOT(tp_traverse) SLOT(tp_finalize) SLOT(tp_destroy)
    SLOT(mod_create) SLOT(mod_exec)
        /* clang-format on */
        default : return "a slot";
  }
}

void fhpy_debug_name_defines(const char *owner, HPyDef *const *defines) {
  for (; defines != NULL && *defines != NULL; ++defines) {
    const HPyDef *d = *defines;
    switch (d->kind) {
    case HPyDef_Kind_Meth: fhpy_debug_name_add(d->meth.impl, owner, d->meth.name); break;
    case HPyDef_Kind_Slot: fhpy_debug_name_add(d->slot.impl, owner, slot_name(d->slot.slot)); break;
    case HPyDef_Kind_GetSet:
      fhpy_debug_name_add(d->getset.getter_impl, owner, d->getset.name);
      fhpy_debug_name_add(d->getset.setter_impl, owner, d->getset.name);
      break;
    case HPyDef_Kind_Member: break;
    }
  }
}
