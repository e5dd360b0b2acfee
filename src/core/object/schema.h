/* schema.h - macros for type schemas in metadata: JSON inside a JSON string, which explains the backslashes. Literals
 * only:
 *
 *   FH_SCHEMA(FH_SCHEMA_FUNCTION(FH_SCHEMA_TYPE("bool"), FH_SCHEMA_TYPE("Any") "," FH_SCHEMA_TYPE("int"))) */
#ifndef FH_SCHEMA_H_
#define FH_SCHEMA_H_

/* A type by its name, without and with arguments; several are separated by ",". */
#define FH_SCHEMA_TYPE(name) "{\\\"type\\\":\\\"" name "\\\"}"
#define FH_SCHEMA_GENERIC(name, args) "{\\\"type\\\":\\\"" name "\\\",\\\"args\\\":[" args "]}"
#define FH_SCHEMA_FUNCTION(result, params) \
  "{\\\"type\\\":\\\"ffi.Function\\\",\\\"named_args\\\":{\\\"return\\\":[" result "],\\\"params\\\":[" params "]}}"

/* The whole metadata of a field or function. */
#define FH_SCHEMA(type) "{\"type_schema\":\"" type "\"}"

#define FH_SCHEMA_ANY FH_SCHEMA_TYPE("Any")
#define FH_SCHEMA_INT FH_SCHEMA_TYPE("int")
#define FH_SCHEMA_BOOL FH_SCHEMA_TYPE("bool")
#define FH_SCHEMA_STR FH_SCHEMA_TYPE("ffi.String")
#define FH_SCHEMA_OBJECT FH_SCHEMA_TYPE("ffi.Object")
#define FH_SCHEMA_OPTIONAL(type) FH_SCHEMA_GENERIC("Optional", type)

#endif /* FH_SCHEMA_H_ */
