/* The attribute tables in a type's note: converts HPyDef_MEMBER and HPyDef_GETSET to the interpreter's tables. */
#ifndef FFI_HPY_RUNTIME_TYPE_MEMBERS_H_
#define FFI_HPY_RUNTIME_TYPE_MEMBERS_H_

#include "hpy_runtime/abi/handle.h"
#include "type.h"

/* Return the number of entries that fhpy_type_members_fill may write to note->members and note->getset, without their
 * ends. */
size_t fhpy_type_members_count(const HPyType_Spec *spec);
size_t fhpy_type_members_count_getset(const HPyType_Spec *spec);

/* Fills the two tables; note->data_offset must be set. A member named __vectorcalloffset__ sets
 * note->vectorcall_offset. Returns 0, or -1 with an exception raised. */
int fhpy_type_members_fill(FhpyType *note, const HPyType_Spec *spec, bool has_call_slot);

/* --- methods ----------------------------------------------------------------------------------------------------- */

/* Converts HPyDef lists to the interpreter's method tables, for types and for modules. */

/* Counts the definitions of one kind in a NULL-terminated list, which may itself be NULL. */
size_t fhpy_methods_count(HPyDef *const *defines, HPyDef_Kind kind);

/* Writes one entry for each method. The table is zeroed and has room for one more entry, its end. The table and the
 * definitions must outlive all objects that are made from them. Returns 0, or -1 with an exception raised. */
int fhpy_methods_fill(PyMethodDef *methods, HPyDef *const *defines);

#endif /* FFI_HPY_RUNTIME_TYPE_MEMBERS_H_ */
