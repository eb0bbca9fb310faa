# How every target of our own is compiled. Third-party code does not go through here, so that its warnings are its own.
include(CheckIPOSupported)

if(HBMSCOPE_SANITIZE)
  add_compile_options(-fsanitize=${HBMSCOPE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HBMSCOPE_SANITIZE})
endif()

# Link-time optimisation for release builds of everything, third-party code too.
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT HBMSCOPE_SANITIZE)
  check_ipo_supported(RESULT HBMSCOPE_IPO OUTPUT HBMSCOPE_IPO_WHY LANGUAGES CXX)
  if(HBMSCOPE_IPO)
    set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
  else()
    message(STATUS "No link-time optimisation: ${HBMSCOPE_IPO_WHY}")
  endif()
endif()

function(hbmscope_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
                                           -Woverloaded-virtual -Wimplicit-fallthrough)
  if(HBMSCOPE_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

# hbmscope_library(NAME sources...): one static library a folder; all includes are written from the root.
function(hbmscope_library name)
  add_library(${name} STATIC ${ARGN})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  hbmscope_compile_options(${name})
endfunction()
