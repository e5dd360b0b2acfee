/* walk.h - the one traversal of values: a stack of objects that are being read, so that nesting costs heap and no C
 * stack. Under repr, copy, equality, hash, structural comparison and serialisation.
 *
 * The client has the loop and decides what it enters; what happens before, between and after the children of an object
 * is the code at these places:
 *
 *   fh_walk walk;
 *   fh_walk_init(&walk, FH_WALK_CYCLES, kTVMFFIFieldFlagBitMaskReprOff, sizeof(my_state));
 *   if (fh_walk_push(&walk, root) != 0) ...                          before the children
 *   while (fh_walk_depth(&walk) != 0) {
 *     TVMFFIAny child;
 *     switch (fh_walk_next(&walk, &child)) {
 *     case FH_WALK_CHILD:  a leaf is dealt with; anything else is entered with fh_walk_push, or left out
 *     case FH_WALK_END:    after the children; fh_walk_pop(&walk)
 *     default:             an error is pending
 *     }
 *   }
 *   fh_walk_free(&walk);                                             also after an error, closes what is open
 *
 * Children. Array and List: the items. Map and Dict: key, value, key, value, in order. Any other object: the values of
 * its reflected fields, ancestors' first, without those that have one of the flags in `skip_flags`; a field that a
 * subclass declares again at the same place is one field. Text, tensors, functions and whatever has no fields are
 * objects without children.
 *
 * What is read. An Array's and a Map's contents are read in place. A List's and a Dict's are copied under their stripe
 * lock when they are pushed, so that changes during the walk do not disturb it. A field's value is what its getter
 * gives when the field comes up. All values a client gets are borrowed: a child is valid until the next fh_walk_next
 * (or _pair, _lookup) of the same frame, or its pop; a frame's objects while it is open. The root must stay alive by
 * the client's own reference: own an argument (fh_any_own) before walking it.
 *
 * Two values at once. fh_walk_push_pair opens two objects of one kind (two sequences, two maps, or two objects of the
 * same type); fh_walk_next_pair gives children that belong together: same index, same field, or the value of the equal
 * key. A client with its own idea of equal keys uses fh_walk_next_key and fh_walk_lookup.
 *
 * Hooks. Foreign code that calls back into the client may push on the same walk, as long as it pops what it pushed:
 * note the depth, run the loop until that depth is there again (fh_walk_unwind after an error). Pushing moves frames:
 * ask for them anew. Since hooks that call back do use C stack, fh_walk_enter_hook counts them and refuses too many.
 *
 * Errors are -1 with an error pending: MemoryError, ValueError for more than FH_WALK_MAX_DEPTH open frames, or a
 * getter's. A walk belongs to one thread. No lock is held while anything foreign runs. */
#ifndef FH_WALK_H_
#define FH_WALK_H_

#include "core/container/memo.h"
#include "core/object/any.h"
#include "core/object/reflect.h"

#define FH_WALK_MAX_DEPTH (1 << 20)
#define FH_WALK_MAX_HOOKS 1024 /* about what interpreters allow of their own functions; fits a megabyte of stack */

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
  TVMFFIObject *other; /* of a pair, else NULL */
  fh_walk_shape shape;
  int64_t n_done;        /* children given so far; of pairs: keys and values are counted */
  int64_t n_children;    /* of `obj`; -1 for fields, which are not counted beforehand */
  int64_t n_of_other;    /* children of `other` */
  /* private */
  const void *source;    /* Array: its items; Map: itself; NULL when the children are copies in `values` */
  uint64_t position;     /* Map: slot of the pair that comes next */
  size_t mark;           /* where this frame's part of `values` begins */
  fh_reflect_cursor cursor;
  const TVMFFIFieldInfo *field; /* the one given last */
  TVMFFIObject *held[2]; /* its values on both sides where they are objects: owned, else NULL */
  int is_in_open_set;
  int is_alone; /* whether `obj` is a copy that no other thread has yet */
} fh_walk_frame;

typedef struct {
  char *frames; /* each a fh_walk_frame with the client's bytes behind it */
  size_t n_frames, n_frames_room, frame_bytes;
  TVMFFIAny *values; /* owned; each frame's part lies behind that of the frame below */
  size_t n_values, n_values_room;
  fh_memo open; /* the objects of open frames that can be met again */
  fh_walk_flags flags;
  int64_t skip_flags;
  int n_hooks;
} fh_walk;

/* ---- Life ---- */

/* Cannot fail. skip_flags: a union of kTVMFFIFieldFlagBitMask*. client_bytes: how much room for the client's own data
 * each frame has (fh_walk_data), zero when pushed. */
void fh_walk_init(fh_walk *walk, fh_walk_flags flags, int64_t skip_flags, size_t client_bytes);
/* Pops what is open and frees all. May run foreign code (deleters). What client data owns, the client ends before. */
void fh_walk_free(fh_walk *walk);

/* ---- Frames ---- */

/* Open frames; the root's is number 0. */
static inline size_t fh_walk_depth(const fh_walk *walk) { return walk->n_frames; }
static inline fh_walk_frame *fh_walk_at(const fh_walk *walk, size_t i) {
  return (fh_walk_frame *)(void *)(walk->frames + i * walk->frame_bytes);
}
/* The innermost; there must be one. Valid until the next push. */
static inline fh_walk_frame *fh_walk_top(const fh_walk *walk) { return fh_walk_at(walk, walk->n_frames - 1); }
static inline void *fh_walk_data(fh_walk_frame *frame) { return frame + 1; }

/* Opens an object, whatever its type; `value` must hold one. Nothing changes on -1. */
int fh_walk_push(fh_walk *walk, const TVMFFIAny *value);
int fh_walk_push_pair(fh_walk *walk, const TVMFFIAny *a, const TVMFFIAny *b);
/* Lets a frame of fields read them from a copy of the object, which no other thread has yet and the client keeps alive.
 * Not with FH_WALK_CYCLES. */
static inline void fh_walk_read_fields_of(fh_walk_frame *frame, TVMFFIObject *copy) {
  frame->obj = copy;
  frame->is_alone = 1;
}
/* A frame without children: an object (pair; `other` may be NULL) that is open while a hook deals with it. */
int fh_walk_push_mark(fh_walk *walk, TVMFFIObject *obj, TVMFFIObject *other);
/* Closes the innermost. May run foreign code. */
void fh_walk_pop(fh_walk *walk);
/* Pops until so many are open. */
void fh_walk_unwind(fh_walk *walk, size_t depth);

/* Whether the object (pair; b may be NULL) is being read by a frame that is open; needs FH_WALK_CYCLES. */
int fh_walk_is_open(const fh_walk *walk, const TVMFFIObject *a, const TVMFFIObject *b);
/* Whether the object that the innermost frame gave last may be met a second time in this walk. It may not if its only
 * references are that of the place it was read from and, with `is_owned`, that of the frame's copy
 * (fh_walk_gives_copies). A client's memo needs only objects that may. The root may always be met again. */
static inline int fh_walk_is_shared(const TVMFFIObject *obj, int is_owned) {
  return fh_object_use_count(obj) > (is_owned ? 2u : 1u);
}
/* Whether the children (of `obj`) come with a reference of the frame's own: List, Dict, fields. */
static inline int fh_walk_gives_copies(const fh_walk_frame *frame) { return frame->source == NULL; }
/* Whether those of `other` do. */
static inline int fh_walk_other_gives_copies(const fh_walk_frame *frame) {
  return frame->other->type_index != kTVMFFIArray && frame->other->type_index != kTVMFFIMap;
}

/* ---- Children of the innermost frame ---- */

typedef enum {
  FH_WALK_ERROR = -1,
  FH_WALK_END = 0,
  FH_WALK_CHILD = 1,     /* one, or one on each side */
  FH_WALK_ONLY_LEFT = 2, /* of a pair: `other` has no item at this index, no such key, and *b is None */
  FH_WALK_ONLY_RIGHT = 3 /* of a pair of sequences: `other` has more items, *a is None */
} fh_walk_step;

fh_walk_step fh_walk_next(fh_walk *walk, TVMFFIAny *child);
/* Of maps only the values are given, a pair for each key of `obj`. Extra keys of `other` are found afterwards, by
 * comparing n_children with n_of_other. Finding a key may run hooks. */
fh_walk_step fh_walk_next_pair(fh_walk *walk, TVMFFIAny *a, TVMFFIAny *b);

/* The *n items that come next in a frame of items, as an array, borrowed as a child is: for a client that deals with
 * many leaves at once. It tells by fh_walk_take how many it has dealt with. */
const TVMFFIAny *fh_walk_rest(const fh_walk *walk, int64_t *n);
/* All n_children of a frame of items as they were when it was opened, borrowed until it is popped. */
const TVMFFIAny *fh_walk_items(const fh_walk *walk, const fh_walk_frame *frame);
const TVMFFIAny *fh_walk_rest_of_other(const fh_walk *walk, int64_t *n);
static inline void fh_walk_take(fh_walk *walk, int64_t n) { fh_walk_top(walk)->n_done += n; }

/* The next field as a walk gives it, NULL at the end: of fields with one of the flags none, and of an ancestor's and
 * its repetition by a subclass the first. For clients that read fields by themselves. */
const TVMFFIFieldInfo *fh_walk_next_field(fh_reflect_cursor *cursor, int64_t skip_flags);

/* Of a map (pair): the next key of `obj` and its value. */
fh_walk_step fh_walk_next_key(fh_walk *walk, TVMFFIAny *key, TVMFFIAny *value);
/* The value of a key in `other`: FH_WALK_CHILD, or FH_WALK_END when it is not there, or an error. */
fh_walk_step fh_walk_lookup(fh_walk *walk, const TVMFFIAny *key, TVMFFIAny *value);

/* ---- Where the walk is ---- */

typedef enum { FH_WALK_AT_NOTHING, FH_WALK_AT_ITEM, FH_WALK_AT_KEY, FH_WALK_AT_VALUE, FH_WALK_AT_FIELD } fh_walk_place;

/* What the child is to its parent. The labels of all open frames, outermost first, are the path to the child that the
 * innermost gave last. */
typedef struct {
  fh_walk_place place;
  int64_t index;                /* AT_ITEM */
  TVMFFIAny key;                /* AT_KEY, AT_VALUE: borrowed as a child is */
  const TVMFFIFieldInfo *field; /* AT_FIELD: valid for ever */
} fh_walk_label;

/* The field whose value this frame, one of fields, gave last. */
static inline const TVMFFIFieldInfo *fh_walk_field(const fh_walk_frame *frame) { return frame->field; }
/* Of the child that this frame gave last; AT_NOTHING before the first. */
fh_walk_label fh_walk_label_of(const fh_walk *walk, const fh_walk_frame *frame);

/* ---- Hooks ---- */

/* Before and after a hook that may call back. ValueError when FH_WALK_MAX_HOOKS are running. */
int fh_walk_enter_hook(fh_walk *walk);
static inline void fh_walk_leave_hook(fh_walk *walk) { walk->n_hooks -= 1; }

#endif /* FH_WALK_H_ */
