/* The table of classified Python types. */
#include "kind.h"

#include <stdlib.h>

#include "hooks.h"
#include "object.h"

/* Sparse from the start: each collision on the way to int or str would cost every call nanoseconds. */
enum { FIRST_SLOTS = 4096, MOST_TYPES = 1 << 15 };

_Atomic(FbKindTable *) fb_kind_table;
static _Atomic(size_t) n_entries;             /* written under writing, read relaxed as a hint */
static atomic_flag writing = ATOMIC_FLAG_INIT; /* held for a few stores, never while Python code runs */

static FbKindTable *table_new(size_t n_slots) {
  FbKindTable *table = calloc(1, sizeof(*table) + n_slots * sizeof(table->slots[0]));
  if (table != NULL) table->mask = n_slots - 1;
  return table;
}

/* Puts entry into its slot; returns false if the type is there already. */
static bool insert(FbKindTable *table, const FbKindEntry *entry) {
  for (size_t i = fb_kind_hash(entry->type);; i++) {
    _Atomic(const FbKindEntry *) *slot = &table->slots[i & table->mask];
    const FbKindEntry *there = atomic_load_explicit(slot, memory_order_relaxed);
    if (there != NULL && there->type == entry->type) return false;
    if (there != NULL) continue;
    atomic_store_explicit(slot, entry, memory_order_release); /* pairs with fb_kind_find */
    return true;
  }
}

/* Makes room for one more. The old table stays: a reader may be in it, and all of them together are as large as the
 * newest. */
static FbKindTable *grown(void) {
  FbKindTable *table = atomic_load_explicit(&fb_kind_table, memory_order_relaxed);
  if (table != NULL && 2 * (n_entries + 1) <= table->mask + 1) return table;
  FbKindTable *larger = table_new(table == NULL ? FIRST_SLOTS : 2 * (table->mask + 1));
  if (larger == NULL) return NULL;
  for (size_t i = 0; table != NULL && i <= table->mask; i++) {
    const FbKindEntry *entry = atomic_load_explicit(&table->slots[i], memory_order_relaxed);
    if (entry != NULL) insert(larger, entry);
  }
  atomic_store_explicit(&fb_kind_table, larger, memory_order_release); /* pairs with fb_kind_find */
  return larger;
}

/* What is known of a type. */
typedef struct Answer {
  FbKind kind;
  HPy converter;                     /* owned; HPy_NULL unless the kind is FB_KIND_CONVERTER */
  const DLPackExchangeAPI *exchange; /* NULL unless it is FB_KIND_EXCHANGE */
  unsigned protocols;                /* FB_PROTOCOL_* */
} Answer;

/* Remembers the kind of a type. Failing to is no error: the next value of that type asks again. A remembered type is kept
 * alive for good, so that its address cannot come to mean another one; therefore their number is bounded. */
static void remember(HPyContext *ctx, HPy type, const Answer *answer) {
  FbKindEntry *entry = calloc(1, sizeof(*entry));
  if (entry == NULL) return;
  entry->type = type._i;
  entry->kind = answer->kind;
  entry->protocols = answer->protocols;
  entry->exchange = answer->exchange;
  if (!HPy_IsNull(answer->converter)) fb_cell_store(ctx, &entry->converter, answer->converter);
  while (atomic_flag_test_and_set_explicit(&writing, memory_order_acquire)) {
  }
  FbKindTable *table = n_entries < MOST_TYPES ? grown() : NULL;
  bool is_new = table != NULL && insert(table, entry);
  n_entries += is_new;
  atomic_flag_clear_explicit(&writing, memory_order_release);
  if (is_new) {
    HPy_Dup(ctx, type);
  } else {
    fb_cell_clear(ctx, &entry->converter);
    free(entry);
  }
}

int fb_kind_init(HPyContext *ctx) {
  if (fb_ext == NULL) return 0;
  HPy none_type = HPy_Type(ctx, ctx->h_None);
  if (HPy_IsNull(none_type)) return -1;
  const struct {
    HPy type;
    FbKind kind;
  } plain[] = {{none_type, FB_KIND_NONE},
               {ctx->h_BoolType, FB_KIND_BOOL},
               {ctx->h_LongType, FB_KIND_INT},
               {ctx->h_FloatType, FB_KIND_FLOAT},
               {ctx->h_UnicodeType, FB_KIND_STR},
               {ctx->h_BytesType, FB_KIND_BYTES},
               {ctx->h_TupleType, FB_KIND_SEQUENCE},
               {ctx->h_ListType, FB_KIND_SEQUENCE}};
  for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
    remember(ctx, plain[i].type, &(Answer){.kind = plain[i].kind});
  }
  HPy_Close(ctx, none_type);
  if (atomic_load_explicit(&fb_kind_table, memory_order_relaxed) != NULL) return 0;
  HPyErr_NoMemory(ctx);
  return -1;
}

/* The commonest types, for contexts where a type has no address to look up. */
static FbKind common_kind(HPyContext *ctx, HPy value, HPy type) {
  if (HPy_Is(ctx, type, ctx->h_LongType)) return FB_KIND_INT;
  if (HPy_Is(ctx, type, ctx->h_FloatType)) return FB_KIND_FLOAT;
  if (HPy_Is(ctx, type, ctx->h_UnicodeType)) return FB_KIND_STR;
  if (HPy_Is(ctx, value, ctx->h_None)) return FB_KIND_NONE;
  if (HPy_Is(ctx, type, ctx->h_BoolType)) return FB_KIND_BOOL;
  if (fb_object_check(ctx, value)) return FB_KIND_OBJECT;
  return FB_KIND_UNKNOWN;
}

/* The kind in the answer of `classify`; FB_KIND_UNKNOWN with an exception raised. */
static FbKind read_kind(HPyContext *ctx, HPy tuple) {
  HPy kind = HPy_GetItem_i(ctx, tuple, 0);
  if (HPy_IsNull(kind)) return FB_KIND_UNKNOWN;
  long value = HPyLong_AsLong(ctx, kind);
  HPy_Close(ctx, kind);
  if (value == -1 && HPyErr_Occurred(ctx)) return FB_KIND_UNKNOWN;
  if (value > FB_KIND_UNKNOWN && value < FB_N_KINDS) return (FbKind)value;
  fb_raise(ctx, ctx->h_SystemError, "classify() must return a kind from 1 to %d, got %ld", FB_N_KINDS - 1, value);
  return FB_KIND_UNKNOWN;
}

/* Splits the answer of `classify`: kind; None, for KIND_CONVERTER a function, for KIND_EXCHANGE an address; the
 * protocols. Returns 0, or -1 with an exception raised and nothing to close. */
static int read_answer(HPyContext *ctx, HPy tuple, Answer *out) {
  out->kind = read_kind(ctx, tuple);
  if (out->kind == FB_KIND_UNKNOWN) return -1;
  HPy detail = HPy_GetItem_i(ctx, tuple, 1);
  HPy protocols = HPy_IsNull(detail) ? HPy_NULL : HPy_GetItem_i(ctx, tuple, 2);
  int rc = HPy_IsNull(protocols) ? -1 : 0;
  long bits = rc == 0 ? HPyLong_AsLong(ctx, protocols) : -1;
  if (bits == -1 && HPyErr_Occurred(ctx)) rc = -1;
  out->protocols = (unsigned)bits;
  if (rc == 0 && out->kind == FB_KIND_CONVERTER) out->converter = HPy_Dup(ctx, detail);
  if (rc == 0 && out->kind == FB_KIND_EXCHANGE) {
    out->exchange = HPyLong_AsVoidPtr(ctx, detail);
    if (out->exchange == NULL && HPyErr_Occurred(ctx)) rc = -1;
  }
  if (!HPy_IsNull(protocols)) HPy_Close(ctx, protocols);
  if (!HPy_IsNull(detail)) HPy_Close(ctx, detail);
  return rc;
}

/* Asks, and remembers the answer. FB_KIND_UNKNOWN with an exception raised and nothing to close. */
static Answer ask(HPyContext *ctx, HPy value) {
  Answer answer = {.kind = FB_KIND_UNKNOWN, .converter = HPy_NULL};
  HPy type = HPy_Type(ctx, value);
  if (HPy_IsNull(type)) return answer;
  if (fb_ext == NULL) answer.kind = common_kind(ctx, value, type);
  if (answer.kind == FB_KIND_UNKNOWN) {
    HPy tuple = fb_hook_call(ctx, FB_HOOK_CLASSIFY, &type, 1);
    if (HPy_IsNull(tuple) || read_answer(ctx, tuple, &answer) != 0) answer.kind = FB_KIND_UNKNOWN;
    if (!HPy_IsNull(tuple)) HPy_Close(ctx, tuple);
    if (answer.kind != FB_KIND_UNKNOWN && fb_ext != NULL) remember(ctx, type, &answer);
  }
  HPy_Close(ctx, type);
  return answer;
}

FbKind fb_kind_ask(HPyContext *ctx, HPy value, HPy *converter) {
  Answer answer = ask(ctx, value);
  *converter = answer.converter;
  return answer.kind;
}

FbKind fb_kind_ask_with_protocols(HPyContext *ctx, HPy value, unsigned *protocols) {
  Answer answer = ask(ctx, value);
  if (!HPy_IsNull(answer.converter)) HPy_Close(ctx, answer.converter);
  *protocols = answer.protocols;
  return answer.kind;
}

void fb_kind_learn(HPyContext *ctx, HPy value) {
  if (atomic_load_explicit(&n_entries, memory_order_relaxed) >= MOST_TYPES) return; /* it would ask each time */
  Answer answer = ask(ctx, value);
  if (!HPy_IsNull(answer.converter)) HPy_Close(ctx, answer.converter);
  if (answer.kind == FB_KIND_UNKNOWN) HPyErr_Clear(ctx);
}

const DLPackExchangeAPI *fb_kind_exchange_ask(HPyContext *ctx, HPy value) {
  Answer answer = ask(ctx, value);
  if (!HPy_IsNull(answer.converter)) HPy_Close(ctx, answer.converter);
  return answer.exchange;
}
