#include "app/gui/views/workload_knobs.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <string>

#include <imgui.h>

#include "analysis/units/format.h"
#include "app/gui/views/drawing.h"

namespace hbmscope::gui {
namespace {

std::int64_t number_of(const std::string& text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

bool is_power_of_two(std::int64_t number) {
  return number > 0 && std::has_single_bit(static_cast<std::uint64_t>(number));
}

// What is shown, and how one value of it is taken.
struct Knob {
  const WorkloadKnob& knob;
  std::string value;
  const Source& source;
  CommandQueue& commands;

  void take(const std::string& now) const {
    if (now == value) return;
    const auto& knobs = source.workload->answer->opened->knobs;
    const auto changes = with_change(knobs, source.what_if, {knob.key, now});
    commands.push(Command{CommandId::set_workload, {}, words_from_changes(changes), SourceId::none, {}, {}});
  }
};

void draw_choice(const Knob& of) {
  ImGui::SetNextItemWidth(-1);
  if (!ImGui::BeginCombo("##choice", of.value.c_str())) return;
  for (const std::string& choice : of.knob.choices)
    if (ImGui::Selectable(choice.c_str(), choice == of.value)) of.take(choice);
  ImGui::EndCombo();
}

void draw_switch(const Knob& of) {
  bool is_on = of.value == "on" || of.value == "true";
  if (ImGui::Checkbox(is_on ? "on##switch" : "off##switch", &is_on)) of.take(is_on ? "on" : "off");
}

// Block sizes, batches and meshes are powers of two, and so are the steps of their sliders; of others it is all numbers
// up to four times the one that is written.
void draw_slider(const Knob& of, std::int64_t value) {
  const std::int64_t written = number_of(of.knob.written);
  constexpr int reach = 6;
  if (is_power_of_two(written)) {
    const int middle = std::countr_zero(static_cast<std::uint64_t>(written));
    int exponent = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(value, 1)))) - 1;
    const int least = std::max(0, middle - reach), most = middle + reach;
    if (ImGui::SliderInt("##slider", &exponent, least, most, "", ImGuiSliderFlags_NoInput))
      of.take(std::to_string(std::int64_t{1} << std::clamp(exponent, least, most)));
    return;
  }
  const bool is_ring = of.knob.written.empty();  // 0: as each ring is written.
  const std::int64_t least = is_ring ? 0 : 1, most = is_ring ? 8 : std::max<std::int64_t>(written * 4, 4);
  const char* const shown = is_ring && value == 0 ? "as written" : "";
  if (ImGui::SliderScalar("##slider", ImGuiDataType_S64, &value, &least, &most, shown, ImGuiSliderFlags_NoInput))
    of.take(is_ring && value == 0 ? std::string() : std::to_string(value));
}

void draw_number(const Look& look, const Knob& of) {
  std::int64_t value = number_of(of.value);
  const float field = look.px(84);
  ImGui::SetNextItemWidth(std::max(look.px(40), ImGui::GetContentRegionAvail().x - field - look.px(6)));
  draw_slider(of, value);
  ImGui::SameLine(0, look.px(6));
  ImGui::SetNextItemWidth(field);
  const bool is_known = !of.value.empty();
  if (ImGui::InputScalar("##number", ImGuiDataType_S64, &value, nullptr, nullptr, is_known ? "%lld" : "",
                         ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_CharsDecimal))
    of.take(std::to_string(std::clamp(value, of.knob.least, of.knob.most)));
  tooltip("Any number; Enter takes it.");
}

// What no more is known of than that it can be changed.
bool is_word(const WorkloadKnob& knob) {
  return knob.kind == KnobKind::choice && knob.choices.empty();
}

void draw_word(const Knob& of) {
  std::array<char, 64> typed{};
  of.value.copy(typed.data(), typed.size() - 1);
  ImGui::SetNextItemWidth(-1);
  if (ImGui::InputTextWithHint("##word", "as written", typed.data(), typed.size(),
                               ImGuiInputTextFlags_EnterReturnsTrue))
    of.take(typed.data());
}

void draw_knob(const Look& look, const WorkloadKnob& knob, const Source& source, CommandQueue& commands) {
  const Knob shown{knob, value_of(knob, source.what_if), source, commands};
  const bool is_changed = shown.value != knob.written;
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::PushID(knob.key.c_str());
  ImGui::AlignTextToFramePadding();
  is_changed ? bold_text(knob.key) : text(knob.key);
  const std::string written = knob.written.empty() ? "each has its own, or its default" : knob.written;
  tooltip((is_changed ? "as written: " : "as it is written: ") + written +
          (knob.is_worked_out ? ", worked out of others" : ""));
  ImGui::TableNextColumn();
  if (is_word(knob))
    draw_word(shown);
  else if (knob.kind == KnobKind::choice)
    draw_choice(shown);
  else if (knob.kind == KnobKind::on_off)
    draw_switch(shown);
  else
    draw_number(look, shown);
  ImGui::PopID();
}

void draw_knobs(const AppState& state, const Source& source, bool of_words, CommandQueue& commands) {
  if (!ImGui::BeginTable(of_words ? "words" : "knobs", 2, ImGuiTableFlags_SizingFixedFit)) return;
  ImGui::TableSetupColumn("name");
  ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch, 1);
  const Look look(state);
  for (const WorkloadKnob& knob : source.workload->answer->opened->knobs)
    if (is_word(knob) == of_words) draw_knob(look, knob, source, commands);
  ImGui::EndTable();
}

}  // namespace

void draw_workload_knobs(const AppState& state, const Source& source, CommandQueue& commands) {
  draw_knobs(state, source, false, commands);
  const auto& knobs = source.workload->answer->opened->knobs;
  if (std::none_of(knobs.begin(), knobs.end(), is_word) || !ImGui::TreeNode("More")) return;
  draw_knobs(state, source, true, commands);
  ImGui::TreePop();
}

}  // namespace hbmscope::gui
