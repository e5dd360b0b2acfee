# For CMake: modules of Python that are bound with ffi_hpy/bind.h.
#
#   find_package(ffi_hpy CONFIG REQUIRED)        ffi_hpy_ROOT: the output of `ffi-hpy-config --cmakedir`
#   ffi_hpy_add_module(kennel src/kennel.cc)     see Utils/Module.cmake
#   ffi_hpy_install(kennel DESTINATION kennel)
#
# A project that was written for nanobind calls find_package(nanobind) next, after
# set(nanobind_ROOT "${ffi_hpy_NANOBIND_ROOT}").
#
# Such a module uses the headers only, and is linked with no library of this package.

get_filename_component(_ffi_hpy_package "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT "$ENV{FFI_HPY_CROSS_ROOT}" STREQUAL "")
  get_filename_component(_ffi_hpy_package "$ENV{FFI_HPY_CROSS_ROOT}/ffi_hpy" ABSOLUTE)
endif()
set(ffi_hpy_INCLUDE_DIR "${_ffi_hpy_package}/include")
set(ffi_hpy_NANOBIND_ROOT "${_ffi_hpy_package}/_nanobind/cmake")
if(NOT EXISTS "${ffi_hpy_INCLUDE_DIR}/ffi_hpy/bind.h")
  set(ffi_hpy_FOUND FALSE)
  set(ffi_hpy_NOT_FOUND_MESSAGE
      "ffi_hpy is not installed completely: ${ffi_hpy_INCLUDE_DIR}/ffi_hpy/bind.h is missing"
  )
  return()
endif()

# For clangd and other tools that read the commands of the compiler
if("${CMAKE_EXPORT_COMPILE_COMMANDS}" STREQUAL "")
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()

include("${CMAKE_CURRENT_LIST_DIR}/Utils/Library.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/Utils/Module.cmake")

# Found before, by another folder of the same project
if(NOT TARGET ffi_hpy::header)
  add_library(ffi_hpy_header INTERFACE IMPORTED GLOBAL)
  add_library(ffi_hpy::header ALIAS ffi_hpy_header)
  set_target_properties(
    ffi_hpy_header PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${ffi_hpy_INCLUDE_DIR}" INTERFACE_COMPILE_FEATURES
                                                                                     cxx_std_17
  )
endif()
