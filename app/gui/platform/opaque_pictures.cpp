#include "app/gui/platform/opaque_pictures.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "app/gui/look/map_texture.h"

namespace hbmscope::gui {
namespace {

constexpr std::uint64_t pixels_least = 256 * 256;

struct WholeNumber {
  int value = 0;
  bool is_exact = true;
};
WholeNumber whole(float number) {
  const float nearest = std::round(number);
  return {static_cast<int>(nearest), std::abs(number - nearest) < 1e-3F};
}

// Fills in the boxes if the command is one rectangle that shows the texture as it is.
bool is_plain_picture(const ImDrawList& list, const ImDrawCmd& command, const ImDrawData& frame, OpaquePicture& found) {
  if (command.UserCallback != nullptr || command.ElemCount != 6) return false;
  const ImTextureData* texture = command.TexRef._TexData;
  if (texture == nullptr || !is_opaque(*texture)) return false;
  const auto corner = [&](int index) -> const ImDrawVert& {
    return list
        .VtxBuffer[static_cast<int>(command.VtxOffset) + list.IdxBuffer[static_cast<int>(command.IdxOffset) + index]];
  };
  const ImDrawVert &from = corner(0), &to = corner(2);  // As ImDrawList::PrimRectUV orders them.
  if (from.col != IM_COL32_WHITE) return false;
  const ImVec2 offset = frame.DisplayPos, scale = frame.FramebufferScale;
  const auto width = static_cast<float>(texture->Width), height = static_cast<float>(texture->Height);
  const std::array<WholeNumber, 8> numbers{whole((from.pos.x - offset.x) * scale.x),
                                           whole((from.pos.y - offset.y) * scale.y),
                                           whole((to.pos.x - offset.x) * scale.x),
                                           whole((to.pos.y - offset.y) * scale.y),
                                           whole(from.uv.x * width),
                                           whole(from.uv.y * height),
                                           whole(to.uv.x * width),
                                           whole(to.uv.y * height)};
  if (!std::all_of(numbers.begin(), numbers.end(), [](const WholeNumber& one) { return one.is_exact; })) return false;
  const PixelBox box{numbers[0].value, numbers[1].value, numbers[2].value, numbers[3].value};
  if (box.right - box.left != numbers[6].value - numbers[4].value ||
      box.bottom - box.top != numbers[5].value - numbers[7].value)
    return false;
  found.box = common(box, clip_of(command, frame));
  found.texture_left = numbers[4].value + found.box.left - box.left;
  found.texture_bottom = numbers[7].value + box.bottom - found.box.bottom;
  return found.box.pixels() >= pixels_least;
}

}  // namespace

std::vector<OpaquePicture> find_opaque_pictures(const ImDrawData& frame) {
  std::vector<OpaquePicture> pictures;
  for (int i = 0; i < frame.CmdLists.Size; ++i) {
    const ImDrawList& list = *frame.CmdLists[i];
    for (int command = 0; command < list.CmdBuffer.Size; ++command) {
      OpaquePicture picture{static_cast<std::size_t>(i), command, {}, 0, 0};
      if (is_plain_picture(list, list.CmdBuffer[command], frame, picture)) pictures.push_back(picture);
    }
  }
  return pictures;
}

std::vector<BoxToDraw> split_at_pictures(const PixelBox& part, const std::vector<OpaquePicture>& pictures) {
  if (part.empty()) return {};
  const OpaquePicture* largest = nullptr;
  PixelBox shown;
  for (const OpaquePicture& picture : pictures)
    if (const PixelBox here = common(part, picture.box); here.pixels() >= std::max(pixels_least, shown.pixels())) {
      largest = &picture;
      shown = here;
    }
  if (largest == nullptr) return {{part}};
  std::vector<BoxToDraw> boxes{{shown, largest}};
  for (const PixelBox& beside : {PixelBox{part.left, part.top, part.right, shown.top},
                                 PixelBox{part.left, shown.bottom, part.right, part.bottom},
                                 PixelBox{part.left, shown.top, shown.left, shown.bottom},
                                 PixelBox{shown.right, shown.top, part.right, shown.bottom}}) {
    const std::vector<BoxToDraw> more = split_at_pictures(beside, pictures);
    boxes.insert(boxes.end(), more.begin(), more.end());
  }
  return boxes;
}

}  // namespace hbmscope::gui
