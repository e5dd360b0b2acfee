/* One side of benchmarks/core.py: times the C functions of the libtvm_ffi.so that it loads.
 *
 * Reads lines `ROW SIZE N` and answers each with the ns of CPU time per operation, over N iterations of the row at that
 * size, and the largest growth of the process in KiB; or with `missing` if the library lacks the row's functions.
 * Usage: core_rows LIBRARY */
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tvm/ffi/c_api.h>

/* ---- The library ---- */

static struct {
  int (*dec_ref)(TVMFFIObjectHandle);
  int (*create_opaque)(void *, int32_t, void (*)(void *), TVMFFIObjectHandle *);
  int (*create_function)(void *, TVMFFISafeCallType, void (*)(void *), TVMFFIObjectHandle *);
  int (*get_global)(const TVMFFIByteArray *, TVMFFIObjectHandle *);
  int (*call)(TVMFFIObjectHandle, TVMFFIAny *, int32_t, TVMFFIAny *);
  int (*new_string)(const TVMFFIByteArray *, TVMFFIAny *);
  int (*key_to_index)(const TVMFFIByteArray *, int32_t *);
  void (*take_raised)(TVMFFIObjectHandle *);
} api;

static void *symbol(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (found == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  return found;
}

static void load(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
#define LOAD(field, name) *(void **)(&api.field) = symbol(library, name)
  LOAD(dec_ref, "TVMFFIObjectDecRef");
  LOAD(create_opaque, "TVMFFIObjectCreateOpaque");
  LOAD(create_function, "TVMFFIFunctionCreate");
  LOAD(get_global, "TVMFFIFunctionGetGlobal");
  LOAD(call, "TVMFFIFunctionCall");
  LOAD(new_string, "TVMFFIStringFromByteArray");
  LOAD(key_to_index, "TVMFFITypeKeyToIndex");
  LOAD(take_raised, "TVMFFIErrorMoveFromRaised");
#undef LOAD
}

static void check(int rc, const char *what) {
  if (rc == 0) return;
  TVMFFIObjectHandle error;
  api.take_raised(&error);
  fprintf(stderr, "%s: %s\n", what, error != NULL ? TVMFFIErrorGetCellPtr(error)->message.data : "no error");
  exit(1);
}

/* Returns NULL if there is none. */
static TVMFFIObjectHandle find_global(const char *name) {
  TVMFFIByteArray text = {name, strlen(name)};
  TVMFFIObjectHandle function = NULL;
  check(api.get_global(&text, &function), name);
  return function;
}

static TVMFFIAny int_any(int64_t value) {
  TVMFFIAny any = {0};
  any.type_index = kTVMFFIInt;
  any.v_int64 = value;
  return any;
}
static TVMFFIAny text_any(const char *text, size_t n_bytes) {
  TVMFFIByteArray bytes = {text, n_bytes};
  TVMFFIAny any;
  check(api.new_string(&bytes, &any), "a string");
  return any;
}
static void drop(TVMFFIAny *any) {
  if (any->type_index >= kTVMFFIStaticObjectBegin) api.dec_ref(any->v_obj);
}
static TVMFFIAny call(TVMFFIObjectHandle function, TVMFFIAny *args, int32_t n_args) {
  TVMFFIAny result = {0};
  check(api.call(function, args, n_args, &result), "a call");
  return result;
}

/* ---- Time and memory ---- */

/* CPU time of the calling thread, so that other processes on the cores do not count. A wait for a lock does not count
 * either; only upstream's library waits for locks here. */
static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static long read_status(const char *key) {
  char line[256];
  long kib = 0;
  FILE *status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL) {
    if (strncmp(line, key, strlen(key)) == 0) kib = strtol(line + strlen(key), NULL, 10);
  }
  if (status != NULL) fclose(status);
  return kib;
}

static void reset_peak(void) {
  FILE *refs = fopen("/proc/self/clear_refs", "w");
  if (refs == NULL) return;
  fputs("5", refs);
  fclose(refs);
}

/* ---- Rows. Each returns ns per operation over n iterations, or a negative number if a function is missing. A row that
 * measures memory calls begin_memory before the operation. ---- */

static long before_kib;
static void begin_memory(void) {
  malloc_trim(0); /* free memory would hide the memory of the operation */
  reset_peak();
  before_kib = read_status("VmRSS:");
}

static void end_nothing(void *handle) { (void)handle; }

static double object(int64_t n, int64_t size) {
  TVMFFIObjectHandle made;
  (void)size;
  double start = now_ns();
  for (int64_t i = 0; i < n; ++i) {
    api.create_opaque(&api, kTVMFFIOpaquePyObject, end_nothing, &made);
    api.dec_ref(made);
  }
  return (now_ns() - start) / (double)n;
}

static int nop(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)self, (void)args, (void)n_args, (void)result;
  return 0;
}

static double function_call(int64_t n, int64_t size) {
  TVMFFIObjectHandle function;
  TVMFFIAny args[3] = {int_any(1), int_any(2), int_any(3)}, result = {0};
  (void)size;
  check(api.create_function(&api, nop, end_nothing, &function), "a function");
  double start = now_ns();
  for (int64_t i = 0; i < n; ++i) api.call(function, args, 3, &result);
  double ns = (now_ns() - start) / (double)n;
  api.dec_ref(function);
  return ns;
}

static double string(int64_t n, int64_t size) {
  static const char text[256] = "some text";
  TVMFFIByteArray bytes = {text, (size_t)size};
  TVMFFIAny made;
  double start = now_ns();
  for (int64_t i = 0; i < n; ++i) {
    api.new_string(&bytes, &made);
    if (made.type_index >= kTVMFFIStaticObjectBegin) api.dec_ref(made.v_obj);
  }
  return (now_ns() - start) / (double)n;
}

/* The i-th key: keys are distinct and unordered. */
static int64_t key_of(int64_t i) { return (int64_t)((uint64_t)i * 0x9e3779b97f4a7c15u >> 8); }

static TVMFFIAny *make_pairs(int64_t size, int is_text) {
  TVMFFIAny *pairs = (TVMFFIAny *)calloc((size_t)size * 2, sizeof *pairs);
  for (int64_t i = 0; i < size; ++i) {
    char text[32];
    int n = snprintf(text, sizeof text, "key number %lld", (long long)key_of(i));
    pairs[2 * i] = is_text ? text_any(text, (size_t)n) : int_any(key_of(i));
    pairs[2 * i + 1] = int_any(i);
  }
  return pairs;
}
static void free_pairs(TVMFFIAny *pairs, int64_t size) {
  for (int64_t i = 0; i < 2 * size; ++i) drop(&pairs[i]);
  free(pairs);
}

static double insert(int64_t n, int64_t size, int is_text) {
  TVMFFIObjectHandle new_dict = find_global("ffi.Dict"), set_item = find_global("ffi.DictSetItem");
  TVMFFIAny *pairs = make_pairs(size, is_text);
  double ns = 0;
  for (int64_t round = 0; round < n; ++round) {
    TVMFFIAny args[3], result = {0};
    args[0] = call(new_dict, NULL, 0);
    double start = now_ns();
    for (int64_t i = 0; i < size; ++i) {
      args[1] = pairs[2 * i];
      args[2] = pairs[2 * i + 1];
      api.call(set_item, args, 3, &result);
    }
    ns += now_ns() - start;
    drop(&args[0]);
  }
  free_pairs(pairs, size);
  return ns / (double)(n * size);
}
static double map_insert(int64_t n, int64_t size) { return insert(n, size, 0); }
static double map_insert_text(int64_t n, int64_t size) { return insert(n, size, 1); }

static double lookup(int64_t n, int64_t size, int is_text) {
  TVMFFIObjectHandle new_map = find_global("ffi.Map"), get_item = find_global("ffi.MapGetItem");
  TVMFFIAny *pairs = make_pairs(size, is_text);
  TVMFFIAny args[2], result = {0};
  args[0] = call(new_map, pairs, (int32_t)(2 * size));
  uint64_t at = 1;
  double start = now_ns();
  for (int64_t i = 0; i < n; ++i) {
    at = at * 6364136223846793005u + 1442695040888963407u;
    args[1] = pairs[(at >> 33) % (uint64_t)size * 2];
    result.type_index = kTVMFFINone;
    api.call(get_item, args, 2, &result);
  }
  double ns = (now_ns() - start) / (double)n;
  drop(&args[0]);
  free_pairs(pairs, size);
  return ns;
}
static double map_lookup(int64_t n, int64_t size) { return lookup(n, size, 0); }
static double map_lookup_text(int64_t n, int64_t size) { return lookup(n, size, 1); }

static double append(int64_t n, int64_t size) {
  TVMFFIObjectHandle new_list = find_global("ffi.List"), append_item = find_global("ffi.ListAppend");
  double ns = 0;
  for (int64_t round = 0; round < n; ++round) {
    TVMFFIAny args[2], result = {0};
    args[0] = call(new_list, NULL, 0);
    args[1] = int_any(round);
    double start = now_ns();
    for (int64_t i = 0; i < size; ++i) api.call(append_item, args, 2, &result);
    ns += now_ns() - start;
    drop(&args[0]);
  }
  return ns / (double)(n * size);
}

static double array_make(int64_t n, int64_t size) {
  TVMFFIObjectHandle new_array = find_global("ffi.Array");
  TVMFFIAny *items = (TVMFFIAny *)calloc((size_t)size, sizeof *items);
  for (int64_t i = 0; i < size; ++i) items[i] = int_any(i);
  double start = now_ns();
  for (int64_t i = 0; i < n; ++i) {
    TVMFFIAny made = call(new_array, items, (int32_t)size);
    drop(&made);
  }
  double ns = (now_ns() - start) / (double)(n * size);
  free(items);
  return ns;
}

static double type_index(int64_t n, int64_t size) {
  TVMFFIByteArray key = {"ffi.Function", 12};
  int32_t index;
  (void)size;
  double start = now_ns();
  for (int64_t i = 0; i < n; ++i) api.key_to_index(&key, &index);
  return (now_ns() - start) / (double)n;
}

/* ---- Global functions, by one or more threads, each with a different name ---- */

typedef struct {
  const char *name;
  int64_t n;
  pthread_barrier_t *start;
  double ns;
} searcher;

static void *search(void *raw) {
  searcher *each = (searcher *)raw;
  TVMFFIByteArray name = {each->name, strlen(each->name)};
  TVMFFIObjectHandle function;
  pthread_barrier_wait(each->start);
  double start = now_ns();
  for (int64_t i = 0; i < each->n; ++i) {
    api.get_global(&name, &function);
    api.dec_ref(function);
  }
  each->ns = now_ns() - start;
  return NULL;
}

/* Returns ns per lookup, counting the lookups of all threads. */
static double global_lookup(int64_t n, int64_t n_threads) {
  static const char *const names[] = {"ffi.MapGetItem", "ffi.ArrayGetItem", "ffi.String", "ffi.Bytes"};
  pthread_t threads[4];
  searcher each[4];
  pthread_barrier_t start;
  double ns = 0;
  pthread_barrier_init(&start, NULL, (unsigned)n_threads);
  for (int64_t i = 0; i < n_threads; ++i) {
    each[i] = (searcher){names[i], n, &start, 0};
    pthread_create(&threads[i], NULL, search, &each[i]);
  }
  for (int64_t i = 0; i < n_threads; ++i) {
    pthread_join(threads[i], NULL);
    if (each[i].ns > ns) ns = each[i].ns;
  }
  pthread_barrier_destroy(&start);
  return ns / (double)(n * n_threads);
}

/* ---- Objects, by one or more threads that start together ---- */

enum { BATCH = 1000 };

typedef struct {
  TVMFFIObjectHandle made[BATCH];
  TVMFFIObjectHandle *dropped; /* made by this thread or by its neighbour */
  int64_t n;
  pthread_barrier_t *start;
  double ns;
} maker;

static void *make_and_drop(void *raw) {
  maker *each = (maker *)raw;
  double start = now_ns();
  for (int64_t round = 0; round < each->n; ++round) {
    for (int i = 0; i < BATCH; ++i) api.create_opaque(&api, kTVMFFIOpaquePyObject, end_nothing, &each->made[i]);
    pthread_barrier_wait(each->start);
    for (int i = 0; i < BATCH; ++i) api.dec_ref(each->dropped[i]);
    pthread_barrier_wait(each->start);
  }
  each->ns = now_ns() - start;
  return NULL;
}

/* Returns ns per object of one thread. With `step` 1 each thread drops its neighbour's objects. */
static double objects(int64_t n, int64_t n_threads, int step) {
  pthread_t *threads = (pthread_t *)calloc((size_t)n_threads, sizeof *threads);
  maker *makers = (maker *)calloc((size_t)n_threads, sizeof *makers);
  pthread_barrier_t start;
  double ns = 0;
  pthread_barrier_init(&start, NULL, (unsigned)n_threads);
  for (int64_t i = 0; i < n_threads; ++i) {
    makers[i].dropped = makers[(i + step) % n_threads].made;
    makers[i].n = n;
    makers[i].start = &start;
    pthread_create(&threads[i], NULL, make_and_drop, &makers[i]);
  }
  for (int64_t i = 0; i < n_threads; ++i) {
    pthread_join(threads[i], NULL);
    ns += makers[i].ns;
  }
  pthread_barrier_destroy(&start);
  free(threads);
  free(makers);
  return ns / (double)(n * n_threads * BATCH);
}
static double objects_own(int64_t n, int64_t n_threads) { return objects(n, n_threads, 0); }
static double objects_of_others(int64_t n, int64_t n_threads) { return objects(n, n_threads, 1); }

/* ---- JSON and graphs: size is MB of text, or nodes ---- */

static const char item_text[] =
    "{\"name\": \"a text of some length\", \"values\": [1, 2.5, -3e10, true, null], \"nested\": {\"k\": [[], {}]}}";

static TVMFFIAny json_text(int64_t megabytes) {
  size_t n_max = (size_t)megabytes * 1000000, n = 0, n_item = sizeof item_text - 1;
  char *text = (char *)malloc(n_max + n_item + 8);
  text[n++] = '[';
  while (n < n_max) {
    if (n > 1) text[n++] = ',';
    memcpy(text + n, item_text, n_item);
    n += n_item;
  }
  text[n++] = ']';
  TVMFFIAny any = text_any(text, n);
  free(text);
  return any;
}

static double apply(int64_t n, const char *name, TVMFFIAny *args, int32_t n_args) {
  TVMFFIObjectHandle function = find_global(name);
  if (function == NULL) return -1;
  begin_memory();
  double start = now_ns();
  for (int64_t i = 0; i < n; ++i) {
    TVMFFIAny result = call(function, args, n_args);
    drop(&result);
  }
  double ns = (now_ns() - start) / (double)n;
  for (int32_t i = 0; i < n_args; ++i) drop(&args[i]);
  return ns;
}

static double json_parse(int64_t n, int64_t megabytes) {
  TVMFFIAny text = json_text(megabytes);
  return apply(n, "ffi.json.Parse", &text, 1);
}

static double json_write(int64_t n, int64_t megabytes) {
  TVMFFIObjectHandle parse = find_global("ffi.json.Parse");
  if (parse == NULL) return -1;
  TVMFFIAny text = json_text(megabytes), value = call(parse, &text, 1);
  drop(&text);
  TVMFFIAny args[2] = {value, {0}};
  return apply(n, "ffi.json.Stringify", args, 2);
}

/* Makes a tree of about `n_nodes` Arrays with four children each; a leaf has a string and a number. */
static TVMFFIAny make_tree(TVMFFIObjectHandle new_array, int64_t n_nodes) {
  TVMFFIAny children[4];
  if (n_nodes <= 4) {
    children[0] = text_any("a text of some length", 21);
    children[1] = int_any(n_nodes);
  }
  for (int i = 0; n_nodes > 4 && i < 4; ++i) children[i] = make_tree(new_array, n_nodes / 4);
  TVMFFIAny made = call(new_array, children, n_nodes > 4 ? 4 : 2);
  for (int i = 0; i < (n_nodes > 4 ? 4 : 1); ++i) drop(&children[i]);
  return made;
}

static double deep_copy(int64_t n, int64_t n_nodes) {
  TVMFFIAny tree = make_tree(find_global("ffi.List"), n_nodes);
  return apply(n, "ffi.DeepCopy", &tree, 1);
}

static double structural_hash(int64_t n, int64_t n_nodes) {
  TVMFFIAny args[3] = {make_tree(find_global("ffi.Array"), n_nodes), int_any(0), int_any(0)};
  args[1].type_index = args[2].type_index = kTVMFFIBool;
  return apply(n, "ffi.StructuralHash", args, 3);
}

static double structural_equal(int64_t n, int64_t n_nodes) {
  TVMFFIObjectHandle new_array = find_global("ffi.Array");
  TVMFFIAny args[4] = {make_tree(new_array, n_nodes), make_tree(new_array, n_nodes), int_any(0), int_any(0)};
  args[2].type_index = args[3].type_index = kTVMFFIBool;
  return apply(n, "ffi.StructuralEqual", args, 4);
}

static double to_graph(int64_t n, int64_t n_nodes) {
  TVMFFIAny args[2] = {make_tree(find_global("ffi.Array"), n_nodes), {0}};
  return apply(n, "ffi.ToJSONGraph", args, 2);
}

static double from_graph(int64_t n, int64_t n_nodes) {
  TVMFFIObjectHandle write = find_global("ffi.ToJSONGraphString");
  if (write == NULL) return -1;
  TVMFFIAny args[2] = {make_tree(find_global("ffi.Array"), n_nodes), {0}}, text = call(write, args, 2);
  drop(&args[0]);
  return apply(n, "ffi.FromJSONGraphString", &text, 1);
}

/* ---- Commands ---- */

static const struct {
  const char *name;
  double (*run)(int64_t n, int64_t size);
} rows[] = {
    {"object", object},
    {"objects", objects_own},
    {"objects_of_others", objects_of_others},
    {"function", function_call},
    {"string", string},
    {"insert", map_insert},
    {"insert_text", map_insert_text},
    {"lookup", map_lookup},
    {"lookup_text", map_lookup_text},
    {"append", append},
    {"array", array_make},
    {"type", type_index},
    {"global", global_lookup},
    {"json_parse", json_parse},
    {"json_write", json_write},
    {"deep_copy", deep_copy},
    {"structural_hash", structural_hash},
    {"structural_equal", structural_equal},
    {"to_graph", to_graph},
    {"from_graph", from_graph},
};

static void answer(const char *name, int64_t size, int64_t n) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    if (strcmp(rows[i].name, name) != 0) continue;
    begin_memory();
    double ns = rows[i].run(n, size);
    if (ns < 0) {
      printf("missing\n");
    } else {
      printf("%.3f %ld\n", ns, read_status("VmHWM:") - before_kib);
    }
    fflush(stdout);
    return;
  }
  fprintf(stderr, "no row %s\n", name);
  exit(1);
}

int main(int argc, char **argv) {
  char name[64];
  long long size, n;
  if (argc != 2) return 2;
  load(argv[1]);
  printf("ready\n");
  fflush(stdout);
  while (scanf("%63s %lld %lld", name, &size, &n) == 3) answer(name, size, n);
  return 0;
}
