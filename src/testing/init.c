/* init.c - classes with constructors made by the core: positional and keyword arguments, with and without defaults,
 * inherited fields. */
#include "tables.h"

/* The layout of most classes: integers only. */
typedef struct {
  TVMFFIObject header;
  int64_t number[5];
} ints;

#define AT(i) offsetof(ints, number[i])
#define SIZE(n_numbers) (sizeof(TVMFFIObject) + (n_numbers) * sizeof(int64_t))
#define USUAL (FT_NEW | FT_COPY | FT_AUTO_INIT)
#define POSITIONAL FT_WRITABLE
#define BY_NAME (FT_WRITABLE | FT_KW_ONLY)
#define LEFT_OUT (FT_WRITABLE | FT_NO_INIT)

/* ---- testing.TestCxxClassBase, testing.TestCxxClassDerived, testing.TestCxxClassDerivedDerived ---- */

typedef struct {
  TVMFFIObject header;
  int64_t v_i64;
  int32_t v_i32;
} base;

typedef struct {
  base parent;
  double v_f64;
  float v_f32;
} derived;

typedef struct {
  derived parent;
  TVMFFIAny v_str;
  uint8_t v_bool;
} derived_derived;

static const ft_field base_fields[] = {
    {"v_i64", FT_FIELD_i64, offsetof(base, v_i64), POSITIONAL | kTVMFFIFieldFlagBitMaskReprOff, NULL, NULL, NULL},
    {"v_i32", FT_FIELD_i32, offsetof(base, v_i32), POSITIONAL | kTVMFFIFieldFlagBitMaskReprOff, NULL, NULL, NULL},
};
static const ft_field derived_fields[] = {
    {"v_f64", FT_FIELD_f64, offsetof(derived, v_f64), POSITIONAL, NULL, NULL, NULL},
    {"v_f32", FT_FIELD_f32, offsetof(derived, v_f32), POSITIONAL, "8.0", NULL, NULL},
};
static const ft_field derived_derived_fields[] = {
    {"v_str", FT_FIELD_str, offsetof(derived_derived, v_str), POSITIONAL, "\"default\"", NULL, NULL},
    {"v_bool", FT_FIELD_bool, offsetof(derived_derived, v_bool), POSITIONAL, NULL, NULL, NULL},
};
FT_CLASS(base, .key = "testing.TestCxxClassBase", .size = sizeof(base), .traits = USUAL, FT_FIELDS(base_fields));
FT_CLASS(derived, .key = "testing.TestCxxClassDerived", .parent = &base_class, .size = sizeof(derived), .traits = USUAL,
         FT_FIELDS(derived_fields));
FT_CLASS(derived_derived, .key = "testing.TestCxxClassDerivedDerived", .parent = &derived_class,
         .size = sizeof(derived_derived), .traits = USUAL, FT_FIELDS(derived_derived_fields));

/* ---- testing.TestCxxClassHiddenField, testing.TestCxxClassPolymorphic: layouts with bytes that no field describes
 * ---- */

typedef struct {
  TVMFFIObject header;
  int64_t v_i64;
  int64_t hidden_i64;
  int32_t v_i32;
} hidden;

static const ft_field hidden_fields[] = {
    {"v_i64", FT_FIELD_i64, offsetof(hidden, v_i64), POSITIONAL, NULL, NULL, NULL},
    {"v_i32", FT_FIELD_i32, offsetof(hidden, v_i32), POSITIONAL, NULL, NULL, NULL},
};
static const ft_field polymorphic_fields[] = {
    {"v_i64", FT_FIELD_i64, AT(0), POSITIONAL, NULL, NULL, NULL},
};
FT_CLASS(hidden, .key = "testing.TestCxxClassHiddenField", .size = sizeof(hidden), .traits = USUAL | FT_FINAL,
         FT_FIELDS(hidden_fields));
FT_CLASS(polymorphic, .key = "testing.TestCxxClassPolymorphic", .size = SIZE(1), .extra_size = sizeof(void *),
         .traits = USUAL | FT_FINAL, FT_FIELDS(polymorphic_fields));

/* ---- testing.TestCxxInitSubset ---- */

typedef struct {
  TVMFFIObject header;
  int64_t required_field;
  int64_t optional_field;
  TVMFFIAny note;
} subset;

static void begin_subset(void *object) { ((subset *)object)->optional_field = -1; }

static const ft_field subset_fields[] = {
    {"required_field", FT_FIELD_i64, offsetof(subset, required_field), POSITIONAL, NULL, NULL, NULL},
    {"optional_field", FT_FIELD_i64, offsetof(subset, optional_field), LEFT_OUT, "-1", NULL, NULL},
    {"note", FT_FIELD_str, offsetof(subset, note), LEFT_OUT, "\"default\"", NULL, NULL},
};
FT_CLASS(subset, .key = "testing.TestCxxInitSubset", .size = sizeof(subset), .traits = USUAL, FT_FIELDS(subset_fields),
         .begin = begin_subset);

/* ---- Integers only ---- */

static const ft_field kw_only_fields[] = {
    {"x", FT_FIELD_i64, AT(0), BY_NAME, NULL, NULL, NULL},
    {"y", FT_FIELD_i64, AT(1), BY_NAME, NULL, NULL, NULL},
    {"z", FT_FIELD_i64, AT(2), BY_NAME, NULL, NULL, NULL},
    {"w", FT_FIELD_i64, AT(3), BY_NAME, "100", NULL, NULL},
};
static const ft_field auto_fields[] = {
    {"a", FT_FIELD_i64, AT(0), POSITIONAL, NULL, NULL, NULL},
    {"b", FT_FIELD_i64, AT(1), LEFT_OUT, "42", NULL, NULL},
    {"c", FT_FIELD_i64, AT(2), BY_NAME, NULL, NULL, NULL},
    {"d", FT_FIELD_i64, AT(3), POSITIONAL, "99", NULL, NULL},
};
static const ft_field x_and_y[] = {
    {"x", FT_FIELD_i64, AT(0), POSITIONAL, NULL, NULL, NULL},
    {"y", FT_FIELD_i64, AT(1), POSITIONAL, NULL, NULL, NULL},
};
static const ft_field all_off_fields[] = {
    {"x", FT_FIELD_i64, AT(0), LEFT_OUT, "7", NULL, NULL},
    {"y", FT_FIELD_i64, AT(1), LEFT_OUT, "9", NULL, NULL},
    {"z", FT_FIELD_i64, AT(2), LEFT_OUT, NULL, NULL, NULL},
};
static const ft_field mixed_fields[] = {
    {"p_required", FT_FIELD_i64, AT(0), POSITIONAL, NULL, NULL, NULL},
    {"p_default", FT_FIELD_i64, AT(1), POSITIONAL, "11", NULL, NULL},
    {"k_required", FT_FIELD_i64, AT(2), BY_NAME, NULL, NULL, NULL},
    {"k_default", FT_FIELD_i64, AT(3), BY_NAME, "22", NULL, NULL},
    {"hidden", FT_FIELD_i64, AT(4), LEFT_OUT, "33", NULL, NULL},
};
static const ft_field parent_fields[] = {
    {"parent_required", FT_FIELD_i64, AT(0), POSITIONAL, NULL, NULL, NULL},
    {"parent_default", FT_FIELD_i64, AT(1), POSITIONAL, "5", NULL, NULL},
};
static const ft_field child_fields[] = {
    {"child_required", FT_FIELD_i64, AT(2), POSITIONAL, NULL, NULL, NULL},
    {"child_kw_only", FT_FIELD_i64, AT(3), BY_NAME, NULL, NULL, NULL},
};

static void begin_all_off(void *object) {
  ((ints *)object)->number[0] = 7;
  ((ints *)object)->number[2] = 1234; /* set here, because it has neither a parameter nor a default */
}

FT_CLASS(kw_only, .key = "testing.TestCxxKwOnly", .size = SIZE(4), .traits = USUAL, FT_FIELDS(kw_only_fields));
FT_CLASS(auto, .key = "testing.TestCxxAutoInit", .size = SIZE(4), .traits = USUAL, FT_FIELDS(auto_fields));
FT_CLASS(simple, .key = "testing.TestCxxAutoInitSimple", .size = SIZE(2), .traits = USUAL, FT_FIELDS(x_and_y));
FT_CLASS(all_off, .key = "testing.TestCxxAutoInitAllInitOff", .size = SIZE(3), .traits = USUAL,
         FT_FIELDS(all_off_fields), .begin = begin_all_off);
FT_CLASS(mixed, .key = "testing.TestCxxAutoInitKwOnlyDefaults", .size = SIZE(5), .traits = USUAL,
         FT_FIELDS(mixed_fields));
FT_CLASS(parent, .key = "testing.TestCxxAutoInitParent", .size = SIZE(2), .child_slots = 1, .traits = USUAL,
         FT_FIELDS(parent_fields));
FT_CLASS(child, .key = "testing.TestCxxAutoInitChild", .parent = &parent_class, .size = SIZE(4),
         .traits = USUAL | FT_FINAL, FT_FIELDS(child_fields));
FT_CLASS(no_auto, .key = "testing.TestCxxNoAutoInit", .size = SIZE(2), .traits = FT_NEW | FT_COPY, FT_FIELDS(x_and_y));

static ft_class *const classes[] = {
    &base_class,    &derived_class, &derived_derived_class, &hidden_class,  &polymorphic_class, &subset_class,
    &kw_only_class, &auto_class,    &simple_class,          &all_off_class, &mixed_class,       &parent_class,
    &child_class,   &no_auto_class,
};
const ft_classes ft_init_classes = {classes, FT_COUNT(classes)};
