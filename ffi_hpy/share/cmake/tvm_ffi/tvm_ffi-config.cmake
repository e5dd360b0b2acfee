# For CMake: the headers and the core as targets, under the names that packages for tvm-ffi use.
#
#   find_package(tvm_ffi CONFIG REQUIRED)        with tvm_ffi_ROOT = what `ffi-hpy-config --cmakedir` prints
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
set(_tvm_ffi_binaries "${_tvm_ffi_package}")
if(IS_DIRECTORY "${_tvm_ffi_package}/_systems") # the wheel for every system: that which the project is built for
  string(TOLOWER "${CMAKE_SYSTEM_PROCESSOR}-${CMAKE_SYSTEM_NAME}" _tvm_ffi_system)
  string(REGEX REPLACE "^amd64-" "x86_64-" _tvm_ffi_system "${_tvm_ffi_system}")
  string(REGEX REPLACE "^arm64-" "aarch64-" _tvm_ffi_system "${_tvm_ffi_system}")
  string(REGEX REPLACE "-darwin$" "-macos" _tvm_ffi_system "${_tvm_ffi_system}")
  string(APPEND _tvm_ffi_binaries "/_systems/${_tvm_ffi_system}")
endif()
set(tvm_ffi_LIB_FILES "${_tvm_ffi_binaries}/lib/libtvm_ffi.so")
set(_tvm_ffi_cxx "${_tvm_ffi_binaries}/lib/libtvm_ffi_cxx.so")

foreach(_tvm_ffi_file IN ITEMS "${tvm_ffi_INCLUDE_DIR}/tvm/ffi/c_api.h" "${tvm_ffi_LIB_FILES}" "${_tvm_ffi_cxx}")
  if(NOT EXISTS "${_tvm_ffi_file}")
    set(tvm_ffi_FOUND FALSE)
    set(tvm_ffi_NOT_FOUND_MESSAGE "ffi_hpy is not installed completely: there is no ${_tvm_ffi_file}")
    return()
  endif()
endforeach()

include("${CMAKE_CURRENT_LIST_DIR}/Utils/Library.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/Utils/EmbedCubin.cmake")

# Found before, by another folder of the same project, or built by add_subdirectory()
if(TARGET tvm_ffi::shared)
  return()
endif()

add_library(tvm_ffi_header INTERFACE IMPORTED GLOBAL)
add_library(tvm_ffi_shared SHARED IMPORTED GLOBAL)
add_library(tvm_ffi_cxx SHARED IMPORTED GLOBAL)
foreach(_tvm_ffi_name IN ITEMS header shared cxx)
  add_library(tvm_ffi::${_tvm_ffi_name} ALIAS tvm_ffi_${_tvm_ffi_name})
endforeach()
set_target_properties(tvm_ffi_header PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${tvm_ffi_INCLUDE_DIR}")
set_target_properties(tvm_ffi_cxx PROPERTIES IMPORTED_LOCATION "${_tvm_ffi_cxx}" IMPORTED_SONAME libtvm_ffi_cxx.so)

# The C++ names that extra/ of the headers uses are in a library of their own. Whoever loads a shared library loads that
# one too, so it is not linked with and runs on any core of this ABI; a program is linked with it, if it needs it. So is
# a shared library that links tvm_ffi::cxx, because it may leave no name undefined.
set(_tvm_ffi_program "$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>")
set(_tvm_ffi_links
    tvm_ffi_header "$<${_tvm_ffi_program}:-Wl,--push-state,--as-needed>" "$<${_tvm_ffi_program}:tvm_ffi_cxx>"
    "$<${_tvm_ffi_program}:-Wl,--pop-state>"
)
set_target_properties(
  tvm_ffi_shared PROPERTIES IMPORTED_LOCATION "${tvm_ffi_LIB_FILES}" IMPORTED_SONAME libtvm_ffi.so
                            INTERFACE_LINK_LIBRARIES "${_tvm_ffi_links}"
)

# A project in C alone has no features of C++ to ask for
get_property(_tvm_ffi_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
if(CXX IN_LIST _tvm_ffi_languages)
  set_target_properties(tvm_ffi_header PROPERTIES INTERFACE_COMPILE_FEATURES cxx_std_17)
endif()
