/* instance.c - bound classes by their C++ names, their properties, and their objects by the addresses of the values. */
#include "instance.h"

#include "core/object/any.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/object_new.h"
#include "core/object/type.h"
#include "core/platform/fork.h"
#include "overload.h"

/* --- classes ------------------------------------------------------------------------------------------------------ */

/* Properties: a field of a type has only a getter and an offset, and the getter gets object + offset. A property has no
 * offset, so its field has a small one that numbers the property: objects are aligned to 8 bytes, and there are as many
 * getters as needed for the other bits. No ancestor or descendant of a class has a property with the same number. */
enum { N_LOW = 8, N_GETTERS = 32, MAX_PROPERTIES = N_LOW * N_GETTERS };

typedef struct property {
  TVMFFIObject *get, *set; /* Functions that are never released; NULL: none */
} property;

/* The core's part of a class. The record is never freed, because a library with a bound class is not unloaded. */
typedef struct bound_class {
  fh_name_entry by_cpp_name; /* first: the table returns a pointer to it */
  const ffi_hpy_class *type;
  struct bound_class *base, *older; /* `older`: the list of all classes */
  uint32_t n_properties; /* one past the highest number in use; under the lock */
  property *properties[N_GETTERS]; /* arrays of N_LOW; release store, acquire load */
} bound_class;

/* Guards adding classes and properties. */
FH_LOCK(classes_lock, "bound classes", FH_RANK_PLAIN);
static fh_name_table classes; /* by C++ name; read without the lock */
static bound_class *newest;

/* The struct of tvm::ffi::reflection::ReferenceVisitor, without the members that bound values alone use. */
typedef struct {
  void (*visit)(void *arg, TVMFFIObject *target, const void *slot);
  void *arg;
  void (*take)(void *arg, void *former, void (*release)(void *former)); /* NULL unless references are to be released */
} reference_visitor;

/* An object that another object owns by fh_instance_keep. */
typedef struct kept_object {
  TVMFFIObject *object;
  struct kept_object *next;
} kept_object;

static kept_object *kept_of(const ffi_hpy_instance *self) {
  /* acquire: pairs with fh_instance_keep */
  return (kept_object *)fh_atomic_load_acquire_ptr((void *const *)&self->kept);
}

void fh_instance_class_add_traverse(const ffi_hpy_class *type, ffi_hpy_traverse *step) {
  void **first = (void **)(uintptr_t)&type->traverse;
  do {
    step->next = (const ffi_hpy_traverse *)fh_atomic_load_acquire_ptr(first);
  } while (!fh_atomic_cas_seq_cst_ptr(first, (void **)(uintptr_t)&step->next, step)); /* pairs with the next function */
}

void fh_instance_value_visit(const ffi_hpy_class *type, const void *value, const void *visitor) {
  for (; type != NULL; type = type->base) {
    const ffi_hpy_traverse *step = (const ffi_hpy_traverse *)fh_atomic_load_acquire_ptr((void *const *)&type->traverse);
    for (; step != NULL; step = step->next) step->visit(step, value, visitor);
    if (type->to_base != NULL) value = type->to_base((void *)(uintptr_t)value);
  }
}

/* Ends the references of an object that is garbage to the objects that it keeps. */
static void take_kept(ffi_hpy_instance *self, const reference_visitor *visitor) {
  kept_object *each = (kept_object *)self->kept;
  self->kept = NULL; /* only the collector has the object */
  while (each != NULL) {
    kept_object *next = each->next;
    visitor->take(visitor->arg, each->object, NULL);
    fh_mem_free(each);
    each = next;
  }
}

/* For Python's garbage collector: an object refers to the object whose part its value is, to the objects that it keeps,
 * and to the objects that a value refers to if the object owns the value. */
static void visit_references(TVMFFIObject *self, const reference_visitor *visitor) {
  ffi_hpy_instance *instance = (ffi_hpy_instance *)(void *)self;
  if (visitor->take != NULL) take_kept(instance, visitor);
  for (const kept_object *each = kept_of(instance); each != NULL; each = each->next) {
    visitor->visit(visitor->arg, each->object, NULL);
  }
  if (instance->value == NULL) return;
  if (instance->release == fh_instance_release_whole) {
    if (visitor->take == NULL) visitor->visit(visitor->arg, (TVMFFIObject *)instance->holder, NULL);
  } else if (instance->release != NULL && instance->type->visit_value != NULL) {
    instance->type->visit_value(instance, visitor);
  }
}

const ffi_hpy_class *fh_instance_class_find(const char *cpp_name) {
  const bound_class *found = (const bound_class *)(const void *)fh_name_find(&classes, fh_base_bytes(cpp_name));
  return found == NULL ? NULL : found->type;
}

const ffi_hpy_class *fh_instance_class_of(int64_t type_index) {
  fh_mutex_lock(&classes_lock);
  const bound_class *each = newest;
  while (each != NULL && each->type->type_index != type_index) each = each->older;
  fh_mutex_unlock(&classes_lock);
  return each == NULL ? NULL : each->type;
}

static int publish(bound_class *made) {
  fh_mutex_lock(&classes_lock);
  int rc = fh_name_reserve(&classes);
  if (rc == 0) {
    (void)fh_name_put(&classes, &made->by_cpp_name);
    made->older = newest;
    newest = made;
  }
  fh_mutex_unlock(&classes_lock);
  return rc == 0 ? 0 : fh_error_raise_no_memory();
}

/* Registers the type of a class and fills in the core's part of it. On failure the key may stay registered. */
static int add_class(ffi_hpy_class *type, bound_class *made, TVMFFIByteArray key, TVMFFIByteArray doc) {
  enum { N_CHILD_SLOTS = 8 };
  int32_t parent = type->base != NULL ? type->base->type_index : kTVMFFIObject;
  int32_t index = fh_type_add(key, -1, fh_type_find(parent)->type_depth + 1, N_CHILD_SLOTS, true, parent);
  if (index < 0) return -1;
  TVMFFITypeMetadata metadata;
  memset(&metadata, 0, sizeof(metadata));
  metadata.doc = doc;
  if (TVMFFITypeRegisterMetadata(index, &metadata) != 0) return -1;
  TVMFFIByteArray name = fh_base_bytes("__ffi_traverse__"); /* the collector calls the function of each ancestor */
  TVMFFIAny function = fh_any_ptr((void *)(uintptr_t)visit_references);
  if (type->base == NULL && TVMFFITypeRegisterAttr(index, &name, &function) != 0) return -1;
  made->by_cpp_name.name = fh_base_bytes(type->cpp_name);
  made->type = type;
  made->base = type->base != NULL ? (bound_class *)type->base->core : NULL;
  type->type_index = index;
  type->core = made;
  return publish(made);
}

int fh_instance_class_add(ffi_hpy_class *type, const TVMFFIByteArray *key, const TVMFFIByteArray *doc) {
  if (fh_instance_class_find(type->cpp_name) != NULL || fh_type_find_key(*key) >= 0) {
    return fh_error_raise(FH_RUNTIME_ERROR, "`%.*s` is bound already", (int)key->size, key->data);
  }
  bound_class *made = (bound_class *)fh_mem_calloc(1, sizeof(*made));
  if (made == NULL) return fh_error_raise_no_memory();
  if (add_class(type, made, *key, *doc) == 0) {
    fh_mem_keep(made);
    return 0;
  }
  fh_mem_free(made);
  return -1;
}

/* --- properties --------------------------------------------------------------------------------------------------- */

/* Finds the property of a field, and stores the object. Returns NULL with an error pending if there is none. */
FH_INLINE const property *find_property(void *field, uint32_t getter, TVMFFIAny *self) {
  uintptr_t low = (uintptr_t)field % N_LOW;
  const ffi_hpy_instance *instance = (const ffi_hpy_instance *)(const void *)((char *)field - low);
  *self = fh_any_object((void *)(uintptr_t)instance);
  for (const bound_class *each = (const bound_class *)instance->type->core; each != NULL; each = each->base) {
    /* acquire: pairs with the release in add_property */
    const property *row = (const property *)fh_atomic_load_acquire_ptr((void *const *)&each->properties[getter]);
    if (FH_LIKELY(row != NULL && row[low].get != NULL)) return &row[low];
  }
  (void)fh_error_raise(FH_TYPE_ERROR, "`%s` has no such property", fh_type_name(instance->header.type_index));
  return NULL;
}

static FH_NOINLINE int get_property(void *field, uint32_t getter, TVMFFIAny *result) {
  TVMFFIAny self;
  const property *found = find_property(field, getter, &self);
  if (FH_UNLIKELY(found == NULL)) return -1;
  /* bind.h reads the caller's flags in the result, of which the caller of a getter may have set only one. */
  bool takes_containers = result->type_index == kTVMFFINone && result->zero_padding == FFI_HPY_TAKES_CONTAINERS;
  *result = fh_any_none();
  if (!takes_containers) return TVMFFIFunctionGetCellPtr(found->get)->safe_call(found->get, &self, 1, result);
  result->zero_padding = FFI_HPY_TAKES_CONTAINERS;
  return fh_overload_call_inline(found->get, &self, 1, result);
}

static FH_NOINLINE int set_property(void *field, uint32_t getter, const TVMFFIAny *value) {
  TVMFFIAny args[2], result = {.zero_padding = FFI_HPY_TAKES_CONTAINERS}; /* it is dropped: no conversion is needed */
  const property *found = find_property(field, getter, &args[0]);
  if (FH_UNLIKELY(found == NULL)) return -1;
  args[1] = *value;
  int rc = fh_overload_call_inline(found->set, args, 2, &result);
  if (FH_UNLIKELY(rc != 0)) fh_error_move_class_places(args, (uintptr_t)value - sizeof(*value));
  if (FH_UNLIKELY(rc == 0 && result.type_index >= kTVMFFIStaticObjectBegin)) fh_any_drop(&result);
  return rc;
}

#define EACH_GETTER(X) \
  X(0)                 \
  X(1)                 \
  X(2)                 \
  X(3)                 \
  X(4)                 \
  X(5)                 \
  X(6)                 \
  X(7)                 \
  X(8)                 \
  X(9)                 \
  X(10)                \
  X(11)                \
  X(12)                \
  X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31)
#define DEFINE_GETTER(n)                                                                        \
  static int get_##n(void *field, TVMFFIAny *result) { return get_property(field, n, result); } \
  static int set_##n(void *field, const TVMFFIAny *value) { return set_property(field, n, value); }
EACH_GETTER(DEFINE_GETTER)
#define LIST_GETTER(n) {get_##n, set_##n},
static const struct {
  TVMFFIFieldGetter get;
  TVMFFIFieldSetter set;
} accessors[N_GETTERS] = {EACH_GETTER(LIST_GETTER)};

static bool is_above(const bound_class *upper, const bound_class *lower) {
  while (lower != NULL && lower != upper) lower = lower->base;
  return lower != NULL;
}

/* The number of the next property of a class: no base or derived class has a property with that number.
 * Under the lock. */
static uint32_t next_number(const bound_class *of) {
  uint32_t number = 0;
  for (const bound_class *each = newest; each != NULL; each = each->older) {
    if (each->n_properties > number && (is_above(each, of) || is_above(of, each))) number = each->n_properties;
  }
  return number;
}

/* Stores the Functions, which the class owns from now on. Returns the number; MAX_PROPERTIES without room. */
static uint32_t add_property(bound_class *of, property made) {
  property *row = (property *)fh_mem_calloc(N_LOW, sizeof(*row));
  if (row == NULL) return MAX_PROPERTIES;
  fh_mutex_lock(&classes_lock);
  uint32_t number = next_number(of);
  if (number < MAX_PROPERTIES) {
    property **place = &of->properties[number / N_LOW];
    if (*place == NULL) {
      row[number % N_LOW] = made;
      fh_mem_keep(row);
      /* release: pairs with find_property */
      fh_atomic_store_release_ptr((void **)place, row);
      row = NULL;
    } else {
      (*place)[number % N_LOW] = made; /* it is read only after its field is registered */
    }
    of->n_properties = number + 1;
  }
  fh_mutex_unlock(&classes_lock);
  fh_mem_free(row);
  return number;
}

int fh_instance_class_add_property(const ffi_hpy_class *type, const TVMFFIFieldInfo *info, TVMFFIObjectHandle get,
                                   TVMFFIObjectHandle set) {
  property made = {(TVMFFIObject *)get, (TVMFFIObject *)set};
  fh_object_retain(get);
  if (set != NULL) fh_object_retain(set);
  uint32_t number = add_property((bound_class *)type->core, made);
  if (number >= MAX_PROPERTIES) {
    fh_object_release(get);
    fh_object_release(set);
    return fh_error_raise(FH_RUNTIME_ERROR, "`%s` has too many properties: at most %d", fh_type_name(type->type_index),
                          MAX_PROPERTIES);
  }
  TVMFFIFieldInfo whole = *info;
  whole.flags = set != NULL ? kTVMFFIFieldFlagBitMaskWritable : 0;
  whole.flags |= kTVMFFIFieldFlagBitMaskInitOff | (info->flags & FFI_HPY_FIELD_IS_WORD);
  whole.size = whole.alignment = 1; /* tells the binding that no memory of the object is the value */
  whole.offset = number % N_LOW;
  whole.getter = accessors[number / N_LOW].get;
  whole.setter = set != NULL ? (void *)(uintptr_t)accessors[number / N_LOW].set : NULL;
  whole.field_static_type_index = kTVMFFIAny;
  return TVMFFITypeRegisterField(type->type_index, &whole);
}

/* --- objects by the address of the value -------------------------------------------------------------------------- */

/* A program that makes many objects makes and destroys neighbours in memory one after the other. So all values in 1 KiB
 * of memory are in one stripe, and neighbours in neighbouring buckets: with hundreds of thousands of objects, a bucket
 * outside of the processor's caches costs more than the rest of a constructor. */
enum { STRIPE_BITS = 6, N_STRIPES = 1 << STRIPE_BITS, AREA_BITS = 10, UNIT_BITS = 5 };
FH_LOCKS(stripe_locks, N_STRIPES, "bound objects");
/* The objects of one stripe, in lists by address. */
static struct {
  ffi_hpy_instance **buckets;
  size_t n_buckets, n; /* n_buckets: 0 or a power of 2 */
} stripes[N_STRIPES];

/* The hash of the 1 KiB of memory around an address. */
FH_INLINE uint64_t hash_of_area(const void *value) {
  return ((uint64_t)(uintptr_t)value >> AREA_BITS) * UINT64_C(0x9E3779B97F4A7C15);
}
FH_INLINE size_t stripe_of(const void *value) { return (size_t)(hash_of_area(value) >> (64 - STRIPE_BITS)); }
FH_INLINE size_t bucket_of(const void *value, size_t n_buckets) {
  return (size_t)(((uint64_t)(uintptr_t)value >> UNIT_BITS) + (hash_of_area(value) >> 32)) & (n_buckets - 1);
}

/* Makes room in a stripe. Without memory its lists become longer. */
static void grow(size_t stripe) {
  size_t n = stripes[stripe].n_buckets == 0 ? 16 : 4 * stripes[stripe].n_buckets;
  ffi_hpy_instance **larger = (ffi_hpy_instance **)fh_mem_calloc(n, sizeof(ffi_hpy_instance *));
  if (larger == NULL) return;
  fh_mem_keep(larger);
  for (size_t i = 0; i < stripes[stripe].n_buckets; ++i) {
    for (ffi_hpy_instance *each = stripes[stripe].buckets[i]; each != NULL;) {
      const void *value = each->value != NULL ? each->value : each->holder;
      ffi_hpy_instance *next = each->next, **head = &larger[bucket_of(value, n)];
      each->next = *head;
      *head = each;
      each = next;
    }
  }
  fh_mem_free(stripes[stripe].buckets);
  stripes[stripe].buckets = larger;
  stripes[stripe].n_buckets = n;
}

/* The object of a value, with a new reference; under the lock of the stripe. */
static ffi_hpy_instance *find_in(size_t stripe, const ffi_hpy_class *type, const void *value) {
  if (stripes[stripe].n_buckets == 0) return NULL;
  ffi_hpy_instance *each = stripes[stripe].buckets[bucket_of(value, stripes[stripe].n_buckets)];
  for (; each != NULL; each = each->next) {
    bool fits = each->value == value && fh_type_is_instance(each->header.type_index, type->type_index);
    if (fits && fh_object_try_retain(each)) return each;
  }
  return NULL;
}

/* Adds the object of a value to its stripe, which has room; under the lock. */
FH_INLINE void put_in(size_t stripe, ffi_hpy_instance *self, const void *value) {
  ffi_hpy_instance **head = &stripes[stripe].buckets[bucket_of(value, stripes[stripe].n_buckets)];
  self->next = *head;
  *head = self;
  ++stripes[stripe].n;
}

/* The cases of fh_instance_ready that call functions. */
static FH_NOINLINE ffi_hpy_instance *make_ready(ffi_hpy_instance *self, void *value, bool may_be_known) {
  size_t stripe = stripe_of(value);
  fh_mutex_lock(&stripe_locks[stripe].lock);
  ffi_hpy_instance *known = may_be_known ? find_in(stripe, self->type, value) : NULL;
  if (known == NULL) self->value = value;
  if (known == NULL && stripes[stripe].n >= stripes[stripe].n_buckets) grow(stripe);
  if (known == NULL && stripes[stripe].n_buckets != 0) put_in(stripe, self, value);
  fh_mutex_unlock(&stripe_locks[stripe].lock);
  return known;
}

/* Needs no stack frame. */
ffi_hpy_instance *fh_instance_ready(ffi_hpy_instance *self, void *value, int may_be_known) {
  size_t stripe = stripe_of(value);
  if (FH_UNLIKELY(may_be_known || !fh_mutex_try_lock(&stripe_locks[stripe].lock))) {
    return make_ready(self, value, may_be_known != 0);
  }
  if (FH_UNLIKELY(stripes[stripe].n >= stripes[stripe].n_buckets)) {
    fh_mutex_unlock(&stripe_locks[stripe].lock);
    return make_ready(self, value, false);
  }
  self->value = value;
  put_in(stripe, self, value);
  fh_mutex_unlock(&stripe_locks[stripe].lock);
  return NULL;
}

/* The `release` of an object whose value C++ has taken: `holder`. The object stays in its stripe, for
 * fh_instance_return. */
static void value_is_taken(ffi_hpy_instance *self) { (void)self; }

/* Removes the object from its stripe; under the lock. */
FH_INLINE void take_from(size_t stripe, const ffi_hpy_instance *self, const void *value) {
  if (stripes[stripe].n_buckets == 0) return;
  ffi_hpy_instance **link = &stripes[stripe].buckets[bucket_of(value, stripes[stripe].n_buckets)];
  while (*link != NULL && *link != self) link = &(*link)->next;
  if (*link == NULL) return;
  *link = self->next;
  --stripes[stripe].n;
}
static FH_NOINLINE void wait_and_forget(const ffi_hpy_instance *self, const void *value) {
  size_t stripe = stripe_of(value);
  fh_mutex_lock(&stripe_locks[stripe].lock);
  take_from(stripe, self, value);
  fh_mutex_unlock(&stripe_locks[stripe].lock);
}
FH_INLINE void forget(const ffi_hpy_instance *self) {
  const void *value = self->value != NULL ? self->value : self->holder;
  size_t stripe = stripe_of(value);
  if (FH_UNLIKELY(!fh_mutex_try_lock(&stripe_locks[stripe].lock))) {
    wait_and_forget(self, value);
    return;
  }
  take_from(stripe, self, value);
  fh_mutex_unlock(&stripe_locks[stripe].lock);
}

ffi_hpy_instance *fh_instance_find(const ffi_hpy_class *type, const void *value) {
  size_t stripe = stripe_of(value);
  fh_mutex_lock(&stripe_locks[stripe].lock);
  ffi_hpy_instance *found = find_in(stripe, type, value);
  fh_mutex_unlock(&stripe_locks[stripe].lock);
  return found;
}

/* --- objects ------------------------------------------------------------------------------------------------------ */

void fh_instance_release_whole(ffi_hpy_instance *self) { fh_object_release(self->holder); }

int fh_instance_keep(ffi_hpy_instance *self, TVMFFIObjectHandle kept) {
  for (const kept_object *each = kept_of(self); each != NULL; each = each->next) {
    if (each->object == kept) return 0;
  }
  kept_object *made = (kept_object *)fh_mem_alloc(sizeof(*made));
  if (made == NULL) return fh_error_raise_no_memory();
  fh_object_retain(kept);
  made->object = (TVMFFIObject *)kept;
  made->next = kept_of(self);
  /* pairs with kept_of */
  while (!fh_atomic_cas_seq_cst_ptr(&self->kept, (void **)(void *)&made->next, made)) continue;
  return 0;
}

static void drop_kept(ffi_hpy_instance *self) {
  for (kept_object *each = (kept_object *)self->kept; each != NULL;) {
    kept_object *next = each->next;
    fh_object_release(each->object);
    fh_mem_free(each);
    each = next;
  }
}

static void end_value(void *handle) {
  ffi_hpy_instance *self = (ffi_hpy_instance *)handle;
  if (self->value != NULL || self->release == value_is_taken) { /* its constructor did not fail */
    forget(self);
    if (self->release != NULL) self->release(self);
  }
  drop_kept(self);
}

void *fh_instance_take(ffi_hpy_instance *self) {
  void *value = self->value;
  if (value == NULL) return NULL;
  size_t stripe = stripe_of(value);
  fh_mutex_lock(&stripe_locks[stripe].lock);
  value = self->value; /* NULL if another thread was faster */
  if (value != NULL) {
    self->holder = value;
    self->release = value_is_taken;
    self->value = NULL;
  }
  fh_mutex_unlock(&stripe_locks[stripe].lock);
  return value;
}

ffi_hpy_instance *fh_instance_return(const ffi_hpy_class *type, void *value, void (*release)(ffi_hpy_instance *self),
                                     void *holder) {
  size_t stripe = stripe_of(value);
  fh_mutex_lock(&stripe_locks[stripe].lock);
  ffi_hpy_instance *each = NULL;
  if (stripes[stripe].n_buckets != 0) each = stripes[stripe].buckets[bucket_of(value, stripes[stripe].n_buckets)];
  for (; each != NULL; each = each->next) {
    bool fits = each->release == value_is_taken && each->holder == value;
    if (fits && fh_type_is_instance(each->header.type_index, type->type_index) && fh_object_try_retain(each)) break;
  }
  if (each != NULL) {
    each->release = release;
    each->holder = holder;
    each->value = value;
  }
  fh_mutex_unlock(&stripe_locks[stripe].lock);
  return each;
}

static void delete_instance(void *self, int flags);
static const fh_object_owner owner = {delete_instance, end_value};
static void delete_instance(void *self, int flags) { fh_object_delete_owner(&owner, self, flags, true); }

int fh_instance_new(const ffi_hpy_class *type, void **room, ffi_hpy_instance **out) {
  enum { HEAD = sizeof(ffi_hpy_instance) };
  size_t n_bytes = HEAD;
  if (room != NULL) n_bytes += type->size + (type->alignment > 8 ? type->alignment - 8 : 0);
  ffi_hpy_instance *made = (ffi_hpy_instance *)fh_mem_alloc(n_bytes);
  if (made == NULL) return fh_error_raise_no_memory();
  memset(made, 0, HEAD);
  fh_object_init(&made->header, type->type_index, delete_instance);
  made->type = type;
  if (room != NULL) {
    uintptr_t mask = (uintptr_t)type->alignment - 1;
    *room = (void *)(((uintptr_t)made + HEAD + mask) & ~mask);
  }
  *out = made;
  return 0;
}

ffi_hpy_instance *fh_instance_of(const TVMFFIAny *value) {
  if (value->type_index < kTVMFFIStaticObjectBegin || value->v_obj->deleter != delete_instance) return NULL;
  return (ffi_hpy_instance *)(void *)value->v_obj;
}

void *fh_instance_cast(const TVMFFIAny *value, const ffi_hpy_class *type) {
  const ffi_hpy_instance *self = (const ffi_hpy_instance *)(const void *)value->v_obj;
  if (FH_LIKELY(value->type_index == type->type_index && self->type == type)) return self->value;
  if (value->type_index < kTVMFFIStaticObjectBegin) return NULL;
  if (value->type_index != type->type_index && !fh_type_is_instance(value->type_index, type->type_index)) return NULL;
  void *found = self->value;
  for (const ffi_hpy_class *each = self->type; found != NULL && each != NULL && each != type; each = each->base) {
    if (each->type_index == type->type_index) break;
    if (each->to_base != NULL) found = each->to_base(found);
  }
  return found;
}
