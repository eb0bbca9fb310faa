# stb is a header that becomes code where it is told to; that is a file of its own, compiled as other people's code.
file(CONFIGURE OUTPUT stb_image_write.c @ONLY
     CONTENT "#define STB_IMAGE_WRITE_IMPLEMENTATION\n#define STBI_WRITE_NO_STDIO\n#include <stb_image_write.h>\n")
add_library(stb_image_write STATIC EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/stb_image_write.c)
target_include_directories(stb_image_write SYSTEM PUBLIC ${HBMSCOPE_BUNDLE_EXTERNAL}/glfw/glfw/deps)
target_compile_options(stb_image_write PRIVATE -w)
