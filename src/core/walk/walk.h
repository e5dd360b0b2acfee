/* walk.h - the traversal of values: a stack of objects that are being read, so that nesting costs heap and no C stack.
 * Base of repr, copy, equality, hash, structural comparison and serialisation.
 *
 * The client runs the loop and selects the values to enter; its code before, between and after the children of an
 * object goes to these places:
 *
 *   fh_walk walk;
 *   fh_walk_init(&walk, FH_WALK_CYCLES, kTVMFFIFieldFlagBitMaskReprOff, sizeof(my_state));
 *   if (fh_walk_push(&walk, root) != 0) ...                          before the children
 *   while (fh_walk_depth(&walk) != 0) {
 *     TVMFFIAny child;
 *     switch (fh_walk_next(&walk, &child)) {
 *     case FH_WALK_CHILD:  handle a leaf; enter any other value with fh_walk_push, or skip it
 *     case FH_WALK_END:    after the children; fh_walk_pop(&walk)
 *     default:             an error is pending
 *     }
 *   }
 *   fh_walk_free(&walk);                                             also after an error, closes open frames
 *
 * Children. Array and List: the items. Map and Dict: key, value, key, value, in order. Any other object: the values of
 * its reflected fields, ancestors' first, without fields that have a flag of `skip_flags`; a field that a subclass
 * declares again at the same place is one field. Strings, tensors, functions and all objects without fields have no
 * children.
 *
 * Reading. The contents of an Array and a Map are read in place. The contents of a List and a Dict are copied under
 * their stripe lock when the object is pushed, so that changes during the walk do not disturb it. A field's getter is
 * called when the walk reaches the field. The client borrows all values: a child is valid until the next fh_walk_next
 * (or _pair, _lookup) of the same frame, or its pop; a frame's objects while it is open. The client must hold a
 * reference to the root: own an argument (fh_any_own) before walking it.
 *
 * Pairs. fh_walk_push_pair opens two objects of one kind (two sequences, two maps, or two objects of the same type);
 * fh_walk_next_pair returns children that belong together: same index, same field, or the value of the equal key. A
 * client with its own equality of keys uses fh_walk_next_key and fh_walk_lookup.
 *
 * Hooks. Foreign code that calls back into the client may push on the same walk, as long as it pops its own frames:
 * remember the depth, run the loop until the walk has that depth again (fh_walk_unwind after an error). Pushing moves
 * frames: get their addresses again afterwards. Since hooks that call back do use C stack, fh_walk_enter_hook counts
 * them and refuses too many.
 *
 * Errors are -1 with an error pending: MemoryError, ValueError for more than FH_WALK_MAX_DEPTH open frames, or an error
 * of a getter. A walk belongs to one thread. No lock is held while foreign code runs. */
#pragma once

#include "core/container/memo.h"
#include "core/object/any.h"
#include "core/object/reflect.h"

#define FH_WALK_MAX_DEPTH (1 << 20)
#define FH_WALK_MAX_HOOKS 1024 /* about the limit of interpreters for their own functions; fits a megabyte of stack */

typedef enum {
  FH_WALK_PLAIN = 0,
  FH_WALK_CYCLES = 1, /* keep the set of open objects, for fh_walk_is_open */
} fh_walk_flags;

typedef enum {
  FH_WALK_NOTHING, /* no children: fh_walk_push_mark */
  FH_WALK_ITEMS,   /* Array, List */
  FH_WALK_PAIRS,   /* Map, Dict */
  FH_WALK_FIELDS,
} fh_walk_shape;

/* An open object, or pair of objects. Clients read the first part. */
typedef struct {
  TVMFFIObject *obj;
  TVMFFIObject *other; /* second object of a pair, else NULL */
  fh_walk_shape shape;
  int64_t n_done;        /* children returned so far; of pairs: keys and values are counted */
  int64_t n_children;    /* number of children of `obj`; -1 for fields, which are not counted beforehand */
  int64_t n_of_other;    /* number of children of `other` */
  /* private */
  const void *source;    /* Array: its items; Map: itself; NULL if the children are copies in `values` */
  uint64_t position;     /* Map: slot of the next pair */
  size_t mark;           /* start of this frame's part of `values` */
  fh_reflect_cursor cursor;
  const TVMFFIFieldInfo *field; /* the field that was returned last */
  TVMFFIObject *held[2]; /* the field's values on both sides if they are objects: owned, else NULL */
  bool is_in_open_set;
  bool is_alone; /* whether `obj` is a copy that no other thread can reach yet */
} fh_walk_frame;

typedef struct {
  char *frames; /* each a fh_walk_frame followed by the client's bytes */
  size_t n_frames, n_frames_room, frame_bytes;
  TVMFFIAny *values; /* owned; each frame's part follows the part of the frame below */
  size_t n_values, n_values_room;
  fh_memo open; /* the objects of open frames that the walk may reach again */
  fh_walk_flags flags;
  int64_t skip_flags;
  int n_hooks;
} fh_walk;

/* ---- Life ---- */

/* Cannot fail. skip_flags: a union of kTVMFFIFieldFlagBitMask*. client_bytes: the size of the client's own data in each
 * frame (fh_walk_data), zero when pushed. */
void fh_walk_init(fh_walk *walk, fh_walk_flags flags, int64_t skip_flags, size_t client_bytes);
/* Pops all open frames and frees the walk. May run foreign code (deleters). The client drops references in its own data
 * before. */
void fh_walk_free(fh_walk *walk);

/* ---- Frames ---- */

/* The number of open frames; the root's is number 0. */
static inline size_t fh_walk_depth(const fh_walk *walk) { return walk->n_frames; }
static inline fh_walk_frame *fh_walk_at(const fh_walk *walk, size_t i) {
  return (fh_walk_frame *)(void *)(walk->frames + i * walk->frame_bytes);
}
/* The innermost frame; there must be one. Valid until the next push. */
static inline fh_walk_frame *fh_walk_top(const fh_walk *walk) { return fh_walk_at(walk, walk->n_frames - 1); }
static inline void *fh_walk_data(fh_walk_frame *frame) { return frame + 1; }

/* Open an object of any type; `value` must hold an object. On -1 nothing changes. */
int fh_walk_push(fh_walk *walk, const TVMFFIAny *value);
int fh_walk_push_pair(fh_walk *walk, const TVMFFIAny *a, const TVMFFIAny *b);
/* Makes a frame of fields read a copy of its object, which no other thread can reach yet and the client keeps alive.
 * Not with FH_WALK_CYCLES. */
static inline void fh_walk_read_fields_of(fh_walk_frame *frame, TVMFFIObject *copy) {
  frame->obj = copy;
  frame->is_alone = true;
}
/* Pushes a frame without children: an object (pair; `other` may be NULL) that is open while a hook handles it. */
int fh_walk_push_mark(fh_walk *walk, TVMFFIObject *obj, TVMFFIObject *other);
/* Closes the innermost frame. May run foreign code. */
void fh_walk_pop(fh_walk *walk);
/* Pops until the walk has `depth` open frames. */
void fh_walk_unwind(fh_walk *walk, size_t depth);

/* Whether an open frame is reading the object (pair; b may be NULL); needs FH_WALK_CYCLES. */
bool fh_walk_is_open(const fh_walk *walk, const TVMFFIObject *a, const TVMFFIObject *b);
/* Whether the walk may reach the object that the innermost frame returned last a second time. No thread can if the
 * object's only references belong to the place from which it was read and, with `is_owned`, of the frame's copy
 * (fh_walk_gives_copies). A client's memo needs only objects for which the answer is yes. The root may always be
 * reached again. */
static inline bool fh_walk_is_shared(const TVMFFIObject *obj, bool is_owned) {
  return fh_object_use_count(obj) > (is_owned ? 2u : 1u);
}
/* Whether the frame holds its own references to the children of `obj`: List, Dict, fields. */
static inline bool fh_walk_gives_copies(const fh_walk_frame *frame) { return frame->source == NULL; }
/* Whether it holds references to the children of `other`. */
static inline bool fh_walk_other_gives_copies(const fh_walk_frame *frame) {
  return frame->other->type_index != kTVMFFIArray && frame->other->type_index != kTVMFFIMap;
}

/* ---- Children of the innermost frame ---- */

typedef enum {
  FH_WALK_ERROR = -1,
  FH_WALK_END = 0,
  FH_WALK_CHILD = 1,     /* one child, or one on each side */
  FH_WALK_ONLY_LEFT = 2, /* in a pair: `other` has no item at this index, or no such key, and *b is None */
  FH_WALK_ONLY_RIGHT = 3 /* in a pair of sequences: `other` has more items, *a is None */
} fh_walk_step;

fh_walk_step fh_walk_next(fh_walk *walk, TVMFFIAny *child);
/* For maps returns only the values, a pair for each key of `obj`. The client finds extra keys of `other` afterwards, by
 * comparing n_children with n_of_other. Finding a key may run hooks. */
fh_walk_step fh_walk_next_pair(fh_walk *walk, TVMFFIAny *a, TVMFFIAny *b);

/* The *n remaining items of a frame of items, as an array, borrowed like a child: for a client that handles many leaves
 * at once. The client reports the number of handled items by fh_walk_take. */
const TVMFFIAny *fh_walk_rest(const fh_walk *walk, int64_t *n);
/* All n_children of a frame of items as they were when the frame was opened, borrowed until it is popped. */
const TVMFFIAny *fh_walk_items(const fh_walk *walk, const fh_walk_frame *frame);
const TVMFFIAny *fh_walk_rest_of_other(const fh_walk *walk, int64_t *n);
static inline void fh_walk_take(fh_walk *walk, int64_t n) { fh_walk_top(walk)->n_done += n; }

/* The next field in the order of a walk, NULL at the end: skips fields with one of the flags, and the repetition of an
 * ancestor's field by a subclass. For clients that read fields themselves. */
const TVMFFIFieldInfo *fh_walk_next_field(fh_reflect_cursor *cursor, int64_t skip_flags);

/* For a map (pair): the next key of `obj` and its value. */
fh_walk_step fh_walk_next_key(fh_walk *walk, TVMFFIAny *key, TVMFFIAny *value);
/* The value of a key in `other`: FH_WALK_CHILD, or FH_WALK_END if the key does not exist, or an error. */
fh_walk_step fh_walk_lookup(fh_walk *walk, const TVMFFIAny *key, TVMFFIAny *value);

/* ---- The place of the walk ---- */

typedef enum { FH_WALK_AT_NOTHING, FH_WALK_AT_ITEM, FH_WALK_AT_KEY, FH_WALK_AT_VALUE, FH_WALK_AT_FIELD } fh_walk_place;

/* The role of a child in its parent. The labels of all open frames, outermost first, are the path to the child that the
 * innermost frame returned last. */
typedef struct {
  fh_walk_place place;
  int64_t index;                /* AT_ITEM */
  TVMFFIAny key;                /* AT_KEY, AT_VALUE: borrowed like a child */
  const TVMFFIFieldInfo *field; /* AT_FIELD: valid forever */
} fh_walk_label;

/* The field whose value this frame, a frame of fields, returned last. */
static inline const TVMFFIFieldInfo *fh_walk_field(const fh_walk_frame *frame) { return frame->field; }
/* The label of the child that this frame returned last; AT_NOTHING before the first. */
fh_walk_label fh_walk_label_of(const fh_walk *walk, const fh_walk_frame *frame);

/* ---- Hooks ---- */

/* Call these before and after a hook that may call back. ValueError if FH_WALK_MAX_HOOKS are running. */
int fh_walk_enter_hook(fh_walk *walk);
static inline void fh_walk_leave_hook(fh_walk *walk) { walk->n_hooks -= 1; }
