# cmake -DOBJECTS=<files> -DSUFFIX=<suffix> -P CopyObjects.cmake
#
# Copies kernel.cu.o to kernel.<suffix> beside it: CMake calls every output of a compiler an object file.
foreach(object IN LISTS OBJECTS)
  get_filename_component(folder "${object}" DIRECTORY)
  get_filename_component(name "${object}" NAME)
  string(REGEX REPLACE "\\.[^.]*\\.[^.]*$" "" name "${name}")
  configure_file("${object}" "${folder}/${name}.${SUFFIX}" COPYONLY) # only where it differs
endforeach()
