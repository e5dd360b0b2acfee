//! The names of the crate tvm_ffi that generated code uses, with their sizes and traits but without behaviour: code is
//! only checked against this crate, and never run.

pub extern crate tvm_ffi_derive as derive;

use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;

/// The type of a field.
pub trait AnyCompatible {}

/// The type of a container's elements.
pub trait ContainerElement {}

/// A value inside the TVMFFIAny of an Optional.
pub trait OptionalCompatible {}

pub trait ObjectCore {
    const TYPE_DEPTH: i32;
    fn type_index() -> i32 {
        Self::TYPE_DEPTH
    }
}

pub trait ObjectRefCore {}

pub trait ShallowCopy {
    fn shallow_copy(&self) -> Self;
}

/// # Safety
/// `this` points to an object whose fields are set or all zero.
pub unsafe trait UnsafeInit {
    unsafe fn drop_defined_fields(this: *mut Self);
}

#[repr(C)]
pub struct Object([u64; 3]);

impl Object {
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self([0; 3])
    }
}

impl ObjectCore for Object {
    const TYPE_DEPTH: i32 = 0;
}

impl ShallowCopy for Object {
    fn shallow_copy(&self) -> Self {
        Self::new()
    }
}

unsafe impl UnsafeInit for Object {
    unsafe fn drop_defined_fields(_: *mut Self) {}
}

#[repr(transparent)]
pub struct ObjectArc<T: ObjectCore>(NonNull<T>);

impl<T: ObjectCore> ObjectArc<T> {
    pub fn new(object: T) -> Self {
        Self(NonNull::from(Box::leak(Box::new(object))))
    }
}

impl<T: ObjectCore> Clone for ObjectArc<T> {
    fn clone(&self) -> Self {
        Self(self.0)
    }
}

impl<T: ObjectCore> Deref for ObjectArc<T> {
    type Target = T;
    fn deref(&self) -> &T {
        unsafe { self.0.as_ref() }
    }
}

#[derive(Debug)]
pub struct Error;

#[derive(Clone, Copy)]
pub struct ErrorKind;

pub const VALUE_ERROR: ErrorKind = ErrorKind;

impl Error {
    pub fn new(_: ErrorKind, _: &str, _: &str) -> Self {
        Self
    }
}

pub type Result<T> = std::result::Result<T, Error>;

pub struct FieldGetter;

impl FieldGetter {
    pub fn new(_: i32, _: &str) -> Result<Self> {
        Err(Error)
    }
    pub fn get<O: ObjectCore, T: AnyCompatible>(&self, _: &O) -> Result<T> {
        Err(Error)
    }
    pub fn get_any<O: ObjectCore>(&self, _: &O) -> Result<Any> {
        Err(Error)
    }
}

/// A value with the layout of a TVMFFIAny.
#[derive(Clone)]
#[repr(C)]
pub struct Any([u64; 2]);

#[derive(Clone)]
#[repr(transparent)]
pub struct Optional<T: OptionalCompatible>(Any, PhantomData<T>);

macro_rules! values {
    ($($name:ident)*) => { $(
        #[derive(Clone)]
        #[repr(transparent)]
        pub struct $name(Any);
        impl AnyCompatible for $name {}
        impl OptionalCompatible for $name {}
    )* };
}
values!(String Bytes BigInt);

macro_rules! references {
    ($($name:ident $(<$($item:ident),+>)?)*) => { $(
        #[derive(Clone)]
        #[repr(transparent)]
        pub struct $name $(<$($item: ContainerElement),+>)? (ObjectArc<Object> $(, PhantomData<($($item),+,)>)?);
        impl $(<$($item: ContainerElement),+>)? AnyCompatible for $name $(<$($item),+>)? {}
    )* };
}
references!(Array<T> List<T> Map<K, V> Function Tensor Shape Module);

#[derive(Clone, Copy)]
#[repr(C)]
pub struct DLDevice(i32, i32);

#[derive(Clone, Copy)]
#[repr(C)]
pub struct DLDataType(u8, u8, u16);

macro_rules! plain {
    ($($name:ty),*) => { $(
        impl AnyCompatible for $name {}
        impl OptionalCompatible for $name {}
    )* };
}
plain!((), bool, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, DLDevice, DLDataType);

// Array<Any> exists, but only get_any() reads a field as Any.
impl<T: AnyCompatible> ContainerElement for T {}
impl ContainerElement for Any {}
impl<T: AnyCompatible> AnyCompatible for Option<T> {}
impl<T: OptionalCompatible> OptionalCompatible for Option<T> {}

pub mod object {
    use super::*;
    references!(ObjectRef);
    impl ObjectRefCore for ObjectRef {}
}

pub mod reflection {
    use super::*;
    references!(AccessPath AccessStep);

    /// # Safety
    /// `field` points to a value, or to memory that is all zero.
    pub unsafe fn drop_if_defined<T>(_: *mut T) {}
}

#[macro_export]
macro_rules! impl_object_upcast {
    ($($from:ty => $to:ty),+ $(,)?) => { $(
        impl From<$from> for $to {
            fn from(_: $from) -> Self {
                fn needs<T: $crate::ObjectRefCore>() {}
                needs::<$from>();
                needs::<$to>();
                unreachable!()
            }
        }
    )+ };
}
