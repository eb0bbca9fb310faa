#include "app/gui/core/demo_runs.h"

#include <fmt/format.h>

#include "app/gui/core/apply_commands.h"

namespace hbmscope::gui {
namespace {

std::string name_of_run(const view::StartedCommand& demo) {
  return "live:" + std::to_string(demo.pid());
}

}  // namespace

DemoRuns::DemoRuns(AppState& state, SideBySide& sides, OpenSources& sources)
    : state_(state), sides_(sides), sources_(sources) {}

// Replaces everything that ran before: two programs stay in step only if they start together.
void DemoRuns::start_demo(std::vector<DemoSettings> settings) {
  std::vector<SourceId> old;
  for (const auto& demo : demos_)
    for (const Source& source : state_.sources)
      if (source.path == name_of_run(*demo)) old.push_back(source.id);
  const std::vector<DemoRun> before = state_.demo ? state_.demo->runs : std::vector<DemoRun>();
  end_demo();
  DemoState demo;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    std::string wrong;
    auto started = view::StartedCommand::start(command_of(settings[i]), wrong);
    if (started == nullptr) {
      end_demo();
      state_.window.notice = "Can't start the demo: " + wrong + ".";
      return;
    }
    demos_.push_back(std::move(started));
    const DemoSettings& was = i < before.size() ? before[i].settings : settings[i];
    demo.runs.push_back({settings[i], text_from_change(was, settings[i]), name_of_run(*demos_.back())});
  }
  state_.demo = std::move(demo);
  if (state_.is_split()) sides_.close_side(1);
  sources_.open_file(name_of_run(*demos_[0]), OpenSources::As::source);
  if (demos_.size() > 1) {
    sources_.open_file(name_of_run(*demos_[1]), OpenSources::As::side_by_side);
    sides_.set_lock(SameMoment::requests);
  }
  for (const DemoRun& run : state_.demo->runs)
    for (Source& source : state_.sources)
      if (source.path == run.path) source.title = (demos_.size() > 1 ? "" : "demo, ") + name_of(run.settings);
  for (const SourceId id : old) sources_.close_source(id);
}

void DemoRuns::end_demo() {
  demos_.clear();
  state_.demo.reset();
}

std::vector<DemoSettings> DemoRuns::settings_of_runs() const {
  std::vector<DemoSettings> settings;
  if (state_.demo)
    for (const DemoRun& run : state_.demo->runs) settings.push_back(run.settings);
  if (settings.empty()) settings.emplace_back();
  return settings;
}

void DemoRuns::send(const std::string& line) {
  for (const auto& demo : demos_) demo->write_line(line);
}

namespace apply {

// One line each, as in a table.
// clang-format off
void start_demo(AppParts& parts) { parts.demo.start_demo(parts.demo.settings_of_runs()); }
void set_demo(AppParts& parts, const DemoSettings& given) {
  std::vector<DemoSettings> settings = parts.demo.settings_of_runs();
  settings[0] = given;
  if (settings.size() > 1) settings[1] = with_program_of(settings[0], settings[1]);
  parts.demo.start_demo(settings);
}
void set_second_demo(AppParts& parts, const DemoSettings& given) {
  const DemoSettings first = parts.demo.settings_of_runs()[0];
  parts.demo.start_demo({first, with_program_of(first, given)});
}
void split_demo(AppParts& parts) {
  const std::vector<DemoSettings> settings = parts.demo.settings_of_runs();
  parts.demo.start_demo(settings.size() > 1 ? std::vector{settings[0]}
                                            : std::vector{settings[0], other_than(settings[0])});
}
void end_demo(AppParts& parts) { parts.demo.end_demo(); }
void pause_demo(AppParts& parts) {
  if (!parts.state.demo) return;
  bool& is_paused = parts.state.demo->is_paused;
  is_paused = !is_paused;
  parts.demo.send(is_paused ? "pause" : "go");
}
void step_demo(AppParts& parts) { parts.demo.send("step"); }
void set_demo_speed(AppParts& parts, const double& speed) {
  if (!parts.state.demo) return;
  for (DemoRun& run : parts.state.demo->runs) run.settings.speed = speed;
  parts.demo.send(fmt::format("speed {}", speed));
}
// clang-format on

}  // namespace apply
}  // namespace hbmscope::gui
