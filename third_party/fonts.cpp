#include "third_party/fonts.h"

// The labels around the files, see fonts.S.in.
extern "C" {
extern const unsigned char hbmscope_font_ui_begin[], hbmscope_font_ui_end[];
extern const unsigned char hbmscope_font_ui_bold_begin[], hbmscope_font_ui_bold_end[];
extern const unsigned char hbmscope_font_mono_begin[], hbmscope_font_mono_end[];
extern const unsigned char hbmscope_font_icons_begin[], hbmscope_font_icons_end[];
}

namespace hbmscope {

std::span<const unsigned char> font_ui() {
  return {hbmscope_font_ui_begin, hbmscope_font_ui_end};
}
std::span<const unsigned char> font_ui_bold() {
  return {hbmscope_font_ui_bold_begin, hbmscope_font_ui_bold_end};
}
std::span<const unsigned char> font_mono() {
  return {hbmscope_font_mono_begin, hbmscope_font_mono_end};
}
std::span<const unsigned char> font_icons() {
  return {hbmscope_font_icons_begin, hbmscope_font_icons_end};
}

}  // namespace hbmscope
