#include "app/gui/core/demo_runs.h"

#include <fmt/format.h>

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

bool DemoRuns::apply(const Command& command) {
  std::vector<DemoSettings> settings = settings_of_runs();
  using enum CommandId;
  switch (command.id) {
    case CommandId::start_demo: this->start_demo(settings); return true;
    case set_demo:
      settings[0] = command.as<DemoSettings>();
      if (settings.size() > 1) settings[1] = with_program_of(settings[0], settings[1]);
      this->start_demo(settings);
      return true;
    case set_second_demo:
      settings.resize(1);
      settings.push_back(with_program_of(settings[0], command.as<DemoSettings>()));
      this->start_demo(settings);
      return true;
    case split_demo:
      if (settings.size() > 1)
        settings.resize(1);
      else
        settings.push_back(other_than(settings[0]));
      this->start_demo(settings);
      return true;
    case CommandId::end_demo: this->end_demo(); return true;
    case pause_demo:
      if (!state_.demo) return true;
      state_.demo->is_paused = !state_.demo->is_paused;
      send(state_.demo->is_paused ? "pause" : "go");
      return true;
    case step_demo: send("step"); return true;
    case set_demo_speed:
      if (!state_.demo) return true;
      for (DemoRun& run : state_.demo->runs) run.settings.speed = command.as<double>();
      send(fmt::format("speed {}", state_.demo->runs[0].settings.speed));
      return true;
    default: return false;
  }
}

}  // namespace hbmscope::gui
