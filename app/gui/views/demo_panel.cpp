#include "app/gui/views/demo_panel.h"

#include <array>
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <imgui.h>

#include "app/gui/core/demo_choices.h"
#include "app/gui/views/drawing.h"

namespace hbmscope::gui {
namespace {

void start_with(DemoSettings settings, CommandQueue& commands) {
  commands.push(Command{CommandId::set_demo, {}, words_of(settings), SourceId::none, {}, {}});
}

// One of a few texts, by a combo as wide as the panel.
template <class Choices, class Take>
void choose(const char* id, const std::string& shown, const Choices& choices, const Take& take) {
  ImGui::SetNextItemWidth(-1);
  if (!ImGui::BeginCombo(id, shown.c_str())) return;
  for (const auto& choice : choices)
    if (ImGui::Selectable(std::string(choice.title).c_str(), choice.title == shown)) take(choice);
  ImGui::EndCombo();
}

void draw_pace(const DemoState& demo, CommandQueue& commands) {
  if (ImGui::Button(demo.is_paused ? "Go on" : "Pause")) commands.push(CommandId::pause_demo);
  ImGui::SameLine();
  ImGui::BeginDisabled(!demo.is_paused);
  if (ImGui::Button("Step")) commands.push(CommandId::step_demo);
  ImGui::EndDisabled();
  ImGui::SameLine();
  // In powers of two from a tenth to a hundred times.
  auto exponent = static_cast<float>(std::log2(demo.settings.speed));
  ImGui::SetNextItemWidth(-1);
  const std::string shown = fmt::format("{:.3g} x", demo.settings.speed);
  if (ImGui::SliderFloat("##speed", &exponent, -4, 8, shown.c_str()))
    commands.push(CommandId::set_demo_speed, fmt::format("{:.4g}", std::exp2(exponent)));
  tooltip("How fast the program goes; 1 x is some hundred allocations a second.");
}

void draw_variables(const DemoState& demo, CommandQueue& commands) {
  dim_text("XLA_PYTHON_CLIENT_PREALLOCATE");
  DemoSettings settings = demo.settings;
  if (ImGui::Checkbox(settings.preallocates ? "true##preallocate" : "false##preallocate", &settings.preallocates))
    start_with(settings, commands);
  dim_text("XLA_CLIENT_MEM_FRACTION");
  constexpr std::array<DemoChoice, 5> fractions{
      DemoChoice{"", ".75 (not set)"}, {".25", ".25"}, {".5", ".5"}, {".9", ".9"}, {".95", ".95"}};
  std::string shown = settings.fraction;
  for (const DemoChoice& choice : fractions)
    if (choice.name == settings.fraction) shown = choice.title;
  choose("##fraction", shown, fractions, [&](const DemoChoice& choice) {
    settings.fraction = choice.name;
    start_with(settings, commands);
  });
  dim_text("XLA_PYTHON_CLIENT_ALLOCATOR");
  constexpr std::array<DemoChoice, 4> allocators{DemoChoice{"", "default: XLA's BFC (not set)"},
                                                 {"platform", "platform"},
                                                 {"cuda_async", "cuda_async"},
                                                 {"vmm", "vmm"}};
  std::string allocator = settings.allocator;
  for (const DemoChoice& choice : allocators)
    if (choice.name == settings.allocator) allocator = choice.title;
  choose("##allocator", allocator, allocators, [&](const DemoChoice& choice) {
    settings.allocator = choice.name;
    start_with(settings, commands);
  });
  dim_text("Device");
  const auto devices = demo_devices();
  std::string device = settings.device_bytes;
  for (const DemoChoice& choice : devices)
    if (choice.name == settings.device_bytes) device = choice.title;
  choose("##device", device, devices, [&](const DemoChoice& choice) {
    settings.device_bytes = choice.name;
    start_with(settings, commands);
  });
  wrapped_text(demo.change.empty()
                   ? "All three are read once, at the first use of the device. A change here starts the program anew."
                   : demo.change,
               true);
}

}  // namespace

void draw_demo_panel(const AppState& state, CommandQueue& commands) {
  if (!state.demo) return;
  const DemoState& demo = *state.demo;
  ImGui::PushID("demo");
  bold_text("Demo");
  const auto workloads = demo_workloads();
  std::string shown = demo.settings.workload;
  std::string shows;
  for (const DemoChoice& choice : workloads)
    if (choice.name == demo.settings.workload) {
      shown = choice.title;
      shows = choice.shows;
    }
  choose("##workload", shown, workloads, [&](const DemoChoice& choice) {
    DemoSettings settings = demo.settings;
    settings.workload = choice.name;
    start_with(settings, commands);
  });
  wrapped_text(shows, true);
  draw_pace(demo, commands);
  draw_variables(demo, commands);
  ImGui::PopID();
  ImGui::Separator();
}

}  // namespace hbmscope::gui
