# The version that find_package(ffi_hpy VERSION) is compared with: that of this package.
file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../../../_start/own_version.py" PACKAGE_VERSION REGEX "^VERSION = ")
string(REGEX REPLACE ".*\"([0-9.]+).*" "\\1" PACKAGE_VERSION "${PACKAGE_VERSION}")
include("${CMAKE_CURRENT_LIST_DIR}/Utils/SameOrOlder.cmake")
