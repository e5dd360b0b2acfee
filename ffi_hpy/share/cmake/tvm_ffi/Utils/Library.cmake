# Helpers for targets that use tvm_ffi. Names and arguments are tvm-ffi's; an unknown argument is an error.
#
# The including file has tvm_ffi::header and tvm_ffi::shared, from find_package() or add_subdirectory().

include_guard(GLOBAL)

set_property(GLOBAL PROPERTY tvm_ffi_package "${CMAKE_CURRENT_LIST_DIR}/../../../..")

# tvm_ffi_configure_target(<target> [LINK_SHARED ON|OFF] [LINK_HEADER ON|OFF] [DEBUG_SYMBOL ON|OFF]
#                          [MSVC_FLAGS ON|OFF] [STUB_DIR <dir>] [STUB_INIT ON|OFF] [STUB_PKG <distribution>]
#                          [STUB_PREFIX <prefix>] [STUB_TARGET <language>])
#
# Makes a target of this folder one that uses tvm_ffi. Without a build type (CMAKE_BUILD_TYPE), the target is compiled
# with -O2, unless CMAKE_<LANG>_FLAGS or the target's own options have another -O. C++, CUDA and HIP code hides its
# symbols, except those marked for export; set <LANG>_VISIBILITY_PRESET before or after the call to show all of them.
#
#   LINK_HEADER   link tvm_ffi::header (ON)
#   LINK_SHARED   link tvm_ffi::shared (ON)
#   DEBUG_SYMBOL  on Apple's systems, keep debug symbols in a .dSYM, which tvm_ffi_install() installs (ON)
#   MSVC_FLAGS    options that MSVC needs for the headers (ON)
#   STUB_DIR      after each link, have ffi-hpy-stubgen fill the marked regions of the files in this folder, which are
#                 all of this library; relative to the current source folder
#   STUB_INIT     have it make files and regions that are missing, too (OFF)
#   STUB_PKG      the distribution that will hold the library (SKBUILD_PROJECT_NAME if set, else the target's name)
#   STUB_PREFIX   the prefix of registered names ("<STUB_PKG>.")
#   STUB_TARGET   the language of the stubs (python)
function(tvm_ffi_configure_target target)
  set(flags LINK_SHARED LINK_HEADER DEBUG_SYMBOL MSVC_FLAGS STUB_INIT)
  set(texts STUB_DIR STUB_PKG STUB_PREFIX STUB_TARGET)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "${flags};${texts}" "")
  set(self "tvm_ffi_configure_target(${target})")
  _tvm_ffi_check_call("${self}" "${target}" "${ARG_UNPARSED_ARGUMENTS}" "${ARG_KEYWORDS_MISSING_VALUES}")
  if(NOT ARG_STUB_DIR AND (ARG_STUB_INIT OR DEFINED ARG_STUB_PKG OR DEFINED ARG_STUB_PREFIX))
    message(FATAL_ERROR "${self}: STUB_INIT, STUB_PKG and STUB_PREFIX need a STUB_DIR")
  endif()
  if(NOT ARG_STUB_INIT AND (DEFINED ARG_STUB_PKG OR DEFINED ARG_STUB_PREFIX))
    message(FATAL_ERROR "${self}: STUB_PKG and STUB_PREFIX are for new files, they need STUB_INIT ON")
  endif()
  if(DEFINED ARG_STUB_TARGET AND NOT ARG_STUB_TARGET MATCHES "^(python|rust)$")
    message(FATAL_ERROR "${self}: STUB_TARGET must be python or rust, got '${ARG_STUB_TARGET}'")
  endif()
  foreach(flag IN ITEMS LINK_SHARED LINK_HEADER DEBUG_SYMBOL MSVC_FLAGS)
    _tvm_ffi_default(ARG_${flag} ON)
  endforeach()

  _tvm_ffi_optimize("${target}")
  _tvm_ffi_hide_symbols("${target}")
  tvm_ffi_add_prefix_map("${target}" "${CMAKE_CURRENT_SOURCE_DIR}")
  foreach(library IN ITEMS header shared)
    string(TOUPPER "LINK_${library}" flag)
    if(ARG_${flag})
      target_link_libraries("${target}" PRIVATE tvm_ffi::${library})
    endif()
  endforeach()
  if(ARG_DEBUG_SYMBOL)
    tvm_ffi_add_apple_dsymutil("${target}")
  endif()
  if(ARG_MSVC_FLAGS)
    tvm_ffi_add_msvc_flags("${target}")
  endif()

  if(ARG_STUB_DIR)
    set(init "")
    if(ARG_STUB_INIT)
      _tvm_ffi_default(ARG_STUB_PKG "${SKBUILD_PROJECT_NAME}" "${target}")
      _tvm_ffi_default(ARG_STUB_PREFIX "${ARG_STUB_PKG}.")
      set(init --init-lib "${target}" --init-pypkg "${ARG_STUB_PKG}" --init-prefix "${ARG_STUB_PREFIX}")
    endif()
    _tvm_ffi_default(ARG_STUB_TARGET python)
    _tvm_ffi_add_stubs("${target}" "${ARG_STUB_DIR}" --target "${ARG_STUB_TARGET}" ${init})
  endif()
endfunction()

# tvm_ffi_install(<target> [DESTINATION <dir>])
#
# Installs the files of a target that install(TARGETS) leaves out: on Apple's systems the .dSYM, if
# there is one. DESTINATION is relative to CMAKE_INSTALL_PREFIX (".").
function(tvm_ffi_install target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" DESTINATION "")
  _tvm_ffi_check_call(
    "tvm_ffi_install(${target})" "${target}" "${ARG_UNPARSED_ARGUMENTS}" "${ARG_KEYWORDS_MISSING_VALUES}"
  )
  _tvm_ffi_default(ARG_DESTINATION .)
  if(APPLE)
    install(DIRECTORY "$<TARGET_FILE:${target}>.dSYM" DESTINATION "${ARG_DESTINATION}" OPTIONAL)
  endif()
endfunction()

# tvm_ffi_add_prefix_map(<target> <dir>)
#
# Has the compiler write paths below <dir> relative to it, so that a binary does not tell where it was built.
function(tvm_ffi_add_prefix_map target folder)
  set(compiler "${CMAKE_CXX_COMPILER_ID}")
  if(NOT compiler)
    set(compiler "${CMAKE_C_COMPILER_ID}")
  endif()
  if(compiler MATCHES "GNU|Clang")
    target_compile_options("${target}" PRIVATE "$<$<COMPILE_LANGUAGE:C,CXX>:-ffile-prefix-map=${folder}/=>")
  endif()
endfunction()

# tvm_ffi_add_apple_dsymutil(<target>)
#
# On Apple's systems, writes the target's debug symbols to a .dSYM after each link.
function(tvm_ffi_add_apple_dsymutil target)
  if(APPLE)
    find_program(DSYMUTIL dsymutil REQUIRED)
    mark_as_advanced(DSYMUTIL)
    add_custom_command(
      TARGET "${target}" POST_BUILD COMMAND "${DSYMUTIL}" "$<TARGET_FILE:${target}>" VERBATIM
    )
  endif()
endfunction()

# tvm_ffi_add_msvc_flags(<target>)
#
# Flags of MSVC that the headers need: no macros of windows.h, and more sections than an object file has by default.
function(tvm_ffi_add_msvc_flags target)
  if(MSVC)
    target_compile_definitions(
      "${target}" PUBLIC NOMINMAX WIN32_LEAN_AND_MEAN _CRT_SECURE_NO_WARNINGS _SCL_SECURE_NO_WARNINGS
                         _ENABLE_EXTENDED_ALIGNED_STORAGE
    )
    target_compile_options("${target}" PRIVATE "$<$<COMPILE_LANGUAGE:C,CXX>:/bigobj;/Zc:inline;/Zi>")
  endif()
endfunction()

# tvm_ffi_hide_static_linked_lib_symbols(<target>)
#
# Keeps the symbols of static libraries out of the target's exports. On Apple's systems, call it after the target's
# target_link_libraries().
function(tvm_ffi_hide_static_linked_lib_symbols target)
  if(APPLE)
    get_target_property(linked "${target}" LINK_LIBRARIES)
    foreach(library IN LISTS linked)
      set(type "")
      if(TARGET "${library}")
        get_target_property(type "${library}" TYPE)
      endif()
      if(type STREQUAL STATIC_LIBRARY)
        target_link_options("${target}" PRIVATE "LINKER:-load_hidden,$<TARGET_FILE:${library}>")
      elseif(library MATCHES "\\.a$")
        target_link_options("${target}" PRIVATE "LINKER:-load_hidden,${library}")
      endif()
    endforeach()
  elseif(UNIX)
    target_link_options("${target}" PRIVATE "LINKER:--exclude-libs,ALL")
  endif()
endfunction()

# tvm_ffi_add_target_from_obj(<name> <object library>)
#
# The targets <name>_static and <name>_shared, also called <name>::static and <name>::shared, of the objects, and
# <name>_testing, which has no sources yet. The files of the targets are in lib/ of the build folder: lib<name>.so,
# lib<name>_static.a.
function(tvm_ffi_add_target_from_obj name objects)
  add_library(${name}_static STATIC "$<TARGET_OBJECTS:${objects}>")
  add_library(${name}_shared SHARED "$<TARGET_OBJECTS:${objects}>")
  add_library(${name}_testing SHARED)
  add_library(${name}::static ALIAS ${name}_static)
  add_library(${name}::shared ALIAS ${name}_shared)
  set_target_properties(${name}_shared PROPERTIES OUTPUT_NAME "${name}")
  if(WIN32)
    target_compile_definitions("${objects}" PRIVATE TVM_FFI_EXPORTS)
  endif()
  foreach(target IN ITEMS ${name}_static ${name}_shared ${name}_testing)
    foreach(kind IN ITEMS ARCHIVE LIBRARY RUNTIME)
      # The generator expression keeps generators for several configurations from adding a folder for each
      set_target_properties(${target} PROPERTIES ${kind}_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib$<0:>")
    endforeach()
  endforeach()
  tvm_ffi_add_apple_dsymutil(${name}_shared)
  tvm_ffi_add_apple_dsymutil(${name}_testing)
endfunction()

# --- for the functions above -----------------------------------------------------------------------------------------

# Ends the configuration unless the target exists and every argument was understood.
function(_tvm_ffi_check_call self target unknown without_value)
  if(NOT TARGET "${target}")
    message(FATAL_ERROR "${self}: the target '${target}' does not exist")
  endif()
  if(unknown)
    message(FATAL_ERROR "${self}: unknown arguments: ${unknown}")
  endif()
  if(without_value)
    message(FATAL_ERROR "${self}: no value for ${without_value}")
  endif()
endfunction()

# Gives a variable of the caller the first value that is not empty, unless it is defined.
function(_tvm_ffi_default variable)
  if(NOT DEFINED ${variable})
    set(values "${ARGN}")
    list(FILTER values EXCLUDE REGEX "^$")
    list(GET values 0 value)
    set(${variable} "${value}" PARENT_SCOPE)
  endif()
endfunction()

# Compiles a target with -O2 if the project has no build type, for which CMake has no optimization. The option comes
# before the target's other options, so any other -O replaces it.
function(_tvm_ffi_optimize target)
  foreach(language IN ITEMS C CXX CUDA HIP)
    if(CMAKE_${language}_COMPILER_ID MATCHES "GNU|Clang|NVIDIA" AND NOT CMAKE_${language}_FLAGS MATCHES "(^| )-O")
      target_compile_options("${target}" BEFORE PRIVATE "$<$<AND:$<CONFIG:>,$<COMPILE_LANGUAGE:${language}>>:-O2>")
    endif()
  endforeach()
endfunction()

# Hides the symbols of a target's C++ code that are not marked for export, unless the project has chosen a visibility.
# C code stays as it is, because its exported functions are seldom marked.
function(_tvm_ffi_hide_symbols target)
  foreach(language IN ITEMS CXX CUDA HIP)
    get_target_property(chosen "${target}" ${language}_VISIBILITY_PRESET)
    if(NOT chosen)
      set_target_properties("${target}" PROPERTIES ${language}_VISIBILITY_PRESET hidden)
    endif()
  endforeach()
endfunction()

# After each link, runs ffi-hpy-stubgen on a folder with the target's library loaded.
function(_tvm_ffi_add_stubs target folder)
  get_filename_component(folder "${folder}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  _tvm_ffi_get_python(python "tvm_ffi_configure_target(${target}): STUB_DIR")
  get_property(package GLOBAL PROPERTY tvm_ffi_package)
  get_filename_component(run "${package}/_run.py" ABSOLUTE)
  # Under ffi_hpy.dropin, generated files import the package by its other name
  set(name ffi_hpy)
  if(DEFINED ENV{FFI_HPY_DROPIN})
    set(name tvm_ffi)
  endif()
  add_custom_command(
    TARGET "${target}"
    POST_BUILD
    COMMAND "${python}" "${run}" ${name}.stub.cli "${folder}" --dlls "$<TARGET_FILE:${target}>" ${ARGN}
    COMMENT "Generating stubs for ${target} in ${folder}"
    VERBATIM
  )
endfunction()

# Gives an interpreter: the project's, or else an interpreter that is found now, once for the whole project. The
# interpreter needs no installed ffi_hpy, see _run.py. The result is not kept in the build folder, because build
# frontends remove the environments that they build in.
function(_tvm_ffi_get_python variable what_for)
  get_property(found GLOBAL PROPERTY tvm_ffi_python)
  if(NOT found)
    if(NOT Python_EXECUTABLE AND Python3_EXECUTABLE)
      set(Python_EXECUTABLE "${Python3_EXECUTABLE}")
    endif()
    find_package(Python 3.9 COMPONENTS Interpreter QUIET)
    if(NOT Python_FOUND)
      string(STRIP "${Python_EXECUTABLE} ${Python_VERSION} ${_Python_Interpreter_REASON_FAILURE}" found)
      message(FATAL_ERROR "${what_for} needs Python 3.9 or later, found: ${found}\nPython_EXECUTABLE can name one")
    endif()
    set(found "${Python_EXECUTABLE}")
    set_property(GLOBAL PROPERTY tvm_ffi_python "${found}")
  endif()
  set(${variable} "${found}" PARENT_SCOPE)
endfunction()
