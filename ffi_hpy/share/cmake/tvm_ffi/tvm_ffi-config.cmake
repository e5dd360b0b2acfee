# For CMake: the headers and the core as targets, under the names that packages for tvm-ffi use.
#
#   find_package(tvm_ffi CONFIG REQUIRED)        with tvm_ffi_ROOT = what `ffi-hpy-config --cmakedir` prints
#   target_link_libraries(mine PRIVATE tvm_ffi::header tvm_ffi::shared)
#
# Everything is found from this file's own place; no Python runs.

if(TARGET tvm_ffi::shared)
  return()
endif()

get_filename_component(_tvm_ffi_package "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

add_library(tvm_ffi_header INTERFACE IMPORTED GLOBAL)
set_target_properties(tvm_ffi_header PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_tvm_ffi_package}/include")

add_library(tvm_ffi_shared SHARED IMPORTED GLOBAL)
set_target_properties(
  tvm_ffi_shared PROPERTIES IMPORTED_LOCATION "${_tvm_ffi_package}/lib/libtvm_ffi.so" IMPORTED_SONAME libtvm_ffi.so
                            INTERFACE_LINK_LIBRARIES tvm_ffi_header
)

add_library(tvm_ffi::header ALIAS tvm_ffi_header)
add_library(tvm_ffi::shared ALIAS tvm_ffi_shared)
unset(_tvm_ffi_package)
