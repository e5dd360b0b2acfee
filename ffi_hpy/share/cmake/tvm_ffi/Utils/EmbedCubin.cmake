# CUDA code compiled to CUBIN or FATBIN files, and files embedded into libraries. Names and arguments are tvm-ffi's.

# A statically linked runtime works with one version of the driver only
if(NOT DEFINED CMAKE_CUDA_RUNTIME_LIBRARY)
  set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
endif()

include_guard(GLOBAL) # the variable above is a folder's, all else the project's

set_property(GLOBAL PROPERTY tvm_ffi_copy_objects "${CMAKE_CURRENT_LIST_DIR}/CopyObjects.cmake")
set_property(GLOBAL PROPERTY tvm_ffi_embedded_source "${CMAKE_CURRENT_LIST_DIR}/embedded.c.in")

# add_tvm_ffi_cubin(<target> CUDA <source>)
#
# An object library whose $<TARGET_OBJECTS:...> is the CUBIN file of a CUDA source, for the one architecture in
# CMAKE_CUDA_ARCHITECTURES. The target <target>_bin puts a copy called <source's name>.cubin beside it.
function(add_tvm_ffi_cubin target)
  list(LENGTH CMAKE_CUDA_ARCHITECTURES n)
  if(n GREATER 1)
    message(FATAL_ERROR "add_tvm_ffi_cubin(${target}): a CUBIN is for one architecture, and "
                        "CMAKE_CUDA_ARCHITECTURES is ${CMAKE_CUDA_ARCHITECTURES}; add_tvm_ffi_fatbin is for several"
    )
  endif()
  _tvm_ffi_add_device_code(add_tvm_ffi_cubin "${target}" cubin "${ARGN}")
  if(CMAKE_CUDA_ARCHITECTURES MATCHES "^[0-9]+[a-z]?$")
    set_target_properties("${target}" PROPERTIES CUDA_ARCHITECTURES "${CMAKE_CUDA_ARCHITECTURES}-real")
  endif()
endfunction()

# add_tvm_ffi_fatbin(<target> CUDA <source>)
#
# As add_tvm_ffi_cubin, for a FATBIN file, with code for every architecture in CMAKE_CUDA_ARCHITECTURES.
function(add_tvm_ffi_fatbin target)
  _tvm_ffi_add_device_code(add_tvm_ffi_fatbin "${target}" fatbin "${ARGN}")
endfunction()

# tvm_ffi_embed_bin_into(<target> SYMBOL <name> BIN <file>)
#
# Puts the bytes of a file, $<TARGET_OBJECTS:...> or a path in the current build folder, into a target of this folder,
# whose sources find them with TVM_FFI_EMBED_CUBIN(<name>). Other libraries do not see them. The compiler must be GCC or
# Clang, for ELF.
function(tvm_ffi_embed_bin_into target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "SYMBOL;BIN" "")
  set(self "tvm_ffi_embed_bin_into(${target})")
  _tvm_ffi_check_call("${self}" "${target}" "${ARG_UNPARSED_ARGUMENTS}" "${ARG_KEYWORDS_MISSING_VALUES}")
  foreach(name IN ITEMS SYMBOL BIN)
    if(NOT ARG_${name})
      message(FATAL_ERROR "${self}: ${name} is required")
    endif()
  endforeach()
  if(NOT ARG_SYMBOL MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "${self}: SYMBOL must be an identifier in C, got '${ARG_SYMBOL}'")
  endif()
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  set(suffix c)
  set(compiler "${CMAKE_C_COMPILER_ID}")
  if(NOT C IN_LIST languages)
    set(suffix cc)
    set(compiler "${CMAKE_CXX_COMPILER_ID}")
  endif()
  if(NOT compiler MATCHES "GNU|Clang" OR NOT CMAKE_EXECUTABLE_FORMAT STREQUAL "ELF")
    message(FATAL_ERROR "${self}: needs GCC or Clang, and binaries in ELF; this is ${compiler}, "
                        "for ${CMAKE_SYSTEM_NAME}"
    )
  endif()

  set(base "${CMAKE_CURRENT_BINARY_DIR}/${target}_${ARG_SYMBOL}_embedded")
  get_property(template GLOBAL PROPERTY tvm_ffi_embedded_source)
  set(SYMBOL "__tvm_ffi__cubin_${ARG_SYMBOL}")
  if(NOT ARG_BIN MATCHES "^\\$<")
    get_filename_component(ARG_BIN "${ARG_BIN}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  endif()
  set(FILE "${ARG_BIN}")
  configure_file("${template}" "${base}.in" @ONLY)
  file(GENERATE OUTPUT "${base}.txt" INPUT "${base}.in")
  # A copy that is newer than the file, so that the target is built again when the file changes
  add_custom_command(
    OUTPUT "${base}.${suffix}"
    COMMAND "${CMAKE_COMMAND}" -E copy "${base}.txt" "${base}.${suffix}"
    DEPENDS "${base}.txt" "${ARG_BIN}"
    COMMENT "Embedding ${ARG_SYMBOL} into ${target}"
    VERBATIM
  )
  # Symbols of assembly are not seen by optimisation at link time
  set_source_files_properties("${base}.${suffix}" PROPERTIES COMPILE_OPTIONS -fno-lto)
  target_sources("${target}" PRIVATE "${base}.${suffix}")
endfunction()

# --- for the functions above -----------------------------------------------------------------------------------------

function(_tvm_ffi_add_device_code self target kind arguments)
  cmake_parse_arguments(ARG "" CUDA "" ${arguments})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${self}(${target}): unknown arguments: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT ARG_CUDA)
    message(FATAL_ERROR "${self}(${target}): CUDA, a source file, is required")
  endif()
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT CUDA IN_LIST languages)
    message(FATAL_ERROR "${self}(${target}): the language CUDA is not enabled; "
                        "project() or enable_language() does that"
    )
  endif()
  add_library("${target}" OBJECT "${ARG_CUDA}")
  target_compile_options("${target}" PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:--${kind}>")
  get_property(script GLOBAL PROPERTY tvm_ffi_copy_objects)
  add_custom_target(
    "${target}_bin" ALL
    COMMAND "${CMAKE_COMMAND}" "-DOBJECTS=$<TARGET_OBJECTS:${target}>" -DSUFFIX=${kind} -P "${script}"
    DEPENDS "${target}"
    COMMENT "Copying the .${kind} of ${target}"
    VERBATIM
  )
endfunction()
