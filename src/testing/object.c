/* object.c - makes, copies, frees and constructs objects of classes that tables describe, and registers those
 * classes. */
#include "object.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_PARENTS 4

/* Directly precedes the handle of every object. In C++ the pointer to the vtable would be there. */
typedef struct {
  const ft_class *cls;
  TVMFFIObject header;
} object_block;

static object_block *block_of(void *object) {
  return (object_block *)(void *)((char *)object - offsetof(object_block, header));
}

/* ---- Objects ---- */

static void drop_fields(const ft_class *cls, char *object) {
  for (; cls != NULL; cls = cls->parent) {
    for (int32_t i = 0; i < cls->n_fields; ++i) {
      ft_accepted nothing = {ft_none(), 1};
      ft_store store = ft_field_type_of(cls->fields[i].type)->store;
      if (store >= FT_STORE_ANY) (void)ft_field_put(store, object + cls->fields[i].offset, &nothing);
    }
  }
}

static void object_delete(void *self, int flags) {
  object_block *block = block_of(self);
  if (flags & kTVMFFIObjectDeleterFlagBitMaskStrong) drop_fields(block->cls, (char *)self);
  if (flags & kTVMFFIObjectDeleterFlagBitMaskWeak) free(block);
}

static void *allocate(const ft_class *cls) {
  object_block *block = (object_block *)calloc(1, offsetof(object_block, header) + cls->size);
  if (block == NULL) {
    (void)ft_no_memory(cls->key);
    return NULL;
  }
  block->cls = cls;
  block->header.combined_ref_count = ((uint64_t)1 << 32) | 1;
  block->header.type_index = cls->type_index;
  block->header.deleter = object_delete;
  return &block->header;
}

int ft_object_new(const ft_class *cls, TVMFFIObjectHandle *out) {
  char *object = (char *)allocate(cls);
  if (object == NULL) return -1;
  for (const ft_class *of = cls; of != NULL; of = of->parent) {
    for (int32_t i = 0; i < of->n_fields; ++i) {
      ft_field_begin(ft_field_type_of(of->fields[i].type), object + of->fields[i].offset);
    }
    if (of->begin != NULL) of->begin(object);
  }
  *out = object;
  return 0;
}

/* ---- Functions of every class ---- */

FT_CALL(make_new) {
  TVMFFIObjectHandle made;
  if (ft_object_new((const ft_class *)self->context, &made) != 0) return -1;
  *result = ft_object(made);
  return 0;
}

FT_CALL(copy) {
  const ft_class *cls = (const ft_class *)self->context;
  const char *from = (const char *)args[0].v_obj;
  char *to = (char *)allocate(cls);
  if (to == NULL) return -1;
  memcpy(to + sizeof(TVMFFIObject), from + sizeof(TVMFFIObject), cls->size - sizeof(TVMFFIObject));
  for (const ft_class *of = cls; of != NULL; of = of->parent) {
    for (int32_t i = 0; i < of->n_fields; ++i) {
      const ft_field_type *type = ft_field_type_of(of->fields[i].type);
      /* The bits are copied already. Reading the field as a value takes the reference that the copy needs. */
      TVMFFIAny kept;
      if (type->store >= FT_STORE_ANY) (void)type->getter(to + of->fields[i].offset, &kept);
    }
  }
  *result = ft_object(to);
  return 0;
}

/* Returns field i of a class; the fields of its parents come first. */
static const ft_field *field_at(const ft_class *cls, int32_t i) {
  const ft_class *line[MAX_PARENTS];
  int32_t n = 0;
  for (; cls != NULL && n < MAX_PARENTS; cls = cls->parent) line[n++] = cls;
  while (n > 0) {
    cls = line[--n];
    if (i < cls->n_fields) return &cls->fields[i];
    i -= cls->n_fields;
  }
  return NULL;
}

FT_CALL(construct) {
  const ft_class *cls = (const ft_class *)self->context;
  TVMFFIObjectHandle made;
  if (ft_object_new(cls, &made) != 0) return -1;
  for (int32_t i = 0; i < n_args; ++i) {
    const ft_field *field = field_at(cls, i);
    ft_accepted accepted = {args[i], 0};
    if (ft_field_put(ft_field_type_of(field->type)->store, (char *)made + field->offset, &accepted) != 0) {
      (void)TVMFFIObjectDecRef(made);
      return -1;
    }
  }
  *result = ft_object(made);
  return 0;
}

FT_CALL(convert) {
  const ft_class *cls = (const ft_class *)self->context;
  if (ft_is_object(&args[0]) && ft_value_is_instance(args[0].type_index, cls->type_index)) {
    return ft_function_echo(self, args, n_args, result);
  }
  const TVMFFITypeInfo *info = TVMFFIGetTypeInfo(args[0].type_index);
  return ft_raise("TypeError", "Cannot cast from `", info != NULL ? info->type_key.data : "something else", "` to `",
                  cls->key, "`", (char *)NULL);
}

/* ---- Registration ---- */

static int index_of_parent(const ft_class *cls, int32_t *out) {
  TVMFFIByteArray key = ft_text(cls->parent_key != NULL ? cls->parent_key : "ffi.Object");
  if (cls->parent == NULL || cls->parent_key != NULL) return TVMFFITypeKeyToIndex(&key, out);
  *out = cls->parent->type_index;
  return 0;
}

int ft_object_register(ft_class *const *classes, int32_t n_classes) {
  for (int32_t i = 0; i < n_classes; ++i) {
    ft_class *cls = classes[i];
    TVMFFIByteArray key = ft_text(cls->key);
    int32_t parent;
    if (index_of_parent(cls, &parent) != 0) return -1;
    int32_t depth = TVMFFIGetTypeInfo(parent)->type_depth + 1;
    cls->type_index =
        TVMFFITypeGetOrAllocIndex(&key, -1, depth, cls->child_slots, (cls->traits & FT_FINAL) == 0, parent);
    if (cls->type_index < 0) return -1;
  }
  return 0;
}

/* Parses `10`, `1.5`, `"text"` or `None`. */
static TVMFFIAny read_default(const char *text) {
  TVMFFIAny value = ft_none();
  if (text[0] == '"') {
    TVMFFIByteArray inside = {text + 1, strlen(text) - 2};
    (void)TVMFFIStringFromByteArray(&inside, &value); /* a short string needs no memory */
  } else if (strchr(text, '.') != NULL) {
    value.type_index = kTVMFFIFloat;
    value.v_float64 = strtod(text, NULL);
  } else if (strcmp(text, "None") != 0) {
    value = ft_int(strtoll(text, NULL, 10));
  }
  return value;
}

static int define_field(const ft_class *cls, const ft_field *field) {
  const ft_field_type *type = ft_field_type_of(field->type);
  ft_buffer metadata = {NULL, 0, 0, 0};
  TVMFFIFieldInfo info;
  memset(&info, 0, sizeof(info));
  ft_type_add_metadata(&type->type, field->more, &metadata);
  info.name = ft_text(field->name);
  info.doc = ft_text(field->doc != NULL ? field->doc : "");
  info.metadata.data = ft_buffer_text(&metadata);
  info.metadata.size = metadata.size;
  info.flags = field->flags;
  info.size = type->size;
  info.alignment = type->store == FT_STORE_DEVICE  ? 4
                   : type->store == FT_STORE_DTYPE ? 2
                   : type->size > 8                ? 8
                                                   : type->size;
  info.offset = (int64_t)field->offset;
  info.getter = type->getter;
  info.setter = (void *)(uintptr_t)type->setter; /* also for read-only fields: constructors and copies use it */
  info.field_static_type_index = ft_type_static_index(&type->type);
  if (field->value != NULL) {
    info.flags |= kTVMFFIFieldFlagBitMaskHasDefault;
    info.default_value_or_factory = read_default(field->value);
  }
  int rc = metadata.is_cut ? ft_no_memory("metadata") : TVMFFITypeRegisterField(cls->type_index, &info);
  ft_drop(&info.default_value_or_factory);
  ft_buffer_free(&metadata);
  return rc;
}

/* Returns `head` + `key` + `tail`, never freed, because functions use it as their name or signature. */
static const char *join(const char *head, const char *key, const char *tail) {
  size_t size = strlen(head) + strlen(key) + strlen(tail) + 1;
  char *text = (char *)malloc(size);
  if (text != NULL) snprintf(text, size, "%s%s%s", head, key, tail);
  return text;
}

static int add_attr(const ft_class *cls, const char *attr, const char *signature, ft_body body) {
  const char *dotted = join(cls->key, ".", attr);
  if (dotted == NULL || signature == NULL) return ft_no_memory("a name");
  return ft_function_add_attr(cls->type_index, attr, dotted, signature, body, cls);
}

static int define_init(const ft_class *cls) {
  TVMFFIAny index = ft_int(cls->type_index);
  if (cls->traits & FT_AUTO_INIT) return ft_core_do(FT_REGISTER_INIT, &index, 1);
  if (cls->init == NULL) return 0;
  const char *name = join(cls->key, ".", "__ffi_init__");
  if (name == NULL) return ft_no_memory("a name");
  ft_method method = {"__ffi_init__", name, cls->init, construct, 1, cls->init_doc, NULL};
  if (ft_function_add_method(cls->type_index, &method, cls) != 0) return -1;
  return add_attr(cls, "__ffi_init__", cls->init, construct);
}

static int define_metadata(const ft_class *cls) {
  TVMFFITypeMetadata metadata;
  TVMFFIByteArray attr = ft_text("__ffi_type_final__");
  TVMFFIAny is_final = ft_bool(cls->traits & FT_FINAL);
  memset(&metadata, 0, sizeof(metadata));
  metadata.total_size = (int32_t)(cls->size + (size_t)cls->extra_size);
  metadata.creator = (cls->traits & FT_NEW) ? cls->creator : NULL;
  metadata.structural_eq_hash_kind =
      (cls->traits & FT_UNIQUE) ? kTVMFFISEqHashKindUniqueInstance : kTVMFFISEqHashKindUnsupported;
  if (TVMFFITypeRegisterMetadata(cls->type_index, &metadata) != 0) return -1;
  return TVMFFITypeRegisterAttr(cls->type_index, &attr, &is_final);
}

int ft_object_define(ft_class *cls) {
  if (define_metadata(cls) != 0) return -1;
  for (int32_t i = 0; i < cls->n_fields; ++i) {
    if (define_field(cls, &cls->fields[i]) != 0) return -1;
  }
  if ((cls->traits & FT_COPY) &&
      add_attr(cls, "__ffi_shallow_copy__", join("(0: ", cls->key, ") -> ffi.Object"), copy) != 0) {
    return -1;
  }
  if ((cls->traits & FT_NEW) && add_attr(cls, "__ffi_new__", "() -> ffi.Object", make_new) != 0) return -1;
  if (define_init(cls) != 0) return -1;
  for (int32_t i = 0; i < cls->n_methods; ++i) {
    if (ft_function_add_method(cls->type_index, &cls->methods[i], cls) != 0) return -1;
  }
  if (!(cls->traits & FT_CONVERT)) return 0;
  return add_attr(cls, "__ffi_convert__", join("(0: AnyView) -> ", cls->key, ""), convert);
}
