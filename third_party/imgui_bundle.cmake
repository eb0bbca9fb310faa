# Gets the one source archive that has Dear ImGui, ImPlot, GLFW, the ImGui Test Engine, the command palette and fonts.
#
# It is taken from the Python package index because that is where it is published with a hash and where a mirror is
# most often at hand; no Python of it is used. One download and one unpacked tree serve every preset; configuring
# again needs no network.
set(HBMSCOPE_BUNDLE_VERSION 1.93.0)
set(HBMSCOPE_BUNDLE_SHA256 10ad1dab8258a6787b4f07bb926b08d0efc648a7906242568c8dd778c5e719bf)
set(HBMSCOPE_THIRD_PARTY_DIR ${PROJECT_SOURCE_DIR}/build/third_party CACHE PATH
    "Where downloaded third-party sources are kept and unpacked, for all presets")
set(HBMSCOPE_BUNDLE_ARCHIVE "" CACHE FILEPATH
    "An imgui_bundle-${HBMSCOPE_BUNDLE_VERSION}.tar.gz that was downloaded already; empty: it is taken from the package index")

set(bundle_name imgui_bundle-${HBMSCOPE_BUNDLE_VERSION})
set(bundle_stamp ${HBMSCOPE_THIRD_PARTY_DIR}/${bundle_name}.unpacked)
file(MAKE_DIRECTORY ${HBMSCOPE_THIRD_PARTY_DIR})
# Two presets configured at the same time must not unpack over one another.
file(LOCK ${HBMSCOPE_THIRD_PARTY_DIR} DIRECTORY GUARD FILE TIMEOUT 900)

set(bundle_unpacked_hash "")
if(EXISTS ${bundle_stamp})
  file(READ ${bundle_stamp} bundle_unpacked_hash)
endif()
if(NOT bundle_unpacked_hash STREQUAL HBMSCOPE_BUNDLE_SHA256)
  if(HBMSCOPE_BUNDLE_ARCHIVE)
    set(bundle_archive ${HBMSCOPE_BUNDLE_ARCHIVE})
  else()
    set(bundle_archive ${HBMSCOPE_THIRD_PARTY_DIR}/${bundle_name}.tar.gz)
    if(NOT EXISTS ${bundle_archive})
      find_package(Python3 3.8 REQUIRED COMPONENTS Interpreter)
      message(STATUS "Downloading ${bundle_name}.tar.gz (54 MB, once)")
      execute_process(
        COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/fetch_sdist.py imgui-bundle ${HBMSCOPE_BUNDLE_VERSION}
                --sha256 ${HBMSCOPE_BUNDLE_SHA256} --out ${bundle_archive}
        RESULT_VARIABLE bundle_result)
      if(NOT bundle_result EQUAL 0)
        message(FATAL_ERROR "Could not download ${bundle_name}.tar.gz. Without a network, give an archive with "
                            "-DHBMSCOPE_BUNDLE_ARCHIVE=FILE, or build the commands alone with -DHBMSCOPE_GUI=OFF.")
      endif()
    endif()
  endif()
  file(SHA256 ${bundle_archive} bundle_hash)
  if(NOT bundle_hash STREQUAL HBMSCOPE_BUNDLE_SHA256)
    message(FATAL_ERROR "${bundle_archive} is not the pinned archive: its sha256 is ${bundle_hash}, expected is "
                        "${HBMSCOPE_BUNDLE_SHA256}. Delete the file and configure again.")
  endif()
  message(STATUS "Unpacking ${bundle_archive}")
  # A tenth of the archive: the rest is Python bindings, demos and libraries that we do not use.
  file(ARCHIVE_EXTRACT INPUT ${bundle_archive} DESTINATION ${HBMSCOPE_THIRD_PARTY_DIR} PATTERNS
       ${bundle_name}/LICENSE
       ${bundle_name}/external/imgui/imgui/*
       ${bundle_name}/external/implot/implot/*
       ${bundle_name}/external/glfw/glfw/*
       ${bundle_name}/external/imgui_test_engine/imgui_test_engine/imgui_test_engine/*
       ${bundle_name}/external/imgui-command-palette/imgui-command-palette/*
       ${bundle_name}/external/imgui_rich_md/imgui_rich_md/assets/fonts/*)
  file(WRITE ${bundle_stamp} ${HBMSCOPE_BUNDLE_SHA256})
endif()
file(LOCK ${HBMSCOPE_THIRD_PARTY_DIR} DIRECTORY RELEASE)
set(HBMSCOPE_BUNDLE_EXTERNAL ${HBMSCOPE_THIRD_PARTY_DIR}/${bundle_name}/external)
