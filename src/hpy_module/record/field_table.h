/* The fields of types that Python code defined, by type index. Any thread reads the table without a lock. */
#ifndef FFI_HPY_RECORD_FIELD_TABLE_H_
#define FFI_HPY_RECORD_FIELD_TABLE_H_

#include <stdint.h>

/* The fields of one type. Complete before it is published, constant afterwards, never freed. */
typedef struct FbFieldTable {
  int32_t type_index;
  int32_t n_fields;
  struct FbFieldTable *next;
  const struct FbField *fields[];
} FbFieldTable;

/* Returns the which'th field of a type; NULL if the type was not defined in Python. */
const struct FbField *fb_field_table_find(int32_t type_index, int32_t which);

/* Publishes a table, which must never be freed. */
void fb_field_table_publish(FbFieldTable *table);

#endif /* FFI_HPY_RECORD_FIELD_TABLE_H_ */
