/* Garbage collection of cycles that go through native objects. */
#ifndef FFI_HPY_COLLECT_COLLECT_H_
#define FFI_HPY_COLLECT_COLLECT_H_

/* Connects the binding with the interpreter's collector, where the runtime can. Called once, during the import. */
void fb_collect_init(void);

#endif /* FFI_HPY_COLLECT_COLLECT_H_ */
