#include "app/gui/look/fragmentation_ruler.h"

#include <algorithm>
#include <cmath>

#include "analysis/units/format.h"
#include "app/gui/look/drawing.h"

namespace hbmscope::gui {
namespace {

// Inside the bar if it fits, otherwise after it.
void draw_label(ImDrawList& draw, const Look& look, ImVec2 from, ImVec2 to, Role fill, const std::string& words) {
  const float width = ImGui::CalcTextSize(words.c_str()).x,
              y = from.y + (to.y - from.y - ImGui::GetTextLineHeight()) / 2;
  const bool fits = width + look.px(10) < to.x - from.x;
  draw.AddText({fits ? from.x + look.px(5) : to.x + look.px(5), y},
               fits ? look.color(text_on(look.rgb(fill))) : look.role(Role::text), words.c_str());
}

}  // namespace

void draw_ruler(const Look& look, const FreeBlocks& free, const std::optional<RulerRequest>& request) {
  const float height = ImGui::GetTextLineHeight() + look.px(6), gap = look.px(4);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  // Leaves room for the text after a short bar.
  const float width = std::max(look.px(60), ImGui::GetContentRegionAvail().x - look.px(190));
  ImGui::Dummy({ImGui::GetContentRegionAvail().x, 2 * height + gap});
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const double most = static_cast<double>(std::max({std::uint64_t{1}, free.bytes, request ? request->bytes : 0}));
  const auto x_of = [&](std::uint64_t at) {
    return from.x + static_cast<float>(static_cast<double>(at) / most) * width;
  };
  if (request) {
    const Role role = request->has_failed ? Role::failure : Role::several;
    const ImVec2 to{std::max(from.x + 1, x_of(request->bytes)), from.y + height};
    draw.AddRectFilled(from, to, look.role(role));
    draw_label(draw, look, from, to, role, std::string(request->words) + " " + text_from_bytes(request->bytes));
  }
  const float top = from.y + height + gap, bottom = top + height;
  // Blocks smaller than a pixel are drawn without hairlines.
  std::uint64_t at = 0;
  const float hairline = look.px(1);
  for (std::size_t i = 0; i < free.largest.size(); ++i) {
    const float left = x_of(at), right = x_of(at + free.largest[i].size());
    if (right - left < 2 * hairline) break;
    draw.AddRectFilled({left, top}, {right - hairline, bottom}, look.role(i == 0 ? Role::largest_free : Role::same));
    at += free.largest[i].size();
  }
  if (at < free.bytes)
    draw.AddRectFilled({x_of(at), top}, {std::max(x_of(at) + 1, x_of(free.bytes)), bottom},
                       look.role(Role::same, 0.6F));
  if (free.count == 0) {
    draw.AddText({from.x, top + look.px(3)}, look.role(Role::text), "nothing is free");
    return;
  }
  const ImVec2 first{x_of(free.largest_bytes()) - hairline, bottom};
  const std::string words = "largest " + text_from_bytes(free.largest_bytes());
  if (ImGui::CalcTextSize(words.c_str()).x + look.px(10) < first.x - from.x)
    draw_label(draw, look, {from.x, top}, first, Role::largest_free, words);
  draw.AddText({x_of(free.bytes) + look.px(5), top + look.px(3)}, look.role(Role::text),
               ("free " + text_from_bytes(free.bytes)).c_str());
  // The end of the request, over free memory.
  if (request) {
    const float x = std::floor(x_of(request->bytes)) + 0.5F;
    draw.AddLine({x, from.y + height}, {x, bottom}, look.role(request->has_failed ? Role::failure : Role::text),
                 look.px(1.5F));
  }
}

}  // namespace hbmscope::gui
