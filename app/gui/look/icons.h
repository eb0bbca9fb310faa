// Glyphs of third_party/icons.ttf, which the platform merges into every font. A button with an icon alone has a
// tooltip.
#pragma once

namespace hbmscope::gui::icon {

inline constexpr const char* close = "\uF00D";
inline constexpr const char* left = "\uF053";
inline constexpr const char* right = "\uF054";
inline constexpr const char* play = "\uF04B";
inline constexpr const char* pause = "\uF04C";
inline constexpr const char* pin = "\uF08D";
inline constexpr const char* warning = "\uF071";
inline constexpr const char* folder = "\uF07B";
inline constexpr const char* open_folder = "\uF07C";
inline constexpr const char* file = "\uF016";
inline constexpr const char* home = "\uF015";
inline constexpr const char* recent = "\uF017";
inline constexpr const char* up = "\uF148";

}  // namespace hbmscope::gui::icon
