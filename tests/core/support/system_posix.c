/* system_posix.c - system.h on Linux and macOS. Empty on Windows. */
#include "support/system.h"

#if !defined(_WIN32)
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void test_setenv(const char *name, const char *value) {
  if (value != NULL)
    setenv(name, value, 1);
  else
    unsetenv(name);
}

int test_system_aborts(void (*body)(void *state), void *state, char *said, size_t n_said) {
  size_t n = 0;
  int ends[2], status;
  if (pipe(ends) != 0) return 0;
  fflush(stderr);
  pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    signal(SIGABRT, SIG_DFL); /* otherwise a sanitizer reports the signal */
    body(state);
    _exit(0);
  }
  close(ends[1]);
  for (ssize_t more; (more = read(ends[0], said + n, n_said - 1 - n)) > 0;) n += (size_t)more;
  said[n] = '\0';
  close(ends[0]);
  return child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

void test_system_begin(const char *test_name) { (void)test_name; }
void test_system_apart(int call) { (void)call; }
#endif
