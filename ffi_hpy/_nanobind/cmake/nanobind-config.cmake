# For CMake: nanobind's functions, for projects that were written for nanobind. The modules are bound with ffi_hpy.
#
#   find_package(nanobind CONFIG REQUIRED)       nanobind_ROOT: the output of `ffi-hpy-config --nanobind-cmakedir`
#   nanobind_add_module(kennel src/kennel.cpp)
#
# Names and arguments are nanobind's. A library is one file for every Python, and needs none of Python's headers: the
# arguments that choose an ABI or a domain of types have no effect.

get_filename_component(NB_DIR "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
set(_nanobind_ffi_hpy_FOUND "${ffi_hpy_FOUND}") # the answer of an earlier find_package(ffi_hpy)
set(ffi_hpy_FOUND TRUE)
include("${NB_DIR}/../share/cmake/tvm_ffi/ffi_hpy-config.cmake")
set(_nanobind_is_complete "${ffi_hpy_FOUND}")
set(ffi_hpy_FOUND "${_nanobind_ffi_hpy_FOUND}")
if(NOT _nanobind_is_complete)
  set(nanobind_FOUND FALSE)
  set(nanobind_NOT_FOUND_MESSAGE "${ffi_hpy_NOT_FOUND_MESSAGE}")
  return()
endif()

# Found before, by another folder of the same project
if(NOT TARGET nanobind::header)
  add_library(nanobind_header INTERFACE IMPORTED GLOBAL)
  add_library(nanobind::header ALIAS nanobind_header)
  set_target_properties(nanobind_header PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${NB_DIR}/include")
  set_property(TARGET nanobind_header PROPERTY INTERFACE_LINK_LIBRARIES ffi_hpy_header ${CMAKE_DL_LIBS})
endif()

# Variables that projects read, in folders beside this one, too. All libraries have one suffix.
set(NB_DIR "${NB_DIR}" CACHE INTERNAL "")
set(NB_SUFFIX .so)
if(WIN32)
  set(NB_SUFFIX .pyd)
endif()
set(NB_SUFFIX "${NB_SUFFIX}" CACHE INTERNAL "")
set(NB_SUFFIX_S "${NB_SUFFIX}" CACHE INTERNAL "")
set(NB_FREE_THREADED 0 CACHE INTERNAL "")
set(NB_OPT "$<OR:$<CONFIG:Release>,$<CONFIG:MinSizeRel>>" CACHE INTERNAL "")
set(NB_OPT_SIZE "$<OR:${NB_OPT},$<CONFIG:RelWithDebInfo>>" CACHE INTERNAL "")

include("${CMAKE_CURRENT_LIST_DIR}/nanobind-module.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/nanobind-stub.cmake")
