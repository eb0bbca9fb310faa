# Dear ImGui in two builds with the same headers and the same layout of all types: `imgui` for the program, `imgui_test`
# with the test engine's hooks for tests. Everything that draws links `imgui_headers` only, is compiled once, and the
# executable chooses; the two are object libraries, so that their place on the linker's command line does not matter.
set(imgui_dir ${HBMSCOPE_BUNDLE_EXTERNAL}/imgui/imgui)
set(imgui_test_engine_dir ${HBMSCOPE_BUNDLE_EXTERNAL}/imgui_test_engine/imgui_test_engine/imgui_test_engine)
# The bundle's imgui.cpp is patched to call the stack layout, so that file belongs to it.
set(imgui_sources ${imgui_dir}/imgui.cpp ${imgui_dir}/imgui_draw.cpp ${imgui_dir}/imgui_stacklayout.cpp
                  ${imgui_dir}/imgui_tables.cpp ${imgui_dir}/imgui_widgets.cpp)

add_library(imgui_headers INTERFACE)
target_include_directories(imgui_headers SYSTEM INTERFACE ${imgui_dir})
target_compile_definitions(imgui_headers INTERFACE IMGUI_DISABLE_OBSOLETE_FUNCTIONS)

add_library(imgui OBJECT EXCLUDE_FROM_ALL ${imgui_sources})
target_link_libraries(imgui PUBLIC imgui_headers PRIVATE ${CMAKE_DL_LIBS})
target_compile_definitions(imgui PRIVATE IMGUI_DISABLE_DEMO_WINDOWS)
target_compile_options(imgui PRIVATE -w)

file(GLOB imgui_test_engine_sources ${imgui_test_engine_dir}/*.cpp)
find_package(Threads REQUIRED)
add_library(imgui_test OBJECT EXCLUDE_FROM_ALL ${imgui_sources} ${imgui_test_engine_sources})
target_link_libraries(imgui_test PUBLIC imgui_headers Threads::Threads)
target_include_directories(imgui_test SYSTEM PUBLIC ${imgui_test_engine_dir})
target_compile_definitions(imgui_test PUBLIC IMGUI_ENABLE_TEST_ENGINE IMGUI_TEST_ENGINE_ENABLE_STD_FUNCTION=1
                                             IMGUI_TEST_ENGINE_ENABLE_COROUTINE_STDTHREAD_IMPL=1
                                             IMGUI_TEST_ENGINE_ENABLE_CAPTURE=0
                                      PRIVATE IMGUI_DISABLE_DEMO_WINDOWS)
target_compile_options(imgui_test PRIVATE -w $<$<CONFIG:Release>:-O1>)  # Tests draw a few hundred frames.

if(HBMSCOPE_SANITIZE MATCHES "address")
  target_sources(imgui INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/driver_leaks.cpp)
  target_sources(imgui_test INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/driver_leaks.cpp)
endif()

# The two halves that know the window system and the graphics card.
add_library(imgui_backends STATIC EXCLUDE_FROM_ALL
  ${imgui_dir}/backends/imgui_impl_glfw.cpp ${imgui_dir}/backends/imgui_impl_opengl3.cpp)
target_include_directories(imgui_backends SYSTEM PUBLIC ${imgui_dir}/backends)
target_link_libraries(imgui_backends PUBLIC imgui_headers glfw glfw_headers PRIVATE ${CMAKE_DL_LIBS})
target_compile_options(imgui_backends PRIVATE -w $<$<CONFIG:Release>:-O1>)
if(EMSCRIPTEN)
  set_source_files_properties(${imgui_dir}/backends/imgui_impl_opengl3.cpp PROPERTIES COMPILE_OPTIONS "-include;${CMAKE_CURRENT_SOURCE_DIR}/web/gl_state.h")
endif()

set(implot_dir ${HBMSCOPE_BUNDLE_EXTERNAL}/implot/implot)
add_library(implot STATIC EXCLUDE_FROM_ALL ${implot_dir}/implot.cpp ${implot_dir}/implot_items.cpp)
target_include_directories(implot SYSTEM PUBLIC ${implot_dir})
target_link_libraries(implot PUBLIC imgui_headers)
target_compile_options(implot PRIVATE -w $<$<CONFIG:Release>:-O1>)
# Its plots are templates, made for thirteen types of number unless told otherwise; ours are all double.
target_compile_definitions(implot PRIVATE "IMPLOT_CUSTOM_NUMERIC_TYPES=(double)")

set(palette_dir ${HBMSCOPE_BUNDLE_EXTERNAL}/imgui-command-palette/imgui-command-palette)
add_library(imgui_command_palette STATIC EXCLUDE_FROM_ALL
  ${palette_dir}/imcmd_command_palette.cpp ${palette_dir}/imcmd_fuzzy_search.cpp)
target_include_directories(imgui_command_palette SYSTEM PUBLIC ${palette_dir})
target_link_libraries(imgui_command_palette PUBLIC imgui_headers)
target_compile_options(imgui_command_palette PRIVATE -w $<$<CONFIG:Release>:-O1>)

# With -O2 and all sanitizers g++ takes minutes and gigabytes for single files of these. The memory that we hand to ImGui
# stays watched; ImPlot's templates are beyond even that.
if(HBMSCOPE_SANITIZE)
  foreach(target imgui imgui_test imgui_backends imgui_command_palette)
    target_compile_options(${target} PRIVATE -O1 -g0 -fno-sanitize=undefined)
  endforeach()
  target_compile_options(implot PRIVATE -O1 -g0 -fno-sanitize=all)
endif()
