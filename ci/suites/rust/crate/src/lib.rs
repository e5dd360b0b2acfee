//! Bindings of the types of ffi_hpy's testing library.

pub mod testing;
