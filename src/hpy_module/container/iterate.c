/* Reads container items into Python lists, and makes iterators from such lists.
 *
 * An iterator over a small container is iter() of one list. For a larger container it is
 * chain.from_iterable(iter(chunks, [])): `chunks` is a callable that returns a list of the next CHUNK items at each
 * call; iter() calls it until it returns an empty list, and the chain iterates over the lists. */
#include "iterate.h"

#include "core/platform/atomic.h"
#include "core/platform/fork.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/type.h"
#include "hpy_module/convert/core_function.h"
#include "hpy_module/error/error.h"

/* Items per list: enough to make the call per list cheap, and few enough for an iteration that stops early. */
enum { CHUNK = 64 };

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* A list that is being filled. PyPy 7.3 never frees the results of its builders. */
typedef struct Filling {
  HPyListBuilder builder;
  HPy list; /* on PyPy, in place of a builder */
} Filling;

/* Does not report a failure: if the list could not be made, filling_end returns HPy_NULL. */
static Filling filling_begin(HPyContext *ctx, int64_t n) {
  return fb_context_is_pypy ? (Filling){.list = HPyList_New(ctx, 0)}
                            : (Filling){.builder = HPyListBuilder_New(ctx, (HPy_ssize_t)n)};
}

/* Adds item i and steals it. Returns 0, or -1 with an exception raised, also if `item` is HPy_NULL; the list is then
 * freed. */
FH_INLINE int filling_add(HPyContext *ctx, Filling *filling, int64_t i, HPy item) {
  int rc = HPy_IsNull(item) ? -1 : 0;
  if (FH_LIKELY(rc == 0)) {
    if (FH_LIKELY(!fb_context_is_pypy)) {
      HPyListBuilder_Set(ctx, filling->builder, (HPy_ssize_t)i, item);
    } else if (!HPy_IsNull(filling->list)) {
      rc = HPyList_Append(ctx, filling->list, item);
    }
    HPy_Close(ctx, item);
  }
  if (FH_LIKELY(rc == 0)) return 0;
  if (!fb_context_is_pypy) {
    HPyListBuilder_Cancel(ctx, filling->builder);
  } else if (!HPy_IsNull(filling->list)) {
    HPy_Close(ctx, filling->list);
  }
  return -1;
}

/* Returns the list; HPy_NULL with an exception raised if it could not be made. */
static HPy filling_end(HPyContext *ctx, Filling *filling) {
  return fb_context_is_pypy ? filling->list : HPyListBuilder_Build(ctx, filling->builder);
}

/* Makes a Python list of n items. The caller keeps the array of items alive, and the array does not change. Returns a
 * new handle, or HPy_NULL with an exception raised. */
static HPy list_of(HPyContext *ctx, const TVMFFIAny *items, int64_t n, const DLPackExchangeAPI *exchange) {
  Filling filling = filling_begin(ctx, n);
  for (int64_t i = 0; i < n; ++i) {
    if (filling_add(ctx, &filling, i, fb_iterate_copy(ctx, &items[i], exchange)) != 0) return HPy_NULL;
  }
  return filling_end(ctx, &filling);
}

/* Commands of the core's function that iterates over a map. */
typedef enum Command { GET_KEY, GET_VALUE, ADVANCE } Command;

/* Executes a command of the walk. *result is owned. Returns 0, or -1 with a native error pending. The core's function
 * runs no foreign code. */
FH_INLINE int walk_call(TVMFFIObject *walk, int command, TVMFFIAny *result) {
  TVMFFIAny arg = fb_core_function_int(command);
  return fb_core_function_call_handle(walk, &arg, 1, result);
}

/* The number of values per entry. */
FH_INLINE int n_values_of(FbPart part) { return part == FB_PART_ITEMS ? 2 : 1; }

/* Reads the owned values of the next n entries, which must exist. *n_read counts the values, also on failure. Returns
 * like walk_call. */
static int walk_read(TVMFFIObject *walk, FbPart part, int64_t n, TVMFFIAny *values, int64_t *n_read) {
  int first = part == FB_PART_VALUES ? GET_VALUE : GET_KEY;
  for (int64_t i = 0; i < n; ++i) {
    TVMFFIAny more;
    for (int k = 0; k < n_values_of(part); ++k) {
      if (walk_call(walk, first + k, &values[*n_read]) != 0) return -1;
      ++*n_read;
    }
    if (walk_call(walk, ADVANCE, &more) != 0) return -1;
  }
  return 0;
}

/* Converts an entry and steals its values: returns the key, the value, or a tuple of both. */
static HPy entry_of(HPyContext *ctx, FbPart part, TVMFFIAny *values, const DLPackExchangeAPI *exchange) {
  HPy pair[2] = {fb_iterate_item(ctx, &values[0], exchange), HPy_NULL}, entry = HPy_NULL;
  if (part != FB_PART_ITEMS) return pair[0];
  if (HPy_IsNull(pair[0])) {
    fb_drop_any(&values[1], -1);
    return HPy_NULL;
  }
  pair[1] = fb_iterate_item(ctx, &values[1], exchange);
  if (!HPy_IsNull(pair[1])) {
    entry = HPyTuple_FromArray(ctx, pair, 2);
    HPy_Close(ctx, pair[1]);
  }
  HPy_Close(ctx, pair[0]);
  return entry;
}

/* On free-threaded interpreters, threads that share an iterator over a map take one of these locks, chosen by the
 * iterator's pointer, while they read the entries of a chunk: key, value and the step to the next entry are separate
 * commands. With a GIL no other thread runs in between. */
FH_LOCKS(locks, FH_N_LOCKS_BY_ADDRESS, "map iterators");

/* Returns a list of the next n entries, which must exist; n is CHUNK at most. `shared` is the iterator that owns the
 * walk; NULL if no other thread can have it. */
static HPy walk_list(HPyContext *ctx, TVMFFIObject *walk, const void *shared, FbPart part, int64_t n,
                     const DLPackExchangeAPI *exchange) {
  TVMFFIAny values[2 * CHUNK];
  int64_t n_read = 0, n_taken = 0;
  fh_mutex *lock = fh_fork_lock_of(locks, shared);
  bool is_guarded = fb_context_free_threaded && shared != NULL;
  if (is_guarded) fh_mutex_lock(lock);
  int rc = walk_read(walk, part, n, values, &n_read);
  if (is_guarded) fh_mutex_unlock(lock);
  HPy list = HPy_NULL;
  if (FH_UNLIKELY(rc != 0)) {
    fb_error_raise_pending(ctx, "ffi.MapForwardIterFunctor");
  } else {
    Filling filling = filling_begin(ctx, n);
    for (int64_t i = 0; rc == 0 && i < n; ++i) {
      HPy entry = entry_of(ctx, part, &values[n_taken], exchange);
      n_taken += n_values_of(part);
      rc = filling_add(ctx, &filling, i, entry);
    }
    if (rc == 0) list = filling_end(ctx, &filling);
  }
  for (; n_taken < n_read; ++n_taken) fb_drop_any(&values[n_taken], rc);
  return list;
}

/* --- chunks: a callable that returns a list of the next items, and an empty list at the end ----------------------- */

typedef struct Chunks {
  TVMFFIObject *container; /* owned: an ffi.Array or an ffi.Map */
  /* owned: the function that iterates over the map (other cores do not keep the function alive); or NULL */
  TVMFFIObject *walk;
  int64_t size;
  /* Number of items returned so far. Advanced atomically, so that threads that share an iterator get different chunks
   * of an Array. `walk` has its own position: see walk_list. */
  int64_t position;
  FbPart part; /* of a map */
  const DLPackExchangeAPI *exchange;
} Chunks;

HPyType_HELPERS(Chunks)

static FbRef chunks_type, iter_function, from_iterable, list_type; /* written once during the import */
/* Whether a chain that threads share crashes the interpreter: true for CPython 3.13 without a GIL. Written during the
 * import. */
static bool chain_is_unsafe;

HPyDef_SLOT(chunks_destroy, HPy_tp_destroy)
static void chunks_destroy_impl(void *self) {
  Chunks *chunks = self;
  fb_drop_object(chunks->walk, FB_DROP_UNKNOWN);
  fb_drop_object(chunks->container, FB_DROP_UNKNOWN);
}

/* Only chunks_new makes instances. */
HPyDef_SLOT(chunks_refuse, HPy_tp_new)
static HPy chunks_refuse_impl(HPyContext *ctx, HPy type, const HPy *args, HPy_ssize_t nargs, HPy kw) {
  (void)type, (void)args, (void)nargs, (void)kw;
  return fb_raise(ctx, ctx->h_TypeError, "a _Chunks cannot be made directly");
}

HPyDef_SLOT(chunks_call, HPy_tp_call)
static HPy chunks_call_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs, HPy kwnames) {
  (void)args, (void)nargs, (void)kwnames;
  Chunks *chunks = Chunks_AsStruct(ctx, self);
  if (chunks == NULL || chunks->container == NULL) return fb_instance_raise_unmade(ctx, self);
  /* Relaxed: the container is constant, so this publishes nothing. */
  int64_t first = fh_atomic_add_relaxed(&chunks->position, CHUNK);
  int64_t left = chunks->size - first, n = left < 0 ? 0 : left > CHUNK ? CHUNK : left;
  if (chunks->walk != NULL) return walk_list(ctx, chunks->walk, chunks, chunks->part, n, chunks->exchange);
  const TVMFFISeqCell *cell = (const TVMFFISeqCell *)(chunks->container + 1);
  return list_of(ctx, (const TVMFFIAny *)cell->data + (n == 0 ? 0 : first), n, chunks->exchange);
}

/* Makes a _Chunks with the members of *as, and takes new references to its objects. Returns a new handle, or HPy_NULL
 * with an exception raised. */
static HPy chunks_new(HPyContext *ctx, const Chunks *as) {
  HPy type = fb_ref_borrow(ctx, &chunks_type);
  Chunks *data;
  HPy chunks = HPy_New(ctx, type, &data);
  fb_ref_return(ctx, type);
  if (HPy_IsNull(chunks)) return chunks;
  TVMFFIObjectIncRef(as->container);
  if (as->walk != NULL) TVMFFIObjectIncRef(as->walk);
  *data = *as;
  return chunks;
}

/* Calls the function in a cell with one or two arguments and steals them. Returns HPy_NULL if one of them is HPy_NULL,
 * so that calls can be nested without checks. */
static HPy call_taking(HPyContext *ctx, const FbRef *cell, HPy first, HPy second, size_t n) {
  HPy args[2] = {first, second}, result = HPy_NULL;
  if (!HPy_IsNull(first) && (n == 1 || !HPy_IsNull(second))) {
    HPy function = fb_ref_borrow(ctx, cell);
    result = fb_call(ctx, function, args, n, HPy_NULL);
    fb_ref_return(ctx, function);
  }
  for (size_t i = 0; i < n; ++i) {
    if (!HPy_IsNull(args[i])) HPy_Close(ctx, args[i]);
  }
  return result;
}

/* Makes chain.from_iterable(iter(chunks, [])), which ends at an empty list. Where sharing a chain is unsafe, reads all
 * items at once into one list. */
static HPy chain_of(HPyContext *ctx, HPy chunks) {
  HPy lists = call_taking(ctx, &iter_function, chunks, HPyList_New(ctx, 0), 2);
  HPy chain = call_taking(ctx, &from_iterable, lists, HPy_NULL, 1);
  if (FH_LIKELY(!chain_is_unsafe)) return chain;
  return call_taking(ctx, &iter_function, call_taking(ctx, &list_type, chain, HPy_NULL, 1), HPy_NULL, 1);
}

HPy fb_iterate_array(HPyContext *ctx, TVMFFIObject *array, const DLPackExchangeAPI *exchange) {
  const TVMFFISeqCell *cell = (const TVMFFISeqCell *)(array + 1);
  HPy result;
  if (cell->size > CHUNK) {
    const Chunks chunks = {.container = array, .size = cell->size, .exchange = exchange};
    result = chain_of(ctx, chunks_new(ctx, &chunks));
  } else {
    HPy items = list_of(ctx, cell->data, cell->size, exchange);
    result = call_taking(ctx, &iter_function, items, HPy_NULL, 1);
  }
  fb_drop_object(array, HPy_IsNull(result));
  return result;
}

/* Makes an iterator over a map of the given size from its walk; borrows both. */
static HPy walk_map(HPyContext *ctx, TVMFFIObject *map, TVMFFIObject *walk, int64_t size, FbPart part,
                    const DLPackExchangeAPI *exchange) {
  if (size > CHUNK) {
    const Chunks chunks = {.container = map, .walk = walk, .size = size, .part = part, .exchange = exchange};
    return chain_of(ctx, chunks_new(ctx, &chunks));
  }
  return call_taking(ctx, &iter_function, walk_list(ctx, walk, NULL, part, size, exchange), HPy_NULL, 1);
}

HPy fb_iterate_map(HPyContext *ctx, TVMFFIObject *map, FbPart part, const DLPackExchangeAPI *exchange) {
  static FbCoreFunction map_size = {.name = "ffi.MapSize"}, map_walk = {.name = "ffi.MapForwardIterFunctor"};
  TVMFFIAny arg = fb_core_function_object(map), size, walk;
  HPy result = HPy_NULL;
  if (fb_core_function_run(ctx, &map_size, &arg, 1, &size) == 0 &&
      fb_core_function_run(ctx, &map_walk, &arg, 1, &walk) == 0) {
    result = walk_map(ctx, map, walk.v_obj, size.v_int64, part, exchange);
    fb_drop_object(walk.v_obj, HPy_IsNull(result));
  }
  fb_drop_object(map, HPy_IsNull(result));
  return result;
}

/* --- init --------------------------------------------------------------------------------------------------------- */

/* Returns module.name; HPy_NULL with an exception raised on failure. */
static HPy find(HPyContext *ctx, const char *module, const char *name) {
  HPy owner = HPyImport_ImportModule(ctx, module);
  HPy found = HPy_IsNull(owner) ? HPy_NULL : HPy_GetAttr_s(ctx, owner, name);
  if (!HPy_IsNull(owner)) HPy_Close(ctx, owner);
  return found;
}

/* Stores module.name or module.name.attribute in a cell. */
static int keep(HPyContext *ctx, FbRef *cell, const char *module, const char *name, const char *attribute) {
  HPy found = find(ctx, module, name);
  if (!HPy_IsNull(found) && attribute != NULL) {
    HPy inner = HPy_GetAttr_s(ctx, found, attribute);
    HPy_Close(ctx, found);
    found = inner;
  }
  if (HPy_IsNull(found)) return -1;
  fb_ref_store(ctx, cell, found);
  HPy_Close(ctx, found);
  return 0;
}

/* Sets chain_is_unsafe. Returns 0, or -1 with an exception raised. */
static int ask_for_chain(HPyContext *ctx) {
  HPy version = find(ctx, "sys", "hexversion");
  if (HPy_IsNull(version)) return -1;
  chain_is_unsafe = fb_context_free_threaded && HPyLong_AsLong(ctx, version) < 0x030E0000;
  HPy_Close(ctx, version);
  return HPyErr_Occurred(ctx) ? -1 : 0;
}

int fb_iterate_init(HPyContext *ctx) {
  static HPyDef *defines[] = {&chunks_refuse, &chunks_destroy, &chunks_call, NULL};
  static HPyType_Spec spec = FB_TYPE_SPEC(Chunks, "_Chunks", HPy_TPFLAGS_DEFAULT, defines, NULL);
  HPy type = fb_type_new_root(ctx, &spec, &chunks_type);
  if (HPy_IsNull(type)) return -1;
  HPy_Close(ctx, type);
  if (ask_for_chain(ctx) != 0) return -1;
  if (keep(ctx, &iter_function, "builtins", "iter", NULL) != 0) return -1;
  if (keep(ctx, &list_type, "builtins", "list", NULL) != 0) return -1;
  return keep(ctx, &from_iterable, "itertools", "chain", "from_iterable");
}
