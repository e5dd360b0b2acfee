# nanobind's functions for libraries.
#
# The including file has the target nanobind::header, and includes ffi_hpy-config.cmake.

include_guard(GLOBAL)

# nanobind_add_module(<name> [<option>...] <source>...)
#
# Adds the target <name>: the library of NB_MODULE(<name>, ...). Without NOMINSIZE it is compiled for size, without
# NOSTRIP its symbols are removed, with LTO it is optimized when it is linked; each in a build for release.
function(nanobind_add_module name)
  set(effective LTO MUSL_DYNAMIC_LIBCPP NB_SHARED NOMINSIZE NOSTRIP PROTECT_STACK)
  set(without_effect STABLE_ABI FREE_THREADED NB_STATIC NB_SUPPRESS_WARNINGS) # the headers never cause warnings
  set(values_without_effect BACKEND_MODULE BACKEND_PYPI STABLE_ABI_VERSION)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "${effective};${without_effect}" "${values_without_effect};NB_DOMAIN" "")
  add_library("${name}" MODULE ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries("${name}" PRIVATE nanobind::header)
  if(ARG_NB_DOMAIN)
    target_compile_definitions("${name}" PRIVATE "NB_DOMAIN=${ARG_NB_DOMAIN}")
  endif()
  nanobind_extension("${name}")
  nanobind_compile_options("${name}")
  nanobind_link_options("${name}")
  nanobind_set_visibility("${name}")
  if(NOT ARG_PROTECT_STACK)
    nanobind_disable_stack_protector("${name}")
  endif()
  if(NOT ARG_NOMINSIZE)
    nanobind_opt_size("${name}")
  endif()
  if(NOT ARG_NOSTRIP)
    nanobind_strip("${name}")
  endif()
  if(ARG_LTO)
    nanobind_lto("${name}")
  endif()
  if(NOT ARG_NB_SHARED AND NOT ARG_MUSL_DYNAMIC_LIBCPP)
    nanobind_musl_static_libcpp("${name}")
  endif()
endfunction()

# nanobind_add_backend(<name> [<option>...])
#
# Adds a module without content: a library that is bound with ffi_hpy needs no backend of its own.
function(nanobind_add_backend name)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${name}.nanobind-backend.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "#include <nanobind/nanobind.h>\nNB_MODULE(@name@, m) {}\n" @ONLY)
  nanobind_add_module("${name}" "${source}" ${ARGN})
endfunction()

# nanobind_build_library(<name> [<option>...])
#
# Adds a target that has the headers and no library: nanobind's own code is not part of a project.
function(nanobind_build_library name)
  if(NOT TARGET "${name}")
    add_library("${name}" INTERFACE)
    target_link_libraries("${name}" INTERFACE nanobind::header)
  endif()
endfunction()

# The file name of a module: the same for every Python, for the stable ABI, too.
function(nanobind_extension name)
  _ffi_hpy_name_module("${name}")
endfunction()

function(nanobind_extension_abi3 name)
  _ffi_hpy_name_module("${name}")
endfunction()

function(nanobind_extension_abi3t name)
  _ffi_hpy_name_module("${name}")
endfunction()

function(nanobind_compile_options name)
  _tvm_ffi_optimize("${name}")
  tvm_ffi_add_prefix_map("${name}" "${CMAKE_CURRENT_SOURCE_DIR}")
  tvm_ffi_add_msvc_flags("${name}")
endfunction()

# A module needs no symbol of Python when it is linked, so it needs no option.
function(nanobind_link_options name)
endfunction()

function(nanobind_set_visibility name)
  _tvm_ffi_hide_symbols("${name}")
endfunction()

# In every build for release
function(nanobind_opt_size name)
  set(size "$<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:-Os>$<$<COMPILE_LANG_AND_ID:CXX,MSVC>:/Os>")
  target_compile_options("${name}" PRIVATE "$<$<CONFIG:Release,MinSizeRel,RelWithDebInfo>:${size}>")
endfunction()

function(nanobind_disable_stack_protector name)
  set(off "$<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:-fno-stack-protector>")
  string(APPEND off "$<$<COMPILE_LANG_AND_ID:CXX,MSVC>:/GS->")
  target_compile_options("${name}" PRIVATE "$<$<NOT:$<CONFIG:Debug>>:${off}>")
endfunction()

function(nanobind_strip name)
  if(UNIX)
    set(sections "$<IF:$<BOOL:${APPLE}>,-Wl$<COMMA>-dead_strip$<COMMA>-x,-Wl$<COMMA>-s>")
    target_link_options("${name}" PRIVATE "$<$<CONFIG:Release,MinSizeRel>:${sections}>")
  endif()
endfunction()

function(nanobind_lto name)
  set_target_properties(
    "${name}" PROPERTIES INTERPROCEDURAL_OPTIMIZATION_RELEASE ON INTERPROCEDURAL_OPTIMIZATION_MINSIZEREL ON
  )
endfunction()

# cibuildwheel names the platform of its wheels in a variable
function(nanobind_musl_static_libcpp name)
  if("$ENV{AUDITWHEEL_PLAT}" MATCHES "musllinux")
    target_link_options("${name}" PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()
