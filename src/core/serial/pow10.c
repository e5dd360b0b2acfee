/* pow10.c - powers of ten to 128 bits, computed once from exact powers of five: 10^n is 5^n * 2^n, and the power of two
 * goes into the exponent. Large integers of 31 words are sufficient. The table of 691 entries is computed at run time,
 * which keeps it out of the source and out of the library's file. */
#include "pow10.h"

#include "core/platform/fork.h"

/* Words of 32 bits, least significant first. 5^345 has 802 bits; 2^960 / 5^345 still has 159. */
#define N_WORDS 31
#define ONE_BITS 960
FH_STATIC_ASSERT(ONE_BITS == (N_WORDS - 1) * 32, "the one has its bit in the last word");

/* Entry i is 10^(i + FH_POW10_MIN). Written by fill_table under the fh_once, and only read after it. */
static fh_pow10 table[FH_POW10_MAX - FH_POW10_MIN + 1];
FH_ONCE(table_once, "pow10");

/* The number of bits up to the highest one; the words are not all 0. */
static int count_bits(const uint32_t *words) {
  int n = N_WORDS;
  while (words[n - 1] == 0) --n;
  return n * 32 - (fh_pow10_zeros_above(words[n - 1]) - 32);
}

/* The 64 bits below bit `end`; bits below bit 0 are zero. */
static uint64_t bits_below(const uint32_t *words, int end) {
  uint64_t bits = 0;
  for (int i = end - 1; i >= end - 64; --i) bits = bits << 1 | (i >= 0 ? words[i / 32] >> (i % 32) & 1 : 0);
  return bits;
}

/* Sets 10^n from words that are 5^n * 2^shift, or that value rounded down. The upper 128 bits are kept, which rounds
 * down, too. */
static void set_entry(int n, const uint32_t *words, int shift) {
  fh_pow10 *entry = &table[n - FH_POW10_MIN];
  int n_bits = count_bits(words);
  entry->high = bits_below(words, n_bits);
  entry->low = bits_below(words, n_bits - 64);
  entry->exponent = n_bits - 128 - shift + n;
}

static void multiply_by_5(uint32_t *words) {
  uint64_t carry = 0;
  for (int i = 0; i < N_WORDS; ++i) {
    carry += (uint64_t)words[i] * 5;
    words[i] = (uint32_t)carry;
    carry >>= 32;
  }
}

/* Rounds down; repeated divisions have the same result as one division by the power of five. */
static void divide_by_5(uint32_t *words) {
  uint64_t rest = 0;
  for (int i = N_WORDS; i-- > 0;) {
    rest = rest << 32 | words[i];
    words[i] = (uint32_t)(rest / 5);
    rest %= 5;
  }
}

static void fill_table(void) {
  /* `up` is 5^n. `down` is 2^960 / 5^-n, whose upper 128 bits are correct even for the smallest n. */
  uint32_t up[N_WORDS] = {1}, down[N_WORDS] = {0};
  down[N_WORDS - 1] = 1;
  for (int n = 0; n <= FH_POW10_MAX; ++n, multiply_by_5(up)) set_entry(n, up, 0);
  for (int n = 0; n >= FH_POW10_MIN; --n, divide_by_5(down)) set_entry(n, down, ONE_BITS);
}

const fh_pow10 *fh_pow10_get(int n) {
  fh_once_run(&table_once, fill_table);
  return &table[n - FH_POW10_MIN];
}
