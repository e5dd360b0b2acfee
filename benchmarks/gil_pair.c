/* What gil_side.py holds calls against: the interpreter's own pair of functions, and nothing else. */
void *PyEval_SaveThread(void);
void PyEval_RestoreThread(void *);

void pairs(long n) {
  while (n-- > 0) PyEval_RestoreThread(PyEval_SaveThread());
}
