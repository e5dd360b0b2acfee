/* structural_callbacks.c - tables of callbacks by type.
 *
 * A table is a short list that is searched from the front. The first entry that matches counts, so special types must
 * come before general ones. */
#include "structural_callbacks.h"

#include "core/container/list.h"
#include "core/container/stripe.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/type.h"
#include "core/platform/mem.h"

static int is_int(const TVMFFIAny *value) {
  return value->type_index == kTVMFFIInt || value->type_index == kTVMFFIBool;
}

/* Reads one entry of the table, which gains a reference to the Function: 1, or 0 if it is something else. *asked is the
 * type index in the entry, of 64 bits. May run under a lock: it raises and releases nothing. */
static int read_entry(const fh_seq_object *seq, int is_marked, int gets_more, fh_structural_entry *out,
                      int64_t *asked) {
  if (fh_seq_size(seq) != 2 + is_marked) return 0;
  const TVMFFIAny *items = fh_seq_items(seq);
  if (!is_int(&items[0]) || items[1].type_index != kTVMFFIFunction || (is_marked && !is_int(&items[2]))) return 0;
  *asked = items[0].v_int64;
  out->type_index = (int32_t)*asked;
  out->gets_more = is_marked ? items[2].v_int64 != 0 : gets_more;
  out->func = items[1].v_obj;
  fh_object_retain(out->func);
  return 1;
}

static int take_entry(const TVMFFIAny *value, int is_marked, int gets_more, fh_structural_entry *out, int64_t *asked) {
  if (!fh_seq_is(value)) return 0;
  fh_stripe_lock(value->v_obj); /* it may be a List */
  int is_entry = read_entry((const fh_seq_object *)(const void *)value->v_obj, is_marked, gets_more, out, asked);
  fh_stripe_unlock(value->v_obj);
  return is_entry;
}

int fh_structural_callbacks_add(fh_structural_callbacks *callbacks, const char *name, const TVMFFIAny *args, int32_t i,
                                int is_marked, int gets_more) {
  const char *expected = is_marked ? "Array<Tuple<int, ffi.Function, bool>>" : "Array<Tuple<int, ffi.Function>>";
  TVMFFIAny *items;
  int64_t n;
  if (!fh_seq_is(&args[i])) return fh_function_raise_type(name, i, expected, &args[i]);
  /* A copy, because another thread may change a List while its entries are read. */
  if (fh_list_copy_items((const fh_seq_object *)(const void *)args[i].v_obj, &items, &n) != 0) return -1;
  size_t n_bytes = (size_t)(callbacks->n_entries + n) * sizeof *callbacks->entries;
  fh_structural_entry *entries = (fh_structural_entry *)fh_mem_realloc(callbacks->entries, n_bytes);
  int rc = entries != NULL ? 0 : fh_error_raise_no_memory();
  if (rc == 0) callbacks->entries = entries;
  /* After an error the entries so far stay in the table, for fh_structural_callbacks_free. */
  for (int64_t k = 0; k < n && rc == 0; ++k) {
    fh_structural_entry *entry = &entries[callbacks->n_entries];
    int64_t asked;
    if (take_entry(&items[k], is_marked, gets_more, entry, &asked)) {
      callbacks->n_entries += 1;
      if (asked != entry->type_index)
        rc = fh_error_raise(FH_VALUE_ERROR, "Expected a type index but got %lld", (long long)asked);
    } else {
      rc = fh_error_raise(FH_TYPE_ERROR,
                          "Mismatched type on argument #%d when calling: `%s`. Expected `%s` but item %lld is none",
                          (int)i, name, expected, (long long)k);
    }
  }
  fh_seq_drop_items(items, n);
  return rc;
}

void fh_structural_callbacks_free(fh_structural_callbacks *callbacks) {
  for (int64_t i = 0; i < callbacks->n_entries; ++i) fh_object_release(callbacks->entries[i].func);
  fh_mem_free(callbacks->entries);
}

/* Whether a value of type_index is of the wanted type. Both forms of strings are one type, and so are both forms of
 * bytes. Other plain data matches its own index only, objects also their ancestors. */
static int matches(int32_t type_index, int32_t wanted) {
  if (type_index == wanted || wanted == kTVMFFIAny) return 1;
  if (wanted == kTVMFFIStr) return type_index == kTVMFFISmallStr;
  if (wanted == kTVMFFIBytes) return type_index == kTVMFFISmallBytes;
  return type_index >= kTVMFFIStaticObjectBegin && wanted >= kTVMFFIStaticObjectBegin &&
         fh_type_is_instance(type_index, wanted);
}

const fh_structural_entry *fh_structural_callbacks_find(const fh_structural_callbacks *callbacks, int32_t type_index) {
  for (int64_t i = 0; i < callbacks->n_entries; ++i) {
    if (matches(type_index, callbacks->entries[i].type_index)) return &callbacks->entries[i];
  }
  return NULL;
}
