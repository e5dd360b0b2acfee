/* instance.h - classes that libraries bind with ffi_hpy/bind.h, and their objects. */
#pragma once

#include <ffi_hpy/c_bind.h>

/* Implement the entries of ffi_hpy_bind_api with these names. */
int fh_instance_class_add(ffi_hpy_class *type, const TVMFFIByteArray *key, const TVMFFIByteArray *doc);
const ffi_hpy_class *fh_instance_class_find(const char *cpp_name);
int fh_instance_class_add_property(const ffi_hpy_class *type, const TVMFFIFieldInfo *info, TVMFFIObjectHandle get,
                                   TVMFFIObjectHandle set);

int fh_instance_new(const ffi_hpy_class *type, void **room, ffi_hpy_instance **out);
ffi_hpy_instance *fh_instance_ready(ffi_hpy_instance *self, void *value, int may_be_known);
ffi_hpy_instance *fh_instance_find(const ffi_hpy_class *type, const void *value);
void fh_instance_release_whole(ffi_hpy_instance *self);
void *fh_instance_cast(const TVMFFIAny *value, const ffi_hpy_class *type);
ffi_hpy_instance *fh_instance_of(const TVMFFIAny *value);
int fh_instance_keep(ffi_hpy_instance *self, TVMFFIObjectHandle kept);
void fh_instance_class_add_traverse(const ffi_hpy_class *type, ffi_hpy_traverse *step);
void fh_instance_value_visit(const ffi_hpy_class *type, const void *value, const void *visitor);
void *fh_instance_take(ffi_hpy_instance *self);
ffi_hpy_instance *fh_instance_return(const ffi_hpy_class *type, void *value, void (*release)(ffi_hpy_instance *self),
                                     void *holder);

/* The bound class of a type index; NULL if there is none. */
const ffi_hpy_class *fh_instance_class_of(int64_t type_index);
