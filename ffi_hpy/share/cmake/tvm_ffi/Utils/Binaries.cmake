# Which binaries of the package a project takes: those for the system that it is built for.

include_guard(GLOBAL)

# _tvm_ffi_find_binaries(<prefix> <package>)
#
# Gives, for the package in a folder:
#
#   <prefix>_core      the core, which is loaded
#   <prefix>_linked    the file for the linker: the core itself, or its import library
#   <prefix>_cxx       the library of the C++ names, empty on Windows, which has none
#   <prefix>_system    linux, macos or windows
#   <prefix>_problem   why they cannot be had, empty if they are all there
function(_tvm_ffi_find_binaries prefix package)
  _tvm_ffi_name_targets(targets system problem)
  list(LENGTH targets n)
  list(JOIN targets ", " shown)
  set(several "a project is built with ffi_hpy for one machine, and CMAKE_OSX_ARCHITECTURES names several: ${shown}")
  set(folder "${package}")
  if(NOT problem AND IS_DIRECTORY "${package}/_systems") # the wheel for every system
    set(folder "${package}/_systems/${targets}")
    file(GLOB there RELATIVE "${package}/_systems" "${package}/_systems/*")
    list(JOIN there ", " there)
    if(n GREATER 1)
      set(problem "${several}")
    elseif(n EQUAL 0)
      string(CONCAT problem "CMAKE_SYSTEM_PROCESSOR must name the machine that this project is built for, "
                    "and is empty; ${package}/_systems has binaries for ${there}"
      )
    elseif(NOT IS_DIRECTORY "${folder}")
      string(CONCAT problem "ffi_hpy has no binaries for ${targets}, which this project is built for; "
                    "${package}/_systems has those for ${there}"
      )
    endif()
  endif()

  set(core_of_linux libtvm_ffi.so)
  set(core_of_macos libtvm_ffi.dylib)
  set(core_of_windows tvm_ffi.dll)
  set(cxx_of_linux libtvm_ffi_cxx.so)
  set(cxx_of_macos libtvm_ffi_cxx.dylib)
  set(core "${folder}/lib/${core_of_${system}}")
  set(linked "${core}")
  set(cxx "")
  if(DEFINED cxx_of_${system})
    set(cxx "${folder}/lib/${cxx_of_${system}}")
  endif()
  if(system STREQUAL windows)
    set(linked "${folder}/lib/tvm_ffi.lib")
  endif()
  foreach(file IN ITEMS "${core}" "${linked}" "${cxx}")
    if(problem OR NOT file OR EXISTS "${file}")
      continue()
    endif()
    set(problem "ffi_hpy is not installed completely: ${file} is missing")
    foreach(other IN ITEMS linux macos windows)
      if(EXISTS "${folder}/lib/${core_of_${other}}" AND NOT EXISTS "${core}")
        string(CONCAT problem "this project is built for ${system}, and the ffi_hpy in ${package} is for ${other}: "
                      "${file} is missing. FFI_HPY_CROSS_ROOT can name a folder with that for ${system}"
        )
      endif()
    endforeach()
  endforeach()
  if(NOT problem AND n GREATER 1)
    file(READ "${core}" magic LIMIT 4 HEX)
    if(NOT magic MATCHES "^cafebab[ef]$") # lipo's mark of a file with several architectures
      set(problem "${several}")
    endif()
  endif()

  foreach(kind IN ITEMS core linked cxx system problem)
    set(${prefix}_${kind} "${${kind}}" PARENT_SCOPE)
  endforeach()
endfunction()

# _tvm_ffi_name_targets(<targets> <system> <problem>)
#
# Gives the target as the folders of the wheel for every system are called, x86_64-linux, and its
# second half alone. There are several targets where macOS is built for several machines at once, and none where CMake
# does not know the machine.
function(_tvm_ffi_name_targets targets_variable system_variable problem_variable)
  set(system_of_Linux linux)
  set(system_of_Darwin macos)
  set(system_of_Windows windows)
  set(system "${system_of_${CMAKE_SYSTEM_NAME}}")
  set(problem "")
  if(NOT system)
    set(problem "ffi_hpy has binaries for Linux, Darwin and Windows, and CMAKE_SYSTEM_NAME is '${CMAKE_SYSTEM_NAME}'")
  endif()

  # Options of the compiler take precedence over CMAKE_SYSTEM_PROCESSOR, which is that of the build machine unless a
  # toolchain file sets it
  set(machines "${CMAKE_SYSTEM_PROCESSOR}")
  if(system STREQUAL macos AND CMAKE_OSX_ARCHITECTURES)
    set(machines "${CMAKE_OSX_ARCHITECTURES}")
  elseif(system STREQUAL windows)
    foreach(said IN ITEMS "${MSVC_C_ARCHITECTURE_ID}" "${MSVC_CXX_ARCHITECTURE_ID}" "${CMAKE_VS_PLATFORM_NAME}")
      if(said)
        set(machines "${said}")
      endif()
    endforeach()
  endif()
  set(targets "")
  foreach(machine IN LISTS machines)
    string(TOLOWER "${machine}" machine)
    string(REGEX REPLACE "^(amd64|x64)$" x86_64 machine "${machine}")
    string(REGEX REPLACE "^arm64$" aarch64 machine "${machine}")
    list(APPEND targets "${machine}-${system}")
  endforeach()
  list(REMOVE_DUPLICATES targets)

  # Without a toolchain file CMake knows nothing of a compiler that is for another machine
  set(named "$ENV{FFI_HPY_CROSS_SYSTEM}")
  if(named AND NOT "$ENV{FFI_HPY_CROSS_ROOT}" STREQUAL "")
    set(targets "${named}")
    string(REGEX MATCH "[^-]*$" system_of_named "${named}")
    if(NOT problem AND NOT system_of_named STREQUAL system)
      set(problem "FFI_HPY_CROSS_SYSTEM is ${named}, and CMAKE_SYSTEM_NAME is ${CMAKE_SYSTEM_NAME}")
    endif()
  endif()
  foreach(kind IN ITEMS targets system problem)
    set(${${kind}_variable} "${${kind}}" PARENT_SCOPE)
  endforeach()
endfunction()
