// The fonts that lie in the program itself, as the bytes of their TrueType files.
//
// Noto Sans has every glyph that the window writes (– − ≈ · ° … → ≥ µ ▲ ▼); Inconsolata has all but the triangles,
// which are merged in from Noto Sans where it is used.
#pragma once

#include <span>

namespace hbmscope {

std::span<const unsigned char> font_ui();       // Noto Sans
std::span<const unsigned char> font_ui_bold();  // Noto Sans Bold
std::span<const unsigned char> font_mono();     // Inconsolata Medium: addresses, source lines
std::span<const unsigned char> font_icons();    // A part of Font Awesome: app/gui/look/icons.h names its glyphs

}  // namespace hbmscope
