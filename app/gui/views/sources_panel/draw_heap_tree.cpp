#include "app/gui/views/sources_panel/draw_heap_tree.h"

#include <algorithm>
#include <string>

#include <imgui.h>

#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/span_text.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/theme.h"

namespace hbmscope::gui {
namespace {

// The width left for the name, if the figure is at the right end of the line.
float room_for_name(const std::string& figure) {
  return ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(figure.c_str()).x - ImGui::GetFontSize() / 2;
}
bool has_room(const std::string& name, const std::string& figure) {
  return ImGui::CalcTextSize(name.c_str()).x <= room_for_name(figure);
}
void put_figure(const std::string& figure, float right, bool on_same_line = true) {
  if (on_same_line) ImGui::SameLine();
  ImGui::SetCursorPosX(right - ImGui::CalcTextSize(figure.c_str()).x);
  text(figure);
}

std::string words_of(const DeviceHeap& heap, const HeapState& state, std::uint64_t in_use,
                     std::optional<std::uint64_t> device, std::uint64_t whole) {
  std::string words = heap.name + (heap.layer.empty() ? std::string() : ", " + std::string(heap.layer)) + "\nin use " +
                      text_from_bytes(in_use) + ", peak " + text_from_bytes(heap.peak_bytes);
  if (const auto pool = state.space.region_bytes())
    words +=
        "\npool size " + text_from_bytes(*pool) + ", free " + text_from_bytes(state.space.free_bytes().value_or(0)) +
        ", largest free block " + text_from_bytes(state.space.largest_free().value_or(0)) +
        (device ? "\nThe full width of the bar is the device, " + text_from_bytes(*device) +
                      "; the lighter part is free in the pool."
                : "\nThe full width of the bar is the largest pool of the device, " + text_from_bytes(whole) + ".");
  else
    words += "\nThis source does not report the regions of the pool. The full width of the bar is " +
             (device                     ? "the device, " + text_from_bytes(*device) + "."
              : whole == heap.peak_bytes ? std::string("the peak.")
                                         : "the largest pool of the device, " + text_from_bytes(whole) + ".");
  if (!heap.is_counted) words += "\nNot in the totals: another source reports the same bytes, or it is host memory.";
  return words;
}

void draw_heap(const Look& look, const DeviceHeaps& all, const DeviceHeap& heap, const Source& source,
               const TraceMoment& moment, bool is_shown, CommandQueue& commands) {
  const HeapState& state = moment.heap(heap.key);
  const std::uint64_t in_use = moment.state_of(heap.key).in_use_bytes(heap.key.heap);
  const auto pool = state.space.region_bytes();
  std::string figure = pool ? text_from_part_of(in_use, *pool) : text_from_bytes(in_use);
  // With large text or a long name the figure is shortened, then moved below: the name of a heap is more important.
  if (!has_room(heap.name, figure) && has_room(heap.name, text_from_bytes(in_use))) figure = text_from_bytes(in_use);
  const bool is_on_one_line = has_room(heap.name, figure);
  const float right = ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x;
  const bool is_partial = begins_at_attaching(moment, source.attached, heap.key);
  const std::string words = heap.name + (heap.layer.empty() ? std::string() : "  " + std::string(heap.layer)) +
                            (is_partial ? ", since attaching" : "");
  const float room = is_on_one_line ? room_for_name(figure) : ImGui::GetContentRegionAvail().x;
  const std::string label = shortened(words, room) + "###heap " + text_from_heap_key(heap.key);
  if (ImGui::Selectable(label.c_str(), is_shown, ImGuiSelectableFlags_AllowOverlap) && !is_shown)
    commands.push(command::choose_heap, heap.key);
  const auto device = device_bytes_of(moment, heap.key);
  const std::uint64_t whole = bar_bytes_of(all, heap, moment);
  tooltip(words_of(heap, state, in_use, device, whole) +
          (is_partial ? "\nOnly what the driver handed out since hbmscope attached: it can't list what the process had "
                        "before, such as most of a pool that is larger than this."
                      : ""));
  put_figure(figure, right, is_on_one_line);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const ImVec2 size{std::max(1.0F, ImGui::GetContentRegionAvail().x), look.px(8)};
  ImGui::Dummy(size);
  draw_pool_bar(*ImGui::GetWindowDrawList(), look, from, {from.x + size.x, from.y + size.y}, in_use,
                device || whole > pool.value_or(0) ? pool.value_or(0) : 0, whole);
}

void draw_device(const Look& look, const DeviceHeaps& device, const Source& source, const TraceMoment& moment,
                 HeapKey shown, CommandQueue& commands) {
  const std::string figure = text_from_bytes(total_of(device, moment));
  const float right = ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x;
  // Otherwise the figures of its heaps and the tooltip have to do.
  const bool is_on_one_line = has_room(device.name, figure);
  bold_text(shortened(device.name, is_on_one_line ? room_for_name(figure) : ImGui::GetContentRegionAvail().x));
  tooltip(device.name + ": " + figure + " in use");
  if (is_on_one_line) put_figure(figure, right);
  ImGui::Indent(look.px(8));
  for (const DeviceHeap& heap : device.heaps)
    draw_heap(look, device, heap, source, moment, heap.key == shown, commands);
  ImGui::Unindent(look.px(8));
}

// The state of a running job's latest version may still be computing. The tree stays, without new heaps.
DeviceHeaps known_by(const TraceMoment& moment, DeviceHeaps device) {
  std::erase_if(device.heaps, [&](const DeviceHeap& heap) { return !has_heap(*moment.trace, heap.key); });
  return device;
}

void draw_program(const ProgramHeap& program, HeapKey shown, CommandQueue& commands) {
  const std::string figure = text_from_bytes(program.needed_bytes);
  const float right = ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x;
  const std::string label =
      shortened(program.name, room_for_name(figure)) + "###heap " + text_from_heap_key(program.key);
  const bool is_shown = program.key == shown;
  if (ImGui::Selectable(label.c_str(), is_shown, ImGuiSelectableFlags_AllowOverlap) && !is_shown)
    commands.push(command::choose_heap, program.key);
  tooltip(program.name + "\nneeds " + figure + "\nClick to show what it has planned.");
  put_figure(figure, right);
}

// Small programs are folded. The one that is shown always has its row.
void draw_programs(const Look& look, const std::vector<ProgramHeap>& programs, HeapKey shown, CommandQueue& commands) {
  if (programs.empty()) return;
  const float right = ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x;
  bold_text("Programs");
  tooltip(
      "The compiled programs in this file, with what each needs on a device: arguments + outputs - aliased + "
      "temporaries, without its code.\nThey lie in the memory of the device while they run, and are not added up.");
  ImGui::SameLine();
  ImGui::SetCursorPosX(right - ImGui::CalcTextSize("needs").x);
  dim_text("needs");
  ImGui::Indent(look.px(8));
  const std::size_t large = count_large(programs);
  for (std::size_t i = 0; i < large; ++i) draw_program(programs[i], shown, commands);
  if (large < programs.size()) {
    const std::string more = text_from_count(programs.size() - large) + " more, up to " +
                             text_from_bytes(programs[large].needed_bytes) + "###more programs";
    const bool is_open = ImGui::TreeNodeEx(more.c_str(), ImGuiTreeNodeFlags_NoTreePushOnOpen);
    for (std::size_t i = large; i < programs.size(); ++i)
      if (is_open || programs[i].key == shown) draw_program(programs[i], shown, commands);
  }
  ImGui::Unindent(look.px(8));
}

}  // namespace

void draw_heap_tree(const AppState& state, CommandQueue& commands) {
  const Source* source = state.source();
  const auto moment = drawn_moment(state);
  if (source == nullptr || !source->trace || !moment || !source->is_source_of(*moment)) return;
  const Look look(state);
  const HeapKey shown = choose_heap(*source->trace, state.position().heap);
  if (!source->devices.empty()) {
    const std::string head = "Heaps " + phrase_of(*moment, choose_heap(*moment->trace, state.position().heap));
    dim_text(shortened(head.substr(0, head.find(" (")), ImGui::GetContentRegionAvail().x));
    tooltip(head);
  }
  for (const DeviceHeaps& all : source->devices) {
    if (moment->trace == source->trace)
      draw_device(look, all, *source, *moment, shown, commands);
    else
      draw_device(look, known_by(*moment, all), *source, *moment, shown, commands);
  }
  draw_programs(look, source->programs, shown, commands);
}

}  // namespace hbmscope::gui
