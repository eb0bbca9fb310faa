// Finds the parts of a frame that differ from the previous frame. With a software renderer, as over a remote desktop,
// every pixel costs time, and most frames change only a few: a tooltip, a lane, a number.
//
// It compares the draw lists, one per window. If a list has changed, everything that it covered before or covers now is
// redrawn, from all lists in their order.
#pragma once

#include <cstdint>
#include <vector>

#include <imgui.h>

namespace hbmscope::gui {

// Pixels of the framebuffer, from the upper left corner; right and bottom are exclusive.
struct PixelBox {
  int left = 0, top = 0, right = 0, bottom = 0;

  bool empty() const { return left >= right || top >= bottom; }
  std::uint64_t pixels() const {
    return empty() ? 0 : static_cast<std::uint64_t>(right - left) * static_cast<std::uint64_t>(bottom - top);
  }
  bool operator==(const PixelBox&) const = default;
};
PixelBox common(const PixelBox& a, const PixelBox& b);
PixelBox around(const PixelBox& a, const PixelBox& b);

// The pixels that a command with this clip rectangle may touch, rounded as in the OpenGL backend.
PixelBox clip_of(const ImDrawCmd& command, const ImDrawData& frame);
ImVec4 clip_rect_of(const PixelBox& box, const ImDrawData& frame);  // The inverse.

// At most four boxes that don't overlap and cover everything that was added.
class PixelBoxes {
 public:
  void add(PixelBox box);
  const std::vector<PixelBox>& all() const { return boxes_; }
  std::uint64_t pixels() const;

 private:
  std::vector<PixelBox> boxes_;
};

class ChangedParts {
 public:
  // Call it for each frame, before the frame's textures are updated.
  std::vector<PixelBox> find(const ImDrawData& frame);
  // The next frame is drawn completely, because its target does not hold the previous frame.
  void forget() { has_before_ = false; }

 private:
  struct DrawnList {
    const char* owner = nullptr;  // Compared as a pointer.
    std::uint64_t hash = 0;
    PixelBox box;
  };
  static DrawnList drawn_by(const ImDrawList& list, const ImDrawData& frame);

  std::vector<DrawnList> before_;
  PixelBox size_;
  bool has_before_ = false;
};

}  // namespace hbmscope::gui
