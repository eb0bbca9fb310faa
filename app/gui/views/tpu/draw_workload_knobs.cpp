#include "app/gui/views/tpu/draw_workload_knobs.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <string>

#include <imgui.h>

#include "analysis/units/format.h"
#include "app/gui/look/drawing.h"

namespace hbmscope::gui {
namespace {

std::int64_t number_of(const std::string& text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Memory space assignment has many parameters, which are rarely changed.
bool is_of_assignment(const WorkloadKnob& knob) {
  return knob.key.starts_with("vmem.");
}

// The text for a value that the file does not set.
const char* unwritten(const WorkloadKnob& knob) {
  return is_of_assignment(knob) ? "default" : "unmodified";
}

// The shown value, and the callback for a new one.
struct Knob {
  const WorkloadKnob& knob;
  std::string value;
  const Source& source;
  CommandQueue& commands;

  void take(const std::string& now) const {
    if (now == value) return;
    const auto& knobs = source.workload->answer->opened->knobs;
    commands.push(command::set_workload, with_change(knobs, source.what_if, {knob.key, now}));
  }
};

void draw_choice(const Knob& of) {
  ImGui::SetNextItemWidth(-1);
  if (!ImGui::BeginCombo("##choice", of.value.empty() ? unwritten(of.knob) : of.value.c_str())) return;
  if (of.knob.written.empty() && ImGui::Selectable(unwritten(of.knob), of.value.empty())) of.take({});
  for (const std::string& choice : of.knob.choices)
    if (ImGui::Selectable(choice.c_str(), choice == of.value)) of.take(choice);
  ImGui::EndCombo();
}

void draw_switch(const Knob& of) {
  bool is_on = of.value == "on" || of.value == "true";
  if (check_box(is_on ? "on##switch" : "off##switch", &is_on)) of.take(is_on ? "on" : "off");
}

// The exponent of the largest power of two that is at most `number`.
int exponent_of(std::int64_t number) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(number, 1)))) - 1;
}

void draw_slider(const Knob& of, std::int64_t value) {
  const SliderRange range = slider_range(of.knob);
  if (range.is_by_powers) {
    const int least = exponent_of(range.least), most = exponent_of(range.most);
    int exponent = exponent_of(value);
    if (ImGui::SliderInt("##slider", &exponent, least, most, "", ImGuiSliderFlags_NoInput))
      of.take(std::to_string(std::int64_t{1} << std::clamp(exponent, least, most)));
    return;
  }
  const bool is_unset = of.value.empty();
  if (is_unset) value = range.least;
  if (ImGui::SliderScalar("##slider", ImGuiDataType_S64, &value, &range.least, &range.most,
                          is_unset ? unwritten(of.knob) : "", ImGuiSliderFlags_NoInput))
    of.take(value < of.knob.least ? std::string() : std::to_string(value));
}

void draw_number(const Look& look, const Knob& of) {
  const float field = look.px(84);
  ImGui::SetNextItemWidth(std::max(look.px(40), ImGui::GetContentRegionAvail().x - field - look.px(6)));
  draw_slider(of, number_of(of.value));
  ImGui::SameLine(0, look.px(6));
  ImGui::SetNextItemWidth(field);
  // A text field, because a numeric field accepts nothing while it is empty.
  std::array<char, 32> typed{};
  of.value.copy(typed.data(), typed.size() - 1);
  if (ImGui::InputText("##number", typed.data(), typed.size(),
                       ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_CharsDecimal))
    of.take(typed.data());
  tooltip("Type any number and press Enter.");
}

void draw_knob(const Look& look, const WorkloadKnob& knob, const Source& source, CommandQueue& commands) {
  const Knob shown{knob, value_of(knob, source.what_if), source, commands};
  const bool is_changed = find_change(knob, source.what_if) != nullptr;
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::PushID(knob.key.c_str());
  ImGui::AlignTextToFramePadding();
  is_changed ? bold_text(knob.key) : text(knob.key);
  const std::string written = !knob.written.empty()    ? knob.written
                              : is_of_assignment(knob) ? "its default"
                                                       : "one value each";
  tooltip((is_changed ? "in the file: " : "as in the file: ") + written +
          (knob.is_computed ? ", computed from other values" : ""));
  ImGui::TableNextColumn();
  if (knob.kind == KnobKind::choice)
    draw_choice(shown);
  else if (knob.kind == KnobKind::on_off)
    draw_switch(shown);
  else
    draw_number(look, shown);
  if (is_changed && knob.is_computed && ImGui::SmallButton("use the formula")) shown.take({});
  ImGui::PopID();
}

void draw_knobs(const AppState& state, const Source& source, bool of_assignment, CommandQueue& commands) {
  if (!ImGui::BeginTable(of_assignment ? "assignment" : "knobs", 2, ImGuiTableFlags_SizingFixedFit)) return;
  ImGui::TableSetupColumn("name");
  ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch, 1);
  const Look look(state);
  for (const WorkloadKnob& knob : source.workload->answer->opened->knobs)
    if (is_of_assignment(knob) == of_assignment) draw_knob(look, knob, source, commands);
  ImGui::EndTable();
}

}  // namespace

void draw_workload_knobs(const AppState& state, const Source& source, CommandQueue& commands) {
  draw_knobs(state, source, false, commands);
  const auto& knobs = source.workload->answer->opened->knobs;
  if (std::none_of(knobs.begin(), knobs.end(), is_of_assignment) || !ImGui::TreeNode("More")) return;
  draw_knobs(state, source, true, commands);
  ImGui::TreePop();
}

}  // namespace hbmscope::gui
