/* The table of classified Python types: open addressing with linear probing, one writer at a time, readers without a
 * lock.
 *
 * The key is the pointer of a type. A writer never harms a concurrent reader: a slot has NULL or a complete entry, and
 * neither entries nor replaced tables are freed. A reader may miss an entry that moves; the reader then asks the
 * package, as for a type that is not in the table. */
#include "type_tag.h"

#include <stdlib.h>

#include "core/platform/atomic.h"
#include "core/platform/fork.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/hook.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/text.h"

/* --- the binding's classes ---------------------------------------------------------------------------------------- */

/* The binding's own classes. */

FbRef fb_own_class_object, fb_own_class_function, fb_own_class_owner;

bool fb_own_class_check(HPyContext *ctx, HPy h, const FbRef *own_class) {
  HPy cls = fb_ref_borrow(ctx, own_class);
  bool is_instance = HPy_TypeCheck(ctx, h, cls);
  fb_ref_return(ctx, cls);
  return is_instance;
}

/* --- type tags ---------------------------------------------------------------------------------------------------- */

/* Sparse from the start: each collision in the lookup of int or str would slow every call down. */
enum { FIRST_SLOTS = 4096 };

FbTypeTagTable *fb_type_tag_table;
/* Guards the variables below and writes to the table. No foreign code runs under it. */
FH_LOCK(writing, "type kinds", FH_RANK_PLAIN);
static size_t n_entries;
static FbTypeTagEntry *unused; /* unused entries */

/* ---- the table, under the lock ---- */

/* n_slots is a power of two. Returns NULL if memory is exhausted. */
static FbTypeTagTable *table_new(size_t n_slots) {
  FbTypeTagTable *table = calloc(1, sizeof(*table) + n_slots * sizeof(table->slots[0]));
  if (table != NULL) table->mask = n_slots - 1;
  return table;
}

/* Returns the entry of slot i, modulo the number of slots. Relaxed: the caller holds the lock. */
static FbTypeTagEntry *at(FbTypeTagTable *table, size_t i) {
  return fh_atomic_load_relaxed(&table->slots[i & table->mask]);
}
static void put(FbTypeTagTable *table, size_t i, FbTypeTagEntry *entry) {
  fh_atomic_store_release(&table->slots[i & table->mask], entry); /* pairs with fb_type_tag_find */
}
static intptr_t type_at(FbTypeTagTable *table, size_t i) { return fh_atomic_load_relaxed(&at(table, i)->type); }

/* Returns the slot of a type, or the empty slot at its place. */
static size_t probe(FbTypeTagTable *table, intptr_t type) {
  size_t i = fb_type_tag_hash(type);
  while (at(table, i) != NULL && type_at(table, i) != type) ++i;
  return i & table->mask;
}

/* Makes room for one more entry; returns NULL if memory is exhausted. The old table is kept, because a reader may use
 * it; all old tables together are as large as the newest. */
static FbTypeTagTable *grown(void) {
  FbTypeTagTable *table = fh_atomic_load_relaxed(&fb_type_tag_table);
  if (table != NULL && 2 * (n_entries + 1) <= table->mask + 1) return table;
  FbTypeTagTable *larger = table_new(table == NULL ? FIRST_SLOTS : 2 * (table->mask + 1));
  if (larger == NULL) return NULL;
  for (size_t i = 0; table != NULL && i <= table->mask; ++i) {
    if (at(table, i) != NULL) put(larger, probe(larger, type_at(table, i)), at(table, i));
  }
  fh_atomic_store_release(&fb_type_tag_table, larger); /* pairs with fb_type_tag_find */
  return larger;
}

/* Empties a slot, and moves the entries after it that a lookup would no longer find (backward-shift deletion, which
 * needs no marks for deleted entries). An entry is stored in its new slot before its old slot is overwritten, so that a
 * reader finds the entry in one of them, unless the reader has already passed the new slot. */
static void take_out(FbTypeTagTable *table, size_t gap) {
  for (size_t i = gap + 1; at(table, i) != NULL; ++i) {
    size_t way = i - fb_type_tag_hash(type_at(table, i)); /* the distance from its home, modulo the number of slots */
    if ((way & table->mask) < ((i - gap) & table->mask)) continue;
    put(table, gap, at(table, i));
    gap = i;
  }
  put(table, gap, NULL);
  --n_entries;
}

/* ---- the cache ---- */

/* The classification of a type. */
typedef struct Answer {
  FbTypeTag kind;
  HPy converter; /* owned; HPy_NULL unless the kind is FB_TYPE_KIND_CONVERTER */
  const DLPackExchangeAPI *exchange; /* NULL unless the kind is FB_TYPE_KIND_EXCHANGE */
  unsigned protocols; /* FB_PROTOCOL_* */
} Answer;

/* Returns a complete entry, or NULL if memory is exhausted. Steals *converter and leaves it empty. */
static FbTypeTagEntry *entry_new(intptr_t type, const Answer *answer, FbRef *converter) {
  FbTypeTagEntry *entry = unused;
  if (entry != NULL) {
    unused = entry->next;
  } else if ((entry = calloc(1, sizeof(*entry))) == NULL) {
    return NULL;
  }
  entry->kind = answer->kind;
  entry->protocols = answer->protocols;
  entry->exchange = answer->exchange;
  entry->converter = *converter;
  fh_atomic_store_relaxed(&entry->constructor, 0);
  fh_atomic_store_relaxed(&entry->initializer, 0);
  fh_atomic_store_relaxed(&entry->next_item, 0);
  fh_atomic_store_relaxed(&entry->accepted, 0);
  fh_atomic_store_relaxed_i32(&entry->connected, 0);
  entry->connect = entry->table = (FbRef){0};
  *converter = (FbRef){0};
  fh_atomic_store_release(&entry->type, type); /* pairs with fb_type_tag_find */
  return entry;
}

/* Removes a freed type, whose address another type may get from now on. The runtime calls this function on an attached
 * thread (type_watch in extension.h). */
static void forget(intptr_t type) {
  FbRef released[3] = {{0}};
  fh_mutex_lock(&writing);
  FbTypeTagTable *table = fh_atomic_load_relaxed(&fb_type_tag_table);
  size_t i = probe(table, type);
  FbTypeTagEntry *entry = at(table, i);
  if (entry != NULL) { /* NULL if two threads cached the type at once, and this is the second call */
    take_out(table, i);
    fh_atomic_store_relaxed(&entry->type, 0); /* no reader can have an instance */
    released[0] = entry->converter, released[1] = entry->connect, released[2] = entry->table;
    entry->next = unused;
    unused = entry;
  }
  fh_mutex_unlock(&writing);
  /* without the lock, because releasing an object may run Python code */
  for (int k = 0; k < 3; ++k) fb_ref_clear(fb_ctx, &released[k]);
}

/* Caches the kind of a type until the type is freed. A failure is not an error: the next value of that type asks
 * again. */
static void remember(HPyContext *ctx, HPy type, const Answer *answer) {
  FbRef converter = {0};
  fb_text_class_made(type);
  /* Called before the lock is taken, because it makes objects, which may start a collection. After success, `forget` is
   * called when the type is freed, even if no entry is made here. */
  if (!FHPY_EXTENSION_HAS(fb_ext, type_watch) || !fb_ext->type_watch(type, forget)) return;
  if (!HPy_IsNull(answer->converter)) fb_ref_store(ctx, &converter, answer->converter);
  fh_mutex_lock(&writing);
  FbTypeTagTable *table = grown();
  size_t i = table == NULL ? 0 : probe(table, type._i);
  /* The entry may exist already: another thread asked at the same time, or this thread missed an entry that moved. */
  FbTypeTagEntry *entry = table == NULL || at(table, i) != NULL ? NULL : entry_new(type._i, answer, &converter);
  if (entry != NULL) {
    put(table, i, entry);
    ++n_entries;
  }
  fh_mutex_unlock(&writing);
  fb_ref_clear(ctx, &converter); /* unless the entry owns it */
}

int fb_type_tag_init(HPyContext *ctx) {
  if (fb_ext == NULL) return 0;
  HPy none_type = HPy_Type(ctx, ctx->h_None);
  if (HPy_IsNull(none_type)) return -1;
  /* The only place where exhausted memory is an error: readers assume that there is a table. */
  fh_mutex_lock(&writing);
  bool has_table = grown() != NULL;
  fh_mutex_unlock(&writing);
  const struct {
    HPy type;
    FbTypeTag kind;
  } plain[] = {{none_type, FB_TYPE_KIND_NONE},
               {ctx->h_BoolType, FB_TYPE_KIND_BOOL},
               {ctx->h_LongType, FB_TYPE_KIND_INT},
               {ctx->h_FloatType, FB_TYPE_KIND_FLOAT},
               {ctx->h_UnicodeType, FB_TYPE_KIND_STR},
               {ctx->h_BytesType, FB_TYPE_KIND_BYTES},
               {ctx->h_TupleType, FB_TYPE_KIND_SEQUENCE},
               {ctx->h_ListType, FB_TYPE_KIND_SEQUENCE}};
  /* Built-in types with a known kind and without protocols: the most common values need not wait for `classify`. */
  for (size_t i = 0; has_table && i < sizeof(plain) / sizeof(plain[0]); ++i) {
    remember(ctx, plain[i].type, &(Answer){.kind = plain[i].kind});
  }
  HPy_Close(ctx, none_type);
  if (has_table) return 0;
  HPyErr_NoMemory(ctx);
  return -1;
}

/* The kind of the most common types, for contexts in which a type has no address to look up. */
static FbTypeTag common_kind(HPyContext *ctx, HPy value, HPy type) {
  if (HPy_Is(ctx, type, ctx->h_LongType)) return FB_TYPE_KIND_INT;
  if (HPy_Is(ctx, type, ctx->h_FloatType)) return FB_TYPE_KIND_FLOAT;
  if (HPy_Is(ctx, type, ctx->h_UnicodeType)) return FB_TYPE_KIND_STR;
  if (HPy_Is(ctx, value, ctx->h_None)) return FB_TYPE_KIND_NONE;
  if (HPy_Is(ctx, type, ctx->h_BoolType)) return FB_TYPE_KIND_BOOL;
  if (fb_own_class_check(ctx, value, &fb_own_class_object)) return FB_TYPE_KIND_OBJECT;
  return FB_TYPE_KIND_UNKNOWN;
}

/* Reads the kind in the result of `classify`; FB_TYPE_KIND_UNKNOWN with an exception raised. */
static FbTypeTag read_kind(HPyContext *ctx, HPy tuple) {
  HPy kind = HPy_GetItem_i(ctx, tuple, 0);
  if (HPy_IsNull(kind)) return FB_TYPE_KIND_UNKNOWN;
  long value = HPyLong_AsLong(ctx, kind);
  HPy_Close(ctx, kind);
  if (value == -1 && HPyErr_Occurred(ctx)) return FB_TYPE_KIND_UNKNOWN;
  if (value > FB_TYPE_KIND_UNKNOWN && value < FB_N_TYPE_KINDS) return (FbTypeTag)value;
  fb_raise(ctx, ctx->h_SystemError, "classify() must return a kind from 1 to %d, got %ld", FB_N_TYPE_KINDS - 1, value);
  return FB_TYPE_KIND_UNKNOWN;
}

/* Reads the result of `classify`: a kind; None, a function (TAG_CONVERTER) or a pointer (TAG_EXCHANGE); the
 * protocols. Returns 0, or -1 with an exception raised and nothing to close. */
static int read_answer(HPyContext *ctx, HPy tuple, Answer *out) {
  out->kind = read_kind(ctx, tuple);
  if (out->kind == FB_TYPE_KIND_UNKNOWN) return -1;
  HPy detail = HPy_GetItem_i(ctx, tuple, 1);
  HPy protocols = HPy_IsNull(detail) ? HPy_NULL : HPy_GetItem_i(ctx, tuple, 2);
  int rc = HPy_IsNull(protocols) ? -1 : 0;
  long bits = rc == 0 ? HPyLong_AsLong(ctx, protocols) : -1;
  if (bits == -1 && HPyErr_Occurred(ctx)) rc = -1;
  out->protocols = (unsigned)bits;
  if (rc == 0 && out->kind == FB_TYPE_KIND_CONVERTER) out->converter = HPy_Dup(ctx, detail);
  if (rc == 0 && out->kind == FB_TYPE_KIND_EXCHANGE) {
    out->exchange = HPyLong_AsVoidPtr(ctx, detail);
    if (out->exchange == NULL && HPyErr_Occurred(ctx)) rc = -1;
  }
  if (!HPy_IsNull(protocols)) HPy_Close(ctx, protocols);
  if (!HPy_IsNull(detail)) HPy_Close(ctx, detail);
  return rc;
}

static const Answer unknown = {.kind = FB_TYPE_KIND_UNKNOWN};

/* Classifies a type and caches the result. FB_TYPE_KIND_UNKNOWN with an exception raised and nothing to close. */
static Answer ask_type(HPyContext *ctx, HPy type) {
  Answer answer = unknown;
  HPy tuple = fb_hook_call(ctx, FB_HOOK_CLASSIFY, &type, 1);
  if (HPy_IsNull(tuple) || read_answer(ctx, tuple, &answer) != 0) answer.kind = FB_TYPE_KIND_UNKNOWN;
  if (!HPy_IsNull(tuple)) HPy_Close(ctx, tuple);
  if (answer.kind != FB_TYPE_KIND_UNKNOWN && fb_ext != NULL) remember(ctx, type, &answer);
  return answer;
}

/* Like ask_type, for the type of a value. */
static Answer ask(HPyContext *ctx, HPy value) {
  Answer answer = unknown;
  HPy type = HPy_Type(ctx, value);
  if (HPy_IsNull(type)) return answer;
  /* Without the extension this table caches nothing; the package's `classify` caches by class. */
  if (fb_ext == NULL) answer.kind = common_kind(ctx, value, type);
  if (answer.kind == FB_TYPE_KIND_UNKNOWN) answer = ask_type(ctx, type);
  HPy_Close(ctx, type);
  return answer;
}

FbTypeTag fb_type_tag_ask(HPyContext *ctx, HPy value, HPy *converter) {
  Answer answer = ask(ctx, value);
  *converter = answer.converter;
  return answer.kind;
}

FbTypeTag fb_type_tag_ask_with_protocols(HPyContext *ctx, HPy value, unsigned *protocols) {
  Answer answer = ask(ctx, value);
  if (!HPy_IsNull(answer.converter)) HPy_Close(ctx, answer.converter);
  *protocols = answer.protocols;
  return answer.kind;
}

void fb_type_tag_learn(HPyContext *ctx, HPy value) {
  Answer answer = ask(ctx, value);
  if (!HPy_IsNull(answer.converter)) HPy_Close(ctx, answer.converter);
  if (answer.kind == FB_TYPE_KIND_UNKNOWN) HPyErr_Clear(ctx);
}

void fb_type_tag_connect(HPyContext *ctx, HPy value, int32_t type_index, HPy connect, HPy table) {
  FbRef refs[2] = {{0}};
  FbTypeTagEntry *entry = fb_type_tag_find_type(fb_type_tag_type(value));
  if (entry == NULL) {
    fb_type_tag_learn(ctx, value);
    entry = fb_type_tag_find_type(fb_type_tag_type(value));
  }
  if (entry == NULL) return;
  if (!HPy_IsNull(connect)) fb_ref_store(ctx, &refs[0], connect);
  if (!HPy_IsNull(table)) fb_ref_store(ctx, &refs[1], table);
  fh_mutex_lock(&writing);
  /* the first thread, and the first type; the references never change after that */
  if (fh_atomic_load_relaxed_i32(&entry->connected) == 0) {
    entry->connect = refs[0], entry->table = refs[1];
    refs[0] = refs[1] = (FbRef){0};
    fh_atomic_store_release(&entry->connected, type_index); /* pairs with tell() of transfer.c */
  }
  fh_mutex_unlock(&writing);
  fb_ref_clear(ctx, &refs[0]);
  fb_ref_clear(ctx, &refs[1]);
}

void fb_type_tag_register(HPy cls) {
  FbTypeTagEntry *entry = fb_type_tag_find_type(cls._i);
  if (entry == NULL) return;
  fh_atomic_store_relaxed(&entry->accepted, 0);
  if (fh_atomic_load_relaxed_i32(&entry->connected) != 0) fh_atomic_store_relaxed_i32(&entry->connected, -1);
}

FbTypeTagEntry *fb_type_tag_learn_class(HPyContext *ctx, HPy cls) {
  FbTypeTagEntry *entry = fb_type_tag_find_type(cls._i);
  if (entry != NULL) return entry;
  Answer answer = ask_type(ctx, cls);
  if (!HPy_IsNull(answer.converter)) HPy_Close(ctx, answer.converter);
  if (answer.kind == FB_TYPE_KIND_UNKNOWN) HPyErr_Clear(ctx);
  return fb_type_tag_find_type(cls._i);
}

const DLPackExchangeAPI *fb_type_tag_exchange_ask(HPyContext *ctx, HPy value, unsigned *protocols) {
  Answer answer = ask(ctx, value);
  *protocols = answer.protocols;
  if (!HPy_IsNull(answer.converter)) HPy_Close(ctx, answer.converter);
  /* the class had a table when it was classified */
  if (answer.exchange == NULL && answer.kind != FB_TYPE_KIND_UNKNOWN) {
    char name[128];
    fb_raise(ctx, ctx->h_TypeError, "the class %s has no exchange table any more",
             fb_attr_type_name(ctx, value, name, sizeof(name)));
  }
  return answer.exchange;
}
