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
  if(ARG_NB_SHARED AND ARG_NB_STATIC)
    message(FATAL_ERROR "nanobind_add_module(${name}): NB_SHARED and NB_STATIC exclude each other")
  endif()
  set(library nanobind-static)
  if(ARG_NB_SHARED)
    set(library nanobind)
  endif()
  nanobind_build_library("${library}")
  add_library("${name}" MODULE ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries("${name}" PRIVATE "${library}")
  if(ARG_NB_DOMAIN)
    target_compile_definitions("${name}" PRIVATE "NB_DOMAIN=${ARG_NB_DOMAIN}")
  endif()
  _ffi_hpy_share_functions("${name}")
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
# Adds a module without content: a library that is bound with ffi_hpy needs no backend.
function(nanobind_add_backend name)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${name}.nanobind-backend.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "#include <nanobind/nanobind.h>\nNB_MODULE(@name@, m) {}\n" @ONLY)
  nanobind_add_module("${name}" "${source}" ${ARGN})
endfunction()

# nanobind_build_library(<name> [<option>...])
#
# Adds a library that has the headers and no code: nanobind's own code is not part of a project. The library is
# built, because projects set options of nanobind's libraries, and install them.
function(nanobind_build_library name)
  if(NOT TARGET "${name}")
    set(source "${CMAKE_CURRENT_BINARY_DIR}/${name}.nanobind-library.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "extern const int nanobind_library_without_code;\n" @ONLY)
    add_library("${name}" STATIC EXCLUDE_FROM_ALL "${source}")
    set_target_properties("${name}" PROPERTIES POSITION_INDEPENDENT_CODE ON LINKER_LANGUAGE CXX)
    target_link_libraries("${name}" PUBLIC nanobind::header)
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
  target_compile_options("${name}" PRIVATE "$<${NB_OPT_SIZE}:${size}>")
endfunction()

function(nanobind_disable_stack_protector name)
  set(off "$<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:-fno-stack-protector>")
  string(APPEND off "$<$<COMPILE_LANG_AND_ID:CXX,MSVC>:/GS->")
  target_compile_options("${name}" PRIVATE "$<$<NOT:$<CONFIG:Debug>>:${off}>")
endfunction()

function(nanobind_strip name)
  if(UNIX)
    set(sections "$<IF:$<BOOL:${APPLE}>,-Wl$<COMMA>-dead_strip$<COMMA>-x,-Wl$<COMMA>-s>")
    target_link_options("${name}" PRIVATE "$<${NB_OPT}:${sections}>")
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

# nanobind_sanitizer_preload_env(<variable> <target>...)
#
# Sets a variable to the setting of the environment by which a program loads the sanitizers of the targets, or to "".
function(nanobind_sanitizer_preload_env variable)
  set(names "")
  foreach(target IN LISTS ARGN)
    foreach(property IN ITEMS COMPILE_OPTIONS LINK_OPTIONS)
      if(TARGET "${target}")
        get_target_property(options "${target}" "${property}")
        string(REGEX MATCHALL "-fsanitize=[a-z,]+" options "${options}")
        string(REPLACE "-fsanitize=" "" options "${options}")
        string(REPLACE "," ";" options "${options}")
        list(APPEND names ${options})
      endif()
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES names)

  set(files "")
  foreach(pair IN ITEMS address=asan thread=tsan undefined=ubsan realtime=rtsan)
    string(REPLACE "=" ";" pair "${pair}")
    list(GET pair 0 option)
    list(GET pair 1 library)
    if(option IN_LIST names)
      if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
        set(file "lib${library}.so")
      elseif(APPLE)
        set(file "libclang_rt.${library}_osx_dynamic.dylib")
      else()
        set(file "libclang_rt.${library}.so")
      endif()
      execute_process(
        COMMAND "${CMAKE_CXX_COMPILER}" "-print-file-name=${file}"
        OUTPUT_VARIABLE found
        OUTPUT_STRIP_TRAILING_WHITESPACE
      )
      get_filename_component(found "${found}" REALPATH) # GCC's may be a symbolic link
      if(EXISTS "${found}")
        list(APPEND files "${found}")
      endif()
    endif()
  endforeach()
  string(REPLACE ";" ":" files "${files}")
  if(files AND APPLE)
    set(files "DYLD_INSERT_LIBRARIES=${files}")
  elseif(files)
    set(files "LD_PRELOAD=${files}")
  endif()
  set("${variable}" "${files}" PARENT_SCOPE)
endfunction()

# nanobind_resolve_python_path()
#
# Sets NB_PY_PATH in the cache: the Python that writes the stubs.
function(nanobind_resolve_python_path)
  if(NOT DEFINED NB_PY_PATH)
    _tvm_ffi_get_python(python "nanobind_resolve_python_path()")
    set(NB_PY_PATH "${python}" CACHE STRING "The Python of nanobind_resolve_python_path()" FORCE)
  endif()
endfunction()
