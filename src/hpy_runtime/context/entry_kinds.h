/* The kinds of parameters and results in entries.def, and macros for the files that generate entries from that list.
 * For a kind K, T_K is the C type. Only handles are converted, by the file's own macro RESULT(kind, x). */
#pragma once

#include "hpy_runtime/api/appended.h"

typedef bool T_boolean;
typedef HPyCapsule_Destructor *T_capsule_destructor;
typedef _HPyCapsule_key T_capsule_key;
typedef double T_double;
typedef HPyField T_field;
typedef HPyField *T_field_address;
typedef HPyGlobal T_global;
typedef HPyGlobal *T_global_address;
typedef HPy T_handle;
typedef HPy_hash_t T_hash;
typedef int T_int;
typedef int32_t T_int32;
typedef int64_t T_int64;
typedef void T_none;
typedef cpy_PyObject *T_object;
typedef void *T_pointer;
typedef void **T_pointer_address;
typedef HPyType_BuiltinShape T_shape;
typedef size_t T_size;
typedef HPy_SourceKind T_source_kind;
typedef HPy_ssize_t T_ssize;
typedef HPy_ssize_t *T_ssize_address;
typedef const char *T_text;
typedef HPyThreadState T_thread_state;
typedef HPy_UCS4 T_ucs4;
typedef uint32_t T_uint32;
typedef uint64_t T_uint64;
typedef const wchar_t *T_wide;

/* `yes` for a handle, `no` for another kind: the name of the kind handle expands to a comma, after which `yes` is the
 * second argument. */
#define IF_HANDLE(kind, yes, no) SECOND(IS_HANDLE_##kind yes, no)
#define IS_HANDLE_handle ,
#define SECOND(...) SECOND_OF(__VA_ARGS__, )
#define SECOND_OF(first, second, ...) second

/* The body of an entry that returns the result of a call, if it has one. */
#define RETURN(kind, call) SECOND(IS_NONE_##kind call, return RESULT(kind, call));
#define IS_NONE_none ,
