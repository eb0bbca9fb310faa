#include "app/gui/look/drawing.h"

#include <algorithm>
#include <cmath>

#include <imgui_internal.h>  // The order of windows has no public API.

namespace hbmscope::gui {
namespace {

const char* begin_of(std::string_view words) {
  return words.data();
}
const char* end_of(std::string_view words) {
  return words.data() + words.size();
}

ImVec2 size_of(std::string_view words) {
  return ImGui::CalcTextSize(begin_of(words), end_of(words));
}

// The box of the cell from the cursor on: the remaining width, one line high.
struct Box {
  ImVec2 from, to;
};
Box line_box() {
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float width = std::max(1.0F, ImGui::GetContentRegionAvail().x);
  return {from, {from.x + width, from.y + ImGui::GetTextLineHeight()}};
}

}  // namespace

bool is_low_window() {
  return ImGui::GetMainViewport()->Size.y < ImGui::GetTextLineHeight() * 62;
}

void text(std::string_view words) {
  ImGui::TextUnformatted(begin_of(words), end_of(words));
}

void dim_text(std::string_view words) {
  ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyle().Colors[ImGuiCol_TextDisabled]);
  text(words);
  ImGui::PopStyleColor();
}

void bold_text(std::string_view words) {
  ImGui::PushFont(bold_font(), 0.0F);
  text(words);
  ImGui::PopFont();
}

void wrapped_text(std::string_view words, bool dim) {
  ImGui::PushTextWrapPos(0.0F);
  if (dim) {
    dim_text(words);
  } else {
    text(words);
  }
  ImGui::PopTextWrapPos();
}

void right_text(std::string_view words, bool dim) {
  const float space = ImGui::GetContentRegionAvail().x - size_of(words).x;
  if (space > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + space);
  if (dim) {
    dim_text(words);
  } else {
    text(words);
  }
}

void cell_text(std::string_view words, bool dim) {
  const std::string shown = shortened(words, ImGui::GetContentRegionAvail().x);
  if (dim) {
    dim_text(shown);
  } else {
    text(shown);
  }
  if (shown.size() != words.size()) tooltip(words);
}

void table_header(int column, bool right) {
  if (!ImGui::TableSetColumnIndex(column)) return;
  const char* title = ImGui::TableGetColumnName(column);
  if (right) {
    // A sorted column has an arrow at its right end.
    const bool sorted = (ImGui::TableGetColumnFlags(column) & ImGuiTableColumnFlags_IsSorted) != 0;
    const float arrow = sorted ? ImGui::GetFontSize() * 0.65F + ImGui::GetStyle().FramePadding.x : 0;
    const float space = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(title).x - arrow;
    if (space > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + space);
  }
  ImGui::PushID(column);
  ImGui::TableHeader(title);
  ImGui::PopID();
}

void table_headers(int numbers_from, int numbers_to) {
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  for (int column = 0; column < ImGui::TableGetColumnCount(); ++column)
    table_header(column, column >= numbers_from && column < numbers_to);
}

void bar_cell(const Look& look, double share, std::string_view words, ImU32 fill) {
  const Box box = line_box();
  const auto width = static_cast<float>(std::clamp(share, 0.0, 1.0)) * (box.to.x - box.from.x);
  if (width >= 0.5F)
    ImGui::GetWindowDrawList()->AddRectFilled({box.from.x, box.from.y - look.px(1)},
                                              {box.from.x + std::max(1.0F, width), box.to.y + look.px(1)}, fill,
                                              look.px(2));
  right_text(words);
}

void delta_cell(const Look& look, double share, std::string_view words, bool outline) {
  const Box box = line_box();
  const float middle = (box.from.x + box.to.x) / 2;
  const auto reach = static_cast<float>(std::clamp(share, -1.0, 1.0)) * (box.to.x - box.from.x) / 2;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const ImU32 color = look.role(reach >= 0 ? Role::grown : Role::shrunk, outline ? 1.0F : 0.55F);
  const ImVec2 from{std::min(middle, middle + reach), box.from.y - look.px(1)};
  const ImVec2 to{std::max(middle, middle + reach), box.to.y + look.px(1)};
  if (std::abs(reach) >= 0.5F) {
    if (outline) {
      draw.AddRect(from, to, color, 0, look.px(1.5F));
    } else {
      draw.AddRectFilled(from, to, color);
    }
  }
  draw.AddLine({middle, box.from.y - look.px(2)}, {middle, box.to.y + look.px(2)}, look.role(Role::dim_text, 0.6F));
  right_text(words);
}

void draw_selection(ImDrawList& draw, const Look& look, ImVec2 from, ImVec2 to) {
  const float outer = std::max(2.0F, std::round(look.px(2)));
  draw.AddRect({from.x + outer / 2, from.y + outer / 2}, {to.x - outer / 2, to.y - outer / 2},
               look.role(Role::selection), 0, outer);
  draw.AddRect({from.x + outer + 0.5F, from.y + outer + 0.5F}, {to.x - outer - 0.5F, to.y - outer - 0.5F},
               look.role(Role::selection_inner), 0, 1.0F);
}

void draw_pool_bar(ImDrawList& draw, const Look& look, ImVec2 from, ImVec2 to, std::uint64_t in_use, std::uint64_t pool,
                   std::uint64_t whole) {
  draw.AddRectFilled(from, to, look.role(Role::free), look.px(2));
  const auto part = [&](std::uint64_t bytes, Role role) {
    if (bytes == 0 || whole == 0) return;
    const double share = std::min(1.0, static_cast<double>(bytes) / static_cast<double>(whole));
    const float width = std::max(1.0F, static_cast<float>(share) * (to.x - from.x));
    draw.AddRectFilled(from, {from.x + width, to.y}, look.role(role), look.px(2));
  };
  part(pool, Role::not_identified);
  part(in_use, Role::parameters);
}

void draw_hatch(ImDrawList& draw, const Look& look, ImVec2 from, ImVec2 to, ImU32 lines) {
  draw.PushClipRect(from, to, true);
  const float step = look.px(5) * 1.414F, height = to.y - from.y;
  const int count = static_cast<int>((to.x - from.x + height) / step) + 1;
  for (int i = 0; i < count; ++i) {
    const float x = from.x - height + static_cast<float>(i) * step;
    draw.AddLine({x, to.y}, {x + height, from.y}, lines, look.px(2));
  }
  draw.PopClipRect();
}

void tooltip(std::string_view words) {
  if (words.empty() || !ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip)) return;
  if (!ImGui::BeginTooltip()) return;
  ImGui::PushTextWrapPos(ImGui::GetFontSize() * 38);
  text(words);
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

void cover_what_is_behind() {
  ImGuiWindow* const dialog = ImGui::GetCurrentWindow();
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(viewport.WorkPos);
  ImGui::SetNextWindowSize(viewport.WorkSize);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, {0, 0, 0, 0.35F});
  constexpr ImGuiWindowFlags flags = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                     ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoNav |
                                     ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoSavedSettings;
  ImGui::Begin("##cover", nullptr, flags);
  ImGuiWindow* const cover = ImGui::GetCurrentWindow();
  ImGui::End();
  ImGui::PopStyleColor();
  ImGui::BringWindowToDisplayBehind(cover, dialog);
  if (ImGui::GetCurrentContext()->NavWindow == cover) ImGui::FocusWindow(dialog);  // A click beside the dialog.
}

bool link(const char* label) {
  ImGui::PushStyleColor(ImGuiCol_Button, ImVec4(0, 0, 0, 0));
  ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyle().Colors[ImGuiCol_TextLink]);
  const bool clicked = ImGui::Button(label);
  ImGui::PopStyleColor(2);
  return clicked;
}

bool primary_button(const char* label, ImVec2 size) {
  const ImVec4 accent = ImGui::GetStyle().Colors[ImGuiCol_CheckMark];
  ImGui::PushStyleColor(ImGuiCol_Button, {accent.x, accent.y, accent.z, 0.4F});
  const bool is_clicked = ImGui::Button(label, size);
  ImGui::PopStyleColor();
  return is_clicked;
}

namespace {

// ImGui makes the box as high as a button.
template <class Draw>
bool draw_low(const Draw& draw) {
  // A line as high as a button, in the middle of which the box stands.
  ImGui::Dummy({0, ImGui::GetFrameHeight()});
  ImGui::SameLine(0, 0);
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + ImGui::GetStyle().FramePadding.y);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(ImGui::GetStyle().FramePadding.x, 0));
  const bool is_clicked = draw();
  ImGui::PopStyleVar();
  return is_clicked;
}

}  // namespace

bool check_box(const char* label, bool* is_on) {
  return draw_low([&] { return ImGui::Checkbox(label, is_on); });
}
bool radio_button(const char* label, bool is_on) {
  return draw_low([&] { return ImGui::RadioButton(label, is_on); });
}

bool text_link(const char* label) {
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 0);
  const bool clicked = link(label);
  ImGui::PopStyleVar(2);
  return clicked;
}

bool has_room_behind(float width, float gap) {
  if (gap < 0) gap = ImGui::GetStyle().ItemSpacing.x;
  const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
  return ImGui::GetItemRectMax().x + gap + width <= right;
}

void flow(float width, float gap) {
  if (gap < 0) gap = ImGui::GetStyle().ItemSpacing.x;
  if (has_room_behind(width, gap)) ImGui::SameLine(0, gap);
}

float button_width(const char* label) {
  return ImGui::CalcTextSize(label, nullptr, true).x + 2 * ImGui::GetStyle().FramePadding.x;
}

void draw_rest_of_line(std::string_view words, float room_behind) {
  const float gap = ImGui::GetFontSize();
  const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
  const float room = right - ImGui::GetItemRectMax().x - 2 * gap - room_behind;
  if (room < 6 * gap) return;
  const bool is_beside_frame = ImGui::GetItemRectSize().y >= ImGui::GetFrameHeight();
  ImGui::SameLine(0, gap);
  if (is_beside_frame) ImGui::AlignTextToFramePadding();
  dim_text(shortened(words, room));
}

std::string shortened(std::string_view words, float width, bool keep_end) {
  if (size_of(words).x <= width) return std::string(words);
  constexpr std::string_view dots = "...";
  // Binary search for the largest part that fits, since CalcTextSize grows with the text.
  std::size_t fits = 0, too_long = words.size();
  const auto cut = [&](std::size_t length) {
    std::size_t kept = length;
    if (keep_end) {
      std::size_t begin = words.size() - kept;
      while (begin < words.size() && (words[begin] & 0xC0) == 0x80) ++begin;
      return std::string(dots) + std::string(words.substr(begin));
    }
    while (kept > 0 && kept < words.size() && (words[kept] & 0xC0) == 0x80) --kept;
    return std::string(words.substr(0, kept)) + std::string(dots);
  };
  while (too_long - fits > 1) {
    const std::size_t middle = (fits + too_long) / 2;
    (size_of(cut(middle)).x <= width ? fits : too_long) = middle;
  }
  return cut(fits);
}

bool takes_letters() {
  static ImGuiID under_pointer = 0;  // The picture,
  static int seen_in = -1;           // and the frame in which it was.
  const ImGuiIO& io = ImGui::GetIO();
  const ImGuiID here = ImGui::GetCurrentWindowRead()->RootWindow->ID;
  const bool is_hovered = ImGui::IsWindowHovered(ImGuiHoveredFlags_RootAndChildWindows);
  if (is_hovered) {
    under_pointer = here;
    seen_in = ImGui::GetFrameCount();
  }
  if (io.WantTextInput || io.KeyCtrl || io.KeyAlt) return false;
  const bool is_over_another = under_pointer != here && ImGui::GetFrameCount() - seen_in <= 1;
  return is_hovered || (ImGui::IsWindowFocused(ImGuiFocusedFlags_RootAndChildWindows) && !is_over_another);
}

}  // namespace hbmscope::gui
