# CPack reads it when the package is made: the binaries say which glibc they need. By hand, because dpkg-shlibdeps takes
# the emulated device's libcuda.so.1 for NVIDIA's.
execute_process(COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/needed_glibc.py ${CMAKE_CURRENT_LIST_DIR}/../../build/wheel/files
                OUTPUT_VARIABLE glibc OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= ${glibc}), libgcc-s1")
