#include "app/gui/look/pixel_canvas.h"

#include <algorithm>
#include <cmath>

namespace hbmscope::gui {
namespace {

// `top` over the opaque `bottom`.
Pixel blend(Pixel bottom, Pixel top) {
  const Pixel opacity = top >> IM_COL32_A_SHIFT, rest = 255 - opacity;
  const auto channel = [&](int shift) {
    return (((top >> shift & 255) * opacity + (bottom >> shift & 255) * rest) / 255) << shift;
  };
  return channel(IM_COL32_R_SHIFT) | channel(IM_COL32_G_SHIFT) | channel(IM_COL32_B_SHIFT) | IM_COL32_A_MASK;
}

}  // namespace

void PixelCanvas::begin(ImVec2 from, ImVec2 to, ImU32 background) {
  from_ = from;
  width_ = std::max(0, static_cast<int>(to.x - from.x));
  height_ = std::max(0, static_cast<int>(to.y - from.y));
  pixels_.assign(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_), background);
}

void PixelCanvas::AddRectFilled(ImVec2 from, ImVec2 to, ImU32 color) {
  const auto column = [&](float x) { return std::clamp(static_cast<int>(std::ceil(x - from_.x - 0.5F)), 0, width_); };
  const auto row = [&](float y) { return std::clamp(static_cast<int>(std::ceil(y - from_.y - 0.5F)), 0, height_); };
  const int left = column(from.x), right = column(to.x);
  if (left >= right) return;
  const bool is_opaque = color >> IM_COL32_A_SHIFT == 255;
  for (int y = row(from.y), end = row(to.y); y < end; ++y) {
    Pixel* const line = pixels_.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(width_);
    if (is_opaque)
      std::fill(line + left, line + right, color);
    else
      for (int x = left; x < right; ++x) line[x] = blend(line[x], color);
  }
}

void PixelCanvas::end(ImDrawList& draw) {
  if (pixels_.empty()) return;
  if (shown_ != pixels_ || shown_width_ != width_) {
    texture_.set(pixels_, width_, height_);
    shown_.swap(pixels_);
    shown_width_ = width_;
  }
  texture_.draw(draw, from_);
}

}  // namespace hbmscope::gui
