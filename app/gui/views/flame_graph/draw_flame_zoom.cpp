#include "app/gui/views/flame_graph/draw_flame_zoom.h"

#include <algorithm>
#include <cmath>

#include <imgui.h>

#include "app/gui/core/answers.h"
#include "app/gui/look/drawing.h"

namespace hbmscope::gui {
namespace {

constexpr double smallest_span = 1e-9;

// The deepest existing node of the path, since a filter may have removed its end.
std::uint32_t node_at(const FlameAnswer& answer, const std::vector<FrameKey>& path) {
  const auto& nodes = answer.tree.nodes;
  std::uint32_t node = 0;
  for (const FrameKey& key : path) {
    std::uint32_t child = nodes[node].first_child;
    while (child != no_node &&
           !matches(key, answer.view->frames[static_cast<std::size_t>(nodes[child].frame)], answer.view->request.by))
      child = nodes[child].next_sibling;
    if (child == no_node) break;
    node = child;
  }
  return node;
}

void set_span(FlameState& flame, double begin, double span) {
  span = std::clamp(span, smallest_span, 1.0);
  flame.begin = std::clamp(begin, 0.0, 1.0 - span);
  flame.end = flame.begin + span;
}

void zoom_at(FlameState& flame, double fraction, double factor) {
  const double span = flame.end - flame.begin;
  const double fixed = flame.begin + fraction * span;
  const double new_span = std::clamp(span / factor, smallest_span, 1.0);
  set_span(flame, fixed - fraction * new_span, new_span);
}

}  // namespace

std::vector<FrameKey> path_of(const FlameAnswer& answer, std::uint32_t node) {
  std::vector<FrameKey> path;
  for (const FrameIndex frame : answer.tree.path(node))
    path.push_back(key_from_frame(answer.view->frames[static_cast<std::size_t>(frame)]));
  return path;
}

void follow_zoom(const AppState& state, const std::shared_ptr<const FlameAnswer>& answer, FlameState& flame) {
  const std::vector<FrameKey>& zoom = state.position().zoom;
  const std::uint64_t serial = state.window.zoom_serial + state.window.flame_serial;
  if (flame.answer == answer && flame.zoom == zoom && flame.zoom_seen == serial) return;
  flame.answer = answer;
  flame.zoom = zoom;
  flame.zoom_seen = serial;
  flame.zoom_node = node_at(*answer, zoom);
  const double begin = answer->layout.begin[flame.zoom_node], end = answer->layout.end[flame.zoom_node];
  if (end > begin) set_span(flame, begin, end - begin);
}

void zoom_with_pointer(FlameState& flame, float width, float left) {
  const ImGuiIO& io = ImGui::GetIO();
  const double span = flame.end - flame.begin;
  if (io.MouseWheel != 0 && !io.KeyShift) {
    const double step = io.KeyCtrl ? 4.0 : 1.25;
    zoom_at(flame, std::clamp((io.MousePos.x - left) / width, 0.0F, 1.0F), std::pow(step, io.MouseWheel));
    ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
  }
  const float sideways = io.MouseWheelH + (io.KeyShift ? io.MouseWheel : 0);
  if (sideways != 0) set_span(flame, flame.begin - 0.1 * sideways * span, span);
  const bool dragged =
      ImGui::IsMouseDragging(ImGuiMouseButton_Left, 4) || ImGui::IsMouseDragging(ImGuiMouseButton_Middle, 4);
  if (dragged && width > 0) {
    set_span(flame, flame.begin - static_cast<double>(io.MouseDelta.x) / width * span, span);
    ImGui::SetScrollY(ImGui::GetScrollY() - io.MouseDelta.y);
  }
}

void zoom_with_keys(FlameState& flame) {
  if (!takes_letters()) return;
  const double span = flame.end - flame.begin;
  if (ImGui::IsKeyPressed(ImGuiKey_W)) zoom_at(flame, 0.5, 1.25);
  if (ImGui::IsKeyPressed(ImGuiKey_S)) zoom_at(flame, 0.5, 0.8);
  if (ImGui::IsKeyPressed(ImGuiKey_A)) set_span(flame, flame.begin - 0.1 * span, span);
  if (ImGui::IsKeyPressed(ImGuiKey_D)) set_span(flame, flame.begin + 0.1 * span, span);
}

void follow_selection(const AppState& state, const FlameAnswer& answer, FlameState& flame, float row_height) {
  const auto& nodes = answer.tree.nodes;
  if (flame.shown != state.position().selection) {
    flame.shown = state.position().selection;
    const FrameIndex selected = state.selected_frame(answer.view);
    // A frame in many places is represented by its widest node; F3 goes through all of them.
    if (selected != FrameIndex::none && (flame.target == no_node || nodes[flame.target].frame != selected)) {
      flame.target = no_node;
      for (std::uint32_t node = 1; node < nodes.size(); ++node)
        if (nodes[node].frame == selected &&
            (flame.target == no_node || nodes[node].cum.bytes > nodes[flame.target].cum.bytes))
          flame.target = node;
    }
  }
  if (flame.target == no_node || flame.target >= nodes.size()) return;
  // Keep the overview if the frame would be too narrow to see.
  const double width = answer.layout.end[flame.target] - answer.layout.begin[flame.target];
  if (width < 0.004 * (flame.end - flame.begin)) {
    flame.target = no_node;
    return;
  }
  const float top = static_cast<float>(nodes[flame.target].depth) * row_height;
  const float height = ImGui::GetWindowHeight();
  if (top < ImGui::GetScrollY() || top + row_height > ImGui::GetScrollY() + height)
    ImGui::SetScrollY(std::max(0.0F, top - height / 2));
  flame.target = no_node;
}

void step_through_hits(const AppState& state, const FlameAnswer& answer, FlameState& flame, CommandQueue& commands) {
  const auto& search = state.answers().search.value;
  if (flame.hits_of != search) {
    flame.hits_of = search;
    flame.hits.clear();
    if (search)
      for (const auto& row : search->flame->layout.rows)
        for (const std::uint32_t node : row)
          if (search->search.hit[node]) flame.hits.push_back(node);
    flame.hit = flame.hits.size();  // So that the first F3 goes to the first hit.
  }
  if (flame.step_seen == state.window.find_step_serial) return;
  flame.step_seen = state.window.find_step_serial;
  if (flame.hits.empty() || !state.is_active_side() || !search || search->flame.get() != &answer) return;
  const std::size_t count = flame.hits.size();
  if (state.window.find_step > 0) {
    flame.hit = flame.hit >= count ? 0 : (flame.hit + 1) % count;
  } else {
    flame.hit = flame.hit == 0 || flame.hit >= count ? count - 1 : flame.hit - 1;
  }
  flame.target = flame.hits[flame.hit];
  const FrameIndex frame = answer.tree.nodes[flame.target].frame;
  if (frame != FrameIndex::none) commands.select(key_from_frame(answer.view->frames[static_cast<std::size_t>(frame)]));
}

}  // namespace hbmscope::gui
