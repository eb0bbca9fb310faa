#include "app/gui/platform/changed_parts.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace hbmscope::gui {
namespace {

PixelBox box_of(const ImDrawData& frame) {
  const ImVec2 size{frame.DisplaySize.x * frame.FramebufferScale.x, frame.DisplaySize.y * frame.FramebufferScale.y};
  return {0, 0, static_cast<int>(size.x + 0.5F), static_cast<int>(size.y + 0.5F)};
}

// Rounded outwards, to include partly covered pixels.
PixelBox box_of_points(const ImDrawList& list, const ImDrawData& frame) {
  static constexpr float far = 1e6F;  // Within the range of int.
  ImVec2 least{far, far}, most{-far, -far};
  for (const ImDrawVert& point : list.VtxBuffer) {
    least = {std::min(least.x, point.pos.x), std::min(least.y, point.pos.y)};
    most = {std::max(most.x, point.pos.x), std::max(most.y, point.pos.y)};
  }
  if (least.x > most.x || least.y > most.y) return {};
  const auto pixel = [](float at, float from, float scale) {
    return static_cast<int>(std::floor(std::clamp((at - from) * scale, -far, far)));
  };
  const ImVec2 from = frame.DisplayPos, scale = frame.FramebufferScale;
  return {pixel(least.x, from.x, scale.x), pixel(least.y, from.y, scale.y), pixel(most.x, from.x, scale.x) + 1,
          pixel(most.y, from.y, scale.y) + 1};
}

// Whether the same command may show other pixels than before. The text texture only gains letters, and a letter that
// moves in it gets other coordinates. The texture of a picture (MapTexture) has colours.
bool may_show_new_pixels(const ImDrawCmd& command) {
  const ImTextureData* texture = command.TexRef._TexData;
  return command.UserCallback != nullptr ||
         (texture != nullptr && texture->UseColors && texture->Status != ImTextureStatus_OK);
}

}  // namespace

PixelBox common(const PixelBox& a, const PixelBox& b) {
  return {std::max(a.left, b.left), std::max(a.top, b.top), std::min(a.right, b.right), std::min(a.bottom, b.bottom)};
}

PixelBox around(const PixelBox& a, const PixelBox& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {std::min(a.left, b.left), std::min(a.top, b.top), std::max(a.right, b.right), std::max(a.bottom, b.bottom)};
}

PixelBox clip_of(const ImDrawCmd& command, const ImDrawData& frame) {
  const ImVec2 from = frame.DisplayPos, scale = frame.FramebufferScale;
  const ImVec2 least{(command.ClipRect.x - from.x) * scale.x, (command.ClipRect.y - from.y) * scale.y};
  const ImVec2 most{(command.ClipRect.z - from.x) * scale.x, (command.ClipRect.w - from.y) * scale.y};
  if (most.x <= least.x || most.y <= least.y) return {};
  // OpenGL counts rows from the bottom.
  const PixelBox whole = box_of(frame);
  const int left = static_cast<int>(least.x),
            bottom = whole.bottom - static_cast<int>(static_cast<float>(whole.bottom) - most.y);
  return {left, bottom - static_cast<int>(most.y - least.y), left + static_cast<int>(most.x - least.x), bottom};
}

// The backend truncates the left and bottom edges, and width and height. An extra quarter of a pixel compensates for
// the rounding errors of a scale like 5/4.
ImVec4 clip_rect_of(const PixelBox& box, const ImDrawData& frame) {
  const ImVec2 from = frame.DisplayPos, scale = frame.FramebufferScale;
  const auto x = [&](int pixel, float more) { return (static_cast<float>(pixel) + more) / scale.x + from.x; };
  const auto y = [&](int pixel, float more) { return (static_cast<float>(pixel) + more) / scale.y + from.y; };
  return {x(box.left, 0.25F), y(box.top, -0.5F), x(box.right, 0.5F), y(box.bottom, -0.25F)};
}

void PixelBoxes::add(PixelBox box) {
  if (box.empty()) return;
  constexpr std::size_t boxes_max = 4;
  // Merges it with a box that it overlaps, or if their union is little larger than both.
  const auto belongs_to = [&](const PixelBox& other) {
    const std::uint64_t apart = box.pixels() + other.pixels();
    return !common(box, other).empty() || around(box, other).pixels() <= apart + apart / 4;
  };
  for (auto found = boxes_.begin(); found != boxes_.end();) {
    const bool is_last_place = boxes_.size() == boxes_max && std::next(found) == boxes_.end();
    if (!belongs_to(*found) && !is_last_place) {
      ++found;
      continue;
    }
    box = around(box, *found);
    boxes_.erase(found);
    found = boxes_.begin();
  }
  boxes_.push_back(box);
}

std::uint64_t PixelBoxes::pixels() const {
  std::uint64_t pixels = 0;
  for (const PixelBox& box : boxes_) pixels += box.pixels();
  return pixels;
}

ChangedParts::DrawnList ChangedParts::drawn_by(const ImDrawList& list, const ImDrawData& frame) {
  DrawnList drawn;
  drawn.owner = list._OwnerName;
  drawn.hash = XXH3_64bits(list.VtxBuffer.Data, static_cast<std::size_t>(list.VtxBuffer.size_in_bytes()));
  drawn.hash =
      XXH3_64bits_withSeed(list.IdxBuffer.Data, static_cast<std::size_t>(list.IdxBuffer.size_in_bytes()), drawn.hash);
  const auto mix = [&drawn](const auto& value) {
    drawn.hash = XXH3_64bits_withSeed(&value, sizeof(value), drawn.hash);
  };
  PixelBox clips;
  for (const ImDrawCmd& command : list.CmdBuffer) {
    mix(command.ClipRect);
    mix(command.ElemCount);
    mix(command.IdxOffset);
    mix(command.VtxOffset);
    mix(command.TexRef._TexData);
    mix(command.TexRef._TexData == nullptr ? std::uint64_t{command.TexRef._TexID}
                                           : static_cast<std::uint64_t>(command.TexRef._TexData->UniqueID));
    if (command.ElemCount > 0) clips = around(clips, clip_of(command, frame));
  }
  drawn.box = common(common(clips, box_of_points(list, frame)), box_of(frame));
  return drawn;
}

std::vector<PixelBox> ChangedParts::find(const ImDrawData& frame) {
  std::vector<DrawnList> now;
  std::vector<bool> has_new_pixels;
  for (const ImDrawList* list : frame.CmdLists) {
    now.push_back(drawn_by(*list, frame));
    has_new_pixels.push_back(std::any_of(list->CmdBuffer.begin(), list->CmdBuffer.end(), may_show_new_pixels));
  }
  const bool had_before = std::exchange(has_before_, true) && size_ == box_of(frame);
  size_ = box_of(frame);
  const std::vector<DrawnList> before = std::exchange(before_, now);
  if (!had_before) return {box_of(frame)};
  // Lists that appeared, disappeared or changed their order are between the equal parts at the start and at the end.
  const auto is_same_owner = [](const DrawnList& a, const DrawnList& b) { return a.owner == b.owner; };
  const std::size_t fewer = std::min(now.size(), before.size());
  const auto head = static_cast<std::size_t>(
      std::mismatch(now.begin(), now.begin() + static_cast<std::ptrdiff_t>(fewer), before.begin(), is_same_owner)
          .first -
      now.begin());
  const auto tail =
      std::min(fewer - head,
               static_cast<std::size_t>(std::mismatch(now.rbegin(), now.rbegin() + static_cast<std::ptrdiff_t>(fewer),
                                                      before.rbegin(), is_same_owner)
                                            .first -
                                        now.rbegin()));
  PixelBoxes changed;
  const auto compare = [&](std::size_t at_now, std::size_t at_before) {
    const DrawnList &a = now[at_now], &b = before[at_before];
    if (a.hash == b.hash && a.box == b.box && !has_new_pixels[at_now]) return;
    changed.add(b.box);
    changed.add(a.box);
  };
  for (std::size_t i = 0; i < head; ++i) compare(i, i);
  for (std::size_t i = head; i < now.size() - tail; ++i) changed.add(now[i].box);
  for (std::size_t i = head; i < before.size() - tail; ++i) changed.add(before[i].box);
  for (std::size_t i = 0; i < tail; ++i) compare(now.size() - 1 - i, before.size() - 1 - i);
  return changed.all();
}

}  // namespace hbmscope::gui
