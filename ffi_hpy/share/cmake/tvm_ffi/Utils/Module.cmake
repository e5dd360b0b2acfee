# Modules of Python that are bound with ffi_hpy/bind.h.
#
# The including file has the target ffi_hpy::header, and includes Library.cmake.

include_guard(GLOBAL)

# ffi_hpy_add_module(<name> [NO_STUB] <source>...)
#
# Adds the target <name>: the library of FFI_HPY_MODULE(<name>, ...), which every Python imports. The file is <name>.so,
# on Windows <name>.pyd. The library is compiled as C++17 or later, hides the names that are not marked for export, and
# is linked neither with Python nor with a library of this package. Without a build type it is compiled with -O2, unless
# CMAKE_CXX_FLAGS or the target's own options have another -O.
#
# After each link, ffi-hpy-stubgen writes the stub of the module beside the library: <name>.pyi or, for a module with
# submodules, files in the folder <name>; and a py.typed. NO_STUB leaves them out, for a module that cannot be imported
# from the build folder. A build for another machine writes none, because its library cannot be loaded here.
function(ffi_hpy_add_module name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG NO_STUB "" "")
  if(NOT ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ffi_hpy_add_module(${name}): no sources")
  endif()
  if(NOT name MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "ffi_hpy_add_module(${name}): not the name of a module of Python")
  endif()
  add_library("${name}" MODULE ${ARG_UNPARSED_ARGUMENTS})
  _ffi_hpy_name_module("${name}")
  target_link_libraries("${name}" PRIVATE ffi_hpy::header ${CMAKE_DL_LIBS})
  _tvm_ffi_optimize("${name}")
  _tvm_ffi_hide_symbols("${name}")
  tvm_ffi_add_prefix_map("${name}" "${CMAKE_CURRENT_SOURCE_DIR}")
  tvm_ffi_add_msvc_flags("${name}")
  _ffi_hpy_share_functions("${name}")

  if(CMAKE_CROSSCOMPILING OR NOT "$ENV{FFI_HPY_CROSS_ROOT}" STREQUAL "")
    message(STATUS "ffi_hpy_add_module(${name}): no stub is written for a module of another machine")
  elseif(NOT ARG_NO_STUB)
    _ffi_hpy_add_stub("${name}")
  endif()
endfunction()

# Lets one file of a module of several files compile the functions that all of them use: see bind/in_module.h.
function(_ffi_hpy_share_functions name)
  get_target_property(sources "${name}" SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.(C|cc|cpp|cxx|c\\+\\+)$")
  list(LENGTH sources n_sources)
  if(n_sources GREATER 1)
    target_compile_definitions("${name}" PRIVATE FFI_HPY_SEVERAL_FILES)
  endif()
endfunction()

# ffi_hpy_install(<name> [DESTINATION <dir>])
#
# Installs the library of a module, and its stubs if there are some. DESTINATION, usually the folder of a package, is
# relative to CMAKE_INSTALL_PREFIX (".").
function(ffi_hpy_install name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" DESTINATION "")
  _tvm_ffi_check_call(
    "ffi_hpy_install(${name})" "${name}" "${ARG_UNPARSED_ARGUMENTS}" "${ARG_KEYWORDS_MISSING_VALUES}"
  )
  _tvm_ffi_default(ARG_DESTINATION .)
  install(TARGETS "${name}" LIBRARY DESTINATION "${ARG_DESTINATION}")
  set(folder "$<TARGET_FILE_DIR:${name}>")
  install(FILES "${folder}/${name}.pyi" "${folder}/py.typed" DESTINATION "${ARG_DESTINATION}" OPTIONAL)
  install(
    DIRECTORY "${folder}/${name}/"
    DESTINATION "${ARG_DESTINATION}/${name}"
    OPTIONAL FILES_MATCHING
    PATTERN "*.pyi"
  )
endfunction()

# --- for the functions above -----------------------------------------------------------------------------------------

# Gives a library the file name by which every Python imports it.
function(_ffi_hpy_name_module name)
  set_target_properties("${name}" PROPERTIES PREFIX "" SUFFIX .so VISIBILITY_INLINES_HIDDEN ON)
  if(WIN32)
    set_target_properties("${name}" PROPERTIES SUFFIX .pyd)
  endif()
endfunction()

# After each link, writes the stubs of a module.
function(_ffi_hpy_add_stub name)
  _tvm_ffi_get_python(python "ffi_hpy_add_module(${name})")
  get_property(package GLOBAL PROPERTY tvm_ffi_package)
  get_filename_component(run "${package}/_run.py" ABSOLUTE)
  add_custom_command(
    TARGET "${name}"
    POST_BUILD
    COMMAND "${python}" "${run}" ffi_hpy.stub.cli "$<TARGET_FILE:${name}>"
    COMMAND "${CMAKE_COMMAND}" -E touch "$<TARGET_FILE_DIR:${name}>/py.typed"
    COMMENT "Writing the stub of ${name}"
    VERBATIM
  )
endfunction()
