/* globals.c - registers the ffi.* functions: the ABI's functions that clients find by name, in any language. */
#include "globals.h"

#include "core/object/global.h"
#include "globals_entry.h"

#define MAX_METADATA 512 /* the longest has 425 bytes */
#define BEGIN "{\"type_schema\":\""
#define BEGIN_FUNCTION BEGIN "{\\\"type\\\":\\\"ffi.Function\\\",\\\"named_args\\\":{\\\"return\\\":["

static char *put(char *at, const char *text) {
  size_t n = strlen(text);
  memcpy(at, text, n + 1);
  return at + n;
}

/* Writes the metadata for a schema: JSON in a JSON string. A name is a type, which ends with the name or with its
 * arguments. */
static void expand(const char *schema, char *at) {
  int has_params = strchr(schema, '(') != NULL, in_name = 0;
  at = put(at, has_params ? BEGIN_FUNCTION : BEGIN);
  for (; *schema != '\0'; ++schema) {
    int is_part = *schema > ')' && *schema != ',' && *schema != '<' && *schema != '>'; /* is a character of a name */
    if (is_part && !in_name) at = put(at, "{\\\"type\\\":\\\"");
    if (in_name && !is_part && *schema != '<') at = put(at, "\\\"}");
    in_name = is_part;
    switch (*schema) {
    case '<': at = put(at, "\\\",\\\"args\\\":["); break;
    case '>': at = put(at, "]}"); break;
    case '(': at = put(at, "],\\\"params\\\":["); break;
    case ')': at = put(at, "]}}"); break;
    case ' ': break;
    default: *at++ = *schema;
    }
  }
  put(at, in_name ? "\\\"}\"}" : "\"}");
}

/* If the memory for an entry runs out, the function is missing afterwards, and the error is pending (core.c). */
static void add_all(const fh_globals_entry *entries) {
  char metadata[MAX_METADATA];
  for (; entries->name != NULL; ++entries) {
    if (entries->schema != NULL) expand(entries->schema, metadata);
    fh_global_add(entries->name, entries->call, entries->schema != NULL ? metadata : NULL);
  }
}

void fh_globals_init(void) {
  add_all(fh_globals_seq);
  add_all(fh_globals_map);
  add_all(fh_globals_value);
  add_all(fh_globals_nested);
  add_all(fh_globals_registry);
  add_all(fh_globals_create);
  add_all(fh_globals_cxx);
  add_all(fh_globals_binding);
  add_all(fh_globals_module);
  add_all(fh_globals_structural);
  add_all(fh_globals_visit);
  add_all(fh_globals_mutate);
  add_all(fh_globals_json);
}
