/* Reads the bits from the structs of a tensor: its Python object has a pointer to the native tensor, which has a word
 * with the bits. PyTorch guarantees neither offset, so the package passes samples (lazy_bits_learn) whose two words
 * PyTorch also reports in Python. If the offsets are not found, the package checks each tensor. */
#include "parts.h"

#include "core/platform/atomic.h"
#include "hpy_module/context/hook.h"
#include "hpy_module/context/raise.h"

/* The number of words of a native tensor that are searched; each version of PyTorch has more. */
enum { MOST_WORDS = 24 };

/* The two byte offsets, and the bits, which are 0 until the offsets are found. Threads that learn at the same time
 * store the same numbers. */
static ptrdiff_t native_at, bits_at;
static uint64_t lazy_bits;

static uint64_t word_at(uint64_t address, ptrdiff_t offset) {
  uint64_t word;
  memcpy(&word, (const char *)(uintptr_t)address + offset, sizeof(word));
  return word;
}

/* Whether the struct of a tensor shows that its memory has its values. False if the offsets are unknown. */
static bool is_clear(HPy value) {
  uint64_t bits = fh_atomic_load_acquire(&lazy_bits); /* pairs with fb_lazy_bits_learn_impl */
  if (FH_UNLIKELY(bits == 0)) return false;
  uint64_t native = word_at((uint64_t)value._i, fh_atomic_load_relaxed(&native_at));
  return FH_LIKELY(native != 0) && (word_at(native, fh_atomic_load_relaxed(&bits_at)) & bits) == 0;
}

int fb_lazy_bits_check(HPyContext *ctx, HPy value) {
  if (FH_LIKELY(is_clear(value))) return 0;
  HPy nothing = fb_hook_call(ctx, FB_HOOK_CHECK_MEMORY, &value, 1);
  if (HPy_IsNull(nothing)) return -1;
  HPy_Close(ctx, nothing);
  return 0;
}

/* --- samples ------------------------------------------------------------------------------------------------------ */

/* A sample: the pointers of both structs, and the word with the bits. */
typedef struct Sample {
  uint64_t object, native, bits;
} Sample;

/* Reads (tensor, pointer, bits). Returns 0, or -1 with an exception raised. */
static int sample_read(HPyContext *ctx, HPy samples, HPy_ssize_t i, Sample *out) {
  HPy sample = HPy_GetItem_i(ctx, samples, i);
  if (HPy_IsNull(sample)) return -1;
  uint64_t *const words[] = {&out->object, &out->native, &out->bits};
  for (HPy_ssize_t k = 0; k < 3 && !HPyErr_Occurred(ctx); ++k) {
    HPy part = HPy_GetItem_i(ctx, sample, k);
    if (HPy_IsNull(part)) break;
    *words[k] = k == 0 ? (uint64_t)part._i : HPyLong_AsUInt64_t(ctx, part);
    HPy_Close(ctx, part);
  }
  HPy_Close(ctx, sample);
  return HPyErr_Occurred(ctx) ? -1 : 0;
}

/* Returns the offset at which each sample has its word; -1 if there is none. */
static ptrdiff_t find_native(const Sample *samples, HPy_ssize_t n, int64_t object_bytes) {
  for (ptrdiff_t at = 0; at + (ptrdiff_t)sizeof(uint64_t) <= object_bytes; at += sizeof(uint64_t)) {
    HPy_ssize_t i = 0;
    while (i < n && word_at(samples[i].object, at) == samples[i].native) ++i;
    if (i == n) return at;
  }
  return -1;
}
static ptrdiff_t find_bits(const Sample *samples, HPy_ssize_t n) {
  for (ptrdiff_t at = 0; at < MOST_WORDS * (ptrdiff_t)sizeof(uint64_t); at += sizeof(uint64_t)) {
    HPy_ssize_t i = 0;
    while (i < n && word_at(samples[i].native, at) == samples[i].bits) ++i;
    if (i == n) return at;
  }
  return -1;
}

enum { MOST_SAMPLES = 8 };

FB_METHOD(fb_lazy_bits_learn, "lazy_bits_learn",
          "Find where tensors have their bits, by samples: (tensor, address, bits), object's size, mask.") {
  Sample samples[MOST_SAMPLES];
  HPy_ssize_t n = nargs == 3 ? HPy_Length(ctx, args[0]) : -1;
  if (HPyErr_Occurred(ctx)) return HPy_NULL;
  if (fb_ext == NULL || n < 1 || n > MOST_SAMPLES) {
    return fb_raise(ctx, ctx->h_TypeError, "lazy_bits_learn() takes up to %d samples, a size, a mask", MOST_SAMPLES);
  }
  for (HPy_ssize_t i = 0; i < n; ++i) {
    if (sample_read(ctx, args[0], i, &samples[i]) != 0) return HPy_NULL;
  }
  int64_t object_bytes = HPyLong_AsInt64_t(ctx, args[1]);
  uint64_t bits = HPyErr_Occurred(ctx) ? 0 : HPyLong_AsUInt64_t(ctx, args[2]);
  if (HPyErr_Occurred(ctx)) return HPy_NULL;
  ptrdiff_t native = find_native(samples, n, object_bytes), within = find_bits(samples, n);
  bool is_found = native >= 0 && within >= 0 && bits != 0;
  if (is_found) {
    fh_atomic_store_relaxed(&native_at, native);
    fh_atomic_store_relaxed(&bits_at, within);
    fh_atomic_store_release(&lazy_bits, bits); /* pairs with is_clear */
  }
  return HPy_Dup(ctx, is_found ? ctx->h_True : ctx->h_False);
}
