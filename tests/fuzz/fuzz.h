/* fuzz.h - shared code of the fuzz targets. A target is one file that defines fuzz_one; fuzz.c calls it for each input.
 *
 * After each input no error may be pending, and the number of live memory blocks must be as before. A failed check ends
 * the program, and libFuzzer keeps the input. */
#ifndef FUZZ_H_
#define FUZZ_H_

#include "core/object/any.h"
#include "core/object/error.h"
#include "core/object/global.h"
#include "core/object/str.h"
#include "core/platform/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The target. */
void fuzz_one(const uint8_t *data, size_t n_bytes);
/* Called once before the first input; its memory blocks stay live. */
void fuzz_start(void);

/* ---- Checks ---- */

void fuzz_fail(const char *file, int line, const char *what) __attribute__((noreturn));
#define fuzz_check(cond) ((cond) ? (void)0 : fuzz_fail(__FILE__, __LINE__, #cond))

/* ---- Input, byte by byte; zeros after its end ---- */

typedef struct {
  const uint8_t *at, *end;
} fuzz_input;

static inline uint8_t fuzz_byte(fuzz_input *in) { return in->at < in->end ? *in->at++ : 0; }
static inline uint64_t fuzz_word(fuzz_input *in) {
  uint64_t word = 0;
  for (int i = 0; i < 8; ++i) word |= (uint64_t)fuzz_byte(in) << 8 * i;
  return word;
}

/* ---- Calls ---- */

/* Calls a global function, which must exist. A failure leaves its error pending and no result. */
int fuzz_call(const char *name, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result);
/* Takes and drops the pending error, which must exist; returns whether it has that kind. */
int fuzz_take_error(const char *kind);

#define FUZZ_ARGS(...) ((TVMFFIAny[]){__VA_ARGS__}), (int32_t)(sizeof((TVMFFIAny[]){__VA_ARGS__}) / sizeof(TVMFFIAny))

/* Reads a text with the global function `read`. If `write` can write the value, the output must be readable, and
 * writing the second value must give the same output. The input's first byte is the number of the allocation that fails
 * in the first reading, 0 for none. */
void fuzz_round_trip(const char *read, int (*write)(TVMFFIAny value, TVMFFIAny *text), const uint8_t *data,
                     size_t n_bytes);

#endif /* FUZZ_H_ */
