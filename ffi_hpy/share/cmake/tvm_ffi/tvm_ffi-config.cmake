# For CMake: the headers and the core as targets, under the names that packages for tvm-ffi use.
#
#   find_package(tvm_ffi CONFIG REQUIRED)        tvm_ffi_ROOT: the output of `ffi-hpy-config --cmakedir`
#   add_library(mine SHARED mine.cc)
#   tvm_ffi_configure_target(mine)               links tvm_ffi::header and tvm_ffi::shared, see Utils/Library.cmake
#
# Everything is found from this file's own place. Python runs where stubs are generated, when the target is built.

get_filename_component(_tvm_ffi_package "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
# Build tools that are Python packages bring the package of the machine that builds; this one is for the target
if(NOT "$ENV{FFI_HPY_CROSS_ROOT}" STREQUAL "")
  get_filename_component(_tvm_ffi_package "$ENV{FFI_HPY_CROSS_ROOT}/ffi_hpy" ABSOLUTE)
endif()
set(tvm_ffi_INCLUDE_DIR "${_tvm_ffi_package}/include")
set(tvm_ffi_DLPACK_INCLUDE_DIR "${_tvm_ffi_package}/include")

include("${CMAKE_CURRENT_LIST_DIR}/Utils/Binaries.cmake")
_tvm_ffi_find_binaries(_tvm_ffi "${_tvm_ffi_package}")
if(NOT EXISTS "${tvm_ffi_INCLUDE_DIR}/tvm/ffi/c_api.h")
  set(_tvm_ffi_problem "ffi_hpy is not installed completely: ${tvm_ffi_INCLUDE_DIR}/tvm/ffi/c_api.h is missing")
endif()
if(_tvm_ffi_problem)
  set(tvm_ffi_FOUND FALSE)
  set(tvm_ffi_NOT_FOUND_MESSAGE "${_tvm_ffi_problem}")
  return()
endif()
set(tvm_ffi_LIB_FILES "${_tvm_ffi_linked}")

include("${CMAKE_CURRENT_LIST_DIR}/Utils/Library.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/Utils/EmbedCubin.cmake")

# Found before, by another folder of the same project, or built by add_subdirectory()
if(TARGET tvm_ffi::shared)
  return()
endif()

add_library(tvm_ffi_header INTERFACE IMPORTED GLOBAL)
add_library(tvm_ffi_shared SHARED IMPORTED GLOBAL)
add_library(tvm_ffi::header ALIAS tvm_ffi_header)
add_library(tvm_ffi::shared ALIAS tvm_ffi_shared)
set_target_properties(tvm_ffi_header PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${tvm_ffi_INCLUDE_DIR}")
set_target_properties(
  tvm_ffi_shared PROPERTIES IMPORTED_LOCATION "${_tvm_ffi_core}" INTERFACE_LINK_LIBRARIES tvm_ffi_header
)
if(_tvm_ffi_system STREQUAL windows)
  set_target_properties(tvm_ffi_shared PROPERTIES IMPORTED_IMPLIB "${_tvm_ffi_linked}")
endif()

# The C++ names that extra/ of the headers uses are in a library of their own. The loader of a shared library
# also loads that library, so a shared library is not linked with it and runs on any core of this ABI. A program is
# linked with it if needed. So is a shared library that links tvm_ffi::cxx, because it may leave no name undefined.
if(_tvm_ffi_cxx)
  add_library(tvm_ffi_cxx SHARED IMPORTED GLOBAL)
  add_library(tvm_ffi::cxx ALIAS tvm_ffi_cxx)
  set_target_properties(tvm_ffi_cxx PROPERTIES IMPORTED_LOCATION "${_tvm_ffi_cxx}")
  set(_tvm_ffi_program "$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>")
  set(_tvm_ffi_links "$<${_tvm_ffi_program}:tvm_ffi_cxx>")
  set(_tvm_ffi_lookup "@rpath/") # how binaries are named on macOS, and in files that are linked with them
  if(_tvm_ffi_system STREQUAL linux)
    # Not so on macOS, whose linker leaves out unneeded ones for all libraries of a program or for none
    set(_tvm_ffi_links
        "$<${_tvm_ffi_program}:-Wl,--push-state,--as-needed>" ${_tvm_ffi_links} "$<${_tvm_ffi_program}:-Wl,--pop-state>"
    )
    set(_tvm_ffi_lookup "")
  endif()
  set_property(TARGET tvm_ffi_shared APPEND PROPERTY INTERFACE_LINK_LIBRARIES ${_tvm_ffi_links})
  foreach(_tvm_ffi_name IN ITEMS shared cxx)
    get_target_property(_tvm_ffi_file tvm_ffi_${_tvm_ffi_name} IMPORTED_LOCATION)
    get_filename_component(_tvm_ffi_file "${_tvm_ffi_file}" NAME)
    set_target_properties(tvm_ffi_${_tvm_ffi_name} PROPERTIES IMPORTED_SONAME "${_tvm_ffi_lookup}${_tvm_ffi_file}")
  endforeach()
endif()

# A project in C alone has no features of C++ to ask for
get_property(_tvm_ffi_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
if(CXX IN_LIST _tvm_ffi_languages)
  set_target_properties(tvm_ffi_header PROPERTIES INTERFACE_COMPILE_FEATURES cxx_std_17)
endif()
