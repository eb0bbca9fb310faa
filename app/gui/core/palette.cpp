#include "app/gui/core/palette.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace hbmscope::gui {
namespace {

constexpr Color rgb(std::uint32_t value) {
  return {static_cast<std::uint8_t>(value >> 16), static_cast<std::uint8_t>(value >> 8),
          static_cast<std::uint8_t>(value)};
}

struct Pair {
  Color dark, light;
};

// In the order of Role.
constexpr std::array<Pair, static_cast<std::size_t>(Role::count_)> colors{{
    {rgb(0x7397E8), rgb(0x4C84DB)},  // parameters
    {rgb(0xCC7A2D), rgb(0xC4661A)},  // gradients
    {rgb(0x8462B8), rgb(0x6233A0)},  // optimizer state
    {rgb(0x9ED3B4), rgb(0x57A079)},  // activations
    {rgb(0xD2C566), rgb(0xC6B04A)},  // temporaries
    {rgb(0x5FDDEB), rgb(0x3CBDE6)},  // inputs, outputs
    {rgb(0xA8506E), rgb(0x94375F)},  // collectives
    {rgb(0xA68370), rgb(0x7D5D4A)},  // code, constants
    {rgb(0x7F8A96), rgb(0x9AA3AD)},  // none given, several
    {rgb(0xC9B7A6), rgb(0xD8C3AE)},  // rounding
    {rgb(0xF0913A), rgb(0xC25E00)},  // grown, new
    {rgb(0x0F1318), rgb(0xFFFFFF)},  // free
    {rgb(0x2B333D), rgb(0xDDE2E7)},  // no memory there
    {rgb(0x1B2027), rgb(0xF6F7F9)},  // panel
    {rgb(0xE6EAEE), rgb(0x1B2027)},  // text
    {rgb(0x9AA5B1), rgb(0x56616D)},  // dim text
    {rgb(0xB6F23C), rgb(0x00718F)},  // largest free
    {rgb(0xFF5A4F), rgb(0xC8102E)},  // failure
    {rgb(0xFFFFFF), rgb(0x000000)},  // selection
    {rgb(0x000000), rgb(0xFFFFFF)},  // selection, inner line
    {rgb(0x8C7A4F), rgb(0x8C7A3F)},  // outside the pool
    {rgb(0x566B86), rgb(0x56708F)},  // other processes
    {rgb(0x56616D), rgb(0xB4BCC5)},  // unexplained
    {rgb(0x3D4754), rgb(0xC3CAD2)},  // not identified
    {rgb(0x5AA6F0), rgb(0x1F6FB5)},  // shrunk, gone
    {rgb(0x59646F), rgb(0xB4BCC5)},  // same
}};

double linear(std::uint8_t channel) {
  const double value = channel / 255.0;
  return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

double luminance(Color color) {
  return 0.2126 * linear(color.red) + 0.7152 * linear(color.green) + 0.0722 * linear(color.blue);
}

}  // namespace

std::string_view text_from_theme(Theme theme) {
  return theme == Theme::dark ? "dark" : "light";
}

Color color_of(Theme theme, Role role) {
  const Pair& pair = colors[static_cast<std::size_t>(role)];
  return theme == Theme::dark ? pair.dark : pair.light;
}

Role role_from_hue(std::size_t hue) {
  return hue < static_cast<std::size_t>(Role::several) ? static_cast<Role>(hue) : Role::several;
}

Color mix(Color bottom, Color top, double share) {
  const auto channel = [share](std::uint8_t from, std::uint8_t to) {
    return static_cast<std::uint8_t>(std::lround(from + (to - from) * share));
  };
  return {channel(bottom.red, top.red), channel(bottom.green, top.green), channel(bottom.blue, top.blue)};
}

double contrast(Color a, Color b) {
  const double first = luminance(a), second = luminance(b);
  return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

Color text_on(Color fill) {
  constexpr Color black{0, 0, 0}, white{255, 255, 255};
  return contrast(fill, black) >= contrast(fill, white) ? black : white;
}

}  // namespace hbmscope::gui
