/* system_windows.c - system.h on Windows. Empty elsewhere. */
#include "support/system.h"

#if defined(_WIN32)
#include <io.h>
#include <process.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *running;
static int n_calls;        /* calls of test_system_aborts in this test */
static int meant_call = 0; /* in the new process */

void test_setenv(const char *name, const char *value) { _putenv_s(name, value != NULL ? value : ""); }

void test_system_begin(const char *test_name) {
  running = test_name;
  n_calls = 0;
}

void test_system_apart(int call) {
  meant_call = call;
  _set_abort_behavior(0, _WRITE_ABORT_MSG | _CALL_REPORTFAULT);
}

/* The exit status of a process that calls abort(). */
enum { STATUS_OF_ABORT = 3 };

int test_system_aborts(void (*body)(void *state), void *state, char *said, size_t n_said) {
  n_calls += 1;
  if (meant_call == n_calls) {
    body(state);
    exit(0);
  }
  if (meant_call != 0) return -1;
  char call[20];
  snprintf(call, sizeof(call), "%d", n_calls);
  FILE *file = tmpfile();
  fflush(stderr);
  int kept = _dup(2);
  _dup2(_fileno(file), 2);
  intptr_t status = _spawnl(_P_WAIT, _pgmptr, "core_tests", "--apart", call, running, NULL);
  _dup2(kept, 2);
  _close(kept);
  rewind(file);
  said[fread(said, 1, n_said - 1, file)] = '\0';
  fclose(file);
  return status == STATUS_OF_ABORT;
}
#endif
