/* The baseline of gil_side.py: only the interpreter's own pair of functions. */
void *PyEval_SaveThread(void);
void PyEval_RestoreThread(void *);

void pairs(long n) {
  while (n-- > 0) PyEval_RestoreThread(PyEval_SaveThread());
}
