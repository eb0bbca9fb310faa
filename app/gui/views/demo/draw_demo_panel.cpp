#include "app/gui/views/demo/draw_demo_panel.h"

#include <array>
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <imgui.h>

#include "app/gui/look/drawing.h"
#include "app/gui/sources/demo_choices.h"

namespace hbmscope::gui {
namespace {

// `run`: 0 is A, 1 is B.
void start_with(std::size_t run, const DemoSettings& settings, CommandQueue& commands) {
  commands.push(run == 0 ? command::set_demo : command::set_second_demo, settings);
}

// A menu of a few texts, as wide as the panel.
template <class Choices, class Take>
void choose(const char* id, const std::string& shown, const Choices& choices, const Take& take) {
  ImGui::SetNextItemWidth(-1);
  if (!ImGui::BeginCombo(id, shown.c_str())) return;
  for (const auto& choice : choices)
    if (ImGui::Selectable(std::string(choice.title).c_str(), choice.title == shown)) take(choice);
  ImGui::EndCombo();
}

void draw_pace(const DemoState& demo, CommandQueue& commands) {
  if (ImGui::Button(demo.is_paused ? "Resume" : "Pause")) commands.push(CommandId::pause_demo);
  ImGui::SameLine();
  ImGui::BeginDisabled(!demo.is_paused);
  if (ImGui::Button("Step")) commands.push(CommandId::step_demo);
  ImGui::EndDisabled();
  ImGui::SameLine();
  // Powers of two from a tenth to a hundred times.
  const double speed = demo.runs[0].settings.speed;
  auto exponent = static_cast<float>(std::log2(speed));
  ImGui::SetNextItemWidth(-1);
  const std::string shown = fmt::format("{:.3g} x", speed);
  if (ImGui::SliderFloat("##speed", &exponent, -4, 8, shown.c_str()))
    commands.push(command::set_demo_speed, std::exp2(exponent));
  tooltip("Speed of the program; 1 x is a few hundred allocations a second.");
}

void draw_variables(const DemoState& demo, std::size_t run, CommandQueue& commands) {
  dim_text("XLA_PYTHON_CLIENT_PREALLOCATE");
  DemoSettings settings = demo.runs[run].settings;
  if (check_box(settings.preallocates ? "true##preallocate" : "false##preallocate", &settings.preallocates))
    start_with(run, settings, commands);
  dim_text("XLA_CLIENT_MEM_FRACTION");
  constexpr std::array<DemoChoice, 5> fractions{
      DemoChoice{"", ".75 (not set)"}, {".25", ".25"}, {".5", ".5"}, {".9", ".9"}, {".95", ".95"}};
  std::string shown = settings.fraction;
  for (const DemoChoice& choice : fractions)
    if (choice.name == settings.fraction) shown = choice.title;
  choose("##fraction", shown, fractions, [&](const DemoChoice& choice) {
    settings.fraction = choice.name;
    start_with(run, settings, commands);
  });
  dim_text("XLA_PYTHON_CLIENT_ALLOCATOR");
  const auto allocators = demo_allocators();
  std::string allocator = settings.allocator;
  for (const DemoChoice& choice : allocators)
    if (choice.name == settings.allocator) allocator = choice.title;
  choose("##allocator", allocator, allocators, [&](const DemoChoice& choice) {
    settings.allocator = choice.name;
    start_with(run, settings, commands);
  });
}

void draw_device(const DemoState& demo, CommandQueue& commands) {
  DemoSettings settings = demo.runs[0].settings;
  dim_text("Device");
  const auto devices = demo_devices();
  std::string device = settings.device_bytes;
  for (const DemoChoice& choice : devices)
    if (choice.name == settings.device_bytes) device = choice.title;
  choose("##device", device, devices, [&](const DemoChoice& choice) {
    settings.device_bytes = choice.name;
    start_with(0, settings, commands);
  });
}

// A's variables, then B's if it runs too.
void draw_runs(const DemoState& demo, CommandQueue& commands) {
  const bool is_split = demo.runs.size() > 1;
  std::string change;
  for (std::size_t run = 0; run < demo.runs.size(); ++run) {
    ImGui::PushID(static_cast<int>(run));
    if (is_split) bold_text(side_name(run));
    draw_variables(demo, run, commands);
    if (!demo.runs[run].change.empty()) change = demo.runs[run].change;
    ImGui::PopID();
  }
  draw_device(demo, commands);
  if (ImGui::Button(is_split ? "Only A" : "Compare another configuration")) commands.push(CommandId::split_demo);
  tooltip(info_of(CommandId::split_demo).help);
  // Last, since its length changes.
  wrapped_text(change.empty()
                   ? "JAX reads all three once, when it first uses the device. A change here restarts the program."
                   : change,
               true);
}

}  // namespace

void draw_demo_panel(const AppState& state, CommandQueue& commands) {
  if (!state.demo) return;
  const DemoState& demo = *state.demo;
  ImGui::PushID("demo");
  bold_text("Demo");
  const auto workloads = demo_workloads();
  std::string shown = demo.runs[0].settings.workload;
  std::string shows;
  for (const DemoChoice& choice : workloads)
    if (choice.name == demo.runs[0].settings.workload) {
      shown = choice.title;
      shows = choice.shows;
    }
  choose("##workload", shown, workloads, [&](const DemoChoice& choice) {
    DemoSettings settings = demo.runs[0].settings;
    settings.workload = choice.name;
    start_with(0, settings, commands);
  });
  wrapped_text(shows, true);
  draw_pace(demo, commands);
  draw_runs(demo, commands);
  ImGui::PopID();
  ImGui::Separator();
}

}  // namespace hbmscope::gui
