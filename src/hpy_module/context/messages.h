/* Formats of the messages that the C binding and the cffi backend (ffi_hpy/_pypy) both raise, for fb_raise() and for
 * Python's % operator alike: they use only %s, %d and %.*s. */
#pragma once

#include "context.h"

#define FB_MESSAGE_NOT_FROM_NEW "this %s was not made by the __new__ of its class"
#define FB_MESSAGE_NOT_A_TYPE "%s.__new__(X): X is not a type but of type %s"
#define FB_MESSAGE_NOT_A_SUBTYPE "%s.__new__(%s): %s is not a subtype of %s"
#define FB_MESSAGE_FINAL "type '%s' is not an acceptable base type"
#define FB_MESSAGE_TOO_MANY "%s() takes at most %d, got %d arguments"
#define FB_MESSAGE_UNEXPECTED "%s() got an unexpected keyword argument '%s'"
#define FB_MESSAGE_TWICE "%s() got multiple values for argument '%s'"
#define FB_MESSAGE_MISSING "%s() missing required argument: '%s'"
#define FB_MESSAGE_ARGUMENT "argument %d of a native function"
#define FB_MESSAGE_NOT_A_STR "%s must be str, not %s"
#define FB_MESSAGE_SURROGATES "surrogates not allowed"
#define FB_MESSAGE_NOT_AN_INT "%s: expected an int, got %s"
#define FB_MESSAGE_NOT_A_FLOAT "%s: %s, which is outside the range of a float"
#define FB_MESSAGE_TOO_DEEP "%s: nested more than %d deep (does it contain itself?)"
#define FB_MESSAGE_NO_HANDLE "this %s has no native object: it was moved away or never initialised"
#define FB_MESSAGE_OTHER_TYPE "the native object of this %s is of another type (index %d)"
#define FB_MESSAGE_IN_USE "the native object cannot be moved away while a call uses it"
#define FB_MESSAGE_KEEPS_HANDLE "the handle of a Function cannot be moved away"
#define FB_MESSAGE_FUNCTIONS_ONLY "a Function can take over the handle of a function only"
#define FB_MESSAGE_NO_ERROR "%s() returned failure without setting an error"
#define FB_MESSAGE_NO_EXCEPTION "native code reported a Python exception, but none is set"
#define FB_MESSAGE_NOT_AN_OBJECT "%s() must return an object, it returned a value of type index %d"
#define FB_MESSAGE_RETURN_VALUE "the return value of a callback"
#define FB_MESSAGE_NOT_DELETED "%s cannot be deleted"
#define FB_MESSAGE_NOT_SET "%s cannot be set"
#define FB_MESSAGE_FROZEN "%s is frozen: cannot assign to field '%s'"
#define FB_MESSAGE_OTHER_CLASS "attribute '%s' is not for a '%s' object"
#define FB_MESSAGE_NOT_AN_INSTANCE "%s() is for instances of its class, not of %s"
#define FB_MESSAGE_NOT_CONTIGUOUS "the tensor is not contiguous"
#define FB_MESSAGE_NOTHING_MADE "__ffi_new__ of %.*s made no object of this type"

/* messages(): the formats by name, for the cffi backend. */
extern HPyDef fb_messages_get;
