# The version that find_package(nanobind VERSION) is compared with: the release whose vocabulary ffi_hpy has. ffi_hpy
# also has the vocabulary of earlier releases.
set(PACKAGE_VERSION 3.1.0)
include("${CMAKE_CURRENT_LIST_DIR}/../../share/cmake/tvm_ffi/Utils/SameOrOlder.cmake")
