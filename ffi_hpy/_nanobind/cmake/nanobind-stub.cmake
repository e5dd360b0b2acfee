# nanobind_add_stub(<name> MODULE <module> [OUTPUT <file>...] [OUTPUT_PATH <dir>] [PYTHON_PATH <dir>...]
#                   [DEPENDS <target or file>...] [MARKER_FILE <file>...] [PATTERN_FILE <file>...] [RECURSIVE] [VERBOSE]
#                   [INCLUDE_PRIVATE] [EXCLUDE_DOCSTRINGS] [EXCLUDE_VALUES]
#                   [INSTALL_TIME] [COMPONENT <name>] [EXCLUDE_FROM_ALL])
#
# Adds the target <name>, which writes the stubs of a module by ffi_hpy/_nanobind/stubgen.py; with INSTALL_TIME, the
# installation writes them.

include_guard(GLOBAL)

function(nanobind_add_stub name)
  set(flags INCLUDE_PRIVATE EXCLUDE_DOCSTRINGS EXCLUDE_VALUES)
  cmake_parse_arguments(
    PARSE_ARGV 1 ARG "VERBOSE;INSTALL_TIME;RECURSIVE;EXCLUDE_FROM_ALL;${flags}" "MODULE;COMPONENT;OUTPUT_PATH"
    "PYTHON_PATH;DEPENDS;MARKER_FILE;OUTPUT;PATTERN_FILE"
  )
  if(NOT ARG_MODULE)
    message(FATAL_ERROR "nanobind_add_stub(${name}): no MODULE")
  endif()
  if(NOT ARG_INSTALL_TIME AND NOT ARG_OUTPUT AND NOT (ARG_RECURSIVE AND ARG_OUTPUT_PATH))
    message(FATAL_ERROR "nanobind_add_stub(${name}): no OUTPUT")
  endif()
  list(LENGTH ARG_OUTPUT n_outputs)
  if(n_outputs GREATER 1 AND NOT ARG_RECURSIVE)
    message(FATAL_ERROR "nanobind_add_stub(${name}): several files of OUTPUT need RECURSIVE")
  endif()

  set(words --module "${ARG_MODULE}")
  foreach(folder IN LISTS ARG_PYTHON_PATH)
    list(APPEND words --import "${folder}")
  endforeach()
  foreach(file IN LISTS ARG_PATTERN_FILE)
    get_filename_component(file "${file}" ABSOLUTE)
    list(APPEND words --pattern-file "${file}")
  endforeach()
  foreach(file IN LISTS ARG_MARKER_FILE)
    list(APPEND words --marker-file "${file}")
  endforeach()
  if(ARG_OUTPUT_PATH)
    list(APPEND words --output-dir "${ARG_OUTPUT_PATH}")
  endif()
  if(ARG_RECURSIVE)
    list(APPEND words --recursive)
  elseif(ARG_OUTPUT)
    list(APPEND words --output-file "${ARG_OUTPUT}")
  endif()
  foreach(flag IN LISTS flags)
    if(ARG_${flag})
      string(TOLOWER "--${flag}" word)
      string(REPLACE "_" "-" word "${word}")
      list(APPEND words "${word}")
    endif()
  endforeach()
  set(terminal USES_TERMINAL)
  if(NOT ARG_VERBOSE)
    list(APPEND words --quiet)
    set(terminal "")
  endif()

  _tvm_ffi_get_python(python "nanobind_add_stub(${name})")
  get_property(package GLOBAL PROPERTY tvm_ffi_package)
  get_filename_component(run "${package}/_run.py" ABSOLUTE)
  set(command "${python}" "${run}" ffi_hpy._nanobind.stubgen ${words})
  if(ARG_INSTALL_TIME)
    set(place "")
    if(ARG_COMPONENT)
      list(APPEND place COMPONENT "${ARG_COMPONENT}")
    endif()
    if(ARG_EXCLUDE_FROM_ALL)
      list(APPEND place EXCLUDE_FROM_ALL)
    endif()
    set(quoted "")
    foreach(word IN LISTS command)
      string(APPEND quoted " [==[${word}]==]")
    endforeach()
    set(where "WORKING_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}\" RESULT_VARIABLE status")
    set(check "if(status)\n  message(FATAL_ERROR \"the stubs of ${ARG_MODULE} were not written: \${status}\")\nendif()")
    install(CODE "execute_process(COMMAND${quoted} ${where})\n${check}" ${place})
  else()
    set(made ${ARG_OUTPUT} ${ARG_MARKER_FILE})
    if(NOT made)
      set(made "${ARG_OUTPUT_PATH}")
    endif()
    add_custom_command(
      OUTPUT ${made}
      COMMAND ${command}
      WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}"
      DEPENDS ${ARG_DEPENDS} ${ARG_PATTERN_FILE} ${terminal}
      VERBATIM
    )
    add_custom_target("${name}" ALL DEPENDS ${made})
  endif()
endfunction()
