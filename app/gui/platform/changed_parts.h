// Which parts of a frame differ from the previous one. Under a software driver, as over a remote desktop, each
// pixel costs, and most frames change few: a tooltip, a lane, a number.
//
// It compares the draw lists, one a window. Where one has changed, all that it covered and covers
// is drawn anew, by all lists, in their order.
#pragma once

#include <cstdint>
#include <vector>

#include <imgui.h>

namespace hbmscope::gui {

// Pixels of the framebuffer from the upper left corner; the second pair is outside.
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

// The pixels that a command of this clip rectangle may touch, as the OpenGL backend rounds it.
PixelBox clip_of(const ImDrawCmd& command, const ImDrawData& frame);
ImVec4 clip_rect_of(const PixelBox& box, const ImDrawData& frame);  // The other way.

// At most four boxes that don't overlap, and hold all that was added.
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
  // To be called with each frame, before its textures are brought up to date.
  std::vector<PixelBox> find(const ImDrawData& frame);
  // The next frame is new as a whole: nothing of the one before is where it will be drawn.
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
