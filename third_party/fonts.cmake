# Fonts become part of the program: it must look the same on a machine with no fonts at all. The assembler copies the
# files as they are (.incbin), which costs no compile time.
set(font_ui ${palette_dir}/examples/fonts/NotoSans-Regular.ttf)
set(font_ui_bold ${palette_dir}/examples/fonts/NotoSans-Bold.ttf)
set(font_mono ${HBMSCOPE_BUNDLE_EXTERNAL}/imgui_rich_md/imgui_rich_md/assets/fonts/Inconsolata-Medium.ttf)

set(font_icons ${CMAKE_CURRENT_SOURCE_DIR}/icons.ttf)

configure_file(fonts.S.in fonts.S @ONLY)
set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/fonts.S PROPERTIES
                            OBJECT_DEPENDS "${font_ui};${font_ui_bold};${font_mono};${font_icons}")
add_library(hbmscope_fonts STATIC fonts.cpp ${CMAKE_CURRENT_BINARY_DIR}/fonts.S)
target_include_directories(hbmscope_fonts PUBLIC ${PROJECT_SOURCE_DIR})
hbmscope_compile_options(hbmscope_fonts)
