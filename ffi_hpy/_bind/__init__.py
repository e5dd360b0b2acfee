"""Libraries that are bound with the C++ header ffi_hpy/bind.h: their import, and their definitions."""
