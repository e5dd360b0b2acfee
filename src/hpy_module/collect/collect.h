/* Garbage collection of cycles that go through native objects. */
#pragma once

/* Connects the binding with the interpreter's collector, where the runtime can. Called once, during the import. */
void fb_collect_init(void);
