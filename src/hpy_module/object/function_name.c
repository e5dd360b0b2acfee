/* Interned function names: chained hashing over a fixed number of lists, with a use count per name.
 *
 * The table has the names that were set on Functions, and on PyPy 7.3 also the names by which they were looked up. A
 * name is valid while it has a use. A call may read the name of a Function that another thread renames. Therefore a
 * Function releases only its last name (name_set in function.c). */
#include "function_name.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/platform/fork.h"

/* Never moves: users keep a pointer to `text`. */
typedef struct Name {
  struct Name *next;
  size_t n_uses;
  char text[];
} Name;

enum { N_LISTS = 256 };
static Name *lists[N_LISTS];
FH_LOCK(naming, "names of functions", FH_RANK_PLAIN); /* guards all names; held during the walk along one list */

/* Returns the link to a name. Without such a name, returns the final link of its list, which is NULL. */
static Name **link_of(const char *text) {
  size_t hash = 0;
  for (const char *c = text; *c != 0; ++c) hash = hash * 31 + (unsigned char)*c;
  Name **link = &lists[hash % N_LISTS];
  while (*link != NULL && strcmp((*link)->text, text) != 0) link = &(*link)->next;
  return link;
}

/* If memory is exhausted, *link stays NULL. */
static void add(Name **link, const char *text) {
  size_t size = strlen(text) + 1;
  Name *made = malloc(sizeof(*made) + size);
  if (made == NULL) return;
  *made = (Name){NULL, 0};
  memcpy(made->text, text, size);
  *link = made;
}

const char *fb_function_name_take(const char *text) {
  fh_mutex_lock(&naming);
  Name **link = link_of(text);
  if (*link == NULL) add(link, text);
  Name *name = *link;
  if (name != NULL) ++name->n_uses;
  fh_mutex_unlock(&naming);
  return name == NULL ? NULL : name->text;
}

void fb_function_name_give(const char *text) {
  if (text == NULL) return;
  fh_mutex_lock(&naming);
  /* The name is in the list, because `text` came from there and has a use. */
  Name **link = link_of(text);
  Name *name = *link, *unused = --name->n_uses == 0 ? name : NULL;
  if (unused != NULL) *link = name->next;
  fh_mutex_unlock(&naming);
  free(unused);
}
